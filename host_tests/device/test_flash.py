# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The flash map and its scan, on chips that are made here: sparse, as a reader sees them."""

import gc
import sys

import kmodel_build
from devtest import SLOW, Skip, raises
from maixmem import FlashOverlap, NoRoom
from maixmem_flash import FlashMap

try:
    from hashlib import sha256
except ImportError:
    from uhashlib import sha256

HEAP = "2m"

BLANK = b"\xff" * 4096  # a page without data: mp2019 makes one slowly
SIZE = 1 << (19 if SLOW else 20)  # of a chip, where it says nothing else


# A chip of `size` bytes, blank but for what was put: {address: bytes}, the last put wins.
# Addresses repeat beyond the size as those of a chip do. Reads that touch `bad` fail for want of
# memory; `longest` is the longest read.
class Chip:
    def __init__(self, size, parts=(), bad=(0, 0)):
        self.size = size
        self.parts = [(start, start + len(data), data) for start, data in parts]
        self.bad = bad
        self.longest = 0

    def read(self, offset, n):
        assert 0 <= offset and offset + n <= self.size, (offset, n)
        self.longest = max(self.longest, n)
        if offset < self.bad[1] and self.bad[0] < offset + n:
            raise NoRoom("no memory", "heap", n, 0)
        out = BLANK[:n] if n <= 4096 else b"\xff" * n
        stop = offset + n
        for start, end, data in self.parts:
            if start < stop and offset < end:
                low, high = max(start, offset), min(end, stop)
                out = out[: low - offset] + data[low - start : high - start] + out[high - offset :]
        return out

    def scan(self, **how):
        return FlashMap(self.size).scan(self.read, **how)


def model(weight=64):
    """A V3 model whose last body has `weight` bytes."""
    return kmodel_build.v3((8, 8, 1), [("conv", 4), ("raw", 12, weight)]).to_bytes()


def image(nbytes):
    body = bytes([nbytes & 255]) * nbytes
    data = bytes([0]) + nbytes.to_bytes(4, "little") + body
    return data + sha256(data).digest()


def spiffs(start):
    """The marks of a formatted file system, and three pages in use."""
    parts = [
        (start + i * 0x20000 + 4092, (0x1529 ^ (24 - i)).to_bytes(2, "little")) for i in range(24)
    ]
    return parts + [(start, b"\x01\x80\x01\x00\x00\x00\x02\x80")]


def found(m, *kinds):
    rows = [(r.start, r.end, r.name) for r in m.regions if not kinds or r.kind in kinds]
    return sorted(rows)


def test_an_image_two_models_and_the_gaps():
    face = model(9000)
    parts = [(0, image(3000)), (0x20000, face), (0x30000, face), (0x50000, b"stray")]
    m = Chip(SIZE, parts).scan(verify=True)
    end = 0x20000 + len(face)
    assert found(m, "firmware", "model") == [
        (0, 3037, "firmware"),
        (0x20000, end, "v3 model"),
        (0x30000, end + 0x10000, "v3 model"),
    ]
    assert found(m, "data") == [(0x50000, 0x51000, "unknown")]
    blank = [(3037, 0x20000), (end, 0x30000), (end + 0x10000, 0x50000), (0x51000, SIZE)]
    assert [(a, b) for a, b, _ in found(m, "free")] == blank
    assert m.regions[0].intact is True
    assert m.check() == []
    assert m.unread == [] and m.notes == []


