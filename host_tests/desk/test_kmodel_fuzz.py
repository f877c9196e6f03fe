# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Damaged kmodels: a short run of kmodel_fuzz.py (the full one is a million), and hypothesis."""

from __future__ import annotations

import kmodel_build
import kmodel_fuzz
import paths
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

ORIGINALS = kmodel_fuzz.seeds()
words = st.one_of(st.sampled_from(kmodel_fuzz.VALUES), st.integers(0, 0xFFFFFFFF))


def test_originals_are_models() -> None:
    assert all(kmodel_fuzz.check(data) for data in ORIGINALS)


def test_some_damage_is_an_error_and_some_is_not() -> None:
    done, good = kmodel_fuzz.run(7000, seed=7, folder=paths.models(), whole=1)
    assert done == 7000
    assert 0 < good < done


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(ORIGINALS),
    st.lists(st.tuples(st.integers(0, 120), words), max_size=6),
    st.integers(0, 40),
)
def test_fields_of_headers(data: bytes, changes: list[tuple[int, int]], cut: int) -> None:
    wounded = bytearray(data[: len(data) - cut])
    for place, value in changes:
        if 4 * place + 4 <= len(wounded):
            wounded[4 * place : 4 * place + 4] = value.to_bytes(4, "little")
    kmodel_fuzz.check(bytes(wounded))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from((b"", b"\3\0\0\0", b"LDMK\4\0\0\0", b"LDMK\5\0\0\0", b"KMDL\0\0\0\4")),
    st.binary(max_size=300),
)
def test_noise_behind_an_identifier(start: bytes, noise: bytes) -> None:
    kmodel_fuzz.check(start + noise)


FLOATS = ("quantize", "softmax", "gap", "flatten", "l2", "fc", "logistic")


def as_a_compiler_would(version: int, drawn: list[tuple]) -> list[tuple]:
    """The layers drawn, with conversions where the data has the other type."""
    layers, floats = [], drawn[0][0] not in ("conv", "dequantize")
    if version == 3 and drawn[0][0] == "dequantize":
        layers, floats = [("conv", 3)], False
    for layer in drawn:
        if layer[0] in FLOATS and not floats:
            layers.append(("dequantize",))
        elif layer[0] == "dequantize" and floats:
            layers.append(("quantize",))
        layers.append(layer)
        if layer[0] not in ("raw", "resize"):
            floats = layer[0] not in ("conv", "quantize")
    return layers


def layers(plain: list[tuple], types: tuple[int, ...], low: int) -> st.SearchStrategy[list[tuple]]:
    conv = st.tuples(st.just("conv"), st.integers(1, 64))
    raw = st.tuples(st.just("raw"), st.sampled_from(types), st.integers(low, 3000))
    return st.lists(st.one_of(conv, st.sampled_from(plain), raw), min_size=1, max_size=12)


BOTH = [("dequantize",), ("quantize",), ("softmax",), ("logistic",), ("resize", 9, 5)]
DRAWN = {
    3: layers([*BOTH, ("gap",), ("flatten",), ("l2",), ("fc", 7)], (1, 2, 8, 13), 272),
    4: layers(BOTH, (2, 0x10, 0x1003), 136),
}
shapes = st.tuples(st.integers(1, 64), st.integers(1, 64), st.integers(1, 8))


@pytest.mark.parametrize("version", [3, 4])
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_whatever_is_built_is_read(version: int, data: st.DataObject) -> None:
    """Any description that the builder takes: header, every body, and the same after swapping
    words."""
    description = as_a_compiler_would(version, data.draw(DRAWN[version]))
    options = {"outputs": data.draw(st.integers(1, 5)), "short": data.draw(st.booleans())}
    if version == 4:
        options |= {
            "constants": 4 * data.draw(st.integers(0, 2000)),
            "inputs": data.draw(st.integers(1, 4)),
        }
    build = kmodel_build.v3 if version == 3 else kmodel_build.v4
    try:
        built = build(data.draw(shapes), description, **options)
    except ValueError:  # more channels or KPU RAM than there are
        reject()
    assume(built.largest_body <= 16 << 20)  # all of a flash chip: readers refuse more
    for twin in (built, kmodel_build.swapped(built)):
        m, layers = kmodel_fuzz.read_layers(twin.to_bytes())
        assert (m.nbytes, m.layers, m.main_mem) == (built.nbytes, built.layers, built.main_mem)
        assert (m.largest_body, m.header) == (built.largest_body, built.header_bytes)
        assert m.swapped == twin.swap
        assert [t[2] for t in m.outputs] == built.outputs
        assert [x.type for x in layers] == built.types
        assert kmodel_fuzz.check(twin.to_bytes())
