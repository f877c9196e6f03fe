# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs one MaixPy script on the stand-in board: `k210_sim.py JOB`, JOB a file with the dict that run() takes."""

import sys

import k210_board as board
import k210_gc
import k210_simfiles
import k210_simgc

_HANG = 3
_FRAME = 320 * 240 * 2  # QVGA: the board has camera frames in the system heap, not in the script's
_TRACE = "{} {:>8} bytes {:<4} heap_free {:>8}  line {:<5} {}"


# Tells of every allocation while a script runs: of the system heap (what malloc and free are asked), and of pixels in
# the GC heap. The script's lines call at(n) before they begin, so "line" is the last line of the script that began;
# the last column is the step of the board that was reached.
class Trace:
    def __init__(self):
        self.line = 0
        self._step = ""
        self._sizes = {}

    def at(self, line):
        """The script is at this line. Returns None: it is also put in front of expressions."""
        self.line = line

    def start(self):
        """Listens from now on."""
        heap = board.heap
        malloc, free, point, take = heap.malloc, heap.free, board.point, k210_gc.heap.take

        def told_malloc(n):
            address = malloc(n)
            if address:
                self._sizes[address] = n
            self._tell("+" if address else "FAILS", n, "heap")
            return address

        def told_free(address):
            free(address)
            if address:
                self._tell("-", self._sizes.pop(address, "?"), "heap")

        def told_point(name):
            self._step = name
            point(name)

        def told_take(n):
            data = take(n)
            self._tell("+", n, "gc")
            return data

        heap.malloc, heap.free, board.point, k210_gc.heap.take = (
            told_malloc,
            told_free,
            told_point,
            told_take,
        )

    def _tell(self, sign, n, kind):
        print(
            _TRACE.format(sign, n, kind, board.heap.heap_free(), self.line, self._step),
            file=sys.stderr,
        )


def run(job):
    """Powers a board on and runs a script as __main__; returns the exit status for the host.

    The dict `job`: script (the name), source (its text), firmware, gc_heap, flash, files, card and trace (True or False).
    """
    board.reset(job["firmware"], gc_heap=job["gc_heap"], flash=job["flash"], files=job["files"])
    board.state.frame = bytearray(_FRAME)
    k210_simfiles.enclose(job["card"])
    k210_simgc.show(k210_gc.heap.pool, k210_gc.heap.used)
    names = {"__name__": "__main__", "__file__": job["script"]}
    if job["trace"]:
        trace = Trace()
        names["_maixmem_at"] = trace.at
        trace.start()
    try:
        exec(compile(job["source"], job["script"], "exec"), names)
    except board.DeviceCrash as e:
        print("\nBOARD HANGS: {}.\n  cure: {}".format(e.cause, e.cure))
        return _HANG
    except board.HardReset:
        print("\nmachine.reset(): the board restarts here; the script is not run again.")
    except SystemExit as e:
        return _status(e)
    except Exception as e:
        return _failed(job["script"], e)
    return 0


def _status(e):
    code = e.args[0] if e.args else 0
    if code is None or isinstance(code, int):
        return code or 0
    print(code)
    return 1


def _failed(script, e):
    """The traceback as the board prints it, what the error means, and one last line."""
    import maixmem_advice

    _print_exception(e)
    known = maixmem_advice.find(e)
    if known:
        print("= " + known[0])
        for i, step in enumerate(known[1]):
            print("{}. {}".format(i + 1, step))
    print("{} failed: {}: {}".format(script, type(e).__name__, e))
    return 1


def _print_exception(e):
    try:
        import io

        text = io.StringIO()
        if hasattr(sys, "print_exception"):
            sys.print_exception(e, text)
        else:
            import traceback

            traceback.print_exception(type(e), e, e.__traceback__.tb_next, file=text)
    except ImportError:
        return
    for line in text.getvalue().split("\n"):
        if line and "k210_sim.py" not in line:
            print(line)


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        job = eval(f.read())
    sys.exit(run(job))
