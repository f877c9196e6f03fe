# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The error texts of MaixPy images: found in their bytes, and said by them.

python host_tests/kits/firmware_texts.py IMAGE... says for each how many of its texts are in the
list that `explain` has, how many of them have a row, and what looks like an error and is not
listed. --provoke runs the list's lines of Python on the image and says which texts came out.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import emulated
from maixmem_cli.errors import table
from maixmem_cli.flash import image
from maixmem_cli.serial.repl import BoardError

#: before the lines of the list
_SETUP = """
import gc, image, lcd, KPU as kpu
big = gray = None
gc.collect()
big = image.Image(size=(320, 240))
gray = image.Image(size=(160, 120)).to_grayscale(1)
"""
_RUN = re.compile(rb"[\x20-\x7e\t\r\n\x1b]{6,}")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_WRONG = re.compile(
    r"(?i)\berr(or)?s?\b|\bfail|invalid|can.?t\b|cannot|could ?n.t|unable|no such|unsup"
    r"|not (support|found|init|impl|enough|match|allow|exist|avail)|must |out of|memory|missing"
    r"|too (large|big|long|many|small)|overflow|expect|timeout|illegal|should (be|have)|require"
    r"|please|unknown |bad |wrong|doesn.t|isn.t|aren.t|don.t"
)
#: that speak of errors, and are no messages of the firmware
_OTHERS = ("PULL_UP is required", "lcd.draw_string(", "sensor.reset() #", "free gc heap memory")
_OTHERS += ("free sys heap memory", "GC memory layout", "online docs", "Check box", "tcb::span")
_OTHERS += ("Bytes Memory available", "stack: %u out of", "[MAIXPY]WDT:(%p", "{default arg#")


def text_of(path: Path) -> bytes:
    """The bytes of an image, colours taken out."""
    return _COLOUR.sub(b"", bytes(image.build(path)))


def listed(data: bytes) -> list[table.Text]:
    """The texts of the list that are in these bytes."""
    return [t for t in table.firmware_texts() if t.text.encode() in data]


def unlisted(data: bytes) -> list[str]:
    """The lines in these bytes that speak of an error and are not in the list."""
    whole = "\0".join(t.text for t in table.firmware_texts())
    known = [t.text for t in table.firmware_texts() if len(t.text) > len("data != ")]
    lines = {
        line.strip()
        for run in _RUN.findall(data)
        for line in re.split(r"[\r\n]+", run.decode("ascii"))
    }
    return sorted(
        line
        for line in lines
        if " " in line and _WRONG.search(line) and line not in whole
        if not any(text in line for text in (*known, *_OTHERS))
    )


def provoked(path: Path) -> Iterator[tuple[table.Text, str, str]]:
    """(text, the line of Python of the list, what the image said) of each text of an image that a
    line provokes."""
    texts = [t for t in listed(text_of(path)) if t.provoked]
    with emulated.started(path) as (_, repl):
        said: dict[str, str] = {}
        for t in texts:
            if t.provoked not in said:
                try:
                    said[t.provoked] = "".join(repl.run(_SETUP + t.provoked, 30))
                except BoardError as e:
                    raise BoardError(f"{t.provoked}: {e}") from e
            yield t, t.provoked, said[t.provoked]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("image", nargs="+", type=Path)
    parser.add_argument("--provoke", action="store_true")
    given = parser.parse_args()
    for path in given.image:
        data = text_of(path)
        texts = listed(data)
        rows = [t for t in texts if t.row != "unknown"]
        print(f"{path.stem}: {len(texts)} texts, {len(rows)} answered", end="")
        print(f" ({100 * len(rows) // len(texts)} %), {len(unlisted(data))} not listed")
        for line in unlisted(data):
            print(f"  {line[:90]}")
        if given.provoke:
            each = [(t.says(said), t.text, line) for t, line, said in provoked(path)]
            print(f"  {sum(ok for ok, _, _ in each)} of {len(each)} came out")
            for _, text, line in (e for e in each if not e[0]):
                print(f"  not with {line}: {text[:60]}")


if __name__ == "__main__":
    main()
