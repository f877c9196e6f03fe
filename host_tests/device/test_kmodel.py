# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The kmodel reader on models from the builder: what it finds, forecasts, refuses and rejects."""

import gc

import kmodel_build
import maixmem
import maixmem_kmodel
from devtest import DESK, SLOW, Skip, raises
from maixmem import KModelError
from maixmem_k210_chip import TRANSIENT
from maixmem_kmodel import read_info

V3ONLY = {"name": "V3", "v4": False, "ram": None}
BOTH = {"name": "both", "v4": True, "ram": None}
METHODS = ("load_path", "load_addr", "stream_single", "stream_dual", "canmv", "sdk")
SMALL = [("conv", 8), ("dequantize",), ("softmax",)]


def v3(**options):
    return kmodel_build.v3((28, 28, 1), SMALL, **options)


def v4(**options):
    return kmodel_build.v4((28, 28, 1), SMALL, **options)


class Counter:
    """A reader that counts, over a built model; flash goes on behind the file as 0xff."""

    def __init__(self, model):
        self.model = model
        self.taken = 0

    def read(self, offset, n):
        self.taken += n
        data = self.model.read(offset, n)
        return data + b"\xff" * (n - len(data))


def patched(model, offset, word):
    """The file with one 32-bit word replaced."""
    data = bytearray(model.to_bytes())
    for i in range(4):
        data[offset + i] = word >> 8 * i & 255
    return data


def rejected(data, *parts):
    """The text of the KModelError that data must give; it has to name all parts."""
    text = str(raises(KModelError, read_info, data))
    for part in parts:
        assert part in text, (part, text)
    return text


# --- what is found ---


def check(m, built):
    assert m.format == "v%d" % built.version
    assert m.nbytes == built.nbytes
    assert m.layers == built.layers
    assert m.main_mem == built.main_mem
    assert m.largest_body == built.largest_body
    assert m.header == built.header_bytes
    assert m.first_type == built.types[0]
    assert [t[2] for t in m.outputs] == built.outputs
    if built.version == 3:
        assert m.kpu_span == (32768 - built.max_start) * 64
    if built.types[0] in (10240, 0x2002):
        w, h, c = built.inputs[0]
        for shape, kind, nbytes in m.inputs:
            assert shape == (1, c, h, w)
            assert kind == "u8"
            assert nbytes >= w * h * c


def models():
    deep = [
        ("conv", 16, {"halve": True}),
        ("conv", 16, {"depthwise": True}),
        ("conv", 24, {"kernel": 1}),
    ]
    tail = [("dequantize",), ("resize", 5, 4), ("logistic",)]
    return [
        v3(),
        v3(outputs=3, main_mem=100000, short=True),
        kmodel_build.v3((320, 240, 3), deep + tail, trailing=8),
        kmodel_build.v3((1, 1, 4), [("fc", 10), ("fc", 3)]),
        kmodel_build.v3(
            (7, 7, 3), [("conv", 4), ("dequantize",), ("gap",), ("flatten",), ("l2",)]
        ),
        v4(),
        v4(outputs=2, inputs=2, constants=1000, reserved=239, trailing=997632),
        kmodel_build.v4((320, 240, 3), deep + tail, short=True),
        kmodel_build.v4((40, 30, 3), [("upload",), ("conv", 4), ("dequantize",)], target=0),
    ]


def test_finds_what_was_built_in_bytes_and_through_a_reader():
    for built in models():
        check(
            read_info(built.to_bytes()) if built.size < 60000 else read_info(0, built.read), built
        )
        check(
            read_info(0x300000, lambda offset, n, b=built: Counter(b).read(offset - 0x300000, n)),
            built,
        )
        gc.collect()


def test_word_swapped_models_read_the_same():
    for built in models():
        if built.size > 60000:
            continue
        twin = kmodel_build.swapped(built)
        m = read_info(twin.to_bytes())
        assert m.swapped
        check(m, built)
        gc.collect()


