# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors that micropython is known to give: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

ROWS = (
    """|PoolError|release: |no piece starts at
!given back twice, or to another
Give back once what acquire(), take() or alloc() returned.""",
    """|incompatible .mpy
a .mpy file for another MicroPython
Compile for this board: `maixmem build`, or copy the .py. MaixPy loads bytecode 4.""",
    """|heap is locked
no allocation here (heap_lock, interrupt)
Allocate before; in a callback: micropython.schedule().""",
    """|memory allocation failed
the GC heap has no block of that size: full, or in pieces
0
1
2
3""",
    """|ENOMEM|errno:12|Cannot allocate memory
the system has no memory for a driver, a socket or a file
0
Close what is open and not used.""",
    """|ENOENT|errno:2|No such file or directory
no such file
4""",
    """|errno:5|EIO
a device or a file system did not answer (camera not set up, or no such file)
4""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
0
1
2
A smaller picture, or fewer bits a pixel.
3""",
    """|Next:
an error of maixmem, which says why
Do what its text names behind Next:""",
)
STEPS = (
    "gc.collect(); maixmem.report() shows the largest block.",
    "Make large buffers first, before other imports: maixmem_pool.BufferPool(nbytes, 1).",
    "Copy modules as .mpy: compiling them on the board takes several times their size.",
    "A module that is done with: del its name, sys.modules.pop(name), gc.collect().",
    "Check the path: os.listdir() of its folder.",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
