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
Call gap_for(nbytes) of that map: a free address.""",
    """|incompatible .mpy
a .mpy file for another MicroPython
Copy the .py, or compile it with this version's mpy-cross.
Run `maixmem build`: MaixPy v0 loads bytecode 4.""",
    """|Out of normal MicroPython Heap
the GC heap has no block for an image
Drop images, gc.collect(); see maixmem.report().
4
5
Count RGB565 as 2*w*h bytes, its AI copy 3*w*h more.""",
    """|Out of Memory! Please reduce|Too many fb_alloc|Out of temporary Frame Buffer
no system heap for its work buffer (700 KiB to save or compress)
Use a smaller picture: QVGA, not VGA.
Do it before models are loaded, or free one.
1
Reset hard after find_line_segments(): each failure keeps 790 KB.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before.
Call micropython.schedule() in a callback.""",
    """|SYSCALL: Out of memory|SYSCALL : Out of memory
the system heap ran out: what follows says of what
6
7
Add 262274 bytes for a load from an address.
8
Use a smaller frame of the camera: 5*w*h bytes.
1
Reset the board if it hangs now.""",
    """|misaligned load|misaligned store|misaligned fetch
an address that is no multiple of its size: a pointer that was overwritten or freed
Note the call before it; if only 'recovered', it went on.
Leave out get_statistics(): a known bug.
Update to v0.6.2-84.
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
Use ModelManager: it refuses in time. An address costs 262274 bytes more.
Use ImagePool: no pix_to_ai() on what copy() gave.
Give copy_to_fb=True an image; no snapshot() without camera.
Update firmware before v0.5.1-48 for YOLO models.
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
Set it smaller: maixmem.set_gc_heap(), machine.reset().""",
    """|bute 'heap_free
|bute 'flash_read
|import name utils
|bute 'load_flash
|bute 'set_outputs
|Image to int
a call that this firmware does not have
Update to MaixPy v0.6.2-84.
See maixmem.report(): maixmem does without what is missing.""",
    """|error:2001|ERR_PARAM|model_addr must|only accept int|model format don't
no address, no model path, or a freed model
Pass an address above 0 (int), or a path with .kmodel.""",
    """|error:2002
|error:-1
|error:-2
|error:-3
|error:2
|ERR_KMODEL_V
|ERR KMODEL V
|only support kmodel
|only supported kmodel
|Cannot run kmodel
no model here that this build can load
11
2
Check for blank flash, a Git LFS pointer, firmware over it, V4 on a V3 build.
Use v0.6.2_84 openmv_v4 (3.8 MiB at boot) or full for V4; or nncase 0.1: V3.
Swap a file's words for load_flash.""",
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
Format the card (FAT32) if the path is right; copy the file anew.""",
    """|error:2006|error:6|ERR_NO_MEM|memory not enough
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
Use smaller camera frames, a build with fewer parts.
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
Call gc.collect(), else press Ctrl-D.""",
    """|error:2013
|error:13
|OUTPUTS_SET
|IDX_OUTRANGE
|SIZE_NOTMATCH
|set all outputs shape
|set_outputs ctx error
a V4 model does not know the shapes of its outputs
Call kpu.set_outputs(net, i, w, h, ch) after each load; w*h*ch*4 bytes.
6""",
    """|error:2014|OSError: 2014
a call for V3 models on a V4 model: it has no list of layers
11
Use set_outputs(), forward() on V4, not netinfo(), set_layers().""",
    """|error:2015|ERR_UNKNOWN
V5 or V6, of nncase 1.0 or later: cannot run here
11
Convert with nncase 0.2 (V4) or 0.1 (V3).""",
    """|check img format|, but model
not the picture that the model takes; the line before says why
Set the size if img w=.., but model w=..: say sensor.set_windowing((224, 224)).
Call img.pix_to_ai() first if pix_ai is NULL.
Use sensor.RGB565 for model channel 3, GRAYSCALE for 1.""",
    """|pix_ai is NULL|use pix_to_ai
the image has no AI copy
Call img.pix_to_ai() first; it returns None.
Avoid it on what copy() or crop() returned: it hangs.
4""",
    """|region_layer_init|memblock_cal_pad alloc|dot_tmp_ptr
no system heap for what a run of the model takes (run_yolo2: some 24 KiB)
Run `maixmem fit SCRIPT.py`: camera, models and loop together.
14
15
1""",
    """|alloc list mem err
no system heap for the list that forward() was given
8
1""",
    """|won't fit in the
the target image is too small, or a copy shrunk it
Use one target per size.
4""",
    """|memory allocation failed|allocate memory from GC heap|gc is full
the GC heap has no block of that size: full, or in pieces
16
4
5""",
    """|ENOMEM|errno:12
the system heap, which is not Python's, has no room for what the call in that line wants: most often camera frames
7
Use a smaller frame: 5*w*h bytes, twice that with dual_buff.
Call sensor.reset() before trying again.
8
1""",
    """|ENOENT|errno:2
no such file or folder
12
13""",
    """|ENODEV|errno:19|can't mount SD card|SDcard not mount
no SD card
13""",
    """|ensor timeout|ensor Timeout|OV5640 timeout|OV5640 Timeout|ov5640 timeout
the camera delivers no frame
10
Try another sensor if helloworld fails after few frames.
Check the cable and the 5 V supply under load.""",
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
a device (on a bus, a card, a camera) or the file system did not answer
Check the device of that line: power, wires, pins, address.
12
13
10""",
    """|4KiB align|align with 4KiB
flash tools want multiples of 4096
Use the next 0x1000: `maixmem flash FILE@ADDR`.""",
    """|kpu_net type error|kpu_net'
no model; and models cannot be changed or hashed
Pass what kpu.load returned; keep models in a list.""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
16
4
Use a smaller picture, or fewer bits a pixel.
5""",
    """|maximum recursion dep
|Maximum recursion dep
|ecursion limit
|RecursionError
|stack overflow in 
calls too deep for the stack; a thread's is small (4 to 5 KiB)
Use a loop instead of recursion: a function that calls its caller again (a retry, a menu) never returns. Do less in a thread.
Call _thread.stack_size() before start_new_thread(), if it exists.""",
    """|Next:
an error of maixmem, which says why
Do what its text names behind Next:""",
)
STEPS = (
    "Stream it with kpu.load_flash: slower, word-swapped in flash.",
    "Change the build: v0.6.2_84 minimum leaves 4.5 MiB at boot, full 2.3.",
    "Check flash: maixmem_flash.FlashMap().scan().report().",
    "Flash it again, behind the firmware, at a multiple of 4096.",
    "Make images once: maixmem_pool.ImagePool.",
    "Enlarge the GC heap, less for models: maixmem.set_gc_heap(1048576), machine.reset().",
    "Check first: maixmem_kmodel.read_info(source).",
    "Load models before or after the camera: `maixmem fit` says which.",
    "Free a model: kpu.deinit(net), del net, gc.collect(); or ModelManager.",
    "Reset the board: nothing can catch this.",
    "Call sensor.reset(), set_pixformat(), set_framesize(), run(1) in order. Check the cable.",
    "Check it: maixmem_kmodel.read_info(source).",
    "Check the path: uos.listdir('/sd') or '/flash' (no folders).",
    "Put the SD card in, then reset.",
    "Use smaller camera frames.",
    "Shrink the GC heap: maixmem.set_gc_heap(262144), machine.reset().",
    "Call gc.collect(); maixmem.report() shows the largest block.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
