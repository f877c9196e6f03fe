# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on k210: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

ROWS = (
    """|system heap, there
!no room for this model: refused in time
0
1""",
    """|PoolError|release: |no piece starts at
!given back twice, or to another
Give back once what acquire(), take() or alloc() returned.""",
    """|KModelError|offset 0x
!no model is here, or a damaged one
2
3""",
    """|FlashOverlap| overlaps |every official firmware|erases whole|64 KiB frames
!flash bytes with two owners
2
gap_for(nbytes) of that map: a free address.""",
    """|incompatible .mpy
a .mpy file for another MicroPython
Compile for this board: `maixmem build`, or copy the .py. MaixPy loads bytecode 4.""",
    """|Out of normal MicroPython Heap
the GC heap has no block for an image
Drop images, gc.collect(); see maixmem.report().
4
5
RGB565 takes 2*w*h bytes, its AI copy 3*w*h more.""",
    """|Out of Memory! Please reduce|Too many fb_alloc|Out of temporary Frame Buffer
no system heap for its work buffer (700 KiB to save or compress)
A smaller picture: QVGA, not VGA.
Do it before models are loaded, or free one.
1
Hard reset only after find_line_segments(): each failure keeps 790 KB.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before; in a callback: micropython.schedule().""",
    """|SYSCALL: Out of memory
the system heap ran out: what follows says of what
6
7
A load from an address takes 262274 bytes more.
8
Camera frames take 5*w*h bytes: a smaller frame.
1
If it hangs now: reset the board.""",
    """|misaligned load|misaligned store|misaligned fetch
an address that is no multiple of its size: a pointer that was overwritten or freed
Leave out the call before it: a known bug in get_statistics().
A newer firmware: v0.6.2-84.
Only 'recovered': the program went on; note the call before it.
9""",
    """|core dump
|fault load
|fault store
|fault fetch
|illegal instruction
|unhandled interrupt
|SYSCALL: sys_exit called
the board hangs: the system heap ran out, or freed memory was used
6
A load from an address takes 262274 bytes more: ModelManager refuses in time.
pix_to_ai() on what copy() gave: use ImagePool.
copy_to_fb=True (give an image), snapshot() without camera.
YOLO models on firmware before v0.5.1-48: update.
10
1
9""",
    """|nlr_jump_fail
the GC heap is too small to boot
Erase 0xD00000 to 0x1000000 with kflash.""",
    """|is too large, reset GC heap
|GC heap size too large
|GC size 128k
|can't malloc 128k
too large a GC heap: 128 KiB are active
maixmem.set_gc_heap() a smaller one, machine.reset().""",
    """|bute 'heap_free
|bute 'flash_read
|import name utils
|bute 'load_flash
|bute 'set_outputs
|Image to int
a call that this firmware does not have
MaixPy v0.6.2-84 has it.
maixmem does without: maixmem.report() says what is missing.""",
    """|error:2001|ERR_PARAM|model_addr must|only accept int|model format don't
no address, no model path, or a freed model
An address above 0 as an int, or a path with .kmodel in it.""",
    """|error:2002|error:-1|error:-2|error:-3|error:2|ERR_KMODEL_V|Cannot run kmodel
no model here that this build can load
11
2
Blank, a Git LFS pointer, firmware over it, V4 on a V3 build look the same.
V4 needs a build with it: v0.6.2_84 openmv_v4 (3.8 MiB at boot) or full. Or nncase 0.1: V3.
load_flash wants the file word-swapped.""",
    """|error:2003|error:3|ERR_KMODEL_F|model size err
a model with wrong sizes: overwritten, cut, or V5
11
2
3""",
    """|error:2004|error:4|ERR_DECRYPT
an encrypted model of another board
11
Get the smodel of this board, or the kmodel.""",
    """|error:2005|error:5|ERR_READ_FILE
the model file cannot be read
12
13
A path that is right: format the card anew (FAT32), copy the file again.""",
    """|error:2006|error:6|ERR_NO_MEM
the system heap has no room for this model
6
7
8
14
15
0
1""",
    """|odel buffer memory alloc
the system heap has no room for this model
6
8
Smaller camera frames, and a build with fewer parts.
0
1""",
    """|error:2007|error:7|ERR_GET_CONV|first layer not conv
the first layer cannot run on the KPU
11
Begin it with a convolution; for load_flash swap its words.""",
    """|error:2008|error:8|ERR_RUN_MODEL|maybe dirty
a damaged model, or an input that does not fit
11
Check input size and channels.
3""",
    """|error:2009|error:9|ERR_MODELS_FULL
all five model slots are taken, maybe by an earlier run
Load once, outside the loop.
8
gc.collect(), else Ctrl-D (soft reset).""",
    """|error:2013
|error:13
|OUTPUTS_SET
|IDX_OUTRANGE
|SIZE_NOTMATCH
|set all outputs shape
|set_outputs ctx error
a V4 model does not know the shapes of its outputs
kpu.set_outputs(net, i, w, h, ch) after each load; w*h*ch*4 bytes.
6""",
    """|error:2014|OSError: 2014
a call for V3 models on a V4 model: it has no list of layers
11
No netinfo() and set_layers() on V4; set_outputs() and forward() work.""",
    """|error:2015|ERR_UNKNOWN
V5 or V6, of nncase 1.0 or later: cannot run here
11
Convert with nncase 0.2 (V4) or 0.1 (V3).""",
    """|check img format|, but model
not the picture that the model takes; the line before says why
img w=.., but model w=..: the model's size, say sensor.set_windowing((224, 224)).
pix_ai is NULL: img.pix_to_ai() first.
model channel: 3 is sensor.RGB565, 1 is GRAYSCALE.""",
    """|pix_ai is NULL|use pix_to_ai
the image has no AI copy
img.pix_to_ai() first; it returns None.
Never on what copy() or crop() returned: it hangs.
4""",
    """|region_layer_init|memblock_cal_pad alloc|dot_tmp_ptr
no system heap for what a run of the model takes (run_yolo2: some 24 KiB)
Camera, models and loop together: `maixmem fit SCRIPT.py`.
14
15
1""",
    """|alloc list mem err
no system heap for the list that forward() was given
8
1""",
    """|won't fit in the
the target image is too small, or a copy shrunk it
One target per size.
4""",
    """|memory allocation failed|allocate memory from GC heap|gc is full
the GC heap has no block of that size: full, or in pieces
16
4
5""",
    """|ENOMEM|errno:12
the system heap, which is not Python's, has no room for what the call in that line wants: most often camera frames
7
A smaller frame: it takes 5*w*h bytes, twice that with dual_buff.
sensor.reset() before trying again.
8
1""",
    """|ENOENT|errno:2|No such file or directory
no such file
12
13""",
    """|ENODEV|errno:19|can't mount SD card|SDcard not mount
no SD card
13""",
    """|ensor timeout|ensor Timeout
the camera delivers no frame
10
The same after few frames with helloworld: another sensor cures it.
Cable in straight; 5 V supply that holds under load.""",
    """|Reset Failed
|not found sensor
|Not init!
|reset failed
|No sensor
|no sensor
|not find sensor
|ensor is not supported
|ensor control failed
|scan sensor1 error
|scan sensor2 error
|sensors don't match
|Sensor Init Failed
|mt9d111 detect
|Unable to init I2C0
the camera was not set up, or there is none
10""",
    """|errno:5|EIO
a device or a file system did not answer (camera not set up, or no such file)
10
12
13""",
    """|4KiB align|align with 4KiB
flash tools want multiples of 4096
The next 0x1000: `maixmem flash FILE@ADDR`.""",
    """|kpu_net type error|kpu_net'
no model; and models cannot be changed or hashed
Pass what kpu.load returned; keep models in a list.""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
16
4
A smaller picture, or fewer bits a pixel.
5""",
    """|maximum recursion depth exceeded|RecursionError|stack overflow|Stackoverflow
calls too deep for the stack; a thread's is small (4 KB on a K210)
A loop instead of recursion; less in a thread.
_thread.stack_size() before start_new_thread(), where there is one.""",
    """|Next:
an error of maixmem, which says why
Do what its text names behind Next:""",
)
STEPS = (
    "kpu.load_flash streams it, slower: word-swapped in flash.",
    "Smaller firmware: v0.6.2_84 minimum leaves 4.5 MiB at boot, full 2.3.",
    "What is where: maixmem_flash.FlashMap().scan().report().",
    "Flash it again, behind the firmware, at a multiple of 4096.",
    "Make images once: maixmem_pool.ImagePool.",
    "Larger GC heap, less for models: maixmem.set_gc_heap(1048576), machine.reset().",
    "Ask first: maixmem_kmodel.read_info(source).",
    "Camera before models, or after: `maixmem fit` says which fits.",
    "Free a model: kpu.deinit(net), del net, gc.collect(). ModelManager does it.",
    "Reset the board: nothing can catch this.",
    "sensor.reset(), set_pixformat(), set_framesize(), run(1), in order. Cable?",
    "Check it: maixmem_kmodel.read_info(source).",
    "Check the path: uos.listdir('/sd') or '/flash', where names have no folders.",
    "Put the SD card in, then reset.",
    "Smaller camera frames.",
    "Smaller GC heap: maixmem.set_gc_heap(262144), machine.reset().",
    "gc.collect(); maixmem.report() shows the largest block.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
