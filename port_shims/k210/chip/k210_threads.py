# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""_thread: what the firmware takes for a thread, whose turn it is, and locks."""

import gc
import sys

import k210_board as board
from k210_garbage import books
from k210_parts import Part, keep
from k210_stack import needs, writes_flash
from k210_time import passed

try:
    import _thread as _host

    from micropython import stack_use as _stack_use
except ImportError:  # CPython: its threads would run at the same time
    _host = None

_GIVE_BACK = "release() it first; or ask with acquire(0), which does not wait"
_NOT_RUN = "maixmem: what this thread does is not run here. Next: --firmware IMAGE runs it"
_ROOM = "a smaller _thread.stack_size(), or start the thread before the models"
_ALL_WAIT = "each thread waits for a lock that another one has"
_STACK = 5120  # where the program says none; at least 4096
_TASK = 2224  # what belongs to a stack
_MOST = 8  # threads at a time
_HOST_STACK = 1 << 18
_NEVER = 1 << 62
_PICTURES, _LONG = 1, 500000  # without a turn for others; microseconds
# bytes of a thread's stack on the board (v0.6.2_84 full): below its function, of a call, what a
# call has to leave; a frame here is so much smaller
_BELOW, _CALL, _LEAVES = 480, 576, 1024
_TIMES, _OURS = 1.5, 3  # frames of ours above the script's, where its depth is looked at


# Contract. One that takes turns: main, or a thread. `due`: microseconds since power-on at which it
# goes on; `stack`: bytes on the board, 0 of main; `line`: where it was started. Its own thread of
# the interpreter waits at its gate while others have their turn.
class _Turn:
    def __init__(self):
        self.due = 0
        self.stack = self.base = self.line = 0
        self.work = None
        self._gate = _host.allocate_lock()
        self._gate.acquire()

    def opens(self):
        self._gate.release()

    def waits(self):
        while True:
            try:
                self._gate.acquire()
                return
            except KeyboardInterrupt as e:  # the system gave it to this one
                board.state.dead = board.state.dead or e

    def depth(self):
        """Bytes of the board's stack that the script's calls have taken."""
        here = int(_TIMES * (_stack_use() - self.base))
        return _BELOW + max(_CALL, here - _OURS * _CALL)


