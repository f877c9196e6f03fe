# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem sim SCRIPT --firmware IMAGE`: the script on the user's own firmware."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from maixmem_cli.emulator.compiler import NoBoardHere
from maixmem_cli.emulator.pictures import PictureError
from maixmem_cli.emulator.ports import NoPrompt
from maixmem_cli.emulator.sd_image import CardError
from maixmem_cli.emulator.session import (
    HANGING,
    INTERRUPTED,
    RAISED,
    RESETS,
    Options,
    Outcome,
    Session,
)
from maixmem_cli.flash.image import ImageError
from maixmem_cli.profiler import post_mortem
from maixmem_cli.runs import ending, run_standin
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import harmless, printable, untold

OK, SCRIPT_FAILED, BOARD_HANGS = 0, 1, 3  # exit status, as with the stand-in
_STATUS = {RAISED: SCRIPT_FAILED, RESETS: SCRIPT_FAILED, **dict.fromkeys(HANGING, BOARD_HANGS)}
_STATUS[INTERRUPTED] = run_standin.INTERRUPTED


def status(outcome: Outcome) -> int:
    """The exit status for how a script ended."""
    return _STATUS.get(outcome.kind, outcome.status)


@contextlib.contextmanager
def failing(script: Path) -> Iterator[None]:
    """Makes what cannot be set up wrong use of a command: exit status 2."""
    try:
        yield
    except (NoBoardHere, ImageError, CardError, PictureError, NoPrompt) as e:
        raise WrongUse(str(e)) from e
    except UnicodeDecodeError as e:
        raise WrongUse(f"{script}: not UTF-8: {e}. Next: save it as UTF-8") from e
    except OSError as e:
        raise WrongUse(f"{untold(e)}. Next: check that file, and the room on its disk") from e


def run_firmware(script: Path, image: Path, options: Options) -> int:
    """Runs the script on the firmware in `image`; its exit status. Output goes to stdout, the rest
    to stderr."""
    with failing(script), Session(image, script, options) as session:
        session.trace(gc=False)
        watch(session)
        outcome = session.run(_say)
        click.echo(harmless(outcome.error), nl=False, err=True)
        tell(post_mortem.ending(session, outcome))
        if outcome.kind == RAISED:
            say_failed(script, outcome.error)
        if options.frames or options.seconds:
            click.echo("\n" + "\n".join(post_mortem.memory_table(session)))
        for line in session.board.said().splitlines():
            click.echo(printable(line), err=True)
        return status(outcome)


def watch(session: Session) -> None:
    """Says on stderr where a silent script is, while it runs."""
    session.port.on_silence = lambda seconds: tell(post_mortem.silence(session, seconds))


def say_failed(script: Path, error: str) -> None:
    """One last line, as after a run on the stand-in."""
    click.echo(printable(f"{script} failed: {ending.last_line(error)}"), err=True)


def _say(text: str) -> None:
    sys.stdout.write(harmless(text))
    sys.stdout.flush()


def tell(lines: list[str]) -> None:
    """Our words on stderr, after an empty line."""
    for line in ("", *lines) if lines else ():
        click.echo(f"maixmem: {printable(line)}" if line else "", err=True)
