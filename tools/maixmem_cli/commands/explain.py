# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem explain`: what a message, a log or a core dump means, and what to do next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from maixmem_cli.commands.script_options import IMAGE_FILE
from maixmem_cli.errors import log
from maixmem_cli.errors.table import boards, find_out
from maixmem_cli.text import reading
from maixmem_cli.text.output import JSON, console, print_json, unreadable

_SURE = {"certain": "", "likely": " (likely)", "possible": " (one possible cause)"}


@click.command(name="explain", epilog="Example: maixmem explain log.txt")
@click.argument("what", nargs=-1, metavar="[TEXT | FILE | -]")
@click.option(
    "--board",
    type=click.Choice(sorted(boards())),
    help="The board that printed it; else guessed from the text.",
)
@click.option(
    "--firmware",
    "image",
    type=IMAGE_FILE,
    metavar="IMAGE",
    help="The firmware of a core dump: names the access and the function.",
)
@JSON
def command(what: tuple[str, ...], board: str | None, image: Path | None, as_json: bool) -> None:
    """Say what a message means, how sure that is, and the next steps in order.

    TEXT is one line; FILE or the standard input (-) may be a traceback, a whole log, or a core
    dump of the firmware. Exit status: 0 something was known, 1 nothing was, 2 wrong use.
    """
    found = log.explain(reading.plain(_given(what)), board)
    if image:
        _ask_image(found, image)
    if as_json:
        print_json(_object(found))
    else:
        _show(console(), found)
    sys.exit(0 if found.answers or found.dumps else 1)


def _given(what: tuple[str, ...]) -> bytes:
    """The bytes to explain: of a file, of the standard input, or the words themselves."""
    if what in ((), ("-",)):
        return sys.stdin.buffer.read(log.LIMIT + 1)
    if len(what) == 1 and "\n" not in what[0] and Path(what[0][:255]).exists():
        try:
            with open(what[0], "rb") as f:
                return f.read(log.LIMIT + 1)
        except OSError as e:
            raise click.UsageError(unreadable(e, Path(what[0]))) from None
    return " ".join(what).encode(errors="surrogateescape")


def _ask_image(found: log.Explained, image: Path) -> None:
    from maixmem_cli.firmware.builds import FirmwareError, image_bytes
    from maixmem_cli.runs import dump_image

    try:
        code = image_bytes(image)
    except (FirmwareError, OSError) as e:
        raise click.UsageError(str(e)) from None
    for dump in found.dumps:
        dump_image.tell(dump, code)


def _object(found: log.Explained) -> dict[str, Any]:
    return {
        "board": found.board,
        "possible": found.possible,
        "answers": [a.to_dict() for a in found.answers],
        "dumps": [d.to_dict() for d in found.dumps],
        "unknown": found.unknown,
        "note": found.note,
    }


def _show(out: Console, found: log.Explained) -> None:
    wanted = found.errors or found.answers
    if found.possible:
        out.print(f"board: {' or '.join(found.possible)}", markup=False)
    elif len({b for a in wanted for b in a.row.on}) > 1:
        out.print("board: the text does not tell; --board NAME gives its own steps", markup=False)
    for i, answer in enumerate(wanted):
        same = not found.board and any(a.said == answer.said for a in wanted if a is not answer)
        first = "first: " if i == 0 and wanted[-1].line > answer.line else ""
        _answer(out, answer, f"on {', '.join(sorted(answer.row.on))}: " if same else first)
    for dump in found.dumps:
        out.print("\nthe dump:", style="bold")
        for line in dump.meaning():
            out.print(f"  {line}", markup=False, soft_wrap=True)
    if not wanted:
        out.print("not known." if found.unknown or not found.note else found.note, markup=False)
    elif found.note:
        out.print(f"note: {found.note}", markup=False)
    for text in found.unknown:
        out.print(f"not known: {text}", markup=False, soft_wrap=True)
    if found.unknown or not (wanted or found.note) or (found.dumps and not found.dumps[0].image):
        out.print(find_out(found.board), markup=False, soft_wrap=True)


def _answer(out: Console, answer: log.Answer, mark: str) -> None:
    more = f" ({answer.times} times)" if answer.times > 1 else ""
    out.print()
    for text in answer.said:
        out.print(text, style="dim", markup=False, soft_wrap=True)
    sure = _SURE[answer.row.sure] if answer.row.kind == "error" else " (no error)"
    out.print(
        f"{mark}= {answer.row.means}{sure}{more}", markup=False, soft_wrap=True, style="bold"
    )
    for text in answer.numbers:
        out.print(f"  {text}", markup=False, soft_wrap=True)
    for i, step in enumerate(answer.steps, 1):
        out.print(f"{i}. {step}", markup=False, soft_wrap=True)
    if answer.row.page:
        out.print(f"more: docs/{answer.row.page}", markup=False)
