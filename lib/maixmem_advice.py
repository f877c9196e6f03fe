# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What to do about an error of MaixPy or of this library: its text, in words, with next steps.

    try:
        net = kpu.load(0x300000)
    except Exception as e:
        maixmem_advice.advise(e)

The table of what is known of this platform (maixmem_known_...) comes with the question and goes
with the answer.
"""

import gc
import sys

from maixmem import KModelError, NoRoom, full, port, run_once

# steps that are not given for an error of the manager, which did them
_DONE = ("ModelManager", "read_info(")


def _own_steps(error):
    """The steps that an error of this library has, as its last argument does."""
    said = (error,) + tuple(getattr(error, "args", ()))
    return [x for x in getattr(said[-1], "steps", ()) if "advise(" not in x]


def _number(text):
    """The number that text begins with, as text; "" where it begins with none."""
    text = text.lstrip(": ")
    n = 1 if text[:1] == "-" else 0
    while text[n : n + 1].isdigit():
        n += 1
    return text[:n] if text[:n] != "-" else ""


def _codes(error, text):
    """The codes of an error, as "error:N" and "errno:N"."""
    found = []
    if getattr(error, "code", None) is not None:
        found.append("error:{}".format(error.code))
    if isinstance(error, OSError) and error.args:
        found.append("errno:{}".format(error.args[0]))
    for mark in ("error", "[Errno ", "OSError(", "OSError"):
        at = text.find(mark)
        if at >= 0 and _number(text[at + len(mark) :]):
            kind = "error:" if mark == "error" else "errno:"
            found.append(kind + _number(text[at + len(mark) :]))
    if text.isdigit() and len(text) == 4:
        found.append("error:" + text)
    return found


def _meets(keys, text, codes):
    for key in keys.split("|"):
        if key in codes if key[:6] in ("error:", "errno:") else key and key in text:
            return True
    return False


def _row(rows, text, codes, ours):
    """The lines of the first row that a text meets, without its keys; [] when there is none. With
    `ours` only rows of this library count: they come first, and their meaning begins with "!"."""
    for row in rows:
        lines = row.split("\n")
        meets = False
        while lines[0][:1] == "|":
            meets = _meets(lines.pop(0), text, codes) or meets
        if ours and lines[0][0] != "!":
            break
        if meets:
            return lines
    return []


def _table():
    """(rows, steps) of what is known of this port, else of all boards with MicroPython or Linux;
    empty where neither file exists."""
    names = ["linux" if sys.implementation.name == "cpython" else "mpy"]
    try:
        names.insert(0, getattr(port(), "name", ""))
    except ImportError:
        pass
    for name in names:
        try:
            return run_once("known_" + name, "known")  # type: ignore[call-overload]
        except ImportError:
            pass
    return (), ()


def find(error: "BaseException | str") -> "tuple | None":
    """(meaning, steps) of an exception or its text; None when it is not known.

    The steps that an error of this library has come first. What the port knows of its runtime's
    codes counts too.
    """
    text = "{}".format(error)
    own = _own_steps(error)
    codes = _codes(error, text)
    ours = isinstance(error, (NoRoom, KModelError))
    if not isinstance(error, str) and not ours:
        text += " {!r}".format(error)
    coded = ours and getattr(error, "code", None) is not None
    rows, shared = _table()
    lines = _row(rows, text, codes, own and not coded)
    steps = [shared[int(x)] if x.isdigit() else x for x in lines[1:]]
    if coded:  # the manager said it: not its own remedies again
        steps = [x for x in steps if not [word for word in _DONE if word in x]]
    if lines:
        return lines[0].lstrip("!"), tuple(own + steps)
    return ("maixmem refused, and says why", tuple(own)) if own else _of_the_port(error)


def _of_the_port(error):
    """What the port says about a code of its runtime (RKNN, Ascend, MaixCAM), or None."""
    try:
        p = port()
    except ImportError:
        return None
    # getattr() with a default does not catch what a __getattr__ raises on MicroPython 1.11
    text = p.advise(error) if hasattr(p, "advise") else None
    return ("the runtime refused", (text,)) if text else None


def advise(error: "BaseException | str", out=print) -> "list[str]":
    """Prints what an exception (or its text) means and numbered next steps; returns the steps as a
    list.

    `out` takes one line of text, at most 60 columns. An error that is not known: two general
    steps.
    """
    try:
        meaning, steps = find(error) or (
            "not an error that maixmem knows",
            ("maixmem.report() shows the memory.", "On a computer: maixmem explain."),
        )
        lines = ["{}. {}".format(i + 1, step) for i, step in enumerate(steps)]
        run_once("report", "show", ["{}".format(error).strip(), "= " + meaning] + lines, out)
        return list(steps)
    except MemoryError:  # no room for the table; this allocates nothing
        steps = _FREE
        if isinstance(error, NoRoom) and error.need is not None:
            out("region, bytes needed, free:")
            out(error.region)
            out(error.need)
            out(error.free)
        else:
            out(full.args[0])
            out(gc.mem_free())
        try:
            steps = _own_steps(error)[:1] or steps
        except MemoryError:
            pass
        out(steps[0])
        return steps


_FREE = ["free GC heap"]
