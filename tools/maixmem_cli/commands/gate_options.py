# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Options that make a profile a gate: budgets, also of a project.toml, and an earlier run."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable

import click

from maixmem_cli.commands.options import SIZE
from maixmem_cli.plan.program.project import Setup
from maixmem_cli.profiler import compare, gate

_HELP = {
    "max_heap": "Status 1 when the system heap has more in use.",
    "max_gc_live": "Status 1 when more of the GC heap is in use at once, garbage not counted.",
    "max_growth": "Bytes that a line may keep a round: a smaller leak is accepted.",
    "min_free": "Status 1 when less of the system heap is left at its peak.",
}


class _Tolerance(click.ParamType):
    name = "percent"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Fraction:
        try:
            return value if isinstance(value, Fraction) else gate.percent(value)
        except ValueError as e:
            self.fail(str(e), param, ctx)


_KEPT = click.Path(exists=True, dir_okay=False, path_type=Path)
_OPTIONS = (
    *(
        click.option("--" + f.name.replace("_", "-"), type=SIZE, help=_HELP[f.name])
        for f in fields(gate.Limits)
    ),
    click.option(
        "--baseline",
        type=_KEPT,
        metavar="OLD.json",
        help="Status 1 when a heap has more than in this earlier --json. Its leaks are known.",
    ),
    click.option(
        "--tolerance",
        type=_Tolerance(),
        default=gate.TOLERANCE,
        show_default=True,
        help="How much more than the baseline is fine, in per cent.",
    ),
    click.option(
        "--diff", type=_KEPT, metavar="OLD.json", help="Show which lines came, went and grew."
    ),
)


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Gate:
    """What the options ask of a profile. Reads its files at once: a wrong one is reported before
    the run."""

    def __init__(self, setup: Setup, options: dict[str, Any]) -> None:
        """Takes its own options out of `options`; `setup` has those of the project."""
        given = gate.Limits(**{f.name: options.pop(f.name) for f in fields(gate.Limits)})
        self.tolerance: Fraction = options.pop("tolerance")
        self._old = {name: _kept(name, options.pop(name)) for name in ("baseline", "diff")}
        self.limits = given.over(setup.limits)

    def diff(self, told: dict[str, Any]) -> list[str]:
        """The lines of --diff."""
        old = self._old["diff"]
        return compare.text(old, told) if old else []

    def other(self, told: dict[str, Any]) -> list[str]:
        """Which of its files are of another script, or of another firmware."""
        found = {name: compare.another(old, told) for name, old in self._old.items() if old}
        return [f"--{name} {of}" for name, of in found.items() if of]

    def failed(self, told: dict[str, Any]) -> list[gate.Breach]:
        """What is not accepted."""
        return gate.breaches(told, self.limits, self._old["baseline"], self.tolerance)


def _kept(option: str, path: Path | None) -> dict[str, Any] | None:
    try:
        return compare.load(path) if path else None
    except (compare.NoProfile, OSError) as e:
        raise click.BadParameter(str(e), param_hint=f"--{option}") from e


def say(breaches: list[gate.Breach], script: Path) -> None:
    """One line each on stderr; where GitHub Actions reads along, one that it shows at the line."""
    for b in breaches:
        click.echo(f"maixmem: {b.told}", err=True)
        if gate.annotated():
            click.echo(b.in_folder(script.parent).annotation, err=True)
