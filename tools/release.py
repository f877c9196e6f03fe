# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds sdist and wheel into dist/release and proves that what is in them works. Uploads nothing.

twine and check-manifest find nothing: the README renders, the sdist has all of the repository.
Each is installed in a new environment, away from the sources: the wheel without extras (a Linux
board), the sdist with [cli] (a desk), the wheel with [board,sim]. The commands run there on files
that they make themselves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "dist" / "release"

#: they look at the packages, from an environment of their own
CHECKS = ("twine>=6", "check-manifest>=0.50", "setuptools>=66", "wheel")
IMPORTS = """
import maixmem, maixmem_kmodel, maixmem_models, maixmem_pool, maixmem_rknn
import maixmem_maixcam.cvimodel, maixmem_ascend
maixmem.report()
assert "site-packages" in maixmem.__file__, maixmem.__file__
"""
SCRIPT = """
from maixmem_models import ModelManager
models = ModelManager()
models.add("faces", 0x300000)
models.use("faces")
models.status()
models.release_all()
"""
#: on files that `init --bare` makes; the exit status of each has to be 0
COMMANDS = (
    "maixmem --version",
    "maixmem init --bare",
    "maixmem fit project.toml --svg memory.svg --html report.html",
    "maixmem kmodel faces.kmodel --layers",
    "maixmem flash faces.kmodel@0x300000 --svg flash.svg",
    "maixmem kfpkg faces.kmodel@0x300000 -o models.kfpkg",
)
SIM = "maixmem sim main.py --flash 0x300000=faces.kmodel"
WITH_BOARD = (SIM, "maixmem build --out built --index", "maixmem deploy --help", "mpremote --help")


def run(*words: object, folder: Path = ROOT, status: int = 0) -> str:
    """Runs a program, which must end with this exit status; what it printed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(w) for w in words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != status:
        sys.exit(
            f"{done.stdout}\nrelease: {' '.join(map(str, words))} ended with {done.returncode}"
        )
    return done.stdout


def build() -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", OUT)
    return next(OUT.glob("*.tar.gz")), next(OUT.glob("*.whl"))


def check_contents(wheel: Path) -> None:
    """What must be in the wheel, and what must not."""
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "maixmem.py",
        "maixmem_k210board/devices/kpu.c",
        "maixmem_shims/k210/api/KPU.py",
    ):
        if wanted not in names:
            sys.exit(f"release: {wanted} is not in {wheel.name}")
    alien = [n for n in names if n.endswith((".kmodel", ".bin")) or n.startswith("host_tests")]
    if alien:
        sys.exit(f"release: {alien} should not be in {wheel.name}")


def check_metadata(folder: Path, *files: Path) -> None:
    """What the package index refuses, and what a sdist forgets."""
    programs = environment(folder, *CHECKS)
    run(programs / "twine", "check", "--strict", *files)
    if (ROOT / ".git").exists():
        run(programs / "check-manifest", "--no-build-isolation", ROOT)
        print("twine and check-manifest: no findings", flush=True)
    else:
        print("twine: no findings. NO check-manifest: this is no clone", flush=True)


def steps() -> str:
    """What a person has to do, in order."""
    named = "OWNER" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    address = () if named else ("write your address for OWNER in pyproject.toml, run this again",)
    every = (
        *address,
        "read CHANGELOG.md: its version and day",
        "git tag vVERSION && git push --tags",
        f"twine upload {OUT.relative_to(ROOT)}/*",
    )
    return "\n".join(f"{i}. {step}" for i, step in enumerate(every, 1))


def environment(folder: Path, *what: str) -> Path:
    """A new virtual environment with `what` in it; its folder of programs."""
    run(sys.executable, "-m", "venv", folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    run(programs / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *what)
    return programs


def main() -> int:
    sdist, wheel = build()
    check_contents(wheel)
    print(f"built {sdist.name}, {wheel.name}", flush=True)
    with tempfile.TemporaryDirectory() as temp:
        top = Path(temp)
        check_metadata(top / "checks", sdist, wheel)
        work = top / "work"
        work.mkdir()
        (work / "main.py").write_text(SCRIPT)

        bare = environment(top / "bare", str(wheel))
        run(bare / "python", "-c", IMPORTS, folder=work)
        said = run(bare / "maixmem", "--version", folder=work, status=2)
        if "Next: pip install" not in said:
            sys.exit(f"release: without [cli] maixmem says {said!r}")
        print("without extras: the library imports and reports; the command says what to install")

        for extra, package, lines in (
            ("cli", sdist, COMMANDS),
            ("board,sim", wheel, (*COMMANDS, *WITH_BOARD)),
        ):
            programs = environment(top / extra, f"{package}[{extra}]")
            shutil.rmtree(work)
            work.mkdir()
            (work / "main.py").write_text(SCRIPT)
            for line in lines:
                name, *options = line.split()
                run(programs / name, *options, folder=work)
            print(f"[{extra}] of {package.name}: {len(lines)} commands ran", flush=True)
    print(f"ready in {OUT.relative_to(ROOT)}. Next:\n{steps()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