def test_reads_flash_through_the_port():
    class Port:
        def read_flash(self, offset, n):
            return Counter(built).read(offset - 0x400000, n)

    built = v3()
    maixmem.set_port(Port())
    try:
        m = read_info(0x400000)
    finally:
        maixmem.set_port(None)
    check(m, built)
    assert m.size is None
    assert m.need("load_path") == m.need("load_addr")
    last = maixmem_kmodel.File(Counter(built).read, 16, 0xFFFFF0)
    assert last.read(16, 4) == last.read(99, 4) == b""
    raises(ValueError, read_info, -1)
    raises(ValueError, read_info, 1 << 24)


def test_reads_a_path():
    try:
        import os

        name = "maixmem_test.kmodel"
        f = open(name, "wb")
    except (ImportError, NameError) as e:
        raise Skip("no files here: {}".format(e))
    built = v4()
    try:
        built.write(f)
        f.close()
        m = read_info(name)
    finally:
        os.remove(name)
    check(m, built)
    assert m.size == built.size
    raises(OSError, read_info, "no such.kmodel")


def test_other_formats_are_told_apart():
    def words(*values):
        return kmodel_build._words(*values) + bytes(64)

    ldmk = 0x4B4D444C
    for data, kind in (
        (words(ldmk, 5, 32, 0), "v5b"),
        (words(ldmk, 5, 0, 8), "v5a"),
        (words(ldmk, 6, 0, 8), "v6+"),
        (words(1, 1, 7, 0, 20), "v1"),
        (words(0x12345678, 16, 24, 1), "raw"),
        (words(10003, 4096), "smodel"),
        (b"LDMS" + words(4096), "smodel"),
        (b"LDME" + words(4096), "smodel"),
    ):
        m = read_info(data)
        assert m.format == kind, (m.format, kind)
        for how in METHODS:
            assert m.need(how) is None and m.peak(how) is None
            assert m.unsupported_reason(BOTH, how)
    assert read_info(words(1, 1, 7, 0, 20)).layers == 7
    assert read_info(words(10003, 4096)).nbytes == 4104


def test_what_is_no_model_says_what_it_is():
    rejected(
        b"version https://git-lfs.github.com/spec/v1\n", "offset 0x0", "identifier", "git lfs pull"
    )
    rejected(b"PK\3\4" + bytes(40), "zip")
    rejected(b"\x21\xa8\xef\xbe\xad\xde" + bytes(40), "firmware")
    rejected(b"\x00\x00\xff\x0a\x00\x21\xa8\xef\xbe\xad\xde" + bytes(40), "firmware")
    rejected(b"\xff" * 64, "blank")
    rejected(bytes(64), "0x0", "no model")
    rejected(b"GIF89a and more", "no model")
    rejected(b"", "shorter than that", "ends at 0")
    rejected(b"\3\0", "shorter than that")
    rejected(b"\3\0\0\0", "header", "shorter than that")


# --- the forecast ---


def test_need_is_what_the_firmware_allocates():
    """Figures of an instrumented run of the firmware's own loader."""
    for built, fixed in ((v3(trailing=8), 449), (v4(trailing=8), 737)):
        m = read_info(built.to_bytes())
        size, walk, arena, body = built.size, built.nbytes, built.main_mem, built.largest_body
        assert m.need("load_path") == size + arena + fixed
        assert m.need("load_addr") == walk + arena + fixed
        stream = 4545 + (288 if fixed == 737 else 0) + arena
        assert m.need("stream_single") == stream + body + 256
        assert m.need("stream_dual") == stream + 2 * (body + 256)
        assert m.need("canmv") == m.need("sdk") == size + arena + (232 if fixed == 737 else 0)
        for how in METHODS:
            kept = [n for n, kind in m.allocations(how) if not kind & TRANSIENT]
            assert m.need(how) == sum(kept)
            assert m.peak(how) >= m.need(how)
    raises(ValueError, m.need, "by hand")


