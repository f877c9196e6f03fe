# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on linux: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

ROWS = (
    """|PoolError|release: |no piece starts at
!given back twice, or to another
Give back once what acquire(), take() or alloc() returned.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before.
Call micropython.schedule() in a callback.""",
    """|ENOMEM|errno:12|Cannot allocate memory
the system has no memory for a driver, a socket or a file
0
Close what is open and not used.""",
    """|errno:5|EIO
a device (on a bus, a card, a camera) or the file system did not answer
Check the device of that line: power, wires, pins, address.
Check the path: os.listdir() of its folder.""",
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
Use a smaller picture, or fewer bits a pixel.""",
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
STEPS = ("Call gc.collect(); maixmem.report() shows the largest block.",)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
