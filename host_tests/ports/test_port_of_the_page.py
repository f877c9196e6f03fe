# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A port written from the contract in docs/ports.md alone, for a board unlike any other: its
runtime numbers models from 0, they share one scratch area, and it refuses a number twice."""

from __future__ import annotations

import ast
import struct
from pathlib import Path

import maixmem
import maixmem_port
import manager_kit as kit
import port_page
import pytest
from faults import Faults

_HEAD = "<4sHH"  # "QNN1", KiB of weights, KiB of scratch


class Runtime:
    """The stand-in: a signal processor with 64 KiB for models."""

    TOTAL = 64 << 10

    def __init__(self) -> None:
        self.faults = Faults()
        self.loaded: dict[int, tuple[int, int]] = {}  # number: bytes of weights, of scratch
        self.other = 0  # bytes of another program

    def weights(self) -> int:
        return sum(weights for weights, _ in self.loaded.values())

    def free(self) -> int:
        scratch = max((scratch for _, scratch in self.loaded.values()), default=0)
        return self.TOTAL - self.other - self.weights() - scratch

    def open(self, path: str) -> int:
        self.faults.point("open")
        mark, weights, scratch = struct.unpack(_HEAD, Path(path).read_bytes())
        number = next(n for n in range(9) if n not in self.loaded)
        self.loaded[number] = weights << 10, scratch << 10
        if mark != b"QNN1" or self.free() < 0:
            del self.loaded[number]
            raise MemoryError(f"dsp: cannot open {path}")
        return number

    def close(self, number: int) -> None:
        self.faults.point("close")
        del self.loaded[number]


dsp = Runtime()


# Owns nothing of the processor's memory: a number is the caller's until unload().
class Port(maixmem_port.Port):
    """The board with that processor."""

    name = "dsp"
    watched = ("dsp",)
    share = "arena"
    slots = 3
    margin = 512

    def regions(self):
        return [maixmem.Region("dsp", dsp.TOTAL, dsp.TOTAL - dsp.free(), dsp.free(), dsp.free())]

    def sample(self, free):
        free[0] = dsp.free()

    def inspect(self, source):
        with open(source, "rb") as file:
            head = file.read(struct.calcsize(_HEAD))
        if head[:4] != b"QNN1":
            raise maixmem.KModelError(f"{source}: no model of this board")
        _, weights, scratch = struct.unpack(_HEAD, head)
        need = {"dsp": (weights + scratch) << 10}
        cost = maixmem.Cost(need, need)
        cost.certainty = "at most"  # scratch may be there already
        if need["dsp"] > dsp.TOTAL:
            cost.refuse = f"{source} takes {need['dsp']} bytes, the board has {dsp.TOTAL}"
        return cost

    def check_fit(self, cost, margin=0, freed=()):
        free = dsp.free() + sum(dsp.loaded[number][0] for number in freed)
        need = cost.peak["dsp"] + margin
        if need <= free:
            return None
        return maixmem.NoRoom(f"{need} bytes, {free} are free", "dsp", need, free)

    def room(self, region):
        return dsp.free() if region == "dsp" else 0

    def free_bytes(self):
        return dsp.free()

    def load(self, source):
        try:
            return dsp.open(source)
        except MemoryError as e:
            raise maixmem.NoRoom(str(e), "dsp", None, dsp.free()) from None

    def unload(self, handle):
        if handle in dsp.loaded:
            dsp.close(handle)

    def is_loaded(self, handle):
        return handle in dsp.loaded

    def overlap(self, handles):
        scratch = [dsp.loaded[number][1] for number in handles]
        return {"dsp": sum(scratch) - max(scratch, default=0)}


class Rig:
    share = "arena"
    faults = dsp.faults
    refusal = ("open", MemoryError("dsp: cannot open"))

    def __init__(self, folder: Path) -> None:
        self.models = [(str(folder / name), {}) for name in "abcd"]
        for n, (path, _) in enumerate(self.models, 1):
            Path(path).write_bytes(struct.pack(_HEAD, b"QNN1", 2 * n, n))

    def start(self) -> Port:
        dsp.loaded.clear()
        dsp.other = 0
        return Port()

    def fill(self, left: int) -> None:
        dsp.other = 0
        dsp.other = max(0, dsp.free() - left)

    def live(self) -> int:
        return dsp.weights()  # scratch is nobody's own


def test_it_is_written_from_the_page_alone() -> None:
    """Every name that it defines is one of the contract, and it imports nothing else of ours."""
    page = port_page.PAGE.read_text(encoding="utf-8")
    names = [name for name in vars(Port) if name[0] != "_"]
    assert len(names) > 10
    assert all(f"### {name}\n" in page or f"| `{name}` |" in page for name in names)
    source = next(
        n
        for n in ast.parse(Path(__file__).read_text("utf-8")).body
        if getattr(n, "name", "") == "Port"
    )
    ours = {
        n.value.id
        for n in ast.walk(source)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    }
    assert {n for n in ours if n.startswith("maixmem")} == {"maixmem", "maixmem_port"}
    made = {
        n.attr
        for n in ast.walk(source)
        if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "maixmem"
    }
    assert all(f"### {name}\n" in page for name in made)


@pytest.mark.parametrize("check", kit.CHECKS, ids=lambda check: check.__name__)
def test_what_every_port_does(check, tmp_path: Path) -> None:
    check(Rig(tmp_path))


def test_every_fault_point(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    tried = kit.sweep(rig, (OSError(5), MemoryError("no"), KeyboardInterrupt()), kit.sizes(rig))
    assert min(tried.values()) >= 6


def test_what_they_share_is_counted_once(tmp_path: Path) -> None:
    m = kit.manager(Rig(tmp_path), keep=3)
    for name in "abc":
        m.use(name)
    lines: list[str] = []
    m.status(lines.append)
    assert dsp.TOTAL - dsp.free() == (12 + 3) << 10
    assert not [line for line in lines if "unaccounted" in line], lines


def test_each_load_is_measured(tmp_path: Path) -> None:
    """What it takes beside those that are loaded, so that scratch is counted once; anew each time:
    the first one has to bring the scratch that it had found there."""
    m = kit.manager(Rig(tmp_path), keep=3)
    for name in "abc":
        m.use(name)
    assert measured(m) == {"a": 3 << 10, "b": 5 << 10, "c": 7 << 10, "d": None}
    assert sum(measured(m)[name] or 0 for name in "abc") == dsp.TOTAL - dsp.free()
    m.release_all()
    m.use("b")
    assert measured(m)["b"] == 6 << 10


def measured(m) -> dict[str, int | None]:
    rows = m.status(lambda line: None)["models"]
    return {row["name"]: row["measured"] for row in rows}


def test_a_model_that_never_fits_is_refused_before_anything_is_freed(tmp_path: Path) -> None:
    m = kit.manager(Rig(tmp_path))
    big = tmp_path / "big"
    big.write_bytes(struct.pack(_HEAD, b"QNN1", 60, 5))
    m.add("big", str(big))
    m.use("a")
    with pytest.raises(maixmem.KModelError, match=f"takes {65 << 10} bytes, the board has 65536"):
        m.use("big")
    assert kit.resident(m) == ["a"] and m.state == "rolled_back"
