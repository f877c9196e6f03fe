# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on openmv: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

ROWS = (
    """|PoolError|release: |no piece starts at
!given back twice, or to another
Give back once what acquire(), take() or alloc() returned.""",
    """|incompatible .mpy
a .mpy file for another MicroPython
Copy the .py, or compile it with this version's mpy-cross.
Run `maixmem build`: MaixPy v0 loads bytecode 4.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before.
Call micropython.schedule() in a callback.""",
    """|won't fit in the
the target image is too small, or a copy shrunk it
Use one target per size.""",
    """|memory allocation failed|allocate memory from GC heap|gc is full
the GC heap has no block of that size: full, or in pieces
0
1
2
3""",
    """|ENOMEM|errno:12|Cannot allocate memory
the system has no memory for a driver, a socket or a file
0
Close what is open and not used.""",
    """|ENOENT|errno:2
no such file or folder
4""",
    """|errno:5|EIO
a device (on a bus, a card, a camera) or the file system did not answer
Check the device of that line: power, wires, pins, address.
4""",
    """|_ALLOC_FAILED
|OSError: -32512
|OSError: -17040
|ERR_MEM
|BIGNUM - Memory allocation failed
no memory for a TLS connection: some 40 KB, up to 17 KB of it in one piece
Connect first, before large buffers and imports; gc.collect() before it.
One connection at a time; close each response.""",
    """|Failed to allocate tensors
|AllocateTensors() failed
|tensor arena
|all buffers. Needed
|memory. Requested
|Failed to resize buffer. Requested
|Not enough memory to allocate
the model does not fit into the arena, or has an operation or form that this firmware no longer runs
Use a smaller model, quantized to int8, made for this firmware's version.
Load it first, before images and frame buffers.
The arena larger, where the program names its size.""",
    """|Failed to load network
the NPU refuses this model: made for another NPU or firmware, or on an N6 a file below 1 MB
On an N6: load it from /rom, or newer firmware.
Compile it again with the ST Edge AI version that this firmware names.""",
    """|Transient pool in use
the NPU's own memory still holds something else than a model's run: an image method or a driver took it
Run the model first, then the image methods, or a smaller picture for them.
maixmem.report() shows each pool of umalloc; a soft reset (Ctrl-D) frees all.""",
    """|MemoryError: Out of memory|MemoryError('Out of memory'
umalloc has no block of that size: frame buffers, image methods and models in files have it. It is not the GC heap: gc.collect() gives it nothing, but for models that are no longer used
5
Fewer frame buffers: sensor.set_framebuffers(1), or framebuffers(1) of the CSI object.
maixmem.report() shows each pool of umalloc.
Models in /rom take none of it.""",
    """|ut of fast Frame
|ut of fast frame
|Out of temporary frame
|frame buffer memory
|Out of temporary Frame Buffer
|Frame Buffer Stack Memory
|Please reduce the resolution
|Out of frame buffer memory
|FB Alloc Collision
|fb_alloc
|rame buffer overflow
|Frame buffer error
|fit in the frame buffer
|fit in the target frame buffer
no room beside the frame in the frame buffer memory, which is not the GC heap: gc.collect() gives it nothing
5
Grayscale before find_apriltags(), find_rects(), find_lines(); a smaller roi.
sensor.dealloc_extra_fb() of what is not used; fewer sensor.set_framebuffers().""",
    """|Sensor control failed
|ensor control failed
|ensor timeout
|ensor Timeout
|Failed to detect the image sensor
|Failed to detect a supported
|ensor is not supported
|No sensor
|ensor is missing
the camera module does not answer or delivers no frame: no question of memory
Power off, seat the camera module again; the right module for this lens or Lepton.
Call sensor.reset(), set_pixformat(), set_framesize(), skip_frames() in order. Check cable.""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
0
2
1
5
3
Free a model before the next is loaded: ModelManager does it.""",
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
    "Call gc.collect(); maixmem.report() shows the largest block.",
    "Make large buffers first, before other imports: maixmem_pool.BufferPool(nbytes, 1).",
    "Copy modules as .mpy: compiling them on the board takes several times their size.",
    "Drop a module after use: del its name, sys.modules.pop(name), gc.collect().",
    "Check the path: os.listdir() of its folder.",
    "Use a smaller picture, or fewer bits a pixel.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
