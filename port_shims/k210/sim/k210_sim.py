# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs one MaixPy script on the stand-in board: `k210_sim.py JOB`, JOB a file with the dict that
run() takes."""

import gc
import sys
from io import StringIO

if hasattr(gc, "threshold") and sys.implementation.name == "micropython":
    gc.threshold(262144)  # the stand-in's own modules lie close together

import k210_board as board
import k210_books
import k210_files
import k210_garbage
import k210_gc
import k210_host
import k210_start
import k210_system
import k210_threads
import k210_time
import k210_written
from k210_flash import source_read, source_size
from k210_model import builds
from k210_system import print_exception

_HANG = 3
_INTERRUPTED = 130
_RESETS = 3
_OTHER_HEAP = "\nThe board restarts with a GC heap of {0} bytes. Next: --board-heap {0}"
_NO_PROMPT = "it does not come to its prompt: its GC heap has %d bytes"
_FRAME = (
    800 * 600 * 2
)  # SVGA, the largest frame that fits: the board has frames in the system heap
_TOLD = 12000  # bytes of files that go into a record, four characters each at the most
_DEAD = "the board hangs: only a reset helps, as a real one would"
_RECORD = "\x1e"  # begins a line of stderr for who started this
_TRACE = "{} {:>8} bytes {:<4} heap_free {:>8}  line {:<5} {}"


# Tells of every allocation while a script runs: of the system heap (what malloc and free are
# asked), and of pixels in the GC heap. The script's lines call at(n) before they begin, so "line"
# is the last line of the script that began; the last column is the step of the board that was
# reached.
class Trace:
    def __init__(self):
        self.line = 0
        self._step = ""
        self._sizes = {}

    def at(self, line, a=0, b=0, c=0, d=0, e=0, f=0, g=0, h=0):
        """The script is at this line; the others are for the recorder's. Returns None: it is also
        put in front of expressions."""
        self.line = line

    rang = comes_to = at

    def rings(self):
        """A callback begins."""

    def round(self, line):
        """A loop of the script goes round."""

    def caught(self):
        """The script is in one of its handlers."""

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

    The dict `job`: script (the name), source (its text), runs (that text as it is run), asks (see
    k210_start.Session), modules (files that it may import), firmware, gc_heap, flash, files, card,
    files_room (bytes for what the script writes), serial {port: bytes}, folders (see Session),
    frames and seconds (the end of the run, or None), works (likewise, seconds that really pass),
    begin (pictures, and the seconds in which it has so many or ends), report (whether it tells its
    figures), trace, record (whether what the script does is written down), marked (whether its
    lines say so), by_rounds (whether it is looked at rounds alone), threads (whether it may start
    some), detail (whether the pictures of JPEGs are full of it), lingers (which picture that the
    program lost lies on the GC heap: "", "last" or "first").
    """
    try:
        board.reset(
            job["firmware"],
            gc_heap=job["gc_heap"],
            flash=job["flash"],
            files=job["files"],
            card=job["card"],
        )
        if board.state.gc_active < builds.GC_PROMPTS:
            board.crash(_NO_PROMPT % board.state.gc_active, "erase the file system at 0xD00000")
    except board.DeviceCrash as e:
        return _hangs(e)
    recorder = _recorder(job) if job["record"] else None
    if job["threads"]:
        k210_threads.turns.hire()
    session = k210_start.Session(job["card"], job["folders"], _texts(job), job["asks"])
    session.asks.ready()
    k210_threads.turns.failed = _thread_failed
    reads = (
        [job["script"], "/dev/null"] + list(job["flash"].values()) + list(job["files"].values())
    )
    trace = Trace() if job["trace"] else None
    if trace or recorder:
        session.mark(recorder or trace)
    fence = k210_host.leave(reads, job["folders"])
    session.enclose(*fence)
    if trace:
        trace.start()
        _follow(trace)
    if recorder:
        recorder.start()
        if job["marked"]:
            _follow(recorder)
        session.recorder = recorder
    _set(job)
    session.ballast = k210_books.begin(board.greets())  # stays referenced
    if not job["report"]:
        return _finish(session, job)
    told = []

    def tell():
        if not told:
            _leave(session)
            figures = session.figures
            if recorder:
                figures["record"] = recorder.told()
            _record(figures)
            told.append(True)  # now: an interrupt may have come in between, and it is told again

    board.state.on_end = tell
    _record("begun")
    status = _finish(session, job)
    board.state.on_step = None
    tell()
    return status