def test_v4_models_have_their_walked_size():
    built = kmodel_build.v4((8, 8, 1), [("conv", 4)])
    m = Chip(1 << 18, [(0x10000, built.to_bytes() + b"\x55" * 5000)]).scan()
    end = 0x10000 + built.nbytes
    assert found(m, "model") == [(0x10000, end, "v4 model")]
    assert found(m, "data") == [(end, (end + 5000 + 4095) // 4096 * 4096, "unknown")]


def test_word_swapped_models_are_named():
    swapped = kmodel_build.swapped(kmodel_build.v3((8, 8, 1), [("conv", 4)]))
    m = Chip(1 << 18, [(0x10000, swapped.to_bytes())]).scan(gaps=False)
    assert [r.name for r in m.regions] == ["v3 model (word-swapped)"]


def test_a_model_inside_the_image_is_a_collision_and_the_hash_says_so():
    m = Chip(SIZE, [(0, image(0x12000)), (0x10000, model(4096))]).scan(verify=True, gaps=False)
    (c,) = m.conflicts()
    assert (c.kind, c.start, c.first.name, c.second.name) == (
        "overlap",
        0x10000,
        "firmware",
        "v3 model",
    )
    assert m.regions[0].intact is False
    text = str(raises(FlashOverlap, m.check))
    assert "SHA-256 does not match" in text and "gap_for" in text


def test_a_damaged_image_without_a_model():
    m = Chip(SIZE, [(0, image(5000)), (4000, b"\x00")]).scan(verify=True)
    assert m.conflicts() == []
    assert "is damaged" in str(raises(FlashOverlap, m.check))
    assert m.scan(Chip(SIZE, [(0, image(5000)), (4000, b"\x00")]).read).regions[0].intact is None


def test_the_file_system_is_told_by_its_marks():
    for size, start in ((16 << 20, 0xD00000), (8 << 20, 0x500000)):
        m = Chip(size, spiffs(start)).scan(offsets=(), gaps=False)
        assert found(m) == [(start, start + 0x300000, "SPIFFS")]
        assert m.regions[0].source == "formatted, 3 of 744 pages used"
    m = Chip(16 << 20, spiffs(0xD00000)[1:]).scan(offsets=(), gaps=False)
    assert m.regions[0].source == "23 of 24 blocks marked: a boot erases the other"
    m = Chip(16 << 20, [(0xD00000, model())]).scan(offsets=(0xD00000,), gaps=False)
    assert m.regions[0].source == "0 of 24 blocks marked: a boot formats it"
    assert [sorted((c.first.kind, c.second.kind)) for c in m.conflicts()] == [
        ["filesystem", "model"]
    ]


def test_kboot_is_named_and_its_apps_are_found():
    entry = (0x5AA5D0C1).to_bytes(4, "big") + (0x80000).to_bytes(4, "big") + bytes(24)
    lost = (0x5AA5D0C0).to_bytes(4, "big") + (0xF0000000).to_bytes(4, "big") + bytes(24)
    parts = [
        (0, image(2000)),
        (0x1009, b"Kboot_v1.4"),
        (0x4000, entry),
        (0x4020, lost),
        (0x80000, image(4000)),
    ]
    m = Chip(1 << 20, parts).scan(verify=True)
    assert found(m, "firmware", "config") == [
        (0, 0x1000, "Kboot stage 0"),
        (0x1000, 0x4000, "Kboot stage 1"),
        (0x4000, 0x6000, "Kboot config"),
        (0x80000, 0x80000 + 4037, "app 0"),
    ]
    assert m.notes == ["Kboot entry 1: no image at 0xf0000000"]
    assert [r.intact for r in m.regions if r.name == "app 0"] == [True]


def test_what_is_no_image_header():
    for head in (
        b"",
        b"\x04\x01\x00\x00\x00",
        bytes(5),
        b"\x00\x00\x00\xff\x7f",
        b"\x00\xdc\xff\x0f\x00",
    ):
        m = Chip(1 << 20, [(0, head)]).scan(offsets=(), gaps=False)
        assert m.notes == ["no firmware header at 0x000000"], head
        assert m.regions == []
    m = Chip(1 << 20, [(0, b"\x03\xdb\xff\x0f\x00")]).scan(offsets=(), gaps=False)
    assert found(m) == [(0, 1 << 20, "firmware")]


def test_a_model_burned_at_zero_is_found_and_is_no_firmware():
    face = model(5000)
    m = Chip(1 << 20, [(0, face)]).scan(gaps=False)
    assert found(m, "model") == [(0, len(face), "v3 model")]
    assert m.notes == ["no firmware header at 0x000000"]
    assert [(c.kind, c.start, c.end) for c in m.conflicts()] == [("firmware", 0, len(face))]
    assert (
        m.gap_for(4096) == 0xB0000
    )  # this chip ends below the place of models: behind the smallest firmware
    m = Chip(16 << 20, [(0, face)]).scan(offsets=(0,), gaps=False)
    assert m.gap_for(4096) == 0x300000
    assert "every official firmware" in str(raises(FlashOverlap, m.check))


def test_a_place_is_asked_for_with_whole_numbers():
    for nbytes, start in ((4096, -70000), (0, 0), (4096.5, 0)):
        e = raises(ValueError, FlashMap().gap_for, nbytes, start=start)
        assert str(nbytes) in str(e) and str(start) in str(e) and "Next: " in str(e), e


def test_what_cannot_be_read_is_told_and_not_fine():
    chip = Chip(SIZE, [(0, image(3000)), (0x20000, model())], bad=(0x20000, 0x28000))
    m = chip.scan(verify=True)
    assert [(a, b) for a, b, _ in m.unread] == [(0x20000, 0x28000)]
    assert "no memory" in str(raises(FlashOverlap, m.check))
    assert not [r for r in m.regions if r.end > 0x20000 and r.start < 0x28000]
    assert m.gap_for(0x10000, start=0x20000) == 0x28000


def test_a_chip_that_cannot_be_read_at_all():
    m = Chip(16 << 20, bad=(0, 16 << 20)).scan(verify=True)
    assert found(m) == [(0xD00000, 0x1000000, "SPIFFS")]
    assert m.regions[0].source == "its place, 24 of 24 blocks could not be read"
    assert m.notes == [] and 0 < len(m.unread) <= 4
    assert m.unread[-1][0] == 0 and m.unread[-1][1] >= 0xD00000
    assert m.gap_for(4096) is None
    lines = []
    assert m.report(lines.append) is False
    assert [text for text in lines if text.startswith("not read")]


def test_a_part_that_cannot_be_hashed_is_neither_right_nor_wrong():
    m = Chip(SIZE, [(0, image(9000))], bad=(8000, 8001)).scan(verify=True)
    assert m.regions[0].intact is None
    assert m.unread


def test_a_hash_that_cannot_be_read_is_no_verdict():
    m = Chip(SIZE, [(0, image(3000))], bad=(3005, 3006)).scan(verify=True, gaps=False)
    assert m.regions[0].intact is None and m.unread


def test_a_header_that_cannot_be_read_to_its_end_is_told():
    parts = [(0, image(3000)), (0x20000, model())]
    m = Chip(SIZE, parts, bad=(0x20010, 0x20040)).scan(gaps=False)
    assert found(m, "model") == []
    assert m.unread == [(0x20000, 0x20010, "no memory")]


def test_models_of_unknown_length_are_noted():
    v5 = b"LDMK\x05\x00\x00\x00\x20\x00\x00\x00" + bytes(100)
    m = Chip(SIZE, [(0, image(3000)), (0x20000, v5)]).scan(gaps=False)
    assert m.notes == ["v5b model at 0x020000: its length is not in its header"]
    assert m.report([].append) is False


def test_many_regions_are_bounded_and_told():
    parts = [(i * 8192, b"x") for i in range(128)]
    m = Chip(SIZE, parts).scan()
    assert len(m.regions) == 48
    assert "more than 48 regions" in m.unread[0][2]
    assert m.unread[-1][1] == SIZE


def test_reads_are_small():
    chip = Chip(SIZE, [(0, image(20000)), (0x20000, model(20000))])
    chip.scan(verify=True)
    assert chip.longest <= 1024


def test_scanning_again_keeps_what_was_given():
    face = model(9000)
    chip = Chip(SIZE, [(0, image(3000)), (0x20000, face)])
    m = FlashMap(SIZE)
    m.add("face", 0x20000, len(face), "model")
    m.add("mine", 0x40000, 10)
    for _ in range(2):
        m.scan(chip.read, gaps=False)
        assert found(m) == [
            (0, 3037, "firmware"),
            (0x20000, 0x20000 + len(face), "face"),
            (0x40000, 0x4000A, "mine"),
        ]
        assert m.check() == []


def test_the_report_is_narrow_and_complete():
    m = Chip(SIZE, [(0, image(0x12000)), (0x10000, model(4096))]).scan(verify=True)
    m.add("crooked", 0x60001, 10)
    lines = []
    assert m.report(lines.append) is False
    assert max([len(text) for text in lines]) <= 60
    text = "\n".join(lines)
    for word in ("SHA-256", "WRONG", "! firmware", "v3 model", "blank", "? crooked"):
        assert word in text, word
    lines = []
    good = Chip(SIZE, [(0, image(3000))]).scan(verify=True)
    assert good.report(lines.append) is True
    assert lines[0].startswith("0x000000..0x000bdd    2.9 KiB firmware")


def test_the_port_reads_when_no_reader_is_given():
    """On a board this reads the real chip: headers only, and the heap it borrows comes back."""
    import maixmem

    class Port:
        read_flash = Chip(16 << 20, [(0, image(3000))] + spiffs(0xD00000)).read

    before = maixmem.port()
    maixmem.set_port(Port())
    try:
        m = FlashMap().scan(offsets=(), gaps=False)
    finally:
        maixmem.set_port(before)
    assert [r.kind for r in m.regions] == ["firmware", "filesystem"]


def test_scanning_again_keeps_no_memory():
    if sys.implementation.name != "micropython":
        raise Skip("this interpreter does not count its heap")
    chip = Chip(1 << 18, [(0, image(3000)), (0x20000, model(9000))])
    m = FlashMap(1 << 18)
    kept = []
    for _ in range(6):
        m.scan(chip.read)
        gc.collect()
        kept.append(gc.mem_alloc())
    assert kept[5] - kept[1] < 256, (
        kept
    )  # a region is about 200 bytes, four scans would keep sixteen
