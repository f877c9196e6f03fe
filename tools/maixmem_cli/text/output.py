# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""How the commands fail, print and write files, and how those that talk to a board choose a
port."""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import click
from rich.console import Console

from maixmem_cli.text.language import LANGUAGES, chosen

LANG = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    callback=lambda ctx, param, value: chosen(value),
    help="The language of the answer; else that of the locale.",
)


@contextlib.contextmanager
def _into(path: Path | None) -> Iterator[None]:
    """What is printed goes into a file, when the command came to its end, with any status."""
    if path is None:
        yield
        return
    text, end = io.StringIO(), None
    with contextlib.redirect_stdout(text):
        try:
            yield
        except SystemExit as e:
            end = e
    write_file("-o", path, text.getvalue())
    if end:
        raise end


def to_file(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command -o FILE: in UTF-8 wherever it runs, which > of PowerShell does not do."""

    @click.option(
        "-o",
        "into",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write what is printed to this file, in UTF-8.",
    )
    @functools.wraps(command)
    def writing(into: Path | None, **options: Any) -> Any:
        with _into(into):
            return command(**options)

    return writing


def JSON(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command --json and -o FILE."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(to_file(command))


def end(error: click.ClickException, as_json: bool) -> None:
    """Says in one line why a command ends: on stderr, or as {"error": ...} on stdout."""
    text = printable(" ".join(error.format_message().split("\n")))
    context = getattr(error, "ctx", None)
    if context and "Next: " not in text:
        text = f"{text.rstrip('.')}. Next: {context.command_path} --help"
    if as_json:
        print_json({"error": text})
    else:
        click.echo(f"maixmem: {text}", err=True)


def cut_off(error: OSError) -> int:
    """Says that what is printed does not arrive, but for a reader that has enough (`| head`); exit
    status 2. Nothing more goes to stdout."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if not isinstance(error, BrokenPipeError):
        click.echo(f"maixmem: {untold(error)}. Next: make room there, or another place", err=True)
    return 2


def untold(error: OSError) -> str:
    """What failed, and where: an error without a name is of stdout or of temporary files."""
    return f"{error.filename or 'stdout, or $TMPDIR'}: {error.strerror or error}"


def any_encoding() -> None:
    """Lets every text be printed: letters that the terminal does not have are escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(data: Any) -> None:
    """The one JSON value of a command."""
    click.echo(json.dumps(data, indent=2, sort_keys=True))


def printable(text: str) -> str:
    """Text of a stranger that is safe on a terminal and in XML."""
    return "".join(c if c.isprintable() else "?" for c in text)


# what a terminal obeys, but for line ends, tabs and backspace, and what turns the order of letters
_OBEYED = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    """What a script prints, on its lines, without what a terminal would obey."""
    return _OBEYED.sub("?", text)


def printable_lines(code: str, width: int = 160) -> list[str]:
    """Lines of a script, long ones cut."""
    lines = [printable(line) for line in code.splitlines() if line.strip()]
    return [line if len(line) <= width else f"{line[:width]}... ({len(line)})" for line in lines]


def console(**more: Any) -> Console:
    """A console that leaves :names: as they are."""
    return Console(emoji=False, highlight=False, **more)


def write_file(option: str, path: Path, data: str | bytes) -> None:
    """Writes a file that an option names; when it cannot be written, that is wrong use."""
    try:
        path.write_bytes(data.encode(errors="replace") if isinstance(data, str) else data)
    except OSError as e:
        raise click.BadParameter(
            f"{path} cannot be written: {e.strerror}. Next: a file in a folder that is "
            "there, and yours.",
            param_hint=option,
        ) from e


def unreadable(error: OSError, path: Path) -> str:
    """Why a file could not be read, and what to do, without a line end."""
    name = error.filename or path
    cure = {
        errno.ENOENT: "check its name; it is looked for from the folder where the command runs",
        errno.EACCES: f"chmod +r {name}, or another user",
        errno.EPERM: f"chmod +r {name}, or another user",
        errno.EISDIR: "give a file, not a folder",
    }.get(error.errno or 0, "copy it anew: its disk or link does not give it back")
    return f"{name}: cannot be read: {error.strerror or error}. Next: {cure}"