def test_the_last_read_of_flash_takes_what_is_left():
    m = read_info(0, Counter(kmodel_build.v3((7, 7, 256), [("conv", 256)])).read)
    reads = [n for n, kind in m.allocations("load_addr") if kind & TRANSIENT]
    assert m.nbytes > 65536 and m.nbytes % 65536 > 0
    assert reads == [4 * n + 130 for n in (40, 65536, m.nbytes % 65536)]


def test_peak_has_the_buffer_of_the_flash_driver():
    m = read_info(kmodel_build.v3((8, 8, 1), [("conv", 8)]).to_bytes())
    assert m.peak("load_addr") == 1 + m.nbytes + 256 + 192 + 4 * m.nbytes + 130
    big = kmodel_build.v3((7, 7, 256), [("conv", 256)])
    m = read_info(0, Counter(big).read)
    assert m.nbytes > 65536
    assert m.peak("load_addr") == 1 + m.nbytes + 256 + 192 + 262274
    wide = kmodel_build.v4((28, 28, 1), SMALL, main_mem=2680384)
    m = read_info(0, Counter(wide).read)
    assert m.peak("load_addr") == m.need("load_addr") == 1 + m.nbytes + 256 + 192 + 288 + 2680384


def test_refusals_name_the_next_step():
    small, big = v3(), v4(main_mem=15974400)
    assert read_info(small.to_bytes()).unsupported_reason(V3ONLY) is None
    assert read_info(small.to_bytes()).unsupported_reason(V3ONLY, "load_path") is None
    for built, firmware, how, parts in (
        (v4(), V3ONLY, "load_addr", ("V4", "nncase 0.1")),
        (v4(), V3ONLY, "stream_single", ("V4",)),
        (big, BOTH, "load_addr", (str(big.nbytes + 737 + 15974400), "smaller model")),
        (big, BOTH, "sdk", (str(big.size + 232 + 15974400),)),
        (small, {"name": "x", "v4": True, "ram": 20000}, "load_addr", ("of 20000",)),
        (small, BOTH, "stream_single", ("word-swapped", "swapped copy")),
        (kmodel_build.swapped(small), BOTH, "load_addr", ("word-swapped", "load_flash")),
        (v4(constants=4000), BOTH, "stream_dual", ("4096", "kpu.load")),
        (
            kmodel_build.v3((4, 4, 3), [("flatten",), ("fc", 3)]),
            BOTH,
            "load_path",
            ("2007", "convolution"),
        ),
        (
            kmodel_build.v3((4, 4, 3), [("conv", 3), ("raw", 7, 64)]),
            BOTH,
            "load_path",
            ("type 7", "without"),
        ),
    ):
        why = read_info(built.to_bytes()).unsupported_reason(firmware, how)
        assert why, (firmware, how)
        for part in parts:
            assert part in why, (part, why)
    assert (
        read_info(kmodel_build.swapped(small).to_bytes()).unsupported_reason(BOTH, "stream_dual")
        is None
    )
    assert (
        read_info(kmodel_build.v3((1, 1, 4), [("fc", 3)]).to_bytes()).unsupported_reason(BOTH)
        is None
    )
    assert read_info(v4().to_bytes()).unsupported_reason(V3ONLY, "canmv") is None


# --- what is rejected ---


def test_tolerates_a_missing_pad_and_trailing_data():
    for built in (v3(), v4()):
        whole = built.to_bytes()
        for cut in range(8):
            assert read_info(whole[: len(whole) - cut]).nbytes == built.nbytes
        rejected(whole[: len(whole) - 8], "end of a body", "body")
        assert read_info(whole + b"\xa5" * 1000).nbytes == built.nbytes


