# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The first step for each broken script of broken_scripts.py: the same in sim, profile, fit, cure
and in what explain reads from the log of sim; and the script with that step, run.

    python host_tests/kits/same_answer.py --firmware maixpy.bin [--frames 100] [NAME ...]

Without --firmware on the stand-in, where there is no profile. Exit status 1 where a step differs
or does not run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import paths

sys.path[:0] = [str(p) for p in (paths.TOOLS, paths.LIB, paths.SHIMS, paths.DEVICE)]
import broken_scripts  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from maixmem_cli.answer import as_text  # noqa: E402
from maixmem_cli.cli import main as maixmem  # noqa: E402


def steps(
    broken: broken_scripts.Broken, folder: Path, image: Path | None, frames: int = 20
) -> dict[str, str]:
    """{command: the step that it gives first}; "" where it gives none."""
    script = folder / "main.py"
    script.write_text(broken.source)
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    board = [str(script), *flash, f"--frames={frames}"]
    if image:
        board += [f"--firmware={image}", "--camera=pattern"]
    log = folder / "log.txt"
    done = CliRunner().invoke(maixmem, ["sim", *board])
    log.write_text(done.output)
    found = {"sim": _read(done.output)}
    if image:
        found["profile"] = _read(CliRunner().invoke(maixmem, ["profile", *board]).output)
    for command, words in (("fit", board), ("explain", [str(log)])):
        done = CliRunner().invoke(maixmem, [command, *words, "--json"])
        told = json.loads(done.stdout)["answer"]
        found[command] = told["step"]["text"] if told and told["step"] else ""
    return found


def _read(output: str) -> str:
    answer = as_text.read(output)
    return answer.step.text if answer and answer.step else ""


def applied(
    broken: broken_scripts.Broken, folder: Path, image: Path | None, frames: int
) -> tuple[str, bool]:
    """The step that cure gives for so many pictures, and whether the script with it runs."""
    (folder / "main.py").write_text(broken.source)
    flash = [f"--flash={path}@{address:#x}" for address, path in broken.files(folder)]
    board = [str(folder / "main.py"), *flash, f"--frames={frames}"]
    board += [f"--firmware={image}"] if image else []
    done = CliRunner().invoke(maixmem, ["cure", *board, "--json", "--write"])
    told = json.loads(done.stdout)
    again = CliRunner().invoke(maixmem, ["cure", *board])
    return told[0]["step"]["text"], "runs as it is" in again.output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--firmware", type=Path)
    parser.add_argument("--frames", type=int, default=100)
    given = parser.parse_args()
    wrong = 0
    chosen = [b for b in broken_scripts.scripts() if b.name in given.names or not given.names]
    for broken in chosen:
        with tempfile.TemporaryDirectory() as temp:
            folder = Path(temp)
            found = steps(broken, folder, given.firmware)
            found["cure"], runs = applied(broken, folder, given.firmware, given.frames)
        same = len({*found.values()}) == 1 and all(found.values())
        wrong += not (same and runs)
        said = found["cure"] if same else str(found)
        print(f"{'same' if same else 'DIFFERENT'}, {'runs' if runs else 'DOES NOT RUN'}  ", end="")
        print(f"{broken.name}: {said}", flush=True)
    print(f"{wrong} of {len(chosen)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
