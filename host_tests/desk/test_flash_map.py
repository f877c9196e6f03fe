# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The flash map against brute force: toy chips, random chips, and the layouts that people really
had."""

from __future__ import annotations

import itertools
import random

import flash_oracle
import pytest
from devtest import raises
from maixmem import FlashOverlap
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash.moves import plan as moves
from maixmem_flash import BLOCK_64K, SECTOR, FlashMap
from maixmem_flash_check import MIN_FIRMWARE_END, MODEL_BASE, unaligned
from maixmem_k210_chip import FLASH_SIZE, IMAGE_OVERHEAD, SPIFFS_START

TOY = 16 * SECTOR
# Ends of builds as measured on the firmware: .bin plus header and hash
MINIMUM, OPENMV, FULL, LVGL = (n + IMAGE_OVERHEAD for n in (720640, 1521856, 2115264, 2356416))


@pytest.mark.parametrize(("sectors", "count"), [(16, 1), (16, 2), (16, 3), (8, 4)])
def test_every_toy_layout_against_sets_of_sectors(sectors: int, count: int) -> None:
    """The whole of four items on 16 sectors runs in host_tests/bench/bench_flash.py
    --exhaustive."""
    for items in flash_oracle.toy_layouts(sectors, count):
        said = {}
        for c in flash_oracle.make_map(items, sectors * SECTOR).conflicts():
            said[tuple(sorted((int(c.first.name), int(c.second.name))))] = c.nbytes // SECTOR
        assert said == flash_oracle.toy_shared(items), items


def test_random_layouts_against_the_interval_oracle() -> None:
    """1,000,000 in host_tests/bench/bench_flash.py --layouts 1000000; both verdicts, to the
    byte."""
    rng = random.Random(5)
    for _ in range(10_000):
        items = flash_oracle.random_layout(rng)
        assert flash_oracle.check_layout(items) == (0, 0), items


def _clean_at(m: FlashMap, start: int, nbytes: int, unit: int) -> bool:
    trial = FlashMap(m.size)
    trial.regions = list(m.regions)
    new = trial.add("new", start, nbytes, "model")
    about = [c for c in trial.conflicts() + trial.risks() if new in (c.first, c.second)]
    return not [c for c in about if unit == BLOCK_64K or c.kind != "padding"]


@pytest.mark.parametrize("unit", [SECTOR, BLOCK_64K])
def test_gap_for_is_the_lowest_good_place(unit: int) -> None:
    rng = random.Random(unit)
    size = 64 * SECTOR
    for _ in range(300):
        m = FlashMap(size)
        for i in range(rng.randint(0, 4)):
            kind = rng.choice(("firmware", "model", "data", "config", "free"))
            m.add(str(i), rng.randrange(size), rng.randint(1, 9 * SECTOR), kind)
        nbytes, start = rng.randint(1, 12 * SECTOR), rng.choice((0, rng.randrange(size)))
        align = rng.choice((SECTOR, BLOCK_64K))
        places = range(-(-start // align) * align, size, align)
        expected = next((p for p in places if _clean_at(m, p, nbytes, unit)), None)
        assert m.gap_for(nbytes, align, start, unit) == expected, [str(r) for r in m.regions]


def _good(regions: list) -> bool:
    """No conflict, nothing unaligned that may move: by pairs."""
    for r in regions:
        if r[1] > TOY or (r[2] == "model" and r[0] % SECTOR):
            return False
    return all(a[1] <= b[0] or b[1] <= a[0] for a, b in itertools.combinations(regions, 2))


def _rounded(start: int, nbytes: int) -> tuple[int, int, str]:
    return start, start + -(-nbytes // SECTOR) * SECTOR, "model"


def _fewest(items: list) -> int | None:
    """The fewest moves by trying every choice of items and every sector for each."""
    fixed = [(s, s + n, k) for s, n, k in items if k != "model"]
    models = [(s, n) for s, n, k in items if k == "model"]
    sectors = range(0, TOY, SECTOR)
    for k in range(len(models) + 1):
        for chosen in itertools.combinations(range(len(models)), k):
            kept = [models[i] for i in range(len(models)) if i not in chosen]
            if not _good(fixed + [(s, s + n, "model") for s, n in kept]):
                continue
            rest = fixed + [
                (s - s % SECTOR, -(-(s + n) // SECTOR) * SECTOR, "model") for s, n in kept
            ]
            sizes = [models[i][1] for i in chosen]
            for places in itertools.product(sectors, repeat=k):
                if _good(rest + [_rounded(p, n) for p, n in zip(places, sizes)]):
                    return k
    return None


def test_moves_are_the_fewest_and_leave_nothing_wrong() -> None:
    rng = random.Random(7)
    solved = 0
    for _ in range(250):
        items = [(0, rng.randint(1, 4 * SECTOR), "firmware")] if rng.random() < 0.6 else []
        for _ in range(rng.randint(1, 3)):
            start = rng.randrange(TOY) if rng.random() < 0.2 else rng.randrange(16) * SECTOR
            items.append((start, rng.randint(1, 6 * SECTOR), "model"))
        m = flash_oracle.make_map(items, TOY)
        fewest = _fewest(items)
        if fewest is None:
            with pytest.raises(FlashOverlap):
                moves(m)
            continue
        plan = moves(m)
        assert len(plan) == fewest, items
        for region, start in plan:
            region.start, region.end = start, start + region.end - region.start
        assert not m.conflicts() and not unaligned(m), items
        solved += 1
    assert solved > 150


def test_moves_prefer_the_documented_place_of_models() -> None:
    m = FlashMap()
    m.add("firmware", 0, FULL, "firmware")
    face = m.add("face", 0x200000, 388776, "model")
    assert moves(m) == [(face, MODEL_BASE)]
    m.add("big", MODEL_BASE, SPIFFS_START - MODEL_BASE, "model")
    assert moves(m) == [(face, 0x210000)]  # the first frame behind the firmware


def test_moves_gives_up_rather_than_search_for_ever() -> None:
    m = FlashMap()
    for i in range(40):
        m.add(str(i), 0x400000 + i, 400000, "model")
    assert "up to 12" in str(raises(FlashOverlap, moves, m))


def test_moves_says_when_a_layout_has_too_many_ways() -> None:
    m = FlashMap()
    m.add("firmware", 0, SPIFFS_START - 40 * BLOCK_64K, "firmware")
    for i in range(20):
        m.add(str(i), SPIFFS_START - 40 * BLOCK_64K + i * SECTOR, 3 * BLOCK_64K, "model")
    assert "too many ways" in str(raises(FlashOverlap, moves, m))


def test_moves_cannot_help_a_firmware() -> None:
    m = FlashMap()
    m.add("firmware", 0, SPIFFS_START + 1, "firmware")
    assert "no moves" in str(raises(FlashOverlap, moves, m))
    m = FlashMap(1 << 20)
    m.add("firmware", 0, (1 << 20) + 1, "firmware")
    assert "extends past the end" in str(raises(FlashOverlap, m.check))


# --- layouts that people had (the issue lists of MaixPy, its scripts and its flashers) ---


def _layout(*items: tuple) -> FlashMap:
    m = FlashMap()
    for name, start, nbytes, kind in items:
        m.add(name, start, nbytes, kind)
    return m


def test_the_first_sector_behind_openmv_is_free_but_padding_reaches_it() -> None:
    m = _layout(("firmware", 0, OPENMV, "firmware"), ("model", 0x174000, 388776, "model"))
    assert m.conflicts() == []
    assert [(c.kind, c.first.name, c.start, c.end) for c in m.check()] == [
        ("padding", "firmware", 0x174000, 0x180000)
    ]


def test_0x180000_behind_openmv_touches_the_padding_and_is_fine() -> None:
    m = _layout(("firmware", 0, OPENMV, "firmware"), ("model", 0x180000, 388776, "model"))
    assert m.check() == [] and m.conflicts() == []
    assert m.gap_for(388776) == 0x1E0000  # behind that model, in whole frames


@pytest.mark.parametrize(("end", "nbytes"), [(FULL, 18149), (LVGL, 208072)])
def test_a_model_at_0x200000_is_inside_the_big_builds(end: int, nbytes: int) -> None:
    m = _layout(("firmware", 0, end, "firmware"), ("mnist", 0x200000, 208072, "model"))
    text = str(raises(FlashOverlap, m.check))
    assert (
        f"firmware 0x000000..{end:#08x} overlaps mnist 0x200000..0x232cc8: {nbytes} bytes" in text
    )
    assert "Next: another address" in text
    assert [(r.name, at) for r, at in moves(m)] == [("mnist", 0x300000)]
    assert (
        _layout(("firmware", 0, MINIMUM, "firmware"), ("mnist", 0x200000, 208072, "model")).check()
        == []
    )


def test_a_model_at_0xd00000_is_in_the_file_system() -> None:
    m = _layout(("face", 0xD00000, 388776, "model"))
    assert [(c.first.name, c.second.name, c.nbytes) for c in m.conflicts()] == [
        ("SPIFFS", "face", 388776)
    ]
    assert _layout(("below", 0xD00000 - 4096, 4096, "model")).conflicts() == []
    assert [c.nbytes for c in _layout(("into", 0xD00000 - 4096, 4097, "model")).conflicts()] == [1]


def test_a_second_model_right_behind_the_first_has_no_sector_of_its_own() -> None:
    m = _layout(("one", 0x300000, 388776, "model"), ("two", 0x35EEA9, 388776, "model"))
    assert m.conflicts() == [] and [r.name for r in unaligned(m)] == ["two"]
    assert [(c.kind, c.first.name, c.second.name) for c in m.risks()] == [
        ("erase", "one", "two"),
        ("erase", "two", "one"),
    ]
    assert [(r.name, at) for r, at in moves(m)] == [("two", 0x360000)]
    alone = _layout(("one", 0x300000, 388776, "model"))
    assert alone.gap_for(388776, start=0x35EEA9, unit=SECTOR) == 0x35F000


def test_the_webai_layout() -> None:
    m = _layout(
        ("firmware", 0x80000, FULL, "firmware"),
        ("config", 0x4000, 0x1000, "config"),
        ("settings", 0x10000, 0x1000, "config"),
        ("model", 0xB90000, SPIFFS_START - 0xB90000, "model"),
    )
    assert m.check() == []
    m.add("second model", 0xD00000, 1 << 20, "model")
    assert [(c.first.name, c.second.name) for c in m.conflicts()] == [("SPIFFS", "second model")]


@pytest.mark.parametrize(("second", "clash"), [(0x280000, 0x100000), (0x390000, 0)])
def test_the_krux_slots(second: int, clash: int) -> None:
    """Two slots of at most 3 MiB: the older second slot lies inside the first one at its
    largest."""
    m = _layout(
        ("stage 0", 0, 0x1000, "firmware"),
        ("stage 1", 0x1000, 0x3000, "firmware"),
        ("config", 0x4000, 0x2000, "config"),
        ("slot 1", 0x80000, 0x300000, "firmware"),
        ("slot 2", second, 0x300000, "firmware"),
    )
    assert [c.nbytes for c in m.conflicts()] == ([clash] if clash else [])


# --- edges ---


def test_regions_that_touch_are_fine_and_one_byte_more_is_not() -> None:
    m = _layout(("a", 0x300000, BLOCK_64K, "model"), ("b", 0x310000, BLOCK_64K, "model"))
    assert m.check() == []
    m.regions[1].end += 1
    assert [c.nbytes for c in m.conflicts()] == [1]


def test_the_end_of_the_chip() -> None:
    m = FlashMap(1 << 20)
    last = m.add("last", (1 << 20) - BLOCK_64K, BLOCK_64K, "model")
    assert m.check() == []
    last.end += 1
    assert "extends past the end of flash: 1 bytes, 0x100000..0x100001" in str(
        raises(FlashOverlap, m.check)
    )
    late = FlashMap(1 << 20)
    late.add("late", (1 << 20) - SECTOR, SECTOR, "model")
    assert [(c.kind, c.second, c.nbytes) for c in late.check()] == [
        ("padding", None, BLOCK_64K - SECTOR)
    ]


def test_smaller_chips_repeat_so_the_file_system_is_lower() -> None:
    assert [(r.start, r.end) for r in FlashMap(8 << 20).regions] == [(0x500000, 0x800000)]
    assert [(r.start, r.end) for r in FlashMap(4 << 20).regions] == [(0x100000, 0x400000)]
    assert FlashMap(2 << 20).regions == []
    assert [(r.start, r.end) for r in FlashMap(FLASH_SIZE).regions] == [(0xD00000, 0x1000000)]


@pytest.mark.parametrize(
    ("start", "nbytes", "kind"),
    [
        (-1, 1, "data"),
        (0, 0, "data"),
        (0, -1, "data"),
        (0.0, 1, "data"),
        (0, "1", "data"),
        (True, 1, "data"),
        (0, 1, "x"),
    ],
)
def test_what_is_no_region_is_refused(start, nbytes, kind) -> None:
    assert "odd: " in str(raises(ValueError, FlashMap().add, "odd", start, nbytes, kind))


@pytest.mark.parametrize("align", [0, 1, 4095, -4096, 6000])
def test_gap_for_keeps_to_sectors(align: int) -> None:
    assert "4096" in str(raises(ValueError, FlashMap().gap_for, 1, align))


def test_gap_for_says_none_when_there_is_no_room() -> None:
    assert FlashMap().gap_for(FLASH_SIZE) is None
    assert FlashMap().gap_for(SPIFFS_START - MODEL_BASE) == MODEL_BASE
    assert FlashMap().gap_for(SPIFFS_START - MODEL_BASE + 1) is None
    small = _layout(("firmware", 0, 1, "firmware"))
    assert small.gap_for(SPIFFS_START - BLOCK_64K) == BLOCK_64K
    assert small.gap_for(SPIFFS_START - BLOCK_64K + 1) is None
    assert FlashMap().gap_for(1, start=FLASH_SIZE) is None


def test_what_a_scan_could_not_read_is_no_place_and_not_fine() -> None:
    m = FlashMap()
    m.unread = [(0, 0x400000, "no memory")]
    assert m.gap_for(1) == 0x400000
    assert "0x000000..0x400000: no memory" in str(raises(FlashOverlap, m.check))
    m.add("a", 0x500000, BLOCK_64K, "model")
    m.add("b", 0x500000, BLOCK_64K, "model")
    assert moves(m)[0][1] == 0x400000


# --- a map that has no firmware ---


def test_the_least_is_that_of_the_official_builds() -> None:
    assert MIN_FIRMWARE_END == min(f.end for f in FIRMWARES.values())


def test_no_place_below_models_while_no_firmware_is_known() -> None:
    for size, place in ((FLASH_SIZE, MODEL_BASE), (8 << 20, MODEL_BASE), (4 << 20, None)):
        m = FlashMap(size)
        assert m.gap_for(388776) == place
        assert m.gap_for(388776, start=0x200000) == place
    m = FlashMap()
    assert m.gap_for(388776, start=0x400001) == 0x401000
    m.notes = ["no firmware header at 0x000000"]  # a scan of a chip where a model was burned at 0
    m.add("v3 model", 0, 388776, "model", "its header")
    assert m.gap_for(388776) == MODEL_BASE
    m.add("firmware", 0x80000, OPENMV, "firmware")
    assert (
        m.gap_for(0x10000) == 0x60000
    )  # a known one may lie anywhere: between model and firmware


@pytest.mark.parametrize("kind", ["model", "data"])
def test_bytes_of_every_firmware_are_not_free(kind: str) -> None:
    m = FlashMap()
    face = m.add("face", 0, 388776, kind)
    assert [(c.kind, c.first, c.second, c.start, c.end) for c in m.conflicts()] == [
        ("firmware", face, None, 0, 388776)
    ]
    text = str(raises(FlashOverlap, m.check))
    assert "face 0x000000..0x05eea8 lies in the area used by every official firmware" in text
    assert "Next: another address" in text and moves(m) == [(face, MODEL_BASE)]
    face.start, face.end = MIN_FIRMWARE_END - 1, MIN_FIRMWARE_END + 9
    assert [(c.start, c.end, c.nbytes) for c in m.conflicts()] == [
        (MIN_FIRMWARE_END - 1, MIN_FIRMWARE_END, 1)
    ]
    face.start, face.end = 0xB0000, 0xB0009
    assert m.conflicts() == []
    face.start, face.end = 0, 10
    m.add("firmware", 0x80000, OPENMV, "firmware")
    assert m.conflicts() == []


def test_what_the_firmware_keeps_and_what_a_scan_found_is_no_conflict() -> None:
    m = _layout(("settings", 0x4000, 0x1000, "config"))
    m.add("unknown", 0x10000, 0x1000, "data", "no owner")
    assert m.conflicts() == []


def test_moves_never_go_below_models_while_no_firmware_is_known() -> None:
    m = FlashMap()
    m.add("big", MODEL_BASE, SPIFFS_START - MODEL_BASE, "model")
    m.add("face", MODEL_BASE, BLOCK_64K, "model")
    assert "no moves" in str(raises(FlashOverlap, moves, m))
    m.add("firmware", 0, FULL, "firmware")
    assert [(r.name, at) for r, at in moves(m)] == [("face", 0x210000)]


@pytest.mark.parametrize(
    ("nbytes", "start"),
    [(4096, -70000), (4096, -1), (0, 0), (-1, 0), (4096.5, 0), (4096.0, 0), ("1", 0), (True, 0)]
    + [(None, 0), (1, 0.0), (1, None)],
)
def test_gap_for_refuses_what_is_no_place_or_size(nbytes, start) -> None:
    text = str(raises(ValueError, FlashMap().gap_for, nbytes, start=start))
    assert repr(nbytes) in text and repr(start) in text and "Next: " in text