def _follow(seen):
    """Who knows the line that runs is told when another thread's goes on, or that of a program
    after a callback."""
    k210_time.passed.follows = seen
    k210_threads.turns.line = lambda: seen.line
    k210_threads.turns.returns = seen.comes_to


def _recorder(job):
    import k210_recorder

    lines = job["source"].count("\n") + 1
    return k210_recorder.Recorder(lines, job["marked"], job["by_rounds"])


def _texts(job):
    """The bytes of the script, and of the modules that it may import."""
    yield job["source"].encode()
    for path in job["modules"]:
        try:
            with open(path, "rb") as f:
                yield f.read()
        except OSError:  # an import will say it
            pass


def _ramp(n):
    """What a camera sees: bytes of all values in turn, whose texts are as long as a camera's."""
    frame = bytearray(n)
    values = bytes(range(256))
    for at in range(0, n, 256):
        frame[at : at + 256] = values
    return frame


def _set(job):
    """What the job wants of the board that was powered on."""
    board.faults.keep = 0
    board.faults.clear()
    board.state.frame = _ramp(_FRAME) if k210_gc.NATIVE else None
    board.state.serial.update(job["serial"])
    board.state.detail = job["detail"]
    k210_gc.heap.lingers = k210_gc.Lingering(job["lingers"] == "first") if job["lingers"] else None
    board.state.tidies = k210_garbage.books.tidy if k210_gc.NATIVE else None
    k210_written.set_aside(job["files_room"])
    k210_time.passed.restart()
    board.state.frames_end = job["frames"]
    clock = k210_time.passed
    if job["seconds"] is not None:
        clock.ends_at = int(job["seconds"] * 1000000)
    if job["works"] is not None:
        clock.works_by = int(job["works"] * 1000000)
    clock.failed = _print_exception
    clock.begins, seconds = job["begin"]
    clock.begins_by = int(seconds * 1000000)


def _figures():
    """What the memory table shows: bytes of both heaps, the models that are loaded, frames and
    seconds."""
    heap, books = board.heap, k210_system.gc
    k210_garbage.books.collect()
    holes = [n for n, _ in heap.pieces()]
    top = heap.end - heap.top
    free = sum(holes) + top + heap.heap_free()
    return {
        "gc": {"used": books.mem_alloc(), "free": books.mem_free(), "largest": board.gc_largest()},
        "heap": {
            "used": heap.limit - heap.base - free,
            "free": free,
            "largest": max(holes + [top + heap.heap_free()]),
            "heap_free": heap.heap_free(),
            "lowest": heap.lowest(),
            "holes": holes,
            "top": top,
        },
        "nets": [
            (net.path or "0x%x" % (net.address or 0), net.live()) for net in board.state.nets
        ],
        "frames": board.state.frames,
        "seconds": k210_time.passed.us() / 1000000,
    }


def _record(value):
    print(_RECORD + repr(value), file=sys.stderr)


def _finish(session, job):
    pool = k210_gc.heap.pool
    try:
        for _ in range(_RESETS):
            if _runs_through(session, job):
                return 0
            other = k210_gc.NATIVE and k210_gc.heap.pool != pool
            written = _written() if other else {}
            if written is None:
                print(_OTHER_HEAP.format(board.gc_configured()))
                return 0
            print("\n(the board restarts: the script runs again)")
            if other:
                return _begin_anew(written)
            session.restart()
        print("the script resets the board again and again. Next: give --frames or --seconds")
        return 1
    except board.DeviceCrash as e:
        _leave(session)
        return _hangs(e, job)
    except board.RunEnded:
        pass
    except KeyboardInterrupt:
        return _INTERRUPTED
    except SystemExit as e:
        return _status(e)
    except Exception as e:
        _starved(session, e)
        _leave(session)
        return _failed(job, e)
    return 0


