# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads the headers of a K210 model and forecasts what loading it takes. Nothing is loaded.

    info = maixmem_kmodel.read_info("/flash/m.kmodel")       # or a flash address, or bytes
    info.unsupported_reason({"v4": False, "ram": None}) or info.peak("load_addr")

File layouts: the sources of nncase, of the Kendryte SDK and of MaixPy. Allocations: measured on
the firmware (v0.6.2_84).
"""

try:
    import ustruct as struct
except ImportError:
    import struct

from maixmem import KModelError, const, message, port, run_once
from maixmem_k210_chip import (
    FLASH_SIZE,
    HELD,
    SPI_EXTRA,
    TRANSIENT,
    UNCHECKED,
)

_SPI_CHUNK = const(65536)  # bytes of flash that the driver reads at once

_ENTRIES = const(1000)  # 8-byte entries of tables that a reader of 8 KiB can take
_STEP = const(32)  # entries of a table in memory at a time
_CONV = const(10240)

FORMATS = {
    3: "v3",
    0x4B4D444C: "v4",
    10003: "smodel",
    0x534D444C: "smodel",
    0x454D444C: "smodel",
    1: "v1",
    0x12345678: "raw",
}
# Smallest body of each layer type of V3 in words, 0: no such type. Types come in runs: ((first,
# how many)...), words.
KINDS3 = (
    ((0, 26), (_CONV, 4)),
    b"\0\5\16\1\1\5\1\1\17\20\1\6\6\104\4\4\3\3\10\1\6\1\11\11\5\4\104\4\4\6",
)
_ASSERTS = b"\3\4\6\7\12\23\25"  # V3 types without a kernel: running one stops the board


def begins_model(word: int) -> bool:
    """Whether a model of any kind begins with this word."""
    return word in FORMATS


def bad(offset: int, name: str, value: object, text: str) -> None:
    """Raises the KModelError that names all four: offset, field, value and rule."""
    raise KModelError("offset 0x{:x}: {} is {}, {}".format(offset, name, value, text))


def limit(offset: int, name: str, value: int, min: int, max: int) -> None:
    """Raises KModelError unless min <= value <= max."""
    if not min <= value <= max:
        bad(offset, name, value, "must be {} to {}".format(min, max))


# A source as little-endian 32-bit words; `swapped` turns each around. reader(offset, n) gives n
# bytes, the model begins at `start` there; words() brings at most 256 of its bytes into memory,
# and the tuple. `size` is that of the file; in flash what is left of 16 MiB.
class File:
    """The bytes of a model, wherever they are."""

    swapped = False

    def __init__(self, reader, size: int, start: int = 0) -> None:
        self.reader = reader
        self.size = size
        self.start = start

    def read(self, offset: int, n: int):
        """n bytes at offset, fewer at the end."""
        n = min(n, self.size - offset)
        return self.reader(self.start + offset, n) if n > 0 else b""

    def words(self, offset: int, n: int, name: str) -> "tuple[int, ...]":
        """The n words at offset. KModelError where the file ends before."""
        if self.swapped and offset & 3:
            bad(offset, name, "between words", "a word-swapped file has whole words")
        data = self.read(offset, 4 * n)
        if len(data) < 4 * n:
            bad(
                offset, name, "shorter than that", "the file ends at {}".format(offset + len(data))
            )
        return struct.unpack((">" if self.swapped else "<") + "I" * n, data)


# Made by identify() and read_info(); holds no file and never changes. In bytes unless told:
# format ("v3", "v4", "v5a", "v5b", "v6+", "v1", "raw", "smodel"), swapped (is it word-swapped),
# size (the file; None in flash, by read_info()), nbytes (headers and bodies, walked), header (what
# is before the bodies), layers (how many), main_mem, largest_body, kpu_span (KPU RAM from the
# lowest line in use up), first_type, asserts (a layer type that stops the board), inputs and
# outputs: lists of (shape or None, type or None, bytes). None: the file does not say, or is not
# read so far. plain: kpu.load can have nothing against it but its size, on any firmware.
class KModel:
    """One model: what it is, and what loading it takes."""

    nbytes = layers = main_mem = kpu_span = None  # type: int | None
    header = largest_body = first_type = asserts = None  # type: int | None
    plain = False
    inputs = outputs = None  # type: list[tuple]  # type: ignore[assignment]

    def __init__(self, kind: str, swapped: bool, size: "int | None") -> None:
        self.format = kind
        self.swapped = swapped
        self.size = size

    def allocations(
        self, method: str, file_buffer: int = 0, state: int = 192
    ) -> "list[tuple[int, int]]":
        """The mallocs of a load in order, [(bytes, TRANSIENT | HELD | UNCHECKED)]; [] where there
        is no load by this way.

        The methods: "load_path" and "load_addr" are kpu.load, "stream_single" and "stream_dual"
        kpu.load_flash with one and two buffers, "canmv" is CanMV's load_kmodel, "sdk" the SDK's
        kpu_load_kmodel. `file_buffer` is what the driver of the file system takes to read,
        `state` what the firmware keeps of a model that kpu.load read. Whether words are swapped
        is for unsupported_reason() to say: the figures are those of the same
        model in the order that this way wants."""
        v4 = self.format == "v4"
        if not v4 and self.format != "v3":
            return []
        whole = (self.nbytes if self.size is None or method == "load_addr" else self.size) or 0
        rest = [(288, 0)] * v4 + [(self.main_mem or 0, UNCHECKED if v4 else 0)]
        if method[:5] != "load_":
            return run_once("kmodel_mem", "allocations", self, method, whole, rest)
        first = read = [(file_buffer, TRANSIENT | UNCHECKED)][: file_buffer > 0]
        if method == "load_addr":
            # the headers are read first; those of a V4 model's layers as a table
            first = [_spi(40)]
            if v4:
                table = 8 * (self.layers or 0)
                first += [(table, TRANSIENT | HELD), _spi(table)]
            # the last read is a smaller one, and may leave the top of the heap larger
            read = [_spi(min(whole, _SPI_CHUNK)), _spi(whole % _SPI_CHUNK)]
        return [(1, 0)] + first + [(whole + 256, 0), (state, 0)] + read + rest

    def need(self, method: str) -> "int | None":
        """Bytes that stay allocated after a load, before the allocator rounds them up; or None."""
        return run_once("kmodel_mem", "need", self.allocations(method))

    def peak(self, method: str) -> "int | None":
        """Bytes that must be free for a load to succeed; or None."""
        return run_once("kmodel_mem", "peak", self.allocations(method))

    def unsupported_reason(self, firmware: dict, method: str = "load_addr") -> "str | None":
        """Why this model can never work there, and what to do: one sentence, or None.

        firmware: {"v4": does it load V4, "ram": bytes of system heap or None (unknown)}."""
        return run_once("kmodel_mem", "unsupported_reason", self, firmware, method)


def _spi(n):
    """The buffer that the flash driver takes to read n bytes."""
    return (4 * n + SPI_EXTRA, TRANSIENT | UNCHECKED)


def read_info(source, reader=None) -> KModel:
    """The KModel of a path, of a flash address or of a bytes-like object.

    Flash is read with reader(offset, n), or else by the port. Raises KModelError for what is no
    model or a damaged one. Reads at most 8 KiB, 256 bytes at a time."""
    if not isinstance(source, int):
        return run_once("kmodel_mem", "with_file", source, identify)
    if not 0 <= source < FLASH_SIZE:
        raise ValueError(message("address_beyond", source))
    m = identify(File(reader or port().read_flash, FLASH_SIZE - source, source))
    m.size = None
    return m


def identify(f: File) -> KModel:
    """The KModel of a File."""
    word = f.words(0, 1, "the identifier")[0]
    f.swapped = word not in FORMATS
    kind = FORMATS.get(f.words(0, 1, "the identifier")[0], "")
    if not kind:
        rule = run_once("text", "signature", word, f.read(5, 4))
        bad(0, "the identifier", "0x{:x}".format(word), rule)
    m = KModel(kind, f.swapped, f.size)
    if kind == "v3":
        _read_v3(m, f)
    else:
        run_once("kmodel_v4", "read", m, f)
    return m


def _read_v3(m, f):
    _, _, arch, m.layers, lowest, m.main_mem, outputs = f.words(0, 7, "the header")
    limit(8, "architecture", arch, 0, 0)
    limit(16, "max_start_address", lowest, 0, 32768)
    limit(24, "output_count", outputs, 1, 99)
    limit(12, "layers_length", m.layers, 1, _ENTRIES - outputs)
    m.kpu_span = (32768 - lowest) * 64
    m.outputs = []
    for at in range(28, 28 + 8 * outputs, 8):
        start, n = f.words(at, 2, "output header")
        limit(at, "end of output", start + n, 0, m.main_mem)
        m.outputs.append((None, None, n))
    size = walk(m, f, 28 + 8 * outputs, KINDS3)
    m.inputs = [(None, None, None)]
    if m.first_type == _CONV:
        m.plain = not (m.swapped or m.asserts)
        at = f.words(m.header, 3, "head of first body")[2]
        limit(m.header + 8, "layer_offset", at, m.header + 24, m.header + size - 96)
        c, _, sides = f.words(at + 16, 3, "first registers")
        c, w, h = (c & 1023) + 1, (sides & 1023) + 1, (sides >> 10 & 511) + 1
        m.inputs = [((1, c, h, w), "u8", w * h * c)]


def walk(m: KModel, f: File, table: int, kinds: tuple, visit=None) -> int:
    """Adds up the bodies by their headers at `table`; sets nbytes, header, largest_body, types.

    Tells visit(type, offset, size) of each body; returns the size of the first one."""
    layers = m.layers or 0
    m.header = at = table + 8 * layers
    largest = first = 0
    for i in range(layers):
        here = table + 8 * i
        if not i % _STEP:
            words = ()  # type: tuple  # the next ones may take its place
            words = f.words(here, 2 * min(_STEP, layers - i), "layer headers")
        kind, size = words[2 * (i % _STEP)], words[2 * (i % _STEP) + 1]
        low = _smallest(kind, kinds)
        if not low:
            bad(here, "type of a layer", kind, "no such type")
        limit(here + 4, "body_size of a layer", size, low, FLASH_SIZE)
        if not i:
            m.first_type, first = kind, size
        if kinds is KINDS3 and kind < 22 and kind in _ASSERTS:
            m.asserts = kind
        m.largest_body = largest = max(largest, size)
        if visit:
            visit(kind, at, size)
        at += size
        limit(here + 4, "end of a body", at, 0, f.size + 7)
    m.nbytes = at
    words = ()
    if not f.read(at - 8, 1):
        bad(at - 8, "the last body", "not there", "the file ends before it")
    return first


def _smallest(kind, kinds):
    """The least bytes of a body of this type, or 0."""
    at = 0
    for first, n in kinds[0]:
        if first <= kind < first + n:
            return 4 * kinds[1][at + kind - first]
        at += n
    return 0
