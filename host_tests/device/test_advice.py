# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""advise(): the texts that users really met, each with a step that cures it."""

import maixmem_advice
from devtest import SLOW, raises
from maixmem import FlashOverlap, KModelError, NoRoom, PoolEmpty, PoolError, message
from maixmem_advice import advise, find
from maixmem_known_k210 import known
from maixmem_text import say

HEAP = "3m"

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
        "FlashMap().scan().report()",
    ),
    (ValueError(LOAD % (2002, "ERR_KMODEL_VERSION: only support kmodel V3")), "nncase 0.1"),
    (ValueError("[MAIXPY]kpu: load_flash error:2002, x"), "Swap a file's words"),
    (ValueError("load error:-2"), "FlashMap().scan().report()"),
    (ValueError("load error:-3"), "FlashMap().scan().report()"),
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
    (MemoryError(WORK), "Reset hard"),
    (MemoryError("Too many fb_alloc! no space save! try again or reduce img size!"), "Reset hard"),
    (MemoryError("memory allocation failed, allocating 2006 bytes"), "set_gc_heap"),
    (MemoryError("memory allocation failed, heap is locked"), "schedule"),
    (RuntimeError("maximum recursion depth exceeded"), "stack_size"),
    (ValueError("incompatible .mpy file"), "bytecode 4"),
    ("E (5423) SYSCALL: Out of memory", "262274"),
    ("core dump: fault load", "Reset the board"),
    ("nlr_jump_fail", "0xD00000"),
    ("GC heap size 6291456 is too large, reset GC heap size", "set_gc_heap"),
    (ValueError("[MAIXPY]kpu: check img format err!\r\n"), "pix_to_ai"),
    (ValueError("[MAIXPY]kpu: check img format err!\r\n"), "sensor.set_windowing"),
    ("[MAIXPY]kpu: img w=320,h=240, but model w=224,h=224", "sensor.set_windowing"),
    ("[MAIXPY]kpu: RGB img, but model channel=1", "GRAYSCALE"),
    ("[MAIXPY]kpu: pix_ai is NULL!", "pix_to_ai"),
    (OSError("The new image won't fit in the target frame buffer!"), "ImagePool"),
    ("data should 4KiB align", "0x1000"),
    (RuntimeError("Not init!"), "sensor.reset"),
    (TypeError("[MAIXPY]kpu: kpu_net type error"), "list"),
    (TypeError("unsupported type for __hash__: 'kpu_net'"), "list"),
    (ValueError("[MAIXPY]kpu: model_addr must > 0 "), "above 0"),
    (ValueError(LOAD % (2001, "ERR_PARAM: please check param")), "above 0"),
    (OSError("ERR_PARAM: please check param, load address or kmodel file name"), "above 0"),
    (AttributeError("type object 'utils' has no attribute 'heap_free'"), "v0.6.2-84"),
    (AttributeError("'module' object has no attribute 'set_outputs'"), "report()"),
    (ImportError("can't import name utils"), "v0.6.2-84"),
    (TypeError("can't convert Image to int"), "v0.6.2-84"),
    # early firmware; rows that newer builds brought
    (ValueError("load error:2"), "FlashMap().scan().report()"),
    (ValueError("[MAIXPY]kpu: load error: -1"), "FlashMap().scan().report()"),
    (ValueError("[MAIXPY]kpu: load error -3"), "FlashMap().scan().report()"),
    (ValueError("load error:7"), "convolution"),
    (OSError("run error: 13"), "set_outputs"),
    (OSError(2014), "netinfo"),
    (ValueError("[MAIXPY]kpu: region_layer_init err!"), "maixmem fit"),
    (ValueError("[MAIXPY]kpu: alloc list mem err!"), "minimum"),
    (RuntimeError("Sensor timeout!"), "another sensor"),
    ("V (42) SYSCALL: misaligned load recovered at 8001e1a4. len:08", "went on"),
    ("MemoryError: ", "gc.collect"),
    (OSError(2), "listdir"),
    ("OSError: [Errno 2] ENOENT", "listdir"),
    (OSError(19), "SD card"),
    ("OSError: [Errno 19] ENODEV", "SD card"),
    (OSError(5), "listdir"),
    ("OSError: [Errno 5] EIO", "set_framesize"),
    (TypeError("not found sensor"), "sensor"),
    ("ModelManager: keep is 0. Next: 1 or more.", "behind Next:"),
    # what users of the board reported: too large a model; a freeze after switching YOLO models; no
    # room for frames beside a large firmware; no room to save a picture; copy_to_fb=True; a
    # snapshot before the camera was set up
    (ValueError(NO_MEM), "kpu.load_flash"),
    ("core dump: fault store", "v0.5.1-48"),
    (OSError(12), "minimum"),
    (MemoryError(WORK), "before models"),
    ("core dump: fault store", "copy_to_fb=True"),
    ("core dump: fault load", "snapshot()"),
)

