# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The command `maixmem`, and python -m maixmem_cli: says in one line what is not installed."""

import sys


def main() -> None:
    """Runs the command; exit status 2 where its packages are missing."""
    try:
        from maixmem_cli.cli import main as command
    except ModuleNotFoundError as e:
        if not e.name or e.name.startswith("maixmem"):
            raise
        print(
            f"maixmem: {e.name} is not installed. Next: pip install maixmem",
            file=sys.stderr,
        )
        sys.exit(2)
    command(prog_name="maixmem")


if __name__ == "__main__":
    main()
