# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Writes down what a script does to the board while it runs: models, camera, display, pictures,
and both heaps then. The room for it is made before the script's books begin."""

import sys
from array import array
from io import StringIO

import k210_board as board
import k210_files
import k210_garbage
import k210_gc
import k210_kpu
import k210_system
import sensor
from k210_flash import SPIFFS
from k210_stack import LEAST
from k210_system import print_exception
from k210_threads import turns
from k210_time import passed

FRAME, LOAD, FREE, CAMERA, WINDOW, LCD, REFUSED, THREAD, NO_ROOM = range(9)
_ROWS, _WORDS = 700, 8
_OF_LINE = 4
_COUNT, _IN_ALL, _LARGEST, _KEPT = range(_OF_LINE)
_NOTHING = b"\xff\xff\xff\xff"
_HEADER = 4096
_ONE = "\x1e"  # begins each of
_CAUGHT = 8000  # bytes of the tracebacks of errors that the script caught
# rounds at the end in which each line is looked at; at the beginning twice as many, where what the
# first half keeps may be for good
_LOOKED_AT = 6
# beginnings of a line in a round that are looked at, each; then the 16th, the 32nd ... alone
_EACH, _MANY = 8, 0xFFFF
_OF_CALL = 100  # statements that take as long as a call of an image does here
_NO_ROOM = 40  # times that it is looked at how much is free where a picture gets nothing
_PAUSE = 2  # times the most rounds of others between two of its own: a loop has ended


