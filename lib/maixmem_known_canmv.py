# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on canmv: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

ROWS = (
    """|system heap, there
!no room for this model: refused in time
0""",
    """|PoolError|release: |no piece starts at
!given back twice, or to another
Give back once what acquire(), take() or alloc() returned.""",
    """|KModelError|offset 0x
!no model is here, or a damaged one
Flash it again, behind the firmware, at a multiple of 4096.""",
    """|FlashOverlap| overlaps |every official firmware|erases whole|64 KiB frames
!flash bytes with two owners
Call gap_for(nbytes) of that map: a free address.""",
    """|incompatible .mpy
a .mpy file for another MicroPython
Copy the .py, or compile it with this version's mpy-cross.
Run `maixmem build`: MaixPy v0 loads bytecode 4.""",
    """|Out of normal MicroPython Heap
the GC heap has no block for an image
Drop images, gc.collect(); see maixmem.report().
Count RGB565 as 2*w*h bytes, its AI copy 3*w*h more.""",
    """|Out of Memory! Please reduce|Too many fb_alloc|Out of temporary Frame Buffer
no system heap for its work buffer (700 KiB to save or compress)
Use a smaller picture: QVGA, not VGA.
Do it before models are loaded, or free one.
Reset hard after find_line_segments(): each failure keeps 790 KB.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before.
Call micropython.schedule() in a callback.""",
    """|SYSCALL: Out of memory|SYSCALL : Out of memory
the system heap ran out: what follows says of what
1
Use a smaller frame of the camera: 5*w*h bytes.
Reset the board if it hangs now.""",
    """|misaligned load|misaligned store|misaligned fetch
an address that is no multiple of its size: a pointer that was overwritten or freed
Note the call before it; if only 'recovered', it went on.
Leave out get_statistics(): a known bug.
2""",
    """|core dump
|fault load
|fault store
|fault fetch
|illegal instruction
|unhandled interrupt
|SYSCALL: sys_exit called
the board hangs: the system heap ran out, or freed memory was used
1
3
2""",
    """|odel buffer memory alloc
the system heap has no room for this model
1
0
Use smaller camera frames, a build with fewer parts.""",
    """|Failed to load model|Failed to init model|Probe model size failed
the model was refused: its version, or no system heap for it
1
0
Use a build with fewer parts (Minimum size OMV function).""",
    """|won't fit in the
the target image is too small, or a copy shrunk it
Use one target per size.""",
    """|memory allocation failed|allocate memory from GC heap|gc is full
the GC heap has no block of that size: full, or in pieces
4
5""",
    """|ENOMEM|errno:12
the system heap, which is not Python's, has no room for what the call in that line wants: most often camera frames
Use a smaller frame: 5*w*h bytes, twice that with dual_buff.
Call sensor.reset() before trying again.""",
    """|ENOENT|errno:2
no such file or folder
6
7""",
    """|ENODEV|errno:19|can't mount SD card|SDcard not mount
no SD card
7""",
    """|ensor timeout|ensor Timeout|OV5640 timeout|OV5640 Timeout|ov5640 timeout
the camera delivers no frame
3
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
3""",
    """|errno:5|EIO
a device (on a bus, a card, a camera) or the file system did not answer
Check the device of that line: power, wires, pins, address.
6
7
3""",
    """|4KiB align|align with 4KiB
flash tools want multiples of 4096
Use the next 0x1000: `maixmem flash FILE@ADDR`.""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
4
5
Use a smaller picture, or fewer bits a pixel.
0""",
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
    "Free a model before the next is loaded: ModelManager does it.",
    "Check first: maixmem_kmodel.read_info(source).",
    "Reset the board: nothing can catch this.",
    "Call sensor.reset(), set_pixformat(), set_framesize(), run(1) in order. Check the cable.",
    "Call gc.collect(); maixmem.report() shows the largest block.",
    "Make large buffers first, before other imports: maixmem_pool.BufferPool(nbytes, 1).",
    "Check the path: os.listdir() of its folder.",
    "Put the SD card in, then reset.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
