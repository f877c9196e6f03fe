# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads the headers of a K210 model and forecasts what loading it takes. Nothing is loaded.

    info = maixmem_kmodel.read_info("/flash/m.kmodel")       # or a flash address, or bytes
    info.refuse({"v4": False, "ram": None}) or info.peak("load_addr")

File layouts: the sources of nncase, of the Kendryte SDK and of MaixPy. Allocations: measured on
the firmware (v0.6.2_84).
"""

from maixmem import KModelError, kib, port

try:
    from micropython import const
except ImportError:

    def const(n):
        return n


# The ways to load a model: kpu.load(path), kpu.load(address), kpu.load_flash with one and with two
# buffers, CanMV's load_kmodel, the SDK's kpu_load_kmodel
HOWS = ("load_path", "load_addr", "stream_single", "stream_dual", "canmv", "sdk")

_FLASH = const(0x1000000)  # an address has 24 bits
_RAM = const(0x600000)  # all the RAM of a K210
_KPU_RAM = const(0x200000)
_HEADERS = const(4096)  # what kpu.load_flash keeps of a file, trusting that it holds all headers
_ENTRIES = const(1000)  # 8-byte entries of tables that a reader of 8 KiB can take
_STEP = const(256)  # bytes of a table in memory at a time
_SPI_CHUNK = const(65536)  # of flash that the driver reads at once, into four bytes for each
_SPI_EXTRA = const(130)  # and what it adds
_CONV = const(10240)

_FORMATS = {
    3: "v3",
    0x4B4D444C: "v4",
    10003: "smodel",
    0x534D444C: "smodel",
    0x454D444C: "smodel",
    1: "v1",
    0x12345678: "raw",
}
_ALIENS = {
    0x73726576: "a Git-LFS pointer: fetch the file with git lfs pull",
    0x04034B50: "a zip or kfpkg: burn it or unpack it",
    0xBEEFA821: "firmware: models go behind it, often at 0x300000",
    0xFFFFFFFF: "blank flash: burn a model or check the address",
}
# Smallest body of each layer type in words, 0: no such type. Types come in runs: ((first, how
# many)...), words.
KINDS3 = (
    ((0, 26), (_CONV, 4)),
    b"\0\5\16\1\1\5\1\1\17\20\1\6\6\104\4\4\3\3\10\1\6\1\11\11\5\4\104\4\4\6",
)
KINDS4 = (
    ((0, 21), (0x1001, 5), (0x2001, 2)),
    b"\33\7\10\12\14\26\12\22\32\10\20\13\20\35\11\10\14\42\14\10\10\10\10\10\10\10\14\104",
)
_ASSERTS = b"\3\4\6\7\12\23\25"  # V3 types without a kernel: running one stops the board
_TYPES = ("f32", "u8")


def bad(offset, field, value, rule):
    """Raises the KModelError that names all four."""
    raise KModelError("offset 0x{:x}: {} is {}, {}".format(offset, field, value, rule))


# A source as numbered 32-bit words. load() brings a piece of at most _STEP bytes into memory (the
# only allocation), word(i) reads one word of it. size is the length of the file; in flash what is
# left of 16 MiB. It owns the file that it opened, until close(). `swapped` turns words around.
class File:
    """The bytes of a model, wherever they are."""

    def __init__(self, source, reader):
        self.file = self.view = self.reader = None
        self.base = 0
        self.swapped = False
        self.window = b""
        if isinstance(source, str):
            self.file = open(source, "rb")
            self.size = self.file.seek(0, 2)
        elif isinstance(source, int):
            if not 0 <= source < _FLASH:
                raise ValueError("flash address {} is not below 16 MiB".format(source))
            self.base = source
            self.size = _FLASH - source
            self.reader = reader or port().read_flash
        else:
            self.view = memoryview(source)
            self.size = len(self.view)

    def fetch(self, offset, n):
        """At most n bytes at offset: fewer at the end."""
        n = min(n, self.size - offset)
        if n <= 0:
            return b""
        if self.file:
            self.file.seek(offset)
            return self.file.read(n)
        if self.view is not None:
            return bytes(self.view[offset : offset + n])
        return self.reader(self.base + offset, n)

    def load(self, offset, n, field):
        """Makes the n bytes at offset the window."""
        if self.swapped and offset & 3:
            bad(offset, field, "between words", "a word-swapped file has whole words")
        self.window = self.fetch(offset, n)
        end = offset + len(self.window)
        if end < offset + n:
            bad(offset, field, "cut short", "the file ends at {}".format(end))

    def word(self, i):
        """The i-th 32-bit word of the window."""
        b = self.window
        i *= 4
        if self.swapped:
            return b[i] << 24 | b[i + 1] << 16 | b[i + 2] << 8 | b[i + 3]
        return b[i] | b[i + 1] << 8 | b[i + 2] << 16 | b[i + 3] << 24

    def close(self):
        """Closes the file that it opened; nothing else to give back."""
        if self.file:
            self.file.close()


# Made by identify() and read_info(); holds no file and never changes. In bytes unless told:
# format ("v3", "v4", "v5a", "v5b", "v6+", "v1", "raw", "smodel"), swapped (is it word-swapped),
# size (the file; None in flash), nbytes (headers and bodies, walked), header (what is before the
# bodies), layers (how many), main_mem, largest_body, kpu_span (KPU RAM from the lowest line in use
# up), first_type, asserts (a layer type that stops the board), inputs and outputs: lists of
# (shape or None, type or None, bytes). None: the file does not say, or is not read so far.
class KModel:
    """One model: what it is, and what loading it takes."""

    def __init__(self, kind, swapped, size):
        self.format = kind
        self.swapped = swapped
        self.size = size
        self.nbytes = self.layers = self.main_mem = self.kpu_span = None
        self.header = self.largest_body = self.first_type = self.asserts = None
        self.inputs = self.outputs = None

    def pieces(self, how):
        """The mallocs of a load in order, [(bytes, passing)]; a passing one is freed at once.

        None: no load by this way. Whether words are swapped is for refuse() to say: the figures
        are those of the same model in the order that this way wants."""
        if how not in HOWS:
            raise ValueError("no way to load: " + how)
        if self.format not in ("v3", "v4"):
            return None
        whole = self.nbytes if self.size is None or how == "load_addr" else self.size
        library = how in ("canmv", "sdk")
        rest = [self.main_mem] if self.format == "v3" else [232 if library else 288, self.main_mem]
        if library:
            sizes = [whole] + rest
        elif how == "load_path":
            sizes = [1, whole + 256, 192] + rest
        elif how == "load_addr":
            sizes = [1, whole + 256, -4 * min(whole, _SPI_CHUNK) - _SPI_EXTRA, 192] + rest
        elif self.header > _HEADERS:
            return None
        else:
            buffers = 2 if how == "stream_dual" else 1
            sizes = [1, 192, 4352] + rest + [self.largest_body + 256] * buffers
        return [(abs(n), n < 0) for n in sizes]

    def need(self, how):
        """Bytes that stay allocated after a load, before the allocator rounds them up; or None."""
        pieces = self.pieces(how)
        return pieces and sum([n for n, passing in pieces if not passing])

    def peak(self, how):
        """Bytes that must be free for a load to come through; or None."""
        pieces = self.pieces(how)
        live = top = 0
        for n, passing in pieces or ():
            top = max(top, live + n)
            live += 0 if passing else n
        return pieces and top

    def refuse(self, firmware, how="load_addr"):
        """Why this model can never work there, and what to do: one sentence, or None.

        firmware: {"v4": does it load V4, "ram": bytes of system heap or None (unknown)}."""
        peak = self.peak(how)
        stream = how.startswith("stream")
        kind = self.format
        if kind == "smodel":
            return "encrypted for one board: use the plain .kmodel"
        if kind not in ("v3", "v4"):
            return "{}: refused or crashes, so compile it with nncase 0.1 or 0.2".format(kind)
        if kind == "v4" and not firmware["v4"] and how not in ("canmv", "sdk"):
            return "V4 on a V3 build: use one with V4, or compile with nncase 0.1"
        if stream and not peak:
            return "headers of {} bytes, load_flash keeps 4096: use kpu.load".format(self.header)
        if stream and not self.swapped:
            return "not word-swapped: load_flash needs a swapped copy"
        if self.swapped and not stream:
            return "word-swapped: use load_flash, or swap it back"
        if self.asserts:
            return "layer type {} stops the board: compile without it".format(self.asserts)
        first = self.first_type
        if kind == "v3" and first not in (_CONV, 18):
            return "layer type {} first never runs (2007): begin with a convolution".format(first)
        ram = _RAM if firmware["ram"] is None else firmware["ram"]
        if peak > ram:
            return "takes {} of {}: use a smaller model or firmware".format(kib(peak), kib(ram))
        return None

    def warnings(self):
        """What is worth knowing and stops no load: a list of text."""
        if self.format == "v4":
            return ["V4: call kpu.set_outputs() before forward(), and load_flash leaks 4352 bytes"]
        return []


def read_info(source, reader=None):
    """The KModel of a path, of a flash address or of a bytes-like object.

    Flash is read with reader(offset, n), or else by the port. Raises KModelError for what is no
    model or a damaged one. Reads at most 8 KiB, 256 bytes at a time."""
    f = File(source, reader)
    try:
        return identify(f)
    finally:
        f.close()


def identify(f):
    """The KModel of a File, which stays open."""
    f.load(0, 4, "identifier")
    word = f.word(0)
    f.swapped = word not in _FORMATS
    kind = _FORMATS.get(f.word(0))
    if not kind:
        if f.fetch(5, 4) == b"\x21\xa8\xef\xbe":  # in flash an image has its length before it
            word = 0xBEEFA821
        rule = _ALIENS.get(word, "no model: check the address")
        bad(0, "identifier", "0x{:x}".format(word), rule)
    f.load(0, 12, "header")
    m = KModel(kind, f.swapped, None if f.reader else f.size)
    if kind == "v3":
        _read_v3(m, f)
    elif kind == "v4":
        _read_ldmk(m, f)
    elif kind == "smodel":
        m.nbytes = f.word(1) + 8
    else:
        m.layers = f.word(2 if kind == "v1" else 1)
    return m


def limit(offset, field, value, low, high):
    """Raises KModelError unless low <= value <= high."""
    if not low <= value <= high:
        bad(offset, field, value, "must be {} to {}".format(low, high))


def _read_v3(m, f):
    f.load(0, 28, "header")
    m.layers, lowest, m.main_mem, outputs = f.word(3), f.word(4), f.word(5), f.word(6)
    limit(8, "arch", f.word(2), 0, 0)
    limit(16, "max_start", lowest, 0, 32768)
    limit(24, "output_count", outputs, 1, 99)
    limit(12, "layers_length", m.layers, 1, _ENTRIES - outputs)
    m.kpu_span = (32768 - lowest) * 64
    m.outputs = []
    for i in range(outputs):
        at = 28 + 8 * i
        f.load(at, 8, "output")
        limit(at, "output end", f.word(0) + f.word(1), 0, m.main_mem)
        m.outputs.append((None, None, f.word(1)))
    size = walk(m, f, 28 + 8 * outputs, KINDS3)
    m.inputs = [_first_conv(m, f, size)]


def _first_conv(m, f, size):
    """The input as the first layer has it, when that is a convolution."""
    if m.first_type != _CONV:
        return (None, None, None)
    f.load(m.header, 12, "first body")
    at = f.word(2)
    limit(m.header + 8, "layer_offset", at, m.header + 24, m.header + size - 96)
    f.load(at + 16, 16, "registers")
    c, w, h = (f.word(0) & 1023) + 1, (f.word(2) & 1023) + 1, (f.word(2) >> 10 & 511) + 1
    return ((1, c, h, w), "u8", w * h * c)


def _read_ldmk(m, f):
    version = f.word(1)
    limit(4, "version", version, 4, 15)
    if version == 4:
        _read_v4(m, f)
    else:
        m.format = "v6+" if version > 5 else "v5b" if f.word(2) else "v5a"


def _read_v4(m, f):
    f.load(0, 40, "header")
    constants, m.main_mem, m.layers, inputs, outputs = [f.word(i) for i in range(4, 9)]
    limit(12, "target", f.word(3), 0, 1)
    limit(28, "inputs", inputs, 1, 99)
    limit(32, "outputs", outputs, 1, 99)
    limit(24, "nodes", m.layers, 1, _ENTRIES - 4 * inputs - 2 * outputs)
    limits = (constants, m.main_mem, _KPU_RAM)
    m.inputs, m.outputs = [], []
    for i in range(inputs):
        kind, size = _range4(f, 40 + 16 * i, "input", limits)
        at = 40 + 16 * (inputs + i)
        f.load(at, 16, "shape")
        shape = (f.word(0), f.word(1), f.word(2), f.word(3))
        for n in shape:
            limit(at, "shape", n, 1, 0x7FFFFFFF)
        m.inputs.append((shape, kind, size))
    at = 40 + 32 * inputs
    for i in range(outputs):
        kind, size = _range4(f, at + 16 * i, "output", limits)
        m.outputs.append((None, kind, size))
    walk(m, f, at + 16 * outputs + constants, KINDS4)


def _range4(f, at, field, limits):
    f.load(at, 16, field)
    limit(at, field + " memory_type", f.word(0), 0, 2)
    limit(at + 4, field + " datatype", f.word(1), 0, 1)
    limit(at + 8, field + " end", f.word(2) + f.word(3), 0, limits[f.word(0)])
    return _TYPES[f.word(1)], f.word(3)


def _smallest(kind, kinds):
    at = 0
    for first, n in kinds[0]:
        if first <= kind < first + n:
            return 4 * kinds[1][at + kind - first]
        at += n
    return 0


def walk(m, f, table, kinds, visit=None):
    """Adds up the bodies by their headers at `table`; sets nbytes, header, largest_body, types.

    Tells visit(type, offset, size) of each body; returns the size of the first one."""
    m.header = at = table + 8 * m.layers
    m.largest_body = 0
    for i in range(m.layers):
        here = table + 8 * i
        k = 8 * i % _STEP // 4
        if not k:
            f.load(here, min(_STEP, m.header - here), "layer headers")
        kind, size = f.word(k), f.word(k + 1)
        low = _smallest(kind, kinds)
        if not low:
            bad(here, "layer type", kind, "no such type")
        limit(here + 4, "body_size", size, low, _FLASH)
        if not i:
            m.first_type, first = kind, size
        if kinds is KINDS3 and kind < 22 and kind in _ASSERTS:
            m.asserts = kind
        m.largest_body = max(m.largest_body, size)
        if visit:
            visit(kind, at, size)
        at += size
        limit(here + 4, "end of body", at, 0, f.size + 7)
    m.nbytes = at
    if not f.fetch(at - 8, 1):
        bad(at - 8, "last body", "missing", "the file ends before it")
    return first
