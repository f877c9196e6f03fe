# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs on a board in software: loads by hand and by the manager, frees, camera,
display, images, card, threads, Ctrl-C. Each verdict of the library is held against the same board
without it.

The oracle: a snapshot of the board is taken before; where the library says no, the bare call is
run from there. It must not come through.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import emulated
from maixmem_cli.emulator import pictures, sd_image
from maixmem_cli.emulator.board import Board, Snapshot
from maixmem_cli.emulator.ports import SerialPort
from maixmem_cli.emulator.prepared import booted, files_of_library
from maixmem_cli.serial.repl import BoardError, RawRepl

V3 = {
    0x300000: "v3_face_ld5.kmodel",
    0x400000: "v3_mnist_maixpy.kmodel",
    0x500000: "v3_landmark68.kmodel",
    0x600000: "v3_trash.kmodel",
    0xA00000: "v3_voc20_detect.kmodel",
}
V4 = {
    0x800000: "v4_model5.kmodel",
    0x840000: "v4_ultra_face.kmodel",
    0x8A0000: "v4_yolo20_alpha.kmodel",
    0xB80000: "v4_mnist_cnn.kmodel",
}
CARD = ("v3_face_ld5.kmodel", "v3_landmark68.kmodel")
SIZES = {"QQQVGA": (80, 60), "QQVGA": (160, 120), "QVGA": (320, 240), "VGA": (640, 480)}
STEPS = 14
_SLOTS = 5
HANG = ("hang", True)  # nothing comes any more
_CLEAN = ("2002", "2003", "2006")
_WITH_CAMERA = 0.75  # of the programs: sensor.reset() takes the emulated board long
_LONGEST = 0.4  # seconds until Ctrl-C
_ON_BOARD = Path(__file__).with_name("random_on_board.py")


@functools.lru_cache(maxsize=1)
def base(image: Path) -> tuple[tuple[Snapshot, Snapshot], list[object], bool, bool]:
    """A board with everything imported and added: (its state, and with a camera that was reset,
    names of models, has it a card, has it threads). The library lies on the card, if any."""
    flash = {**V3, **(V4 if image in emulated.modern() else {})}
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        for name, path in files_of_library().items():
            (folder / name).write_bytes(path.read_bytes())
        for name in CARD:
            (folder / name).write_bytes(emulated.model(name).read_bytes())
        sd = sd_image.build(folder)
    models = [(address, emulated.model(name)) for address, name in flash.items()]
    with booted(image, models, sd=sd, camera=pictures.film("pattern")) as board:
        repl = RawRepl(image.name, SerialPort(board))
        there = "'sd'" in repl.check("import os\nprint(os.listdir('/'))")
        if not there:
            for name, path in files_of_library().items():
                repl.write_file(f"/flash/{name}", path.read_bytes())
        repl.check(_ON_BOARD.read_text(), timeout=100)
        names: list[object] = list(flash)
        for address, name in flash.items():
            size = emulated.model(name).stat().st_size
            repl.check(f"add({address}, {address}, {size})", timeout=60)
        for name in CARD if there else ():
            names.append(f"/sd/{name}")
            repl.check(f"add('/sd/{name}', '/sd/{name}', 0)", timeout=60)
        _, error = repl.run("import _thread")
        fresh = board.snapshot()
        repl.check("camera_on()", timeout=60)
        return (fresh, board.snapshot()), names, there, not error


class Wrong(AssertionError):
    """A verdict that the firmware did not bear out."""


class Damaged(Exception):
    """The firmware has damaged its heap: after a frame size that it refused, the next
    sensor.reset() may free the buffer of the one before it twice. What it does then is no
    oracle."""


