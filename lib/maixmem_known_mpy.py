# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on micropython, esp32, rp2040, circuitpython: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

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
    """|allocate frame buffer
|frame buffer Failed
|Camera init failed with error 0x101
|rame buffer malloc
|Failed to allocate framebuffer
|cam_dma_config
|Camera config failed with error 0x101
|lvgl set Error flag
no memory in one piece for a picture of the camera or display
A smaller buffer: width*height*2 bytes for RGB565, a tenth of it for a display in strips.
Make it first, before other imports and the network.
5""",
    """|_ALLOC_FAILED
|OSError: -32512
|OSError: -17040
|ERR_MEM
|BIGNUM - Memory allocation failed
no memory for a TLS connection: some 40 KB, up to 17 KB of it in one piece
Connect first, before large buffers and imports; gc.collect() before it.
6""",
    """|wifi:malloc buffer fail
|allocate DMA buffer failed
|i Out of Memory
|ESP_ERR_NO_MEM
|IDFError: Out of memory
|espidf.MemoryError
|MemoryError: Out of memory
|MemoryError('Out of memory'
|OSError: 0x101
|OSError: 257
|OSError: -257
|errno:-257
the system's own heap, not Python's, has no room for a driver or library (Wi-Fi, TLS, camera)
Connect first, before large buffers and imports.
6
Print the largest free block before the call. If it is small: call it earlier.
0
Set CIRCUITPY_RESERVED_PSRAM=1048576 in settings.toml (CircuitPython), then reset: room for camera and display.
5""",
    """|heap was corrupted because the stack was too small|ystack exhausted
calls too deep for the stack
Use a loop instead of recursion; fewer calls inside calls.
'Pystack exhausted': CIRCUITPY_PYSTACK_SIZE in settings.toml, then reset.""",
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
    """|MemoryError
the heap has no block of that size: full, or in pieces
0
2
1
Use a smaller picture, or fewer bits a pixel.
3""",
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
    "Use a board with PSRAM, and a firmware for it.",
    "One connection at a time; close each response.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
