# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The `maixmem` command group. Each command is one file of commands/ with a click command named
`command`."""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

from maixmem_cli.text import output
from maixmem_cli.text.needs import WrongUse, missing

#: command -> one line of help; the module is loaded only when the command runs
COMMANDS = {
    "init": "Start a program: script, models, project file, test, gate for CI.",
    "kmodel": "What is in a model, what it needs, where it runs.",
    "flash": "Who owns which flash bytes; collisions before flashing.",
    "kfpkg": "Write a package of models for kflash.",
    "cure": "Find the smallest change of a script that runs, and prove it on your firmware.",
    "fit": "Will models, camera and buffers fit; what to change.",
    "explain": "What a message, a log or a core dump means; what to do.",
    "build": "Compile the library for each bytecode; sizes, package.json.",
    "deploy": "Put the library on a board and check it there.",
    "auto": "Make unchanged scripts on a board safe: one line in its boot.py.",
    "ports": "List the serial ports: which may be a board.",
    "doctor": "Check the memory and flash of a connected board.",
    "selftest": "Run the library's own tests on a board.",
    "top": "Watch a board's memory live.",
    "sim": "Run a MaixPy script without a board: on the stand-in, or on your firmware.",
    "profile": "Where a script's memory went, line by line, on your firmware.",
    "heap": "What lies on the heap of a board, who holds it, what changed.",
    "web": "Open the page with a K210 in it in a browser; nothing is uploaded.",
    "cmm": "Check or set the carve-out of a MaixCAM2.",
}


class Commands(click.Group):
    """Loads a command's module when it is called; ends with one line, or {"error"} for --json,
    when one fails."""

    def main(self, args: Sequence[str] | None = None, **more: Any) -> Any:  # type: ignore[override]
        given = list(sys.argv[1:] if args is None else args) or ["--help"]
        output.any_encoding()
        if not more.pop("standalone_mode", True):
            return super().main(given, standalone_mode=False, **more)
        try:
            status = self._status(given, more)
        except OSError as e:  # commands tell of the files that they name
            status = output.cut_off(e)
        sys.exit(status if isinstance(status, int) else 0)

    def _status(self, given: list[str], more: dict[str, Any]) -> Any:
        try:
            return super().main(given, standalone_mode=False, **more)
        except click.ClickException as e:
            output.end(e, "--json" in given)
            return e.exit_code
        except click.Abort:
            return 1

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            near = difflib.get_close_matches(name, COMMANDS, n=2)
            if near:
                ctx.fail(f"no command {name!r}. Next: maixmem {' or maixmem '.join(near)}")
            return None
        try:
            return importlib.import_module(f"maixmem_cli.commands.{name}").command
        except ModuleNotFoundError as e:
            raise WrongUse(missing(e)) from e

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="maixmem", prog_name="maixmem")
def main() -> None:
    """Memory on edge-AI vision boards: check, plan, build, deploy, watch.

    Exit status: 0 fine, 1 findings, 2 wrong use.
    """


if __name__ == "__main__":
    main(prog_name="maixmem")
