# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Shows the GC heap of a running board to a desk: who the board is, the table of blocks, then
pieces of memory and names as they are requested. Stores nothing to an address. Names are short:
each new one would stay in the board's table of names."""


def f(main, collect):
    """Line 1: bytes of a word, id() of type, of the dict of __main__, of this code, of
    sys.modules, bytes in use before and after the collection, the word of the name "". Line 2: the
    interpreter. Then micropython.mem_info(1), ACK, and the answers to requests of 20 hex digits: 4
    for the number of bytes, 16 for the address; 0 bytes for the object whose word this is, ffff
    for the end."""
    import gc
    import sys

    import micropython
    import uctypes

    try:
        import ustruct as s
    except ImportError:
        import struct as s
    b = uctypes.bytearray_at
    r = sys.stdin.buffer.read
    w = sys.stdout.buffer.write
    k = gc.mem_alloc()
    if collect:
        gc.collect()
    i = sys.modules
    print(s.calcsize("P"), id(type), main, id(globals()), id(i), k, gc.mem_alloc(), id(""))
    i = sys.implementation
    print(i[0], i[1], sys.platform)
    micropython.mem_info(1)
    print("\x06")
    while 1:
        n = int(r(4), 16)
        k = int(r(16), 16)
        if n == 65535:
            break
        if n:
            w(b(k, n))
        else:
            print(s.unpack("O", s.pack("P", k)))


def g(main, collect, step, times):
    """Has a timer run f() between two bytecodes of the program, when each of `times` in
    milliseconds has passed since the one before; then the program goes on. It looks at the clock
    every `step` milliseconds. sys.modules keeps the timer until it is done."""
    import sys
    from time import ticks_diff, ticks_ms

    import machine

    T = machine.Timer
    k = sys.modules

    a = [ticks_ms()]

    def c(t):
        if ticks_diff(ticks_ms(), a[0]) >= times[0]:
            times.pop(0)
            f(main, collect)
            a[0] = ticks_ms()
        if times:
            d(t)
        else:
            k.pop("")

    if hasattr(T, "TIMER2"):

        def d(t):
            t.restart()

        o = T.MODE_ONE_SHOT
        t = T(T.TIMER2, T.CHANNEL3, mode=o, period=step, unit=T.UNIT_MS, callback=c)
    else:

        def d(t):
            t.init(mode=T.ONE_SHOT, period=step, callback=c)

        for n in (-1, 3, 1, 0):
            try:
                t = T(n)
                break
            except ValueError:
                pass
        d(t)
    k[""] = t
    globals()["t"] = t


def h():
    """Takes the timer back."""
    import sys

    t = sys.modules.pop("", None)
    if t:
        t.deinit()
