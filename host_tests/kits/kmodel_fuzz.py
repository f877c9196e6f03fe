# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Damages kmodels in every way, and checks that readers only ever say KModelError.

python host_tests/kits/kmodel_fuzz.py 1000000 [SEED]
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import paths

for folder in (paths.LIB, paths.DEVICE, paths.KITS, paths.TOOLS):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import kmodel_build  # noqa: E402
import maixmem_kmodel_mem  # noqa: E402
import maixmem_kmodel_v4  # noqa: E402
import maixmem_text  # noqa: E402  with these three nothing is fetched anew for each model
from maixmem import KModelError  # noqa: E402
from maixmem_cli.kmodel.layers import limits, read_layers, run_transient  # noqa: E402
from maixmem_cli.kmodel.v5 import read_v5  # noqa: E402
from maixmem_cli.plan.kmodel_verdict import METHODS, room  # noqa: E402
from maixmem_kmodel import read_info  # noqa: E402

FIRMWARES = [
    {"name": "it", "v4": v4, "ram": ram} for v4 in (False, True) for ram in (None, 0, 4 << 20)
]
#: what a field is set to: the edges of u32, and counts that overflow when multiplied by a size
VALUES = (0, 1, 2, 3, 7, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x10000000)
VALUES += (0x20000000, 0x20000001, 0x40000000, 0x08000001, 0x00FFFFFF, 0x01000000, 0x6000000, 1000)
_HEAD = 6144  # of a real model: its headers and some bodies
_READ = 8192
_SECONDS = 0.5  # a read that takes longer has lost its way (usual: 0.0001)


def seeds(folder: Path | None = None) -> list[bytes]:
    """Built models of both versions, and the heads of the real ones of a folder."""
    convs = [("conv", 4), ("conv", 4, {"depthwise": True})]
    models = [
        kmodel_build.v3((8, 8, 1), [*convs, ("dequantize",), ("softmax",)], outputs=2),
        kmodel_build.v3((4, 4, 2), [("flatten",), ("fc", 3), ("quantize",), ("raw", 13, 272)]),
        kmodel_build.v4((8, 8, 1), [*convs, ("dequantize",), ("softmax",)], outputs=2, inputs=2),
        kmodel_build.v4((4, 4, 2), [("upload",), ("conv", 2), ("raw", 1, 48)], constants=20),
    ]
    found = [m.to_bytes() for m in models]
    found += [bytes(kmodel_build.swap_words(data)) for data in found]
    for path in sorted(folder.glob("*.kmodel")) if folder else ():
        found.append(path.read_bytes()[:_HEAD])
    return found


def damage(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A copy with one to four wounds."""
    wounded = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        rng.choice(_WOUNDS)(rng, wounded, other)
    return bytes(wounded)


def _field(rng: random.Random, data: bytearray, other: bytes) -> None:
    at = rng.randrange(0, max(1, min(len(data), 400) - 4), 4)
    order = rng.choice("<<<>")
    if len(data) >= at + 4:
        old = struct.unpack_from(order + "I", data, at)[0]
        near = (old + rng.choice((-8, -4, -1, 1, 4, 8, 1 << 16))) & 0xFFFFFFFF
        struct.pack_into(
            order + "I", data, at, rng.choice((*VALUES, near, near, rng.getrandbits(32)))
        )


def _byte(rng: random.Random, data: bytearray, other: bytes) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.getrandbits(8)


def _cut(rng: random.Random, data: bytearray, other: bytes) -> None:
    del data[rng.randrange(len(data) + 1) :]


def _grow(rng: random.Random, data: bytearray, other: bytes) -> None:
    data += rng.choice((b"\0", b"\xff", other)) * rng.randrange(1, 9)


def _splice(rng: random.Random, data: bytearray, other: bytes) -> None:
    at = rng.randrange(0, len(data) + 1)
    data[at:] = other[at:]


def _swap(rng: random.Random, data: bytearray, other: bytes) -> None:
    data[:] = kmodel_build.swap_words(data[:1024]) + data[1024:]


_WOUNDS: tuple[Callable[[random.Random, bytearray, bytes], None], ...]
_WOUNDS = (_field, _field, _field, _field, _field, _byte, _byte, _cut, _grow, _splice, _swap)


def every_prefix_and_field(data: bytes) -> Iterator[bytes]:
    """Not chance but all: each truncation, and each 32-bit field of the headers at each value."""
    for n in range(min(len(data), 1500)):
        yield data[:n]
    for at in range(0, min(len(data) - 3, 400), 4):
        for value in VALUES:
            for order in "<>":
                yield data[:at] + struct.pack(order + "I", value) + data[at + 4 :]


def check(data: bytes) -> bool:
    """Reads data in every way; True when it is a model. Anything but KModelError goes through."""
    for _ in range(3):  # a machine that was busy is not so three times in a row
        started = time.process_time()
        good = _read_in_every_way(data)
        if time.process_time() - started < _SECONDS:
            return good
    raise AssertionError(f"three readings took more than {_SECONDS} s of CPU each")


def _read_in_every_way(data: bytes) -> bool:
    taken = 0

    def read(offset: int, n: int) -> bytes:
        nonlocal taken
        taken += n
        return data[offset : offset + n]

    good = _try(lambda: _use(read_info(data)))
    _try(lambda: _use(read_info(0, read)))
    assert taken <= _READ, taken
    _try(lambda: _desk(data))
    _try(lambda: _use(read_v5(data)))
    return good


def _try(f: Callable[[], None]) -> bool:
    try:
        f()
    except KModelError as e:
        text = str(e)
        assert text.startswith("offset 0x") and " is " in text and ", " in text, text
        return False
    return True


def _use(m) -> None:
    for how in METHODS:
        need, peak, pages = m.need(how), m.peak(how), room(m, how)
        assert (need is None) == (peak is None) == (pages is None)
        assert need is None or 0 < need <= peak <= pages
        for firmware in FIRMWARES:
            why = m.unsupported_reason(firmware, how)
            assert why is None or len(why) > 10


def _desk(data: bytes) -> None:
    m, layers = read_layers(data)
    assert len(layers) == m.layers or m.format not in ("v3", "v4")
    list(limits(m, layers))
    run_transient(m, layers)


def run(
    count: int, seed: int = 1, folder: Path | None = None, whole: int | None = None
) -> tuple[int, int]:
    """(damaged models read, those that still were models): all prefixes and fields of the first
    `whole` originals (None: of all), then chance."""
    rng = random.Random(seed)
    originals = seeds(folder)
    done = good = 0
    for data in originals[:whole]:
        for wounded in every_prefix_and_field(data):
            if done == count:
                return done, good
            good += check(wounded)
            done += 1
    while done < count:
        wounded = damage(rng, rng.choice(originals), rng.choice(originals))
        try:
            good += check(wounded)
        except BaseException:
            Path("kmodel_fuzz_failed.kmodel").write_bytes(wounded)
            raise
        done += 1
    return done, good


if __name__ == "__main__":
    asked = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    begun = time.perf_counter()
    done, good = run(asked, int(sys.argv[2]) if len(sys.argv) > 2 else 1, paths.models())
    spent = time.perf_counter() - begun
    print(
        f"{done} damaged models: {done - good} KModelError, {good} still models, nothing "
        f"else, {spent:.0f} s"
    )
