# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What is learned of a firmware once, on a board of its own, and kept: where its allocator and its
interpreter are.

Nothing is taken from a list of builds. malloc and its like are found by signature, and so is the
function that runs bytecode; the functions that become marks on the timeline by their Python
objects, which id() gives the address of.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from k210_model.heap import RAM_START

from maixmem_cli.emulator.board import Board
from maixmem_cli.emulator.compiler import cache
from maixmem_cli.emulator.ports import SerialPort, at_prompt
from maixmem_cli.emulator.readers import signatures
from maixmem_cli.heap import heaps

MARKS = (
    ("gc", "gc", "collect"),
    ("load", "KPU", "load"),
    ("load", "KPU", "load_flash"),
    ("run", "KPU", "forward"),
    ("run", "KPU", "run_yolo2"),
    ("deinit", "KPU", "deinit"),
    ("snapshot", "sensor", "snapshot"),
    ("camera", "sensor", "reset"),
    ("camera", "sensor", "set_framesize"),
    ("window", "sensor", "set_windowing"),
    ("display", "lcd", "display"),
    ("thread", "_thread", "start_new_thread"),
    ("lcd", "lcd", "init"),
    ("input", "builtins", "input"),
)
_TYPES = "print(id(SystemExit), id(KeyboardInterrupt), id(str))"
_IDS = """
def _id(module, name):
  try:
    return id(getattr(__import__(module), name))
  except Exception:
    return 0
"""


@dataclass
class Knowledge:
    """Addresses in RAM. `missing` names what was not found: nothing is guessed for it."""

    functions: dict[str, int] = field(default_factory=dict)  #: malloc, free, realloc
    bytecode: int | None = None  #: the function that runs bytecode
    jumps: list[int] = field(default_factory=list)  #: opcodes that close a loop
    raises: int | None = None  #: the function that raises an exception
    marks: list[tuple[str, int]] = field(default_factory=list)  #: (kind, function)
    exit: int = 0  #: the type SystemExit
    interrupt: int = 0  #: the type KeyboardInterrupt
    text: int = 0  #: the type str
    places: list[int] = field(default_factory=list)  #: heaps.Finder's
    state: int = 0  #: where the interpreter's state begins
    threads: int = 0  #: the word that points to the list of threads; 0: there are none
    missing: list[str] = field(default_factory=list)


def learn(chip: bytes | bytearray, name: str) -> Knowledge:
    """What is known of the firmware in these bytes of flash; kept in the user's cache."""
    digest = hashlib.sha256(bytes(chip))
    for source in (__file__, signatures.__file__, heaps.__file__):
        digest.update(Path(source).read_bytes())
    kept = cache() / "firmwares" / f"{digest.hexdigest()[:24]}.json"
    try:
        return Knowledge(**json.loads(kept.read_text()))
    except (OSError, ValueError, TypeError):
        pass
    found = _ask(chip, name)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(asdict(found)))
    return found


def _ask(chip: bytes | bytearray, name: str) -> Knowledge:
    length = int.from_bytes(chip[1:5], "little")
    code = bytes(chip[5 : 5 + length])
    entries = signatures.opcodes(code)
    found = Knowledge(
        signatures.allocator(code),
        signatures.bytecode(code, entries),
        signatures.jumps(code, entries),
        signatures.raises(code),
    )
    found.missing = [n for n in ("malloc", "free", "realloc") if n not in found.functions]
    if found.bytecode is None:
        found.missing.append("the function that runs bytecode")
    if not found.jumps:
        found.missing.append("where loops begin anew")
    if found.raises is None:
        found.missing.append("the function that raises exceptions")
    with Board(chip) as board:
        repl = at_prompt(SerialPort(board), name)
        found.exit, found.interrupt, found.text = map(int, repl.check(_TYPES).split()[-3:])
        finder = heaps.Finder()
        try:
            found.places, found.threads = finder.places(board.ram), finder.threads(board.ram)
            found.state = finder.interpreter(board.ram)
        except heaps.NotFound as e:
            found.missing.append(str(e))
        repl.check(_IDS)
        for kind, module, function in MARKS:
            at = int(repl.check(f"print(_id({module!r}, {function!r}))").split()[-1])
            address = _function(board, at, RAM_START + length)
            if address:
                found.marks.append((kind, address))
    return found


def _function(board: Board, at: int, end: int) -> int | None:
    """The C function of a builtin: py/obj.h, mp_obj_fun_builtin_fixed_t, or _var_t with a word
    more."""
    if not RAM_START <= at < heaps.RAM_END - 24:
        return None
    for place in (at + 8, at + 16):
        target = heaps.word(board.ram, place)
        if RAM_START < target < end and not target & 1:
            return target
    return None
