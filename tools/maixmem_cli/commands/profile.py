# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem profile`: where a script's memory went, line by line, on the user's own firmware."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from maixmem_cli.answer import as_text
from maixmem_cli.answer.answer import Answer
from maixmem_cli.answer.as_json import data
from maixmem_cli.commands.gate_options import Gate, gate_options, say
from maixmem_cli.commands.script_options import (
    FLASH,
    IMAGE,
    SD,
    bench_of,
    board_of,
    firmware_options,
    image_of,
    setup_of,
)
from maixmem_cli.emulator import cores
from maixmem_cli.firmware.builds import choose
from maixmem_cli.text.output import JSON, LANG, harmless, print_json, printable, write_file

if TYPE_CHECKING:
    from maixmem_cli.profiler.profile import Profile


@click.command(
    name="profile",
    epilog="Example: maixmem profile main.py --firmware maixpy.bin --flash m.kmodel@0x300000 "
    "--camera pattern --frames 20",
)
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@IMAGE
@FLASH
@SD
@firmware_options
@gate_options
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report to this file.",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the timeline to this file.",
)
@click.option(
    "--live/--no-live",
    default=True,
    help="Look for what is in use and for leaks; without it is faster.",
)
@click.option(
    "--guard",
    is_flag=True,
    help="Name the first store that damages the lists of the system heap; some slower.",
)
@click.option(
    "--speedscope",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the call stacks for the viewer of that name.",
)
@LANG
@JSON
def command(
    *,
    script: Path,
    image: Path | None,
    flash: tuple[tuple[int, Path], ...],
    sd: Path | None,
    html: Path | None,
    svg: Path | None,
    speedscope: Path | None,
    live: bool,
    guard: bool,
    as_json: bool,
    language: str,
    **more: Any,
) -> None:
    """Run a script on a firmware and follow every allocation to its line.

    The board is software, the firmware is yours. Both heaps are seen from outside: the script and
    the firmware do not notice. What the script prints goes to stderr. What no option gives comes
    from a project.toml beside the script: firmware, models, card, camera, budgets.

    Exit status: 0 fine, 1 the script raised, leaks, damages the heap or is over budget, 3 the
    board hangs, 2 wrong use. A leak is accepted when --baseline has it or --max-growth allows it.
    """
    cores.check()
    from maixmem_cli.emulator import session
    from maixmem_cli.profiler import plain, profile, run_on, stacks
    from maixmem_cli.runs import bounded, run_firmware

    setup = setup_of(script)
    wanted, firmware = Gate(setup, more), image_of(image, setup)
    flash, sd, more = board_of(setup, flash, sd, more, camera=True)
    options = session.Options(files=flash, sd=sd, **more)
    with run_firmware.failing(script), session.Session(firmware, script, options) as board:
        run_firmware.watch(board)
        said: list[str] = []
        result = profile.run(board, lambda text: _say(text, said), looks=live, guard=guard)
        click.echo(harmless(result.outcome.error), nl=False, err=True)
        if result.outcome.error:
            run_firmware.say_failed(script, result.outcome.error)
        run_firmware.tell(result.ending)
        bounded.settle(result)
        result.ran_on = run_on.to_its_end(result)
        made = _answer(result, "".join(said), language)
        _write(result, made, html, svg, speedscope)
        told = {**plain.data(result), "stacks": stacks.as_json(result)}
        told["answer"] = made and data(made)
        for line in (*as_text.lines(made), "") if made and not as_json else ():
            click.echo(printable(line))
        _print(result, told, wanted, as_json)
        for line in wanted.other(told):
            click.echo(f"maixmem: {line}", err=True)
        failed = wanted.failed(told)
        say(failed, script)
        sys.exit(run_firmware.status(result.outcome) or bool(result.damage or failed))


def _answer(result: Profile, output: str, language: str) -> Answer | None:
    """What the run says; of one that ended badly with a remedy that was tried. What only grows is
    not tried: that is several runs, and a profile is to cost as much as one."""
    from maixmem_cli.plan import advice
    from maixmem_cli.runs import image_record, recorded

    found = image_record.of_profile(result, output)
    made = advice.of_run(found, language, output)
    if made is None or found.ran:
        return made
    session = result.session
    place = recorded.Place(choose(str(session.firmware)), session.firmware, session.options)
    return advice.proved(made, found, session.script, session.source, bench_of(place))


def _say(text: str, said: list[str]) -> None:
    said.append(text)
    click.echo(harmless(text), nl=False, err=True)


def _write(
    result: Profile,
    made: Answer | None,
    html: Path | None,
    svg: Path | None,
    speedscope: Path | None,
) -> None:
    if html or svg:
        from maixmem_cli.answer import as_html
        from maixmem_cli.profiler import page

        if html:
            write_file("--html", html, page.html(result, as_html.fragment(made) if made else ""))
        if svg:
            write_file("--svg", svg, page.timeline(result))
    if speedscope:
        from maixmem_cli.profiler import stacks

        write_file("--speedscope", speedscope, json.dumps(stacks.speedscope(result)))


def _print(result: Profile, told: dict[str, Any], wanted: Gate, as_json: bool) -> None:
    from maixmem_cli.profiler import report

    if as_json:
        print_json(told)
        return
    for line in [*report.text(result), *wanted.diff(told)]:
        click.echo(printable(line))
