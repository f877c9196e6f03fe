# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem heap IMAGE --run SCRIPT`: both heaps of a board in software after a script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from maixmem_cli.emulator.session import Options, Session
from maixmem_cli.profiler import post_mortem
from maixmem_cli.runs import run_firmware
from maixmem_cli.snapshot import take
from maixmem_cli.snapshot.store import SnapshotError, Taken


def snapshots(
    image: Path, script: Path | None, options: Options, after: Sequence[float], *, collect: bool
) -> list[Taken]:
    """What the board has so many seconds after the start of the script each, or when it has ended.
    SnapshotError: it hangs."""
    with run_firmware.failing(script or image), Session(image, script, options) as board:
        if script and after:
            waits = take.waits(after)
            running = take.of_running(board.repl, board.source, waits, collect=collect)
            return [running.take(s, collect=collect) for s in waits]
        if script:
            _run(board)
        return [take.of_board(board.repl, collect=collect)]


def _run(board: Session) -> None:
    board.trace(gc=False)
    run_firmware.watch(board)
    outcome = board.run(lambda text: click.echo(text, nl=False, err=True))
    click.echo(outcome.error, nl=False, err=True)
    run_firmware.tell(post_mortem.ending(board, outcome))
    if not outcome.over:
        raise SnapshotError(
            f"{board.script}: no prompt after it, so no snapshot. Next: maixmem profile, which "
            "sees the heaps from outside"
        )
