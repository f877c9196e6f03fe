# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The .cvimodel reader: what it says against what the runtime takes, and no bad file gets past
it."""

from __future__ import annotations

import random
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from cvimodel_build import DTYPES, SECTIONS, cvimodel, program, tensor
from linux_boards import shim
from maixmem import KModelError
from maixmem_maixcam.cvimodel import read_cvimodel

board, _ = shim("maixcam", "maixcam_board", "maixmem_maixcam")
from maix import nn  # noqa: E402  the shim's folder is importable only now

SIZES = {
    "FP32": 4,
    "INT32": 4,
    "UINT32": 4,
    "BF16": 2,
    "INT16": 2,
    "UINT16": 2,
    "INT8": 1,
    "UINT8": 1,
}


def small() -> bytes:
    one = {"inputs": [("in", "INT8", (1, 3, 8, 8))], "outputs": [("out", "FP32", (1, 10, 1, 1))]}
    sections = [("weight", 4096), ("cmdbuf", 512)]
    return cvimodel(sections, [program(0, 8192, 100, **one, inner=[("x", "BF16", (1, 2, 3, 4))])])


def random_model(rng: random.Random) -> tuple[bytes, int]:
    """A valid file and what it needs, from its description."""

    def ends(prefix: str) -> list[tuple[str, str, tuple[int, ...]]]:
        return [
            (f"{prefix}{i}", rng.choice(DTYPES), tuple(rng.randint(1, 40) for _ in range(4)))
            for i in range(rng.randint(1, 3))
        ]

    def nbytes(t: tuple[str, str, tuple[int, ...]]) -> int:
        a, b, c, d = t[2]
        return a * b * c * d * SIZES[t[1]]

    sections = [(rng.choice(SECTIONS), rng.randint(0, 70000)) for _ in range(rng.randint(0, 4))]
    programs, need, most = [], sum(n for _, n in sections), 0
    for _ in range(rng.randint(1, 3)):
        neuron, shared, private = (rng.choice((0, rng.randint(1, 1 << 20))) for _ in range(3))
        ins, outs = ends("in"), ends("out")
        programs.append(
            program(neuron, shared, private, inputs=ins, outputs=outs, inner=ends("x"))
        )
        need += neuron + private + sum(map(nbytes, ins + outs))
        most = max(most, shared)
    return cvimodel(sections, programs), need + most


def test_the_sum_of_a_small_file_is_that_of_the_rule():
    model = read_cvimodel(small())
    assert (model.fixed, model.shared, model.io) == (4096 + 512 + 100, 8192, 192 + 40)
    assert model.need() == 13132
    assert model.need(dual_buff=True) == 13132 + 232
    assert (model.chip, model.version, model.exact) == ("cv181x", (1, 4), True)
    assert model.nbytes == model.have == len(small())


def test_need_equals_what_the_runtime_takes(tmp_path: Path):
    rng = random.Random(7)
    for i in range(200):
        data, need = random_model(rng)
        path = tmp_path / f"{i}.cvimodel"
        path.write_bytes(data)
        model = read_cvimodel(str(path))
        assert model.need() == read_cvimodel(data).need() == need
        for dual in (False, True):
            board.reset(cmm=1 << 30)
            net = nn.NN(str(path), dual)
            assert board.cmm.live() == model.need(dual), (
                f"model {i}, dual_buff {dual}: {board.cmm.blocks}"
            )
            del net
            assert board.cmm.live() == 0


def test_the_weights_are_not_read(tmp_path: Path):
    data = cvimodel([("weight", 5 << 20)], [program()])
    path = tmp_path / "big.cvimodel"
    path.write_bytes(data)
    whole = read_cvimodel(str(path))
    assert whole.need() == 5 << 20
    assert read_cvimodel(data[: len(data) - (5 << 20)]).need() == 5 << 20
    short = read_cvimodel(data[:-1])
    assert (short.nbytes, short.have) == (len(data), len(data) - 1)


def test_the_first_version_has_a_shorter_header_and_one_chip():
    data = cvimodel([("weight", 64)], [program(neuron=1000)], version=(1, 0))
    model = read_cvimodel(data)
    assert (model.chip, model.version, model.need(), model.nbytes) == (
        "cv183x",
        (1, 0),
        1064,
        len(data),
    )


def test_a_packed_section_counts_unpacked_and_its_packed_bytes_pass_through():
    data = cvimodel(
        [("dmabuf", 300, {5: ("B", 1), 6: ("I", 1000)}), ("weight", 5, {6: ("I", 77)})],
        [program()],
    )
    model = read_cvimodel(data)
    assert (model.need(), model.transient) == (1005, 300)


def test_a_padded_tensor_counts_as_the_file_says_or_is_an_estimate():
    padded = tensor("in", "UINT8", (1, 3, 8, 9), kind=4, raw={11: ("B", 1), 12: ("I", 1536)})
    unsaid = tensor("in", "UINT8", (1, 3, 8, 9), kind=4, raw={11: ("B", 1)})
    for one, need, exact in ((padded, 1536, True), (unsaid, 216, False)):
        model = read_cvimodel(cvimodel([], [{**program(), 4: [one]}]))
        assert (model.need(), model.exact) == (need, exact)


def test_kinds_of_memory_up_to_two_are_inside_other_blocks():
    kinds = [tensor(f"t{k}", "FP32", (1, 1, 1, 1 << k), kind=k) for k in range(8)]
    model = read_cvimodel(
        cvimodel([], [{**program(), 4: [*kinds, tensor("none", "FP32", (9, 9, 9, 9))]}])
    )
    assert model.io == sum(4 << k for k in range(3, 8))


def broken(at: int, what: bytes) -> bytes:
    data = bytearray(small())
    data[at : at + len(what)] = what
    return bytes(data)


def headed(body: bytes) -> bytes:
    return small()[:8] + struct.pack("<I", len(body)) + small()[12:48] + body


def one(tensor: Any) -> bytes:
    """A model of one tensor."""
    return cvimodel([], [{**program(), 4: [tensor]}])


WRONG = {
    "empty": (b"", "header"),
    "half a header": (small()[:31], "header"),
    "magic": (broken(0, b"X"), "magic"),
    "chip": (broken(30, b"\xff"), "chip"),
    "body": (broken(8, struct.pack("<I", 1 << 31)), "body_size"),
    "root": (broken(48, struct.pack("<I", 1 << 30)), "root"),
    "no sections": (headed(struct.pack("<IHHi", 8, 4, 4, 4)), "sections"),
    "dtype": (one(tensor("t", "FP32", (1, 1, 1, 1), 3, {3: ("B", 8)})), "tensor.dtype"),
    "shape": (one(tensor("t", "FP32", (1, -1, 1, 1), 3)), "shape.dim"),
    "many sizes": (one(tensor("t", "FP32", (1,) * 9, 3)), "shape.dim"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_named_by_offset_field_value_and_rule(case: str):
    data, field = WRONG[case]
    with pytest.raises(KModelError) as e:
        read_cvimodel(data)
    text = str(e.value)
    assert (
        text.startswith("cvimodel: at 0x")
        and f" {field} = " in text
        and "must be" in text
        and "Next:" in text
    )


def test_no_such_file_is_what_open_says():
    with pytest.raises(FileNotFoundError):
        read_cvimodel("/nowhere/x.cvimodel")


def test_tables_that_point_at_each_other_cost_no_more_than_the_file_is_long():
    """A vector of n programs that are all one, with n tensors that are all one, would be n * n
    steps."""
    n = 20000
    data = cvimodel([], [{**program(), 4: [tensor("t", "FP32", (1, 1, 1, 1), 3)] * n}] * n)
    assert len(data) < 9 * n
    start = time.process_time()
    with pytest.raises(KModelError, match="no more tables than the body has room for"):
        read_cvimodel(data)
    assert time.process_time() - start < 30  # 400 million steps take minutes


def test_fuzz_only_one_kind_of_error_comes_out():
    rng = random.Random(20260101)
    seeds = [random_model(rng)[0] for _ in range(20)] + [small()]
    counts = {"read": 0, "refused": 0}
    for i in range(6000):
        data = bytearray(rng.choice(seeds)[:4000])
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(min(len(data), rng.choice((60, 400, 4000))))
            data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        if i % 3 == 0:
            del data[rng.randrange(len(data)) :]
        try:
            model = read_cvimodel(bytes(data))
            assert model.need() >= 0
            counts["read"] += 1
        except KModelError:
            counts["refused"] += 1
    print("fuzz:", counts)
    assert counts["refused"] > 1000 and counts["read"] > 100