# (error of this library, its first step, a word of the meaning or of another step)
OURS = (
    (
        NoRoom(
            say(
                "use('b'): loading takes 2629632 bytes of system heap, there are 2006000 and "
                "holes of 2001.",
                "maixmem.set_gc_heap(262144) and machine.reset(), or free models",
            ),
            "heap",
            2629632,
            2006000,
        ),
        "maixmem.set_gc_heap(262144) and machine.reset(), or free models",
        "kpu.load_flash",
    ),
    (
        say("net 'a': its model was released.", "take it again with use('a')"),
        "take it again",
        "refused",
    ),
    (
        say("loading takes 2006 bytes of cmm, with 0 to spare; 1 are free.", "release() a model"),
        "release() a model",
        "refused",
    ),
    (
        ValueError(message("cannot_run", "layer type 9 first never runs (2007): begin anew")),
        "layer type 9 first never runs (2007): begin anew",
        "refused",
    ),
    (
        NoRoom(
            say("2 of at most 2 models are resident, and pinned.", "release() one"), "slots", 1, 0
        ),
        "release() one",
        "refused",
    ),
    (
        PoolEmpty(message("acquire", 4, ["error:2006"])),
        "release one or pool more",
        "refused",
    ),
    (
        NoRoom(message("flash_room", 16514, 1), "heap", 16514, 1),
        "free a model first",
        "refused",
    ),
    (
        NoRoom(message("image_pool_room", 320, 240, "rgb565", 9, IMAGE), "gc", None, 9),
        "fewer, or pool them first",
        "refused",
    ),
    (
        NoRoom(
            say("arena: no piece of 20010 bytes; 2001 free.", "free a piece"), "arena", 20010, 1
        ),
        "free a piece",
        "refused",
    ),
    (
        FlashOverlap(say("a overlaps b: 200101 bytes, 0x200500..0x231205.", "put a at 0x300000")),
        "put a at 0x300000",
        "two owners",
    ),
    (
        ValueError(say("set_gc_heap(1000): below 65536.", "65536 or more")),
        "65536 or more",
        "refused",
    ),
    (
        PoolError(message("double")),
        "give back once",
        "Give back once",
    ),
    (
        message("stale", "error:2006", None),
        "give back once",
        "Give back once",
    ),
    (PoolError("no piece starts at 2006: freed already"), "Give back once", "another"),
    (
        KModelError("offset 0x2006: arch is 2003, must be 0 to 0"),
        "Check flash",
        "Flash it again",
    ),
    ("offset 0x2001: identifier is 0x2005, no model: check the address", "Check flash", "model"),
    (
        "a 0x200200..0x200600 overlaps b 0x200100..0x200500: 2006 bytes, 0x200200..0x200500",
        "Check flash",
        "gap_for",
    ),
    (FlashOverlap("too many ways to move the regions of this layout"), "Check flash", "gap_for"),
)


def quiet(line):
    pass


def table():
    """Each row of the K210's table as (keys, meaning, steps, whether it is of this library)."""
    rows, shared = known()
    found = []
    for row in rows:
        lines = row.split("\n")
        keys = []
        while lines[0][:1] == "|":
            keys += lines.pop(0)[1:].split("|")
        steps = [shared[int(x)] if x.isdigit() else x for x in lines[1:]]
        found.append((keys, lines[0].lstrip("!"), steps, lines[0][0] == "!"))
    return found


def of_maixpy():
    """The meanings of MaixPy's rows."""
    return [meaning for _, meaning, _, ours in table() if not ours]


def test_every_known_text_has_its_cure():
    for error, word in list(CASES)[:: 8 if SLOW else 1]:
        steps = advise(error, quiet)
        assert [s for s in steps if word in s], (error, word, steps)


def test_a_picture_of_another_size_is_not_said_to_lack_its_ai_copy():
    meaning, steps = find(ValueError("[MAIXPY]kpu: check img format err!\r\n"))
    assert "AI copy" not in meaning and "set_windowing" in steps[0], (meaning, steps)


def test_errors_of_this_library_give_their_own_next_step():
    for error, first, word in OURS:
        meaning, steps = find(error)
        assert steps[0].startswith(first), (error, steps)
        assert [s for s in (meaning,) + steps if word in s], (error, meaning, steps)
        assert meaning not in of_maixpy(), (error, meaning)
        assert tuple(advise(error, quiet)) == steps