def test_every_field_has_its_rule():
    n = 0xFFFFFFFF
    for built, offset, values, field in (
        (v3(), 8, (1, n), "arch"),
        (v3(), 12, (0, 1000, n), "layers_length"),
        (v3(), 16, (32769, n), "max_start"),
        (v3(), 24, (0, 100, n), "output_count"),
        (v3(), 28, (n,), "end of output"),
        (v3(), 32, (n,), "end of output"),
        (v3(), 36, (0, 26, 10244, n), "type of a layer"),
        (v3(), 40, (0, 268, n), "body_size"),
        (v4(), 4, (0, 3, 16, n), "version"),
        (v4(), 12, (2, n), "target"),
        (v4(), 24, (0, 1000, n), "nodes"),
        (v4(), 28, (0, 100, n), "inputs"),
        (v4(), 32, (0, 100, n), "outputs"),
        (v4(), 40, (3, n), "memory_type"),
        (v4(), 44, (2, n), "datatype"),
        (v4(), 48, (n, 2097152), "input end"),
        (v4(), 56, (0, 1 << 31, n), "shape"),
        (v4(), 80, (n,), "output end"),
        (v4(), 88, (21, 0x1000, 0x1006, 0x2003, n), "type of a layer"),
        (v4(), 92, (0, 268, n), "body_size"),
    ):
        for value in values:
            text = rejected(patched(built, offset, value), field)
            assert text.startswith("offset 0x"), text


def test_the_first_convolution_lies_in_its_body():
    built = v3()
    for value in (0, built.header_bytes + 20, built.header_bytes + built.largest_body, 0xFFFFFFFF):
        rejected(patched(built, built.header_bytes + 8, value), "layer_offset", "must be")


def test_a_file_may_end_anywhere():
    """Every prefix is a model or a KModelError; no other exception."""
    for built in (v3(), v4(constants=24), kmodel_build.swapped(v3())):
        whole = built.to_bytes()
        for n in range(0, len(whole) - 8, 1 if DESK else 5):
            raises(KModelError, read_info, whole[:n])
            if n % 64 == 0:
                gc.collect()


def test_counts_times_sizes_cost_nothing():
    """Huge counts are refused before anything of that size is read or allocated."""
    for built, offset in ((v3(), 12), (v3(), 24), (v4(), 24), (v4(), 28), (v4(), 32)):
        data = patched(built, offset, 0x7FFFFFFF)
        gc.collect()
        rejected(data, "must be")


# --- what reading costs ---


def long_models(part=1):
    """4 MB in 3 layers, 245 nodes behind constants, and as many layers as a reader takes; or the
    4th part of those."""
    yield kmodel_build.v3((7, 7, 512), [("conv", 512), ("conv", 512), ("dequantize",)])
    yield kmodel_build.v4(
        (28, 28, 1), [("conv", 8)] + [("raw", 14, 36)] * (244 // part), constants=20480
    )
    yield kmodel_build.v3((28, 28, 1), [("conv", 8)] + [("raw", 15, 16)] * (990 // part))


def test_reads_at_most_8_kib_of_any_model():
    for built in long_models():
        counter = Counter(built)
        check(read_info(0, counter.read), built)
        assert counter.taken <= 8192, counter.taken
        gc.collect()


def test_holds_at_most_4_kib_of_heap():
    """What is alive whenever the reader asks for bytes, above what was alive before; code not
    counted."""

    if not hasattr(gc, "mem_alloc"):
        raise Skip("this Python does not count allocations")
    import maixmem_kmodel_v4  # code: it stays, whatever an earlier test left in memory

    for built in long_models(4 if SLOW else 1):
        alive = [0]

        def read(offset, n, built=built, alive=alive):
            gc.collect()
            alive[0] = max(alive[0], gc.mem_alloc())
            return built.read(offset, n)

        read_info(0, read)
        gc.collect()
        before, alive[0] = gc.mem_alloc(), 0
        m = read_info(0, read)
        assert m.layers == built.layers
        assert 0 < alive[0] - before + 512 <= 4096, alive[0] - before
