# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Verdicts about flash layouts worked out the slow way, to hold FlashMap against.

A layout is a list of (start, nbytes, kind). The toy oracle writes down the bytes of each item as a
set (one bit a byte, or a sector); the interval oracle compares every pair of items with plain
arithmetic.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_flash import BLOCK_64K, SECTOR, FlashMap
from maixmem_k210_chip import FLASH_SIZE, SPIFFS_SIZE, SPIFFS_START

FLASHED = ("firmware", "model", "data")
MINIMUM = FIRMWARES["minimum"].image + 37  # the smallest official build with its header and hash
Item = tuple[int, int, str]


def make_map(items: list[Item], size: int) -> FlashMap:
    """The layout as a FlashMap; region i is named str(i), what the map adds by itself keeps its
    name."""
    m = FlashMap(size)
    for i, (start, nbytes, kind) in enumerate(items):
        m.add(str(i), start, nbytes, kind)
    return m


def toy_layouts(sectors: int, count: int) -> Iterator[list[Item]]:
    """Every layout of `count` items that each own whole sectors of a toy chip, order aside."""
    runs = [
        (a * SECTOR, (b - a) * SECTOR) for a in range(sectors) for b in range(a + 1, sectors + 1)
    ]
    for chosen in itertools.combinations_with_replacement(runs, count):
        yield [(start, nbytes, "model") for start, nbytes in chosen]


def toy_shared(items: list[Item]) -> dict[tuple[int, int], int]:
    """{(i, j): sectors that both own} from sets of sectors written as bits."""
    bits = [((1 << nbytes // SECTOR) - 1) << start // SECTOR for start, nbytes, _ in items]
    shared = {}
    for i, j in itertools.combinations(range(len(items)), 2):
        both = bits[i] & bits[j]
        if both:
            shared[i, j] = bin(both).count("1")
    return shared


def random_layout(rng: random.Random) -> list[Item]:
    """1 to 8 items of any kind, sizes from a byte to megabytes, some that touch, some past the end
    of the chip."""
    items: list[Item] = []
    for _ in range(rng.randint(1, 8)):
        nbytes = rng.choice(
            (1, 37, SECTOR, BLOCK_64K, rng.randint(1, BLOCK_64K), rng.randint(1, 3 << 20))
        )
        start = rng.randint(0, FLASH_SIZE - 1)
        if items and rng.random() < 0.4:
            other, length, _ = rng.choice(items)
            start = max(
                0, rng.choice((other, other + length, other - nbytes)) + rng.choice((0, 0, -1, 1))
            )
        if rng.random() < 0.4:
            start -= start % rng.choice((SECTOR, BLOCK_64K))
        items.append(
            (start, nbytes, rng.choice(("firmware", "model", "model", "data", "config", "free")))
        )
    return items


def verdicts(items: list[Item], size: int = FLASH_SIZE) -> tuple[set, set]:
    """(conflicts, risks), each a set of (why, name, other name, start, end), by comparing every
    pair."""
    named = [
        (str(i), start, start + nbytes, kind) for i, (start, nbytes, kind) in enumerate(items)
    ]
    if size == FLASH_SIZE:
        named.append(("SPIFFS", SPIFFS_START, SPIFFS_START + SPIFFS_SIZE, "filesystem"))
    named = [n for n in named if n[3] != "free"]
    conflicts, risks = set(), set()
    unknown = size > MINIMUM and "firmware" not in [kind for _, _, _, kind in named]
    for name, start, end, kind in named:
        if unknown and kind in ("model", "data") and start < MINIMUM:
            conflicts.add(("firmware", name, None, start, min(end, MINIMUM)))
        if end > size:
            conflicts.add(("beyond", name, None, max(start, size), end))
        first = start // SECTOR * SECTOR
        erased = -(-end // SECTOR) * SECTOR
        written = first + -(-(end - first) // BLOCK_64K) * BLOCK_64K
        if kind in FLASHED and end <= size < written:
            risks.add(("padding", name, None, size, written))
        for other, low, high, _ in named:
            if other == name:
                continue
            if max(start, low) < min(end, high):
                conflicts.add(
                    ("overlap", frozenset((name, other)), max(start, low), min(end, high))
                )
            elif kind in FLASHED and max(first, low) < min(erased, high):
                risks.add(("erase", name, other, max(first, low), min(erased, high)))
            elif kind in FLASHED and max(first, low) < min(written, high):
                risks.add(("padding", name, other, max(first, low), min(written, high)))
    return conflicts, risks


def answers(m: FlashMap) -> tuple[list, list]:
    """What a FlashMap says, in the same terms, as lists: nothing may be said twice."""
    conflicts = [
        ("overlap", frozenset((c.first.name, c.second.name)), c.start, c.end)
        if c.second
        else (c.kind, c.first.name, None, c.start, c.end)
        for c in m.conflicts()
    ]
    risks = [(c.kind, c.first.name, c.second and c.second.name, c.start, c.end) for c in m.risks()]
    return conflicts, risks


def check_layout(items: list[Item], size: int = FLASH_SIZE) -> tuple[int, int]:
    """(missed, false alarms) of FlashMap for one layout, both verdicts."""
    missed = false = 0
    for said, true in zip(answers(make_map(items, size)), verdicts(items, size)):
        missed += len(true - set(said))
        false += len(set(said) - true) + len(said) - len(set(said))
    return missed, false