def test_errors_as_the_library_raises_them():
    from maixmem_arena import Arena
    from maixmem_flash import FlashMap
    from maixmem_kmodel import read_info
    from maixmem_pool import BufferPool

    pool = BufferPool(2006, 1)
    chip = FlashMap()
    chip.add("a", 0x200100, 0x2005, "model")
    chip.add("b", 0x200100, 0x2006, "model")
    buf = pool.acquire()
    for kind, f, args, first in (
        (PoolEmpty, pool.acquire, (), "release one or pool more"),
        (PoolError, pool.release, (2006,), "give back what acquire(), take() or borrow() gave"),
        (NoRoom, Arena(2003).alloc, (20010,), "free a piece or make the arena larger"),
        (PoolError, Arena(2003).free, (2006,), "Give back once"),
        (ValueError, Arena(2003).alloc, (2006.5,), "divide with //"),
        (KModelError, read_info, (b"2006" * 500,), "Check flash"),
        (FlashOverlap, chip.check, (), "another address, such as gap_for(nbytes) finds"),
        (ValueError, chip.gap_for, (0,), "ints, 0 or more and 1 or more"),
    ):
        e = raises(kind, f, *args)
        meaning, steps = find(e)
        assert steps[0].startswith(first), (e, steps)
        assert meaning not in of_maixpy(), (e, meaning)
    pool.release(buf)


CODES = [2001, 2002, 2003, 2004, 2005, 2006, 2007, 2008, 2009, 2013, 2015]


def test_codes_are_codes_of_the_firmware_only():
    for code in CODES[:: 8 if SLOW else 1]:
        by_text = find(LOAD % (code, "x"))
        assert by_text and by_text == find(str(code))
        for text in ("{} bytes", "line {}", "0x{}", "a{}.py", "{}.kmodel"):
            assert find(text.format(code)) is None, text.format(code)


def test_codes_are_numbers_not_beginnings_of_numbers():
    for error in (OSError(121), OSError(57), OSError(190), OSError(22), "OSError: [Errno 121] x"):
        assert find(error) is None, (error, find(error))
    assert find(LOAD % (20060, "x")) is None and find("load error:66") is None
    assert find("OSError: 12")[0] == find(OSError(12))[0] == find("x [Errno 12] ENOMEM")[0]
    assert find(OSError("[Errno 5] EIO"))[0] == find(OSError(5))[0]


def test_a_refusal_that_the_manager_passed_on():
    what = "use('a'): the firmware refused it: load error:2006."
    e = NoRoom(say(what, "release() one"), "heap", 9, 1)
    e.code = 2006
    meaning, steps = find(e)
    assert meaning == find(ValueError(NO_MEM))[0]
    assert steps[0] == "release() one" and len(steps) > 1
    assert not [s for s in steps if "ModelManager" in s], steps
    e = KModelError(message("load", "load error:2002, x"))
    e.code = 2002
    assert find(e)[1][0].startswith("Check flash"), find(e)


def test_what_the_port_knows_of_its_runtime():
    import maixmem

    class Port:
        def advise(self, error):
            return "update the driver" if getattr(error, "code", 0) == -10 else None

    before = maixmem.set_port(None)
    try:
        maixmem.set_port(Port())
        e = RuntimeError("rknn_init")
        assert find(e) is None
        e = KModelError("rknn_init failed")
        e.code = -10
        assert find(e)[1] == ("update the driver",)
    finally:
        maixmem.set_port(before)


def test_every_row_is_met_by_a_case():
    met = [find(error)[0] for error, _ in CASES] + [find(error)[0] for error, _, _ in OURS]
    missing = [meaning for _, meaning, _, _ in table() if meaning not in met]
    assert missing == ["an encrypted model of another board"], missing
    assert find(LOAD % (2004, "ERR_DECRYPT: check smodel match with your board"))[0] == missing[0]


def test_every_text_leads_to_its_row():
    for keys, meaning, steps, _ in table()[:: 8 if SLOW else 1]:
        assert steps, meaning
        for key in keys:
            assert len(key) > 2
            text = key.replace("errno:", "[Errno ") if key[:6] == "errno:" else key
            assert find("x " + text + ", x")[0] == meaning, key


def test_the_table_does_not_stay():
    import sys

    advise(ValueError(NO_MEM), quiet)
    sys.modules.pop("maixmem_known_k210", None)
    advise(ValueError(NO_MEM), quiet)
    assert "maixmem_known_k210" not in sys.modules


def test_a_board_whose_table_is_not_there_says_what_the_error_says():
    import maixmem

    class Port:
        name = "k210"

    def run_once(name, function, *args):
        raise ImportError("no module named maixmem_" + name)

    before, found_by = maixmem.set_port(None), maixmem_advice.run_once
    try:
        maixmem.set_port(Port())
        maixmem_advice.run_once = run_once
        assert find(ValueError(NO_MEM)) is None
        found = find(KeyError(message("use", "a", "")))
        assert found == ("maixmem refused, and says why", ("add() it",))
    finally:
        maixmem_advice.run_once = found_by
        maixmem.set_port(before)


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
