# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What to do about an error of MaixPy or of this library: its text, in words, with next steps.

    try:
        net = kpu.load(0x300000)
    except Exception as e:
        maixmem_advice.advise(e)

Tables, loaded only when asked. Texts and causes as measured on the firmware and found in users'
reports.
"""

from maixmem import KModelError, NoRoom, port, run_once

_MINIMUM = "Smaller firmware: v0.6.2_84 minimum leaves 4.5 MiB at boot, full 2.3."
_DEINIT = "Free a model: kpu.deinit(net), del net, gc.collect(). ModelManager does it."
_BIG_GC = "Larger GC heap, less for models: maixmem.set_gc_heap(1048576), machine.reset()."
_POOL = "Make images once: maixmem_pool.ImagePool."
_STREAM = "Or kpu.load_flash streams it, slower: word-swapped in flash."
_ASK = "Ask first: maixmem_kmodel.read_info(source)."
_ADDRESS = "What is where: maixmem_flash.FlashMap().scan().report()."
_FLASH = "Flash it again, behind the firmware, at a multiple of 4096."
_FILE = "Check the path: uos.listdir('/sd') or '/flash', where names have no folders."
_CARD = "Put the SD card in, then reset."
_CAMERA = "sensor.reset(), set_pixformat(), set_framesize(), run(1), in order. Cable?"

# ("texts|that|identify it", what it means, next steps); the first row that matches counts.
# "error:N" is a code of the KPU and "errno:N" one of OSError: they match as numbers, wherever the
# error has them; the other texts as parts of it. Errors of this library: what follows "Next:" in
# the text is the first step, and no row of MaixPy's is looked at.
_OURS = (
    ("system heap, there", "no room for this model: refused in time", (_STREAM, _MINIMUM)),
    (
        "PoolError|release: |no piece starts at|damaged: ",
        "given back twice, or to another",
        ("Give back once what acquire(), take() or alloc() returned.",),
    ),
    ("KModelError|offset 0x", "no model is here, or a damaged one", (_ADDRESS, _FLASH)),
    (
        "FlashOverlap| overlaps |every official firmware|erases whole|64 KiB frames",
        "flash bytes with two owners",
        (_ADDRESS, "gap_for(nbytes) of that map: a free address."),
    ),
)
_TABLE = (
    (
        "incompatible .mpy",
        "a .mpy file for another MicroPython",
        ("MaixPy loads bytecode 4: `maixmem build`, or copy the .py.",),
    ),
    (
        "Out of normal MicroPython Heap",
        "the GC heap has no block for an image",
        (
            "RGB565 takes 2*w*h bytes, its AI copy 3*w*h more.",
            "Drop images, gc.collect(); see maixmem.report().",
            _POOL,
            _BIG_GC,
        ),
    ),
    (
        "Please reduce the resolution|Too many fb_alloc",
        "no system heap for its work buffer (700 KiB to save or compress)",
        ("Do it before models are loaded, or free one.", "Hard reset: it leaked.", _MINIMUM),
    ),
    (
        "heap is locked",
        "no allocation here (heap_lock, interrupt)",
        ("Allocate before; in a callback: micropython.schedule().",),
    ),
    (
        "memory allocation failed, alloc|alloc list mem err",
        "the GC heap has no block of that size",
        ("gc.collect(); maixmem.report() shows the largest block.", _POOL, _BIG_GC),
    ),
    (
        "SYSCALL: Out of memory|core dump|fault load|fault store",
        "the system heap ran out, or freed memory was used",
        (
            "Reset the board: nothing can catch this.",
            _ASK + " ModelManager refuses in time.",
            "A load from an address takes 262274 bytes more.",
            "Or pix_to_ai() on what copy() gave: use ImagePool.",
            "Or copy_to_fb=True (give an image), snapshot() without camera.",
            "Or YOLO models on firmware before v0.5.1-48: update.",
            _CAMERA,
            _MINIMUM,
        ),
    ),
    (
        "nlr_jump_fail",
        "the GC heap is too small to boot",
        ("Erase 0xD00000 to 0x1000000 with kflash.",),
    ),
    (
        "is too large, reset GC heap|GC size 128k",
        "too large a GC heap: 128 KiB are active",
        ("maixmem.set_gc_heap() a smaller one, machine.reset().",),
    ),
    (
        (
            "bute 'heap_free|bute 'flash_read|import name utils|bute 'load_flash|bute "
            "'set_outputs|Image to int"
        ),
        "a call that this firmware does not have",
        ("MaixPy v0.6.2-84 has it.", "maixmem does without: report() says what is missing."),
    ),
    (
        "error:2001|ERR_PARAM|model_addr must|only accept int|model format don't",
        "no address, no model path, or a freed model",
        ("An address above 0 as an int, or a path with .kmodel in it.",),
    ),
    (
        "error:2002|error:-2|error:-3|ERR_KMODEL_V",
        "no model here that this build can load",
        (
            _ADDRESS,
            "Blank, a Git LFS pointer, firmware over it, V4 on a V3 build look the same.",
            "'only support kmodel V3': no V4 here; convert with nncase 0.1.",
            "load_flash wants the file word-swapped.",
        ),
    ),
    (
        "error:2003|ERR_KMODEL_F|model size err",
        "a model with wrong sizes: overwritten, cut, or V5",
        (_ASK, _ADDRESS, _FLASH),
    ),
    (
        "error:2004|ERR_DECRYPT",
        "an encrypted model of another board",
        ("Get the smodel of this board, or the kmodel.",),
    ),
    (
        "error:2005|ERR_READ_FILE",
        "the model file cannot be read",
        (_FILE, _CARD),
    ),
    (
        "error:2006|error:6|ERR_NO_MEM|odel buffer memory alloc",
        "the system heap has no room for this model",
        (
            _ASK,
            _DEINIT,
            _MINIMUM,
            "Smaller GC heap: maixmem.set_gc_heap(262144), machine.reset().",
            _STREAM,
            "Smaller camera frames.",
        ),
    ),
    (
        "error:2007|ERR_GET_CONV|first layer not conv",
        "the first layer cannot run on the KPU",
        ("Begin it with a convolution; for load_flash swap its words.",),
    ),
    (
        "error:2008|ERR_RUN_MODEL|maybe dirty",
        "a damaged model, or an input that does not fit",
        ("Check input size and channels.", _FLASH),
    ),
    (
        "error:2009|ERR_MODELS_FULL",
        "all five model slots are taken, maybe by an earlier run",
        (_DEINIT, "gc.collect(), else Ctrl-D (soft reset).", "Load once, outside the loop."),
    ),
    (
        "error:2013|OUTPUTS_SET|IDX_OUTRANGE|SIZE_NOTMATCH",
        "a V4 model does not know the shapes of its outputs",
        ("kpu.set_outputs(net, i, w, h, ch) after each load; w*h*ch*4 bytes.", _ASK),
    ),
    (
        "error:2015|ERR_UNKNOWN",
        "V5 or V6, of nncase 1.0 or later: cannot run here",
        ("Convert with nncase 0.2 (V4) or 0.1 (V3).",),
    ),
    (
        "check img format|, but model",
        "not the picture that the model takes; the line before says why",
        (
            "img w=.., but model w=..: the model's size, say sensor.set_windowing((224, 224)).",
            "pix_ai is NULL: img.pix_to_ai() first.",
            "model channel: 3 is sensor.RGB565, 1 is GRAYSCALE.",
        ),
    ),
    (
        "pix_ai is NULL|use pix_to_ai",
        "the image has no AI copy",
        (
            "img.pix_to_ai() first; it returns None.",
            "Never on what copy() or crop() returned: it hangs. " + _POOL,
        ),
    ),
    (
        "won't fit in the target",
        "the target image is too small, or a copy shrunk it",
        ("One target per size.", _POOL),
    ),
    (
        "ENOMEM|errno:12",
        "no system heap for camera frames or a driver",
        (
            "sensor.reset() before trying again.",
            "Camera before models: 5*w*h bytes, twice that with dual_buff.",
            _DEINIT,
            _MINIMUM,
        ),
    ),
    ("ENOENT|errno:2", "no such file", (_FILE, _CARD)),
    ("ENODEV|errno:19", "no SD card", (_CARD,)),
    (
        "errno:5|Reset Failed|not found sensor|Sensor timeout|Not init!",
        "the camera was not set up (EIO: or no such file)",
        (_CAMERA, _FILE),
    ),
    (
        "4KiB align|align with 4KiB",
        "flash tools want multiples of 4096",
        ("The next 0x1000: `maixmem flash FILE@ADDR`.",),
    ),
    (
        "kpu_net type error|kpu_net'",
        "no model; and models cannot be changed or hashed",
        ("Pass what kpu.load returned; keep models in a list.",),
    ),
)


def _own_step(text):
    for mark in ("Next: ", "cannot run here: "):
        at = text.find(mark)
        if at >= 0:
            step = text[at + len(mark) :].split(". ")[0].rstrip(".\"'")
            return None if "advise(" in step else step
    return None


def _number(text):
    """The number that text begins with, as text; "" where it begins with none."""
    n = 1 if text[:1] == "-" else 0
    while text[n : n + 1].isdigit():
        n += 1
    return text[:n] if text[:n] != "-" else ""


def _codes(error, text):
    """The codes of an error, as "error:N" and "errno:N"."""
    found = []
    if getattr(error, "code", None) is not None:
        found.append("error:{}".format(error.code))
    if isinstance(error, OSError) and error.args:
        found.append("errno:{}".format(error.args[0]))
    for mark, kind in (
        ("error:", "error:"),
        ("[Errno ", "errno:"),
        ("OSError(", "errno:"),
        ("OSError: ", "errno:"),
    ):
        at = text.find(mark)
        if at >= 0 and _number(text[at + len(mark) :]):
            found.append(kind + _number(text[at + len(mark) :]))
    if text.isdigit():
        found.append("error:" + text)
    return found


def _meets(key, text, codes):
    return key in codes if key[:6] in ("error:", "errno:") else key in text


def find(error: "BaseException | str") -> "tuple | None":
    """(meaning, steps) of an exception or its text; None when it is not known.

    The step that a message of this library names comes first. What the port knows of its runtime's
    codes counts too.
    """
    text = "{}".format(error)
    step = _own_step(text)
    codes = _codes(error, text)
    ours = isinstance(error, (NoRoom, KModelError))
    if not isinstance(error, str) and not ours:
        text += " {!r}".format(error)
    coded = ours and getattr(error, "code", None) is not None
    for keys, meaning, steps in _OURS if step and not coded else _OURS + _TABLE:
        for key in keys.split("|"):
            if _meets(key, text, codes):
                if coded:  # the manager said it: not its own remedies again
                    steps = tuple([x for x in steps if x not in (_DEINIT, _ASK)])
                return meaning, (step,) + steps if step else steps
    if step:
        return "maixmem refused, and says why", (step,)
    return _of_the_port(error)


def _of_the_port(error):
    """What the port says about a code of its runtime (RKNN, Ascend, MaixCAM), or None."""
    try:
        says = getattr(port(), "advise", None)
    except ImportError:
        return None
    text = says(error) if says else None
    return ("the runtime refused", (text,)) if text else None


def advise(error: "BaseException | str", out=print) -> "list[str]":
    """Prints what an exception (or its text) means and numbered next steps; returns the steps as a
    list.

    `out` takes one line of text, at most 60 columns. An error that is not known: two general
    steps.
    """
    meaning, steps = find(error) or (
        "not an error that maixmem knows",
        ("maixmem.report() shows the memory.", _ASK),
    )
    lines = ["{}. {}".format(i + 1, step) for i, step in enumerate(steps)]
    run_once("report", "show", ["{}".format(error).strip(), "= " + meaning] + lines, out)
    return list(steps)