# Owns nothing of the board. `done` is what was done so far, for the text of a failure; `verdicts`
# counts them, {(what, said): how many}.
class Player:
    """One random program on a board."""

    with_camera = _WITH_CAMERA

    def __init__(self, image: Path, seed: int, board: Board) -> None:
        self.starts, self.names, self.card, self.threads = base(image)
        self.board = board
        self.repl = RawRepl(image.name, SerialPort(board))
        self.random = random.Random(seed)
        self.done: list[tuple[Any, ...]] = [(image.stem, seed)]
        self.verdicts: dict[tuple[str, str], int] = {}
        self.live: list[int] = []
        self.early = image not in emulated.modern()
        self.refused = False  # the last frame size

    def told(self, line: str) -> Any:
        """What a line says, or HANG."""
        try:
            out = self.repl.check(line, timeout=60)
        except BoardError as e:
            if "hangs" not in str(e) and "broke" not in str(e):
                raise Wrong(*self.done, line, str(e)) from e
            self.repl = RawRepl(self.repl.url, SerialPort(self.board))
            return HANG
        said = [ast.literal_eval(x[2:]) for x in out.splitlines() if x.startswith("@ ")]
        return said[-1] if said else None

    def must(self, line: str, want: object = None) -> Any:
        found = self.told(line)
        if found == HANG or (want is not None and found != want):
            raise Wrong(*self.done, line, found)
        return found

    def count(self, what: str, said: str) -> None:
        self.verdicts[what, said] = self.verdicts.get((what, said), 0) + 1

    def play(self) -> None:
        """The whole program; Wrong with what was done before."""
        with contextlib.suppress(Damaged):
            self._play()

    def kinds(self) -> list[tuple[float, Callable[[], None]]]:
        """The steps, each with the share up to which it is taken."""
        return [
            (0.22, self.drop), (0.5, self.load), (0.68, self.use), (0.74, self.stopped),
            (0.84, self.camera), (0.87, self.picture), (0.9, self.image), (0.93, self.display),
            (0.96, self.thread), (0.98, self.file), (1.0, self.number),
        ]  # fmt: skip

    def _play(self) -> None:
        self.board.restore(self.starts[self.random.random() < self.with_camera])
        self.must(f"keep({self.random.choice((1, 1, 2, 5))})")
        for n in range(STEPS):
            what = self.random.random()
            self.n = n
            next(step for limit, step in self.kinds() if what < limit)()

    def drop(self) -> None:
        if self.live:
            k = self.live.pop(self.random.randrange(len(self.live)))
            self.done.append(("drop", k))
            self.must(f"drop({k})")

    def load(self) -> None:
        name = self.random.choice(self.names)
        before = self.board.snapshot()
        said = self.must(f"foretell({name!r})")[0]
        self.done.append(("load", name, self.n, said))
        if said != "ok":
            self.board.restore(before)
        did, exact = self.told(f"load({name!r}, {self.n})")
        self.done.append((did, exact))
        self.count("load", said)
        wanted = _CLEAN if said == "refused" else (said,)
        if did == "ok" == said and exact:
            self.live.append(self.n)
        elif did == "2009" or (did == "hang" and said in ("hang", "refused")):
            # all five slots taken is no matter of memory; see full()
            self.board.restore(before)
        elif did == "ok" or did not in wanted:
            raise Wrong(*self.done)

    def full(self) -> bool:
        """Whether a load may be the sixth, which early firmware takes badly: it frees one of the
        five when the net that it refused is collected."""
        return self.early and self.must("slots()")[0] >= _SLOTS

    def use(self) -> None:
        name = self.random.choice(self.names)
        if self.full():
            return
        before = self.board.snapshot()
        self.done.append(("use", name))
        did = self.must(f"use({name!r})")
        self.done.append(did)
        self.count("use", did[0])
        if did[0] == "ok" or did == ("NoRoom", "slots"):
            return
        after = self.board.snapshot()
        self.board.restore(before)
        bare = self.told(f"bare({name!r})")
        self.done.append(("bare", bare))
        if bare[0] == "ok":
            raise Wrong(*self.done)
        self.board.restore(after)

    def stopped(self) -> None:
        """use(), and Ctrl-C some time in it."""
        name = self.random.choice(self.names)
        if self.full():
            return
        self.done.append(("stopped", name))
        after = self.random.random() ** 3 * _LONGEST
        try:
            out, error = self.repl.run(
                f"use({name!r})", limit=60, on_start=lambda: self.board.limit(0, after)
            )
        except BoardError as e:
            raise Wrong(*self.done, str(e)) from e
        finally:
            self.board.limit(0, 0)
        self.done.append((out[-80:], error[-80:]))
        self.count("stopped", "in use()" if "KeyboardInterrupt" in error else "after it")

    def camera(self) -> None:
        size = self.random.choice(list(SIZES))
        w, h = SIZES[size]
        self.done.append(("camera", size))
        before = self.board.snapshot()
        if self.told("camera_on()") == HANG:  # a reset of a camera that runs hangs bare too
            self.board.restore(before)
            return self.count("reset", "hangs bare")
        said = self.must(f"look({w}, {h})")
        if said == ("damaged",) and self.refused:
            self.count("camera", "damaged")
            raise Damaged
        did = self.told(f"frame({size!r})")
        self.done.append((said, did))
        self.count("camera", str(said[0]))
        if said != did:
            raise Wrong(*self.done)
        self.refused = did == (False,)

    def picture(self) -> None:
        self.done.append(("picture",))
        self.must("picture()")

    def image(self) -> None:
        w, h = self.random.choice(((40, 30), (80, 60), (112, 112)))
        self.done.append(("image", w, h))
        self.must(f"image({w}, {h})")

    def display(self) -> None:
        self.done.append(("display",))
        self.must("display()")

    def thread(self) -> None:
        if self.threads:
            self.done.append(("thread",))
            self.must("thread()")

    def file(self) -> None:
        if self.card:
            self.done.append(("card",))
            self.must(f"card({self.random.randrange(1, 3000)})", (True,))

    def number(self) -> None:
        self.must("number()")


class CameraPlayer(Player):
    """Frame sizes after each other, between loads and frees: the camera's buffers grow, shrink and
    move in a heap that is nearly full."""

    with_camera = 1.0

    def kinds(self) -> list[tuple[float, Callable[[], None]]]:
        """Loads first, then mostly the camera."""
        if self.n < 3:
            return [(1.0, self.load)]
        return [(0.1, self.drop), (0.3, self.load), (0.35, self.display), (1.0, self.camera)]

    def verdicts_on_cameras(self) -> int:
        """How many there were, without those on a heap that the firmware damaged."""
        return self.verdicts.get(("camera", "True"), 0) + self.verdicts.get(("camera", "False"), 0)