# The loops of a script that takes no pictures: of each how often it went round, and the free bytes
# of the GC heap at some of these rounds, `stride` apart. The first that begins is the outermost.
class _Loops:
    MOST, LOOKS = 8, 128

    def __init__(self):
        self.turn = 0  # rounds of all of them
        self.leads = False  # the last one to go round is in no other
        self._leader = self._n = 0
        words = bytes(8 * self.MOST)
        self._line, self._passed, self._stride, self._looks, self._last, self._gap = [
            array("q", words) for _ in range(6)
        ]  # gap: the most turns from one round to the next
        self._seen = array("q", bytes(16 * self.MOST * self.LOOKS))

    def passes(self, line):
        """A loop begins a round: its number where this one is to be looked at, else None."""
        i = self._find(line)
        if i is None:
            self.leads = False
            return None
        self.turn += 1
        self.leads = i <= self._leader or self._ended(self._leader)
        if self.leads:
            self._leader = i
        if self._passed[i]:
            self._gap[i] = max(self._gap[i], self.turn - self._last[i])
        self._last[i] = self.turn
        self._passed[i] += 1
        if self._looks[i] == self.LOOKS:
            self._halve(i)
        return i if (self._passed[i] - 1) % self._stride[i] == 0 else None

    def _ended(self, i):
        return self.turn - self._last[i] > _PAUSE * self._gap[i]

    def _find(self, line):
        for i in range(self._n):
            if self._line[i] == line:
                return i
        if self._n == self.MOST:
            return None
        self._line[self._n] = line
        self._stride[self._n] = 1
        self._n += 1
        return self._n - 1

    def _halve(self, i):
        """Every second look goes, to make room for as many."""
        at = 2 * i * self.LOOKS
        for k in range(self.LOOKS // 2):
            self._seen[at + 2 * k] = self._seen[at + 4 * k]
            self._seen[at + 2 * k + 1] = self._seen[at + 4 * k + 1]
        self._looks[i] = self.LOOKS // 2
        self._stride[i] *= 2

    def look(self, i, free):
        """What is free when that loop begins its round."""
        at = 2 * (i * self.LOOKS + self._looks[i])
        self._seen[at], self._seen[at + 1] = self._passed[i], free
        self._looks[i] += 1

    def told(self):
        """[(line, rounds, 1: it has ended, rounds and free bytes of each look)]"""
        found = []
        for i in range(self._n):
            at = 2 * i * self.LOOKS
            seen = tuple(self._seen[at : at + 2 * self._looks[i]])
            found.append((self._line[i], self._passed[i], int(self._ended(i)), seen))
        return found


# Contract. Rows of numbers: kind, three of its own, line, round, heap_free, free bytes of the GC
# heap; `paths` and `failed` are of loads, by number. With `whole` the script says its lines
# (runs/tracing.py), and garbage is collected before each look: that changes when a lost model
# is freed. Without it nothing is allocated here while the script runs. With `by_rounds` it looks
# at rounds and pictures alone, for what all lines together keep: a tenth of the collections.
class Recorder:
    def __init__(self, lines, whole, by_rounds=False):
        self.line = 0
        self.rounds = 0
        self._whole = whole
        self._by_rounds = by_rounds
        self._words = array("q", bytes(8 * _WORDS * _ROWS))
        self._rows = 0
        self._of_lines = array("q", bytes(8 * _OF_LINE * (lines + 2))) if whole else None
        self._sources = [None] * _ROWS
        self._least = array("q", (1 << 40, 0, 0, 1 << 40, 0, 0))  # GC, line, round; system heap
        self._live = 0
        self._by_line = False  # the line before was looked at
        self._counts = False  # and what it keeps counts
        self._begun = array("H", bytes(2 * (lines + 2)) if whole else b"")  # times, of each line
        self._unseen = 0  # the line that keeps most of those that began since the last look
        self._frame = 0  # bytes that a callback takes to run; None: it has just begun
        self._loops = _Loops() if whole else None
        self._pictures = _Loops() if whole else None  # as if they were rounds of a loop
        self._loop_seen = True  # this round of a loop is looked at
        self._windowed = 0  # the line of a set_windowing() that is going on, and 1
        self._over = self._threads = False
        self._caught = bytearray(_CAUGHT if whole else 0)
        self._told = 0  # bytes of them
        self._refusals = 0  # of pictures
        self._ran = bytearray(lines + 2 if whole else 0)  # 1: that line did
        self._statements = 0
        self._blank = 0  # where flash was read last, and nothing was
        self._packs = False  # a JPEG was made

    def start(self):
        """Listens from now on."""
        self._hear_memory()
        self._hear_flash()
        self._hear_models()
        self._hear_pictures()

    def stop(self):
        """Nothing more is the script's."""
        starved, line = turns.starved(), self.line
        if starved is not None and not self._threads:
            self.line = starved
            self.add(THREAD)
            self.line = line
        if self._whole and not self._over:
            self._free()  # what the last line left
        self._over = True

    def _hear_memory(self):
        heap = board.heap
        malloc, take = heap.malloc, k210_gc.heap.take

        def told_malloc(n):
            address = malloc(n)
            if not address:
                self.add(REFUSED, n)
            self._look_at(3, heap.heap_free())
            return address

        def told_take(n):
            if self._of_lines and not self._over:
                at = _OF_LINE * self.line
                self._of_lines[at + _COUNT] += 1
                self._of_lines[at + _IN_ALL] += n
                self._of_lines[at + _LARGEST] = max(self._of_lines[at + _LARGEST], n)
            try:
                return take(n)
            except MemoryError:
                self._has_no_room(n)
                raise

        heap.malloc, k210_gc.heap.take = told_malloc, told_take

    def _has_no_room(self, n):
        """A picture of n bytes got nothing of the GC heap."""
        if self._refusals < _NO_ROOM and not self._over:
            self._refusals += 1
            self.add(NO_ROOM, n, k210_gc.heap.largest())

    def _hear_flash(self):
        flash = board.flash
        read = flash.read

        def told_read(address, n):
            data = read(address, n)
            if data[:4] == _NOTHING and address < SPIFFS:
                if not 0 <= address - self._blank < _HEADER:  # the first of those together
                    self._blank = address
            return data

        flash.read = told_read

    def _hear_models(self):
        model = k210_kpu.Model
        for way, name in enumerate(("load_address", "load_path", "load_stream")):
            setattr(model, name, self._load(way, getattr(model, name)))
        release = model.release

        def told_release(net):
            was = net.loaded
            release(net)
            if was:
                self._of_model(FREE, net.path or net.address)

        model.release = told_release

    def _load(self, way, load):
        def told_load(net, source, *more):
            came = False
            try:
                load(net, source, *more)
                came = True
            finally:
                self._of_model(LOAD, source, way, net.live() if self._whole else 0, came)

        return told_load

    def _of_model(self, kind, source, *numbers):
        if self._rows < _ROWS:
            self._sources[self._rows] = source
        self.add(kind, *numbers)

    def _hear_pictures(self):
        frame, lcd_take, camera = board.frame, board.lcd_take, sensor._take
        point = board.point

        def told_frame():
            frame()
            self.rounds += 1
            self._picture()
            self._begin_round()

        def told_lcd(w, h):
            lcd_take(w, h)
            self.add(LCD, w, h)

        def told_camera(seen, w, h):
            buffers = -seen.buffers  # below 0: they were not given
            try:
                camera(seen, w, h)
                buffers = seen.buffers
            finally:
                self.add(CAMERA, w, h, buffers)

        def told_point(name):
            self._set_window()
            self._windowed = self.line + 1 if name == "set_windowing" else 0
            if name in ("no thread", "stack") and not self._threads:
                self._threads = True
                self.add(THREAD, turns.now.stack if name == "stack" else 0)
            self._packs = self._packs or name == "image.compress"
            point(name)

        board.frame, board.lcd_take, sensor._take = told_frame, told_lcd, told_camera
        board.point = told_point

    def _picture(self):
        """A row, while half of them are left: what ends the script needs one. Then what is free is
        looked at as rarely as at a loop's rounds."""
        look = self._pictures.passes(0) if self._pictures and not self._over else None
        if self._rows < _ROWS // 2:
            self.add(FRAME)
        if look is not None:
            self._pictures.look(look, self._free())

    def _set_window(self):
        """The window that the last step of the board has set: which is known after it."""
        seen = board.state.sensor
        if self._windowed and seen and seen.window:
            now, self.line = self.line, self._windowed - 1
            self._windowed = 0
            self.add(WINDOW, *seen.window)
            self.line = now

    def add(self, kind, a=0, b=0, c=0):
        """A row, where there is room for one."""
        if self._over or self._by_rounds:
            return
        if self._whole:
            self._free()  # inside a call, whose own objects are no line's
        at = _WORDS * self._rows
        if self._rows == _ROWS:
            return
        words = self._words
        words[at], words[at + 1], words[at + 2], words[at + 3] = kind, a, b, c
        words[at + 4], words[at + 5] = self.line, self.rounds
        words[at + 6], words[at + 7] = board.heap.heap_free(), k210_system.gc.mem_free()
        self._rows += 1

    def at(self, line, adds=0, b=0, c=0, d=0, e=0, f=0, g=0, h=0):
        """The script is at this line, which `adds` to a list or a table; the others lie over what
        the statement before left on the interpreter's stack. Returns None: it is also put in front
        of expressions."""
        self._statements += 1
        self._ran[line] = 1
        if turns.of_thread():
            turns.deeper()
            turns.takes(LEAST)
        self.comes_to(line, adds)

    def comes_to(self, line, adds=0):
        """The line, or a thread that goes on at it. Returns None."""
        if self._by_rounds:
            self.line = line
            return
        begin = (board.state.frames_end or 0) - _LOOKED_AT
        looks = self.rounds <= 2 * _LOOKED_AT or self.rounds >= begin
        if not self.rounds:
            looks = self._loop_seen
        early = _LOOKED_AT < self.rounds <= 2 * _LOOKED_AT  # it may never come to its last ones
        self._counts = not self.rounds or early or self.rounds > begin  # whole rounds alone
        seen = looks and self._is_seen(line)
        if seen or (looks and self._by_line):
            self._collect()
        if looks and not seen:
            self._pass_over(line, adds)
        self._by_line = seen
        self.line = line

    def _is_seen(self, line):
        """Whether it is looked at this time: in a loop a line may begin thousands of times."""
        n = self._begun[line] = min(self._begun[line] + 1, _MANY)
        return n <= _EACH or n & (n - 1) == 0

    def _pass_over(self, line, adds):
        """It is not looked at: of all of these one has what they keep together."""
        of, at = self._of_lines, _OF_LINE * self._unseen + _KEPT
        more = of[_OF_LINE * line + _KEPT] - of[at]
        if not self._unseen or more > 0 or (adds and more == 0):
            self._unseen = line

    def _begin_round(self):
        """A round begins."""
        for line in range(len(self._begun)):
            self._begun[line] = 0

    def rings(self):
        """A callback begins: what it takes to run is kept by no line."""
        self.comes_to(self.line)
        self._frame = None

    def rang(self, line):
        """It is over, and the script goes on at that line."""
        self._live += self._frame or 0
        self._frame = 0
        self.comes_to(line)

    def round(self, line):
        """The loop of this line begins a round. Returns None, as at()."""
        if self._over:
            return
        if passed.over():
            board.end()
        if self.rounds:
            return  # pictures are the rounds
        if self._by_line or self._unseen:
            self._collect()
        loop = self._loops.passes(line)
        if self._loops.leads:
            self._loop_seen = loop is not None
            self._begin_round()
        if loop is not None:
            self._by_line = False  # what came since the last look is no line's
            self._collect()
            self._loops.look(loop, self._live)
        self._by_line = self._loop_seen

    def caught(self):
        """The script is in one of its handlers: the traceback of what it caught is kept, once.
        Returns None, as at()."""
        error = sys.exc_info()[1] if hasattr(sys, "exc_info") else None
        if error is None or self._over:
            return
        told = StringIO()
        told.write("%s%d\n" % (_ONE, self._blank))
        print_exception(error, told)
        text = told.getvalue().encode()
        end = self._told + len(text)
        if end <= len(self._caught) and self._caught.find(text) < 0:
            self._caught[self._told : end] = text
            self._told = end

    def _free(self):
        """What is free without garbage, and the least of it."""
        since = passed.us()
        k210_garbage.books.collect()
        free = k210_system.gc.mem_free()
        self._look_at(0, free)
        passed.without(since)
        return free

    def _collect(self):
        """What the line has kept up to now."""
        free = self._free()
        passed_by = self.rounds or self._loops.turn
        if self._frame is None:
            self._frame = self._live - free
        elif self._counts and passed_by >= _LOOKED_AT:
            line = self.line if self._by_line else self._unseen
            self._of_lines[_OF_LINE * line + _KEPT] += self._live - free if line else 0
        self._live = free
        self._unseen = 0

    def _look_at(self, at, free):
        if free < self._least[at]:
            self._least[at] = free
            self._least[at + 1] = self.line
            self._least[at + 2] = self.rounds

    def told(self):
        """All of it, for the host."""
        words = self._words
        rows = [tuple(words[i * _WORDS : (i + 1) * _WORDS]) for i in range(self._rows)]
        of_lines = []
        for line in range(len(self._of_lines or ()) // _OF_LINE):
            numbers = tuple(self._of_lines[line * _OF_LINE : (line + 1) * _OF_LINE])
            if numbers != (0, 0, 0, 0):
                of_lines.append((line,) + numbers)
        return {
            "rows": rows,
            "sources": self._sources[: self._rows],
            "lines": of_lines,
            "least": tuple(self._least),
            "rounds": self.rounds,
            "statements": self._statements + _OF_CALL * k210_garbage.books.calls,
            "ran": [line for line, ran in enumerate(self._ran) if ran],
            "line": self.line,
            "packs": self._packs,
            "loops": self._loops.told() if self._loops else [],
            "pictures": self._pictures.told() if self._pictures else [],
            "came": [name for name in k210_files.missed if k210_files.missed[name]],
            "caught": bytes(self._caught[: self._told]),
            "limit": isinstance(board.state.dead, board.RunEnded) or passed.over(),
        }
