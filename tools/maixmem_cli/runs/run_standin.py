# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs a script on the K210 stand-in, in a process of its own, and ends it when its time is
over."""

from __future__ import annotations

import ast
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from k210_model.builds import GC_DEFAULT
from maixmem_report import kib

from maixmem_cli.library import places

_STAND_IN = 2560 << 10  # what the stand-in and its camera frame take of the interpreter's heap
_GRACE = 2.0  # seconds that a script has to end in, once its time is over
_POLL = 0.02
INTERRUPTED = 130
_CPYTHON = (
    "maixmem: NO MicroPython unix port here: this run is on CPython, figures of the GC "
    "heap are not the board's."
    ' Next: pip install ".[sim]" in the folder of maixmem'
)


@dataclass
class Job:
    """What to run on which board. `frames` and `seconds` end the run; `serial` {UART: bytes that
    wait}."""

    script: Path
    source: str
    firmware: str = "full"
    flash: dict[int, Path] = field(default_factory=dict)
    board_heap: int = GC_DEFAULT
    heap: int | None = None
    folder: Path | None = None
    files: dict[str, str] = field(default_factory=dict)
    card: bool = False
    frames: int | None = None
    seconds: float | None = None
    serial: dict[int, bytes] = field(default_factory=dict)
    trace: bool = False

    def order(self, report: Path) -> dict[str, Any]:
        """The job as k210_sim.py takes it."""
        return {
            "script": str(self.script),
            "source": self.source,
            "firmware": self.firmware,
            "gc_heap": self.board_heap,
            "flash": {address: str(path) for address, path in self.flash.items()},
            "files": self.files,
            "card": self.card,
            "serial": self.serial,
            "folders": [str(self.folder or self.script.parent), str(places.lib())],
            "frames": self.frames,
            "seconds": self.seconds,
            "report": str(report) if self.frames or self.seconds else "",
            "trace": self.trace,
        }


def run(job: Job) -> int:
    """Runs the script; returns its exit status. Its output goes to stdout, then the memory table
    of a limited run."""
    path = [str(folder) for folder in places.k210()]
    micropython = places.micropython()
    if micropython is None:
        click.echo(_CPYTHON, err=True)
    size = job.heap or job.board_heap + _STAND_IN
    command = [micropython, "-X", f"heapsize={size}"] if micropython else [sys.executable]
    env = dict(
        os.environ, MICROPYPATH=":".join([*path, ".frozen"]), PYTHONPATH=os.pathsep.join(path)
    )
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as temp:
        order, report = Path(temp) / "job", Path(temp) / "report"
        order.write_text(repr(job.order(report)), encoding="utf-8")
        child = subprocess.Popen(
            [*command, str(places.shims() / "k210" / "sim" / "k210_sim.py"), str(order)], env=env
        )
        status = _wait(child, job, report)
        if status == INTERRUPTED:
            click.echo(f"\nmaixmem: {job.script.name}: stopped by Ctrl-C", err=True)
        elif report.exists():
            click.echo("\n" + "\n".join(memory_table(ast.literal_eval(report.read_text()))))
        return status


def _wait(child: subprocess.Popen[bytes], job: Job, report: Path) -> int:
    """The exit status. A script that has no step of the board in its loop is stopped from here."""
    begun = report.with_suffix(".begun")
    limit = ended = None
    try:
        while child.poll() is None:
            now = time.monotonic()
            if limit is None and job.seconds is not None and begun.exists():
                limit = now + job.seconds + _GRACE
            if ended is None and report.exists():
                ended = now + _GRACE  # it has its table; a script that catches everything goes on
            if limit is not None and now > limit:
                child.send_signal(signal.SIGINT)
                limit, ended = math.inf, now + _GRACE
            if ended is not None and now > ended:
                child.kill()
            time.sleep(_POLL)
    except KeyboardInterrupt:
        try:
            child.wait(_GRACE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return INTERRUPTED
    if ended is not None and child.returncode in (-signal.SIGKILL, INTERRUPTED):
        return 0
    return child.returncode


def memory_table(found: dict[str, Any]) -> list[str]:
    """Both heaps as text, in the words of a run on a firmware image."""
    gc, heap = found["gc"], found["heap"]
    lines = [f"{'':12}{'used':>11}{'free':>11}{'largest':>11}"]
    for name, part in (("GC heap", gc), ("system heap", heap)):
        cells = (kib(part[column]) for column in ("used", "free", "largest"))
        lines.append(f"{name:12}" + "".join(f"{cell:>11}" for cell in cells))
    lines.append(
        f"heap_free() = {heap['heap_free']}, at the least {heap['lowest']}; {_holes(heap)}"
    )
    lines += [f"model {name}: {nbytes} bytes of the system heap" for name, nbytes in found["nets"]]
    return [*lines, f"{found['frames']} frames, {found['seconds']:.1f} s of the board's clock"]


def _holes(heap: dict[str, Any], most: int = 5) -> str:
    sizes = sorted(heap["holes"], reverse=True)
    if not sizes:
        return f"no holes, {heap['top']} in the top chunk"
    shown = ", ".join(str(n) for n in sizes[:most]) + (", ..." if len(sizes) > most else "")
    return f"{len(sizes)} holes of {shown}; {heap['top']} in the top chunk"
