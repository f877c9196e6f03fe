# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem sim`: a MaixPy script on the K210 stand-in, run by the MicroPython unix port."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any, NoReturn

import click
from maixmem_k210_gc import check_gc_heap

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer
from maixmem_cli.commands.options import ADDRESS_FILE, SIZE
from maixmem_cli.commands.script_options import (
    bench_of,
    board_of,
    firmware_of,
    firmware_options,
    firmware_or_image,
    run_on_image,
    setup_of,
)
from maixmem_cli.emulator.sd_image import CardError, check_inside
from maixmem_cli.firmware.builds import FIRMWARES, GC_DEFAULT, FirmwareError, choose
from maixmem_cli.plan import advice, flash_harm, not_ours
from maixmem_cli.runs import run_standin, tracing
from maixmem_cli.text import reading
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import LANG, printable, unreadable

_SD_FILES = 500
_HANGS = 3  # exit status
_NOT_OF_IMAGES = "a firmware image does not have this. Next: --firmware NAME, a build's name"
_RAMP = (
    "maixmem: the stand-in computes no pixels: its camera always shows the same ramp. Next, for "
    "the pictures of --camera: --firmware IMAGE, a .bin or .kfpkg"
)


def run(script: Path, firmware: str, flash: dict[int, Path], **more: Any) -> int:
    """Runs a script on a board of that firmware with these files in flash; `more` are other fields
    of run_standin.Job."""
    return run_standin.run(
        run_standin.Job(script, read_script(script, False), firmware, dict(flash), **more)
    )


def sd_files(folder: Path) -> dict[str, str]:
    """{name on the board: host file} for every file below the folder of the SD card.

    The list is on the heap of the interpreter here, so it may not be long.
    """
    try:
        check_inside(folder)
    except CardError as e:
        raise click.BadParameter(str(e), param_hint="--sd") from None
    files = list(itertools.islice((p for p in folder.rglob("*") if p.is_file()), _SD_FILES + 1))
    if len(files) > _SD_FILES:
        text = f"{folder} has more than {_SD_FILES} files; give a folder with those of the card"
        raise click.BadParameter(text, param_hint="--sd")
    return {f"/sd/{p.relative_to(folder).as_posix()}": str(p) for p in sorted(files)}


def read_script(script: Path, trace: bool) -> str:
    """The text of a script, with marks at its lines for --trace."""
    try:
        source = reading.script(script)
    except OSError as e:
        raise click.BadParameter(unreadable(e, script), param_hint="SCRIPT") from None
    except UnicodeDecodeError as e:
        text = (
            f"{script}: byte {e.start} is {e.object[e.start]:#04x}, not UTF-8. Next: save "
            "the script as UTF-8"
        )
        raise click.BadParameter(text, param_hint="SCRIPT") from None
    try:
        return tracing.marked(source) if trace else source
    except (SyntaxError, ValueError):
        return source  # the interpreter says what is wrong, as on the board


