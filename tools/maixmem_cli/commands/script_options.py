# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Options of the commands that run a script on a user's own firmware. Imports the board only when
one is wanted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import click
from click.core import ParameterSource

from maixmem_cli.answer.facts import model_format
from maixmem_cli.commands.options import ADDRESS_FILE, known_firmwares
from maixmem_cli.firmware.boards import BOARDS
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.plan.program import project
from maixmem_cli.text.needs import WrongUse

if TYPE_CHECKING:
    from maixmem_cli.emulator.session import Options
    from maixmem_cli.firmware.builds import Firmware
    from maixmem_cli.plan.tried import Bench
    from maixmem_cli.runs.recorded import Place

FLASH = click.option(
    "--flash",
    multiple=True,
    type=ADDRESS_FILE,
    metavar="FILE@ADDR",
    help="Put a file into flash (repeat).",
)
SD = click.option(
    "--sd",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="The SD card: its files are /sd/NAME.",
)


_PATTERN = "pattern"  # a camera that sees something
PROJECT = "project.toml"  # looked for beside the script


def setup_of(script: Path) -> project.Setup:
    """What the project.toml beside the script gives a run."""
    beside = script.parent / PROJECT
    try:
        return project.setup(beside) if beside.is_file() else project.Setup()
    except (project.ProjectError, OSError) as e:
        raise WrongUse(f"{beside}: {e}") from None


Flash = tuple[tuple[int, Path], ...]


def board_of(
    setup: project.Setup, flash: Flash, sd: Path | None, more: dict[str, Any], *, camera: bool
) -> tuple[Flash, Path | None, dict[str, Any]]:
    """What the options give, else the project, which is reported on stderr: what is in flash, the
    card, and `more` with a `camera` where there may be one."""
    taken = []
    if not flash and setup.flash:
        flash = setup.flash
        taken.append("--flash " + ", ".join(f"{file.name}@{at:#x}" for at, file in flash))
    if sd is None and setup.sd:
        sd = setup.sd
        taken.append(f"--sd {sd.name}")
    if camera and setup.camera and not more.get("camera"):
        more = {**more, "camera": _PATTERN}
        taken.append(f"--camera {_PATTERN}")
    if taken:
        click.echo(f"{PROJECT}: {', '.join(taken)}", err=True)
    return flash, sd, more


