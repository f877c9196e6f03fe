# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Errors known on k230: made of tools/maixmem_cli/errors/rows by `maixmem build`."""

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
    """|_ALLOC_FAILED
|OSError: -32512
|OSError: -17040
|ERR_MEM
|BIGNUM - Memory allocation failed
no memory for a TLS connection: some 40 KB, up to 17 KB of it in one piece
Connect first, before large buffers and imports; gc.collect() before it.
One connection at a time; close each response.""",
    """|-1610317806
|0xa0048012
|vb config failed(18)
|vb init failed(18)
|-1610383342
|0xa0038012
K_ERR_..._BUSY: an earlier run was stopped before MediaManager.deinit(), its video buffers are still set up
In the program: try ... finally: sensor.stop(), Display.deinit(), MediaManager.deinit().
Now: reset the board; a soft reset (Ctrl-D) is not enough on older firmware.""",
    """|-1610317812
|0xa004800c
|-1610317811
|0xa004800d
|vb init failed(12)
|-1610383348
|0xa003800c
|-1610252276
|0xa005800c
|VBPool create failed
|mmz alloc failed
|mmz_alloc
K_ERR_..._NOMEM: the media memory (mmz) has no piece of that size for frames, display or a model
Ask before: maixmem_k230.check_media().
5
Fewer channels of the sensor; a smaller display; fewer layers.
6""",
    """|-1610317808
|0xa0048010
|-1610317815
|0xa0048009
|-1610317819
|0xa0048005
|run sensor.run() first
|before MediaManager.init()
|after MediaManager.init()
|VideoBuffer has been initialized
|buffer has been initialized
K_ERR_..._NOTREADY, NOT_PERM, EXIST, UNEXIST, NOT_CONFIG: calls of the media modules in the wrong order
Sensor() and its set_...(), Display.init(), then MediaManager.init() once, then sensor.run().
At the end: sensor.stop(), Display.deinit(), MediaManager.deinit().""",
    """|-1610317821
|0xa0048003
|-1610317818
|0xa0048006
|-1610317760
|0xa0048040
|pool exceeds the max
|too many common pool
K_ERR_..._ILLEGAL_PARAM, NULL_PTR, NOT_SUPPORT, BADADDR, 2MPOOLS: the driver does not take an argument of the call, often a size, or there are more than 16 pools of buffers
Width a multiple of 16; a size that this sensor has.
Fewer channels and layers before MediaManager.init().""",
    """|snapshot chn|snapshot failed|dump frame failed
the camera gave no frame: it does not run, that channel is not set up, or all buffers of the pool are held
sensor.run() after MediaManager.init(); snapshot() of a channel that set_framesize(chn=...) set up.
Keep no picture of snapshot(): each holds a buffer; del img in each round, copy what is kept.""",
    """|Mismatch between the kmodel
|Invalid kmodel
|kmodel version mismatch
|invalid kmodel
the runtime does not take this file: a kmodel of another nncase release than the firmware's, or no whole kmodel; no question of memory
nncase_runtime.version() on the board; convert with that release, or firmware of the converter's.""",
    """|std::bad_alloc
C++ code, mostly nncase's, got no memory: the media memory (mmz) or the heap is full
maixmem.report() before that line: mmz, heap.
6
5
Is the kmodel whole, and of this firmware's nncase release?""",
    """|kpu run failed
|Failed to load kmodel
|nncase error
|nncase exception
|media buffer
|vb pool
|vb_create_pool
|MediaManager, 
the K230's model or media memory: version of the kmodel, its input shape, or MMZ that is full; or media that an earlier run left open
Compare nncase_runtime.version() with the nncase that converted the model, and the input's shape and type with those that the model names.
Free the old: nn.shrink_memory_pool(), gc.collect(); stop media before it is set up again.
Reset the board where an earlier run was stopped in between.""",
    """|MemoryError
the heap has no block of that size: full, or in pieces
0
2
1
5
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
    "Use a smaller picture, or fewer bits a pixel.",
    "Free a model: del kpu, gc.collect(), nncase_runtime.shrink_memory_pool().",
)


def known():
    """(rows, steps): a row has its keys after "|", what they mean, then steps, or their number."""
    return ROWS, STEPS
