# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem explain`: what a message, a log or a core dump means, and what to do next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from maixmem_cli.answer import as_json, as_text, of_log
from maixmem_cli.answer.answer import Answer
from maixmem_cli.commands.script_options import IMAGE_FILE
from maixmem_cli.errors import log
from maixmem_cli.errors.files import say
from maixmem_cli.errors.table import boards, find_out
from maixmem_cli.library import places
from maixmem_cli.text import reading
from maixmem_cli.text.output import JSON, LANG, console, print_json, unreadable

_OTHERS = 3  # steps behind the first that are shown of the first answer


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
@click.option("--all", "everything", is_flag=True, help="Show every step.")
@LANG
@JSON
def command(
    what: tuple[str, ...],
    board: str | None,
    image: Path | None,
    everything: bool,
    language: str,
    as_json: bool,
) -> None:
    """Say what a message means, how sure that is, and what to do first.

    TEXT is one line; FILE or the standard input (-) may be a traceback, a whole log, or a core
    dump of the firmware. Exit status: 0 something was known, 1 nothing was, 2 wrong use.
    """
    data = reading.plain(_given(what))
    found = log.explain(data, board, language)
    if image:
        _ask_image(found, image)
    told = of_log.answers(found)
    ours = of_log.of_ours(data.decode(errors="replace"))
    if as_json:
        print_json(_object(found, ours or next(iter(told), None)))
    else:
        _show(console(), found, told, ours, None if everything else _OTHERS)
    sys.exit(0 if found.shown or found.dumps or ours else 1)


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


def _object(found: log.Explained, first: Answer | None) -> dict[str, Any]:
    return {
        "board": found.board,
        "possible": found.possible,
        "answer": first and as_json.data(first),
        "answers": [a.to_dict() for a in found.answers],
        "dumps": [d.to_dict(found.language) for d in found.dumps],
        "unknown": found.unknown,
        "note": found.note,
    }


class _Lines:
    """Lines on the console: as they are, or the table's sentences in the language."""

    def __init__(self, out: Console, language: str) -> None:
        self._out = out
        self._language = language

    def plain(self, text: str = "", style: str | None = None) -> None:
        self._out.print(text, markup=False, soft_wrap=True, style=style)

    def say(self, sentence: str, style: str | None = None, **values: Any) -> None:
        self.plain(say(sentence, self._language, **values), style)


def _show(
    out: Console, found: log.Explained, told: list[Answer], ours: Answer | None, most: int | None
) -> None:
    """The board, our own answer where the log has one, then each message with its answer; of the
    first all that is known, of the others what to do."""
    lines, wanted = _Lines(out, found.language), found.shown
    if found.possible:
        lines.say("board: {names}", names=say(" or ", found.language).join(found.possible))
    elif len({b for a in wanted for b in a.row.on}) > 1:
        lines.say("board: the text does not tell; --board NAME gives its own steps")
    if ours:
        lines.plain()
        _answer(lines, ours, most)
    for i, (message, answer) in enumerate(zip(wanted, told)):
        lines.plain()
        for text in message.lines:
            lines.plain(text, "dim")
        if message.times > 1:
            lines.say("({n} times)", "dim", n=message.times)
        if message.only:
            lines.say("If this is on {names}:", names=", ".join(message.only))
        _answer(lines, answer, most if most is None or (i == 0 and not ours) else 0)
        if message.row.page:
            lines.say("More: {page}", page=places.manual(message.row.page))
    for dump in found.dumps:
        lines.plain()
        lines.say("the dump:", "bold")
        for text in dump.meaning(found.language):
            lines.plain(f"  {text}")
    _not_known(lines, found, bool(told or ours))


def _answer(lines: _Lines, answer: Answer, most: int | None) -> None:
    """An answer with so many of its other steps."""
    shown = len(answer.others) if most is None else most
    cause, *rest = as_text.lines(answer, others=shown)
    lines.plain(cause, "bold")
    for text in rest:
        lines.plain(text)
    if most and len(answer.others) > shown:
        lines.say("{n} more steps: --all", n=len(answer.others) - shown)


def _not_known(lines: _Lines, found: log.Explained, known: bool) -> None:
    if not known:
        lines.say("not known." if found.unknown or not found.note else found.note)
    elif found.note:
        lines.say("note: {text}", text=found.note)
    for text in found.unknown:
        lines.say("not known: {text}", text=text)
    dark = found.dumps and not found.dumps[0].image
    if found.unknown or not (known or found.note) or dark:
        lines.plain(find_out(found.board, found.language, found.in_c))