def _config(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return BOARDS[value].config if value else None


_LIMITS = (
    click.option(
        "--board",
        "config",
        type=click.Choice(list(BOARDS)),
        callback=_config,
        help="Whose pins board_info has; default what the firmware says.",
    ),
    click.option(
        "--camera", metavar="FILE|FOLDER|pattern", help="What the camera sees; default none."
    ),
    click.option(
        "--frames", type=click.IntRange(1), help="End after so many pictures of the camera."
    ),
    click.option(
        "--seconds",
        type=click.FloatRange(0, min_open=True),
        help="End after so long, by the board's clock.",
    ),
    click.option(
        "--save-lcd",
        type=click.Path(file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Save what goes to the display, as PNG.",
    ),
)


class _Image(click.Path):
    """A firmware image: a file, or the name of a build whose file is where $MAIXMEM_FIRMWARE
    says."""

    name = "image"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in FIRMWARES and not Path(value).exists():
            found = kept(FIRMWARES[value].image)
            if not found:
                text = (
                    f"{value!r} is the name of a build, and this runs on the firmware itself. "
                    "Next: its .bin, or its folder in $MAIXMEM_FIRMWARE"
                )
                self.fail(text, param, ctx)
            value = str(found)
        return super().convert(value, param, ctx)


def kept(nbytes: int) -> Path | None:
    """The file of so many bytes among those of $MAIXMEM_FIRMWARE, files or folders."""
    for place in filter(None, os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)):
        for path in sorted(Path(place).glob("*")) if Path(place).is_dir() else [Path(place)]:
            if path.is_file() and path.stat().st_size == nbytes:
                return path
    return None


IMAGE_FILE = _Image(exists=True, dir_okay=False, path_type=Path)
IMAGE = click.option(
    "--firmware",
    "image",
    type=IMAGE_FILE,
    metavar="IMAGE",
    help="The firmware: a .bin or .kfpkg of a MaixPy v1 release; default that of project.toml.",
)


def firmware_of(setup: project.Setup, firmware: str) -> str:
    """The firmware of the option --firmware where it was given, else of the project."""
    source = click.get_current_context().get_parameter_source("firmware")
    if setup.firmware and source == ParameterSource.DEFAULT:
        click.echo(f"{PROJECT}: --firmware {setup.firmware}", err=True)
        return setup.firmware
    return firmware


def image_of(image: Path | None, setup: project.Setup) -> Path:
    """The firmware of the option, else of the project."""
    if image is None and setup.firmware:
        image = Path(IMAGE_FILE.convert(setup.firmware, None, None))
        click.echo(f"{PROJECT}: --firmware {image}", err=True)
    if image is None:
        raise click.UsageError("Missing option '--firmware'. Next: a .bin or .kfpkg of MaixPy v1")
    return image


def place_of(firmware: Firmware, options: Options) -> Place:
    """Where the script runs: on an image, where there is one."""
    from maixmem_cli.emulator import cores
    from maixmem_cli.runs import recorded

    image = firmware.file
    if firmware.name in FIRMWARES:
        image = kept(firmware.image)
    elif image is None:
        raise click.UsageError(
            f"{firmware.name} tells of a board and is no firmware: a script is run. Next: "
            "--firmware with its .bin or .kfpkg, or with the name of a build"
        )
    if image:
        cores.check()
    return recorded.Place(firmware.of_table() or firmware.measured(), image, options)


def bench_of(place: Place) -> Bench:
    """Where the changes of a script that ran there are tried: on that image, else on the stand-in.
    A trial has an end, whatever the script's own run has."""
    from maixmem_cli.plan.tried import Bench
    from maixmem_cli.runs import trials

    options = place.options
    seconds = min(options.seconds or trials.SECONDS, trials.SECONDS)
    options = replace(options, seconds=seconds, begin=trials.BEGIN)
    others = _other_builds(place)
    if place.image:
        files = [(key, kept(FIRMWARES[name].image)) for key, name in others]
        others = [(key, str(path)) for key, path in files if path]
    of_changes = trials.Trials(replace(place, options=options))
    return Bench(of_changes, tuple(options.files), options.sd, others)


def _other_builds(place: Place) -> list[tuple[str, str]]:
    """(the remedy, the build) of those that leave more, the largest first; where a model is of a
    format that this one does not run, of those that do."""
    v4 = any(model_format(file) == "v4" for _, file in place.options.files)
    lacks = v4 and not place.build.v4
    rows = [(f.image, name) for name, f in FIRMWARES.items() if f.v4 or not v4]
    key = "firmware_v4" if lacks else "firmware"
    return [(key, name) for n, name in sorted(rows)[::-1] if lacks or n < place.build.image]


def firmware_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --board, --camera, --frames, --seconds and --save-lcd."""
    for option in reversed(_LIMITS):
        command = option(command)
    return command


def firmware_or_image(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """A build by its name, or the path of a firmware."""
    if Path(value).is_file():
        return value
    if Path(value).suffix in (".bin", ".kfpkg"):
        raise click.BadParameter(f"{value}: no such file", ctx, param)
    return known_firmwares(ctx, param, value) or value


def run_on_image(
    script: Path,
    image: str,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    more: dict[str, Any],
) -> int:
    """Runs the script on the firmware in the file `image`; its exit status."""
    from maixmem_cli.emulator import cores, session
    from maixmem_cli.runs import run_firmware

    cores.check()
    return run_firmware.run_firmware(
        script, Path(image), session.Options(files=flash, sd=sd, **more)
    )