# Contract. One runs at a time, and on until it waits: as on the board, where time.sleep_ms(),
# sleep() and a lock that is taken let others run, and nothing else does. hire() makes the
# interpreter's own threads, before the script's books begin; without that no thread is run.
# `failed(function, error)` says what ended one, `returns(line)` is called when one goes on that
# was at that line, `line()` gives the line.
class Turns:
    def __init__(self):
        self._idle = []
        self.now = self._main = None
        self.failed = self.line = self.returns = None
        self.all = []
        self._since = (0, 0)  # pictures and microseconds when the others had their turns last

    def hire(self):
        """Makes the threads that a script may have."""
        if _host is None:
            return
        self.now = self._main = _Turn()
        self.all = [self._main]
        _host.stack_size(_HOST_STACK)
        try:
            for _ in range(_MOST):
                turn = _Turn()
                _host.start_new_thread(self._serve, (turn,))
                self._idle.append(turn)
        except (OSError, MemoryError):  # the system lets us have so many
            pass

    def begin(self, stack, function, args, kwargs):
        """A thread is ready to run; False where it cannot."""
        if not self._idle:
            return False
        turn = self._idle.pop()
        turn.due, turn.stack = passed.us(), stack
        turn.line = self.line() if self.line else 0
        turn.work = function, args, kwargs
        if len(self.all) == 1:
            self._marks()
        self.all.append(turn)
        passed.wait = self.sleep
        return True

    def forget(self):
        """After a reset: main is alone. What others had begun never goes on."""
        self.all = [self._main] if self._main else []
        passed.wait = None

    def _serve(self, turn):
        while True:
            turn.waits()
            function, args, kwargs = turn.work
            turn.base = _stack_use()
            try:
                function(*args, **kwargs)
            except SystemExit:
                pass
            except (board.DeviceCrash, board.HardReset, board.RunEnded):
                pass  # board.state.dead: main will see
            except BaseException as e:
                self._failed(function, e)
            turn.work = function = args = kwargs = None
            self.all.remove(turn)
            self._idle.append(turn)
            if board.state.dead:
                self._main.due = 0
            self._passes(self._next())

    def _failed(self, function, error):
        gc.collect()
        try:
            self.failed(function, error)
        except MemoryError:
            books.open()
            self.failed(function, error)

    def _next(self):
        """Whose turn it is: who is due first, of those the one that waited longest."""
        found = self.all[0]
        for turn in self.all:
            if turn.due < found.due:
                found = turn
        if found.due == _NEVER:
            found = self._main
            found.due = 0
            board.state.dead = board.DeviceCrash(_ALL_WAIT, _GIVE_BACK)
        return found

    def _passes(self, turn):
        self.now = turn
        turn.opens()

    def sleep(self, us):
        """The one who runs waits so long; others have their turns."""
        self.until(passed.us() + us)

    def until(self, due):
        """The same, up to a time; _NEVER: until somebody says that it is due."""
        me = self.now
        me.due = due
        self.all.remove(me)
        self.all.append(me)  # behind those that are due then
        other = self._next()
        self._marks()
        passed.sleep(max(0, other.due - passed.us()))
        if other is not me:
            line = self.line and self.line()
            self._passes(other)
            me.waits()
            if self.returns:
                self.returns(line)
        me.due = 0
        board.alive()

    def _marks(self):
        self._since = board.state.frames, passed.us()

    def starved(self):
        """The line where one was started that is due and does not run, since nobody waits: a board
        may, or may not, let it run sooner or later. None: there is no such."""
        pictures, since = self._since
        now = passed.us()
        if board.state.frames - pictures > _PICTURES or now - since > _LONG:
            for turn in self.all:
                if turn is not self.now and turn.due <= now:
                    return turn.line
        return None

    def of_thread(self):
        """Whether a thread runs."""
        return self.now is not self._main

    def takes(self, nbytes):
        """The one who runs takes so many bytes more of its stack."""
        me = self.now
        if me is not self._main and me.depth() + nbytes > me.stack:
            board.point("stack")

    def deeper(self):
        """RuntimeError where the thread that runs has used up its stack by calls."""
        if self.now.depth() - _BELOW > self.now.stack - _LEAVES:
            raise RuntimeError("maximum recursion depth exceeded")


turns = Turns()


def watched(name, function):
    """A function of a script's, which may take more of a thread's stack than there is: then the
    firmware writes over what lies below it, and what comes of that is not known."""

    reads, writes = needs(name)

    def method(*args, **kwargs):
        if turns.of_thread():
            turns.takes(writes if writes and writes_flash(name, args) else reads)
        return function(*args, **kwargs)

    return method


def start_new_thread(function, args, *kwargs):
    board.point("thread")
    stack = max(board.state.stack or _STACK, 4096) % 0x80000  # 16 bits, in words
    for n in (stack, _TASK):
        if not board.heap.malloc(n):  # the firmware goes on with a handle that was never set
            board.crash("no system heap for a thread's stack of %d bytes" % stack, _ROOM)
    if turns.begin(stack, function, args, kwargs[0] if kwargs else {}):
        return
    if not board.state.threads:
        print(_NOT_RUN, file=sys.stderr)
    board.state.threads = True
    board.point("no thread")


def stack_size(*size):
    """Gives what was set before."""
    before = board.state.stack
    board.state.stack = size[0] if size else 0
    return before


class lock(Part):
    def __init__(self):
        keep(self, "_held", [])
        keep(self, "_wait", [])

    def acquire(self, wait=1, timeout=-1):
        if self._held and wait:  # the firmware does not look at the timeout
            self._waits()
        if self._held:
            return False
        self._held.append(1)
        return True

    def _waits(self):
        """Until it is free."""
        if len(turns.all) < 2:
            if not board.state.threads:
                board.crash(
                    "the lock is taken, and no thread is there to give it back", _GIVE_BACK
                )
            return
        me = turns.now
        self._wait.append(me)
        while self._held:
            turns.until(_NEVER)
        self._wait.remove(me)

    def release(self):
        if not self._held:
            raise RuntimeError
        self._held.pop()
        if self._wait:
            self._wait[0].due = passed.us()

    def locked(self):
        return bool(self._held)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *args):
        self.release()


LockType = lock


def exit():
    raise SystemExit


def allocate_lock():
    return lock()
