# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem top`: a board's memory, live."""

from __future__ import annotations

import csv
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import Any, TextIO

import click
from maixmem_report import bar, kib
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from maixmem_cli.commands.options import PORT, VERBOSE, board_errors, choose_port
from maixmem_cli.emulator.connect import open_board
from maixmem_cli.serial.monitor import Monitor, Sample, Series
from maixmem_cli.serial.repl import BoardError
from maixmem_cli.serial.visit import Missing
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import console, print_json
from maixmem_cli.text.tables import Column, lines

_BAR = 12
_PIPE = 100  # columns of a picture that goes to a pipe
_STEPS = "▁▂▃▄▅▆▇█"
_ASCII_STEPS = "_.-:=+*#"
_COLUMNS = (
    Column("region", name=True),
    Column("use", extra=True),
    Column("used", right=True),
    Column("most used", right=True),
    Column("free", right=True),
    Column("of", right=True),
    Column("history", extra=True),
)
_LEGEND = (
    "use: # used, . free; history: used, lowest to highest of the last samples; garbage is "
    "collected before each"
)


def spark(series: Series, steps: str, width: int = 9) -> str:
    """The use of the last samples, lowest to highest of them."""
    used = [-free for free in list(series.history)[-width:]]
    low, span = min(used, default=0), max(used, default=0) - min(used, default=0)
    return "".join(steps[(n - low) * (len(steps) - 1) // span if span else 0] for n in used)


def picture(sample: Sample, url: str, out: Console) -> Group:
    note = {"away": ", no answer, trying again", "reset": ", the board was reset"}.get(
        sample.event, ""
    )
    steps = _STEPS if out.encoding.lower().startswith("utf") else _ASCII_STEPS
    rows = []
    for s in sample.series:
        numbers = (s.used(s.free), s.used(s.low), s.free, s.total)
        cells = ["?" if n is None else kib(n) for n in numbers]
        use = bar(s.used(s.free), s.total, _BAR)
        rows.append(([s.name, use, *cells, spark(s, steps)], ""))
    title = Text(f"{url}, {sample.seconds:.0f} s{note}")
    return Group(title, *lines(out.width, _COLUMNS, rows, _LEGEND))


def line(sample: Sample) -> str:
    """A sample for a pipe or a log."""
    parts = [f"{s.name} {s.free} free, least {s.low}" for s in sample.series]
    return f"{sample.seconds:8.1f} s  {sample.event or 'ok':5}  " + "; ".join(parts)


def as_data(sample: Sample) -> dict[str, Any]:
    rows = [
        {
            "name": s.name,
            "total": s.total,
            "free": s.free,
            "least_free": s.low,
            "used": s.used(s.free),
        }
        for s in sample.series
    ]
    return {"seconds": round(sample.seconds, 3), "event": sample.event, "regions": rows}


# Writes a row as soon as it is read, so that the file is whole whenever the watch ends.
class Log:
    """Samples as CSV: seconds, event, then free and least free bytes of each region."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._csv = csv.writer(out, lineterminator="\n")
        self._header = False

    def add(self, sample: Sample) -> None:
        """Writes a row; ClickException when the file takes no more."""
        try:
            self._add(sample)
        except OSError as e:
            raise click.ClickException(f"--csv {self._out.name}: {e.strerror}") from e

    def _add(self, sample: Sample) -> None:
        if not self._header:
            columns = [
                f"{s.name}_{what}"
                for s in sample.series
                for what in ("free", "least_free", "total")
            ]
            self._csv.writerow(["time", "seconds", "event", *columns])
            self._header = True
        away = sample.event == "away"
        values = ["" if away else v for s in sample.series for v in (s.free, s.low, s.total)]
        self._csv.writerow(
            [time.strftime("%Y-%m-%dT%H:%M:%S"), f"{sample.seconds:.3f}", sample.event, *values]
        )
        self._out.flush()


def watch(samples: Iterator[Sample], url: str, log: Log | None) -> None:
    """Shows and logs samples until they end: a live picture on a terminal, a line each on a
    pipe."""
    screen = console()
    screens = screen.is_terminal and not screen.is_dumb_terminal
    live = Live(console=screen, auto_refresh=False) if screens else None
    with live or ExitStack():
        for sample in samples:
            if log:
                log.add(sample)
            if live:
                live.update(picture(sample, url, screen), refresh=True)
            else:
                click.echo(line(sample))


def _interrupted(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


@click.command(name="top", epilog="Example: maixmem top --port /dev/ttyUSB0 --csv memory.csv")
@PORT
@click.option("--once", is_flag=True, help="One sample, then end.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="End after N samples.")
@click.option(
    "--interval",
    type=click.FloatRange(0.05),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two samples.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.File("w", lazy=False),
    metavar="FILE",
    help="Also write each sample as a row.",
)
@click.option(
    "--wait",
    type=float,
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="For a board that was reset or pulled.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@VERBOSE
def command(
    *,
    port: str | None,
    once: bool,
    count: int | None,
    interval: float,
    csv_file: TextIO | None,
    wait: float,
    as_json: bool,
) -> None:
    """Watch the free memory of a board: now, the least so far, and a history.

    Samples at the prompt: the program that runs on the board is interrupted. To watch memory
    inside a program, call maixmem.Watch there. Goes on after a reset of the board; Ctrl-C ends it
    and leaves the board at its prompt. Exit status: 0, 1 the board was lost, 2 no board.
    """
    if as_json and not once:
        raise click.UsageError("--json: only with --once; for a series use --csv FILE")
    signal.signal(signal.SIGTERM, _interrupted)
    with board_errors():
        monitor = Monitor(choose_port(port), open_board, wait)
        try:
            _open(monitor)
            samples = islice(monitor.samples(interval), 1 if once else count)
            log = Log(csv_file) if csv_file else None
            if as_json:
                sample = next(samples)
                if log:
                    log.add(sample)
                print_json(as_data(sample))
            elif once:
                sample = next(samples)
                if log:
                    log.add(sample)
                out = console()
                if not out.is_terminal and "COLUMNS" not in os.environ:
                    out.width = _PIPE
                out.print(picture(sample, monitor.url, out))
            else:
                watch(samples, monitor.url, log)
        except KeyboardInterrupt:
            pass
        finally:
            monitor.close()
    sys.exit(0)


def _open(monitor: Monitor) -> None:
    try:
        monitor.open()
    except Missing as e:
        raise BoardError(f"{monitor.url}: {e}. Next: maixmem deploy --port {monitor.url}") from e
    except BoardError as e:
        raise WrongUse(f"--port {e}") from e