def _starved(session, e):
    """What a memory error found: what its functions had is lost, but still there."""
    if isinstance(e, MemoryError) and k210_gc.NATIVE and session.refused is None:
        session.refused = k210_system.gc.mem_free(), k210_gc.heap.largest_now()


def _leave(session):
    """The script has ended, and may have left no room to say how: its figures are kept, once, then
    what keeps its heap as small as the board's is given up."""
    if session.figures:
        return
    gc.collect()  # one that an interrupt cut short has left the heap locked
    if session.recorder:
        session.recorder.stop()
    k210_garbage.books.end()
    if board.state.on_end:
        session.figures = _figures()
        session.figures["refused"] = session.refused
    session.ballast = None
    gc.collect()


def _written():
    """{name: bytes} of what the script wrote to files; None when that is too much to be told."""
    found, left = {}, _TOLD
    for name, source in k210_files.files().items():
        if not isinstance(source, str) and name != board.CONFIG and source is not board.GREETING:
            left -= source_size(source)
            if left < 0:
                return None
            found[name] = source_read(source, 0, source_size(source))
    return found


def _begin_anew(written):
    """Another GC heap is another interpreter: who started this one starts that."""
    _record({"gc_heap": board.gc_configured(), "files": written})
    return 0


def _runs_through(session, job):
    """False: the script has reset the board."""
    try:
        session.boot(_print_exception)
        session.run(job["runs"], job["script"])
    except board.HardReset:
        return False
    return True


def _hangs(e, job=None):
    """What is said of a hang, in the words of a run on an image."""
    lines = [_DEAD] + (_where(e, job) if job else []) + [e.cause]
    print("\n" + "\n".join(["maixmem: " + line for line in lines]), file=sys.stderr)
    return _HANG


def _where(e, job):
    """The line of the script, and who called it, from the traceback of the hang."""
    found = [line.split('"') for line in _traceback(e) if '"' in line and "line " in line]
    source, word, lines = job["source"].split("\n"), "at", []
    for _, file, rest in reversed(found):
        number = int(rest.split("line ")[1].split(",")[0])
        ours = file == job["script"] and number <= len(source)
        text = ": " + source[number - 1].strip() if ours else " " + rest.split(" in ")[-1]
        lines.append("{} {}:{}{}".format(word, file.split("/")[-1], number, text))
        word = "   called by"
    return lines


def _status(e):
    code = e.args[0] if e.args else 0
    if code is None or isinstance(code, int):
        return code or 0
    print(code)
    return 1


def _failed(job, e):
    """The traceback as the board prints it, and one last line."""
    _print_exception(e)
    print("{} failed: {}: {}".format(job["script"], type(e).__name__, e))
    return 1


def _thread_failed(function, e):
    print("Unhandled exception in thread started by", function)
    _print_exception(e)


def _print_exception(e):
    for line in _traceback(e):
        print(line)


def _traceback(e):
    """Its lines, without those of the stand-in, which is port_shims in a checkout and
    maixmem_shims where it was installed. The last of a text that does not compile names no
    function: k210_language makes it by a raise."""
    text = StringIO()
    print_exception(e, text)
    lines = [
        line
        for line in text.getvalue().split("\n")
        if line and "_shims" not in line and "k210_s" not in line
    ]
    if isinstance(e, SyntaxError) and len(lines) > 1:
        lines[-2] = lines[-2].split(", in <")[0]
    return lines


def read(name):
    """The dict in a file."""
    with open(name) as f:
        return eval(f.read())


if __name__ == "__main__":
    sys.exit(run(read(sys.argv[1])))
