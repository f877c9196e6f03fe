# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""advise(): the texts that users really met, each with a step that cures it."""

from maixmem_advice import _TABLE, advise, find

LOAD = "[MAIXPY]kpu: load error:%d, %s"
NO_MEM = LOAD % (2006, "ERR_NO_MEM: memory not enough")
IMAGE = "Out of normal MicroPython Heap Memory! Please reduce the resolution of the image"
WORK = "Out of Memory! Please reduce the resolution of the image you are running this algorithm on"

# (error, a word that one of the steps must have)
CASES = (
    (ValueError(NO_MEM), "deinit"),
    (ValueError(NO_MEM), "minimum"),
    (ValueError(NO_MEM), "load_flash"),
    (ValueError("load error:6"), "deinit"),
    (MemoryError("Model buffer memory allocation failed"), "deinit"),
    (
        ValueError(LOAD % (2002, "ERR_KMODEL_VERSION: only support kmodel V3/V4 now")),
        "firmware ends",
    ),
    (ValueError(LOAD % (2002, "ERR_KMODEL_VERSION: only support kmodel V3")), "nncase 0.1"),
    (ValueError("[MAIXPY]kpu: load_flash error:2002, x"), "word-swapped"),
    (ValueError("load error:-2"), "firmware ends"),
    (ValueError(LOAD % (2003, "ERR_KMODEL_FORMAT: layer_header.body_size <=0")), "4096"),
    (ValueError(LOAD % (2005, "ERR_READ_FILE: read file failed")), "listdir"),
    (
        ValueError(LOAD % (2007, "ERR_GET_CONV_LAYER: first layer should be conv layer")),
        "convolution",
    ),
    (OSError("ERR_RUN_MODEL: maybe model dirty"), "input"),
    (
        ValueError(
            LOAD % (2009, "ERR_MODELS_FULL: we only support load 5 models in the same time")
        ),
        "gc.collect",
    ),
    (OSError("ERR_OUTPUTS_SET: need kpu.set_outputs() to set shape"), "set_outputs"),
    (ValueError(LOAD % (2015, "ERR_UNKNOWN")), "nncase 0.2"),
    (OSError(12), "sensor.reset"),
    ("OSError: [Errno 12] ENOMEM", "5*w*h"),
    (MemoryError(IMAGE), "ImagePool"),
    (MemoryError(WORK), "Hard reset"),
    (MemoryError("Too many fb_alloc! no space save! try again or reduce img size!"), "Hard reset"),
    (MemoryError("memory allocation failed, allocating 2006 bytes"), "set_gc_heap"),
    (MemoryError("memory allocation failed, heap is locked"), "schedule"),
    (ValueError("incompatible .mpy file"), "bytecode 4"),
    ("E (5423) SYSCALL: Out of memory", "262274"),
    ("core dump: fault load", "Reset the board"),
    ("nlr_jump_fail", "0xD00000"),
    ("GC heap size 6291456 is too large, reset GC heap size", "set_gc_heap"),
    (ValueError("[MAIXPY]kpu: check img format err!\r\n"), "pix_to_ai"),
    ("[MAIXPY]kpu: pix_ai is NULL!", "pix_to_ai"),
    (OSError("The new image won't fit in the target frame buffer!"), "ImagePool"),
    ("data should 4KiB align", "0x1000"),
    (RuntimeError("Not init!"), "sensor.reset"),
    (TypeError("[MAIXPY]kpu: kpu_net type error"), "list"),
    (TypeError("unsupported type for __hash__: 'kpu_net'"), "list"),
    (ValueError("[MAIXPY]kpu: model_addr must > 0 "), "above 0"),
    (ValueError("set_gc_heap(1000): below 65536. Next: 65536 or more."), "Next:"),
)


def quiet(line):
    pass


def test_every_known_text_has_its_cure():
    for error, word in CASES:
        steps = advise(error, quiet)
        assert [s for s in steps if word in s], (error, word, steps)


def test_every_row_is_met_by_a_case():
    met = [find(error)[0] for error, _ in CASES]
    missing = [meaning for _, meaning, _ in _TABLE if meaning not in met]
    assert missing == ["an encrypted model of another board"], missing
    assert find(LOAD % (2004, "ERR_DECRYPT: check smodel match with your board"))[0] == missing[0]


def test_the_table_is_well_formed():
    for keys, meaning, steps in _TABLE:
        assert isinstance(keys, tuple) and isinstance(steps, tuple), meaning


def test_steps_are_numbered_and_fit_sixty_columns():
    lines = []
    steps = advise(ValueError(NO_MEM), lines.append)
    assert max([len(x) for x in lines]) <= 60, lines
    for i in range(len(steps)):
        assert [x for x in lines if x.startswith("{}. ".format(i + 1))], lines
    assert lines[0].startswith("[MAIXPY]kpu: load error:2006")


def test_an_unknown_error_says_so():
    lines = []
    assert len(advise(RuntimeError("the moon is full"), lines.append)) == 2
    assert "not an error that maixmem knows" in lines[1]
    assert find("the moon is full") is None
