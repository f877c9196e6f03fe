# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Shows the GC heap of a running board to a desk: who the board is, the table of blocks, then
pieces of memory and names as they are requested, by whatever the firmware has for
that. Stores nothing to an address. Names are short, or those of the
interpreter: each new one stays in the board's table of names."""


def answer(main, collect, m, c):
    """Line 1: bytes of a word, id() of type, of the dict of __main__, of this code, of
    sys.modules, bytes in use before and after the collection, the word of the name "", bytes free.
    Line 2: the interpreter. Then micropython.mem_info(1), where it has that, ACK, and the answers
    to requests of 20 hex digits: 4 for the number of bytes, 16 for the address; 0 bytes for the
    object whose word this is, fffe for a collection, ffff for the end. `m` reads memory, `c` is
    the cable: one of the ways below."""
    import gc
    import sys

    try:
        import ustruct as s
    except ImportError:
        import struct as s
    r, w = c()
    b = m(w)
    m = None
    try:
        import micropython

        m = micropython.mem_info
    except (ImportError, AttributeError):
        pass
    k = gc.mem_alloc()
    if collect:
        gc.collect()
    i = sys.modules
    n = gc.mem_alloc()
    print(s.calcsize("l"), id(type), main, id(globals()), id(i), k, n, id(""), gc.mem_free())
    i = sys.implementation
    print(i[0], i[1], sys.platform)
    if m:
        m(1)
    print("\x06")
    while 1:
        n = int(r(4), 16)
        k = int(r(16), 16)
        if n == 65535:
            break
        if n == 65534:
            gc.collect()
        elif n:
            w(b(k, n))
        else:
            print(s.unpack("O", s.pack("P", k)))


def m0(w):
    """Memory by uctypes."""
    from uctypes import bytearray_at

    return bytearray_at


def m1(w):
    """Memory by CircuitPython's memorymap."""
    from memorymap import AddressRange

    def b(k, n):
        return AddressRange(start=k, length=n)[:]

    return b


def m2(w):
    """Memory by machine.mem8, in pieces of a buffer."""
    from machine import mem8

    t = bytearray(256)
    m = memoryview(t)

    def b(k, n):
        for i in range(n):
            t[i % 256] = mem8[k + i]
            if i % 256 == 255 and i + 1 < n:
                w(t)
        return m[: (n - 1) % 256 + 1]

    return b


def c0():
    """A cable of bytes."""
    import sys

    return sys.stdin.buffer.read, sys.stdout.buffer.write


def c1():
    """A cable of text: two hex digits a byte."""
    import sys
    from binascii import hexlify

    def w(c):
        sys.stdout.write(hexlify(c).decode())

    return sys.stdin.read, w


def n0():
    """Names by struct."""
    try:
        import ustruct as s
    except ImportError:
        import struct as s
    s.calcsize("O")


def later(main, collect, m, c, step, times):
    """Has a timer run answer() between two bytecodes of the program, when each of `times` in
    milliseconds has passed since the one before; then the program goes on. It looks at the clock
    every `step` milliseconds. sys.modules keeps the timer until it is done."""
    from sys import modules
    from time import ticks_diff, ticks_ms

    import machine

    Timer = machine.Timer
    start = [ticks_ms()]

    def callback(t):
        if ticks_diff(ticks_ms(), start[0]) >= times[0]:
            times.pop(0)
            answer(main, collect, m, c)
            start[0] = ticks_ms()
        if times:
            restart(t)
        else:
            modules.pop("")

    if hasattr(Timer, "TIMER2"):

        def restart(t):
            t.restart()

        mode = Timer.MODE_ONE_SHOT
        unit = Timer.UNIT_MS
        t = Timer(
            Timer.TIMER2, Timer.CHANNEL3, mode=mode, period=step, unit=unit, callback=callback
        )
    else:

        def restart(t):
            t.init(mode=Timer.ONE_SHOT, period=step, callback=callback)

        for n in (-1, 3, 1, 0):
            try:
                t = Timer(n)
                break
            except ValueError:
                pass
        restart(t)
    modules[""] = t
    globals()["t"] = t


def cancel():
    """Takes the timer back."""
    import sys

    t = sys.modules.pop("", None)
    if t:
        t.deinit()