def _serial(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[int, bytes]:
    """{port: bytes} from --uart 1=FILE."""
    found = {}
    for text in value:
        port, _, name = text.partition("=")
        if port not in ("1", "2", "3") or not Path(name).is_file():
            raise click.BadParameter(
                f"{text!r}: write a port, 1 to 3, and a file, as in 1=gps.txt", ctx, param
            )
        found[int(port)] = Path(name).read_bytes()
    return found


@click.command(
    name="sim",
    epilog="Example: maixmem sim examples/switch_models.py --firmware full --flash "
    "a.kmodel@0x300000 --trace",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--firmware",
    default="full",
    show_default=True,
    callback=firmware_or_image,
    help="The build on the board; or a firmware itself, a .bin or .kfpkg, which the script "
    "then runs on.",
)
@click.option(
    "--flash",
    multiple=True,
    type=ADDRESS_FILE,
    metavar="FILE@ADDR",
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
    "--uart",
    multiple=True,
    metavar="PORT=FILE",
    callback=_serial,
    help="What a serial port, 1 to 3, receives (repeat).",
)
@click.option(
    "--trace",
    is_flag=True,
    help="On stderr: every allocation, and the line of the script it belongs to.",
)
@click.option(
    "--unsafe",
    is_flag=True,
    help="Where there is no MicroPython unix port: run the script on CPython, which does not keep "
    "it from this computer.",
)
@firmware_options
@LANG
def command(
    *,
    script: Path,
    firmware: str,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    board_heap: int,
    heap: int | None,
    uart: dict[int, bytes],
    trace: bool,
    unsafe: bool,
    language: str,
    **limits: Any,
) -> None:
    """Run a MaixPy script without a board.

    The K210 stand-in counts memory as the chosen firmware build does. Each name of the
    firmware is of one of three kinds: kept (takes and frees memory as the firmware), quiet (takes
    what the firmware takes and does nothing: pins, buses, drawing) or absent (says so). No pixels
    are computed, time passes while a script sleeps and nobody waits for it, and the script reaches
    nothing of this computer. docs/simulator.md has the list.

    Exit status: the script's own, 1 when it raises; 3 where the real board would hang, with the
    cause and the cure; 0 with a memory table when --frames or --seconds end it.
    """
    other = not_ours.script_for(script, read_script(script, False))
    if other:
        raise click.UsageError(other)
    setup = setup_of(script)
    firmware = firmware_of(setup, firmware)
    on_image = firmware not in FIRMWARES
    flash, sd, limits = board_of(setup, flash, sd, limits, camera=on_image)
    if on_image:
        of_stand_in = {"--heap": heap, "--uart": uart, "--trace": trace, "--unsafe": unsafe}
        _none_of(of_stand_in, _NOT_OF_IMAGES)
        if board_heap != GC_DEFAULT:
            limits["gc_heap"] = board_heap
        status = _does_not_start(firmware, flash)
        status = status or run_on_image(script, firmware, flash, sd, limits)
        _end(status, script, firmware, {"files": flash, "sd": sd, **limits}, language)
    _check_for_stand_in(firmware, board_heap, limits)
    text = read_script(script, trace)
    job = run_standin.Job(script.resolve(), text, firmware, dict(flash), board_heap, heap)
    job.files, job.card = sd_files(sd.resolve()) if sd else {}, sd is not None
    job.frames, job.seconds = limits["frames"], limits["seconds"]
    job.serial, job.trace, job.unsafe, job.config = uart, trace, unsafe, limits["config"]
    for line in flash_harm.harm(FIRMWARES[firmware], job.flash):
        click.echo(f"maixmem: {line}", err=True)
    again = {"files": flash, "sd": sd, "gc_heap": board_heap, **limits}
    _end(run_standin.run(job), script, firmware, again, language)


def _does_not_start(image: str, flash: tuple[tuple[int, Path], ...]) -> int:
    """The status of a hang where a file lies over the firmware, which is reported; else 0."""
    try:
        build = choose(image)
    except FirmwareError:  # the run says what it is
        return 0
    over = {at: file for at, file in flash if 0 < at < build.end}
    for line in flash_harm.harm(build, over):
        click.echo(f"maixmem: {line}", err=True)
    return _HANGS if over else 0


def _end(
    status: int, script: Path, firmware: str, options: dict[str, Any], language: str
) -> NoReturn:
    """Ends with this status; after a hang or an error a second run, which is recorded, gives the
    answer."""
    if status in (1, _HANGS):
        made = _answer(script, firmware, options, language)
        for line in as_text.lines(made) if made else ():
            click.echo(f"maixmem: {printable(line)}", err=True)
    sys.exit(status)


def _answer(script: Path, firmware: str, options: dict[str, Any], language: str) -> Answer | None:
    from maixmem_cli.emulator.session import Options
    from maixmem_cli.runs import recorded

    try:
        build = choose(firmware)
        image = None if firmware in FIRMWARES else Path(firmware)
        place = recorded.Place(build.of_table() or build.measured(), image, Options(**options))
        found = recorded.once(script, place)
        made = advice.of_run(found, language)
        if made is None:
            return None
        return advice.proved(made, found, script, reading.script(script), bench_of(place))
    except (FirmwareError, WrongUse):
        return None


def _none_of(options: dict[str, Any], text: str) -> None:
    """Nothing of {option: value} was given; else a wrong use with this text."""
    for option, given in options.items():
        if given:
            raise click.BadParameter(text, param_hint=option)


def _check_for_stand_in(firmware: str, board_heap: int, limits: dict[str, Any]) -> None:
    _none_of(
        {"--save-lcd": limits["save_lcd"]},
        "the stand-in has no pictures. Next: --firmware IMAGE, a .bin or .kfpkg",
    )
    if limits["camera"]:
        click.echo(_RAMP, err=True)
    build = FIRMWARES[firmware]
    try:
        check_gc_heap(f"{board_heap} bytes", board_heap, build.heap or 0, build.gc_heap)
    except ValueError as e:
        raise click.BadParameter(str(e), param_hint="--board-heap") from None
