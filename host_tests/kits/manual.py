# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The pages of the manual and how tests run what is in them: Python on stand-ins, command lines in
a folder."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import maixmem_k210_chip as chip
import paths
from cvimodel_build import cvimodel, program
from maixmem_cli.cli import main
from maixmem_cli.commands import sim as cmd_sim
from maixmem_cli.firmware.builds import FIRMWARES
from readme_blocks import Block, blocks, write_files

README, CHINESE = paths.ROOT / "README.md", paths.ROOT / "README_ZH.md"
DOCS = paths.ROOT / "docs"
PAGES = [README, *(p for p in sorted(DOCS.glob("*.md")) if not p.stem.endswith("_zh"))]
#: pages whose commands and files a reader types one after the other, in an empty folder
WALKS = [README, DOCS / "tutorial.md"]
#: pages that are in Chinese too, with the same blocks: what runs of one is true of both
IN_CHINESE = {
    README: CHINESE,
    **{DOCS / f"{name}.md": DOCS / f"{name}_zh.md" for name in ("tutorial", "faq")},
}
HANGS = 3  # the exit status of sim where a board would hang

#: commands that need a serial board or a firmware image: their options are read, nothing runs
_NEED_A_BOARD = ("auto", "deploy", "doctor", "ports", "selftest", "top")
_NEED_AN_IMAGE = ("profile", "heap")
_TESTED_ELSEWHERE = ("build", "cmm")
_FINDINGS = ("flash", "fit")  # the manual shows what collides and what does not fit
# host/test_mip.py installs from each kind of these
_PACKAGES = ("dist/mpy4/package.json", "maixmem")

# For the Linux boards: what stands for the board before the block runs, and what must hold after
# it.
_RKNN = """
import librknnrt, maixmem_generic, maixmem_rknn.port, rknn_model
lib = librknnrt.shared_object("rk3588", 64 << 20, True)
maixmem_generic.meminfo = lib.meminfo
maixmem_rknn.port.open_library = lambda: lib
io = {"inputs": [[[1, 4, 4, 4], 0]], "outputs": [[[1, 32], 0]]}
for name, internal in (("detect", 65536), ("classify", 100000)):
    more = dict(io, weight=8192, internal=internal, regs=1000, blob=11192, outside=[2000])
    with open(name + ".rknn", "wb") as f:
        f.write(rknn_model.build(name, 17192, ("rk3588",), **more))
"""
# what a block finds on the MicroPython unix port: a K210's stand-in, or the library alone
UNIX = {"unix": (*paths.SHIM_PATH, paths.LIB), "micropython": (paths.LIB,)}
LINUX = {
    "maixcam": ("import maixcam_board as board", "board.cmm.live()"),
    "rknn": (_RKNN, "lib.runtime.npu.live"),
}


def blocks_of(language: str) -> list[tuple[Path, Block]]:
    """Every block of a language in the manual, with its page."""
    return [(page, b) for page in PAGES for b in blocks(page) if b.language == language]


def fill(folder: Path) -> dict[int, Path]:
    """Puts the user's files into a folder; returns the flash of the board there."""
    return write_files(folder, FIRMWARES["full"].image)


# --- Python ---


def run_on_k210(block: Block, folder: Path) -> int:
    """Runs a block on the stand-in with the full firmware; the exit status of sim."""
    flash = fill(folder)
    script = folder / f"line{block.line}.py"
    script.write_text(block.text, encoding="utf-8")
    return cmd_sim.run(script, "full", flash)


def run_on_linux(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a block on the stand-in of its board, and asserts there that nothing stays."""
    for name, shared in (("detect", 200_000), ("classify", 900_000)):
        io = [("in", "UINT8", (1, 3, 100, 100))]
        model = cvimodel([("weight", 50_000)], [program(shared=shared, inputs=io)])
        (folder / f"{name}.cvimodel").write_bytes(model)
    before, live = LINUX[block.platform]
    script = f"{before}\n{block.text}\nassert {live} == 0, {live}\n"
    env = {"PYTHONPATH": f"{paths.LIB}:{paths.SHIMS / block.platform}"}
    return subprocess.run(
        [sys.executable, "-c", script],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


# --- a reader's own tests ---

# What stands for the main.py of a reader who tests it.
_TESTED = """\
import KPU as kpu
import sensor

sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
net = kpu.load(0x300000)
frames = 0
while True:
    sensor.snapshot()
    frames += 1
"""


def run_pytest(found: list[Block], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the blocks of a page that are tests, with the conftest.py that one of them is."""
    fill(folder)
    (folder / "main.py").write_text(_TESTED)
    for block in found:
        name = f"test_line{block.line}" if "def test_" in block.text else "conftest"
        (folder / f"{name}.py").write_text(block.text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def run_on_unix(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a block on the MicroPython unix port, with the path that the page names."""
    fill(folder)
    script = folder / "my_test.py"
    script.write_text(block.text, encoding="utf-8")
    places = map(str, UNIX[block.platform])
    return subprocess.run(
        [str(paths.micropython()), str(script)],
        env={"MICROPYPATH": ":".join((*places, ".frozen"))},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


# --- command lines ---


def firmware_image() -> Path | None:
    """The firmware image of $MAIXMEM_FIRMWARE that is a file, or the first .bin of its folders;
    else None."""
    places = [Path(p) for p in os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep) if p]
    files = [f for p in places for f in (sorted(p.glob("*.bin")) if p.is_dir() else [p])]
    return next((f for f in files if f.is_file()), None)


def run_line(line: str, invoke, folder: Path) -> str:
    """Runs one line of a sh block in the present folder, as far as that can be here; what it
    printed.

    `invoke(*words)` runs the maixmem command. AssertionError for a line that would not work.
    """
    words = shlex.split(line, comments=True)
    if words[0] == "maixmem":
        return _maixmem(words[1:], invoke)
    if words[:2] == ["mpremote", "connect"]:
        return _mpremote(words[3:], folder)
    if words[:2] == ["mpremote", "mip"]:
        assert words[2] == "install", line
        assert words[-1] in _PACKAGES or (paths.ROOT / words[-1]).is_file(), line
        # mip finds the folder lib; MaixPy and the K230 have none
        places = {"micropython": [], "openmv": [], "k230": ["--target", "/sdcard"]}
        named = (place for name, place in places.items() if name in words[-1])
        assert words[3:5][: len(words) - 4] == next(named, ["--target", "/flash"]), line
    elif words[0] == "kflash" and words[-1] == "erase":
        options = dict(zip(words[1:-1:2], words[2:-1:2]))
        start, size = int(options["-A"], 16), int(options["-L"], 16)
        assert (start, start + size) == (chip.SPIFFS_START, chip.FLASH_SIZE), line
    elif words[0] == "kflash":
        assert words[1::2][:2] == ["-p", "-b"], line
        assert zipfile.is_zipfile(words[-1]), f"{words[-1]} was not written before"
    elif words[1:2] == ["tools/dev.py"]:
        text = (paths.TOOLS / "dev.py").read_text(encoding="utf-8")
        assert f'"{words[2]}": {words[2]}' in text, f"dev.py has no {words[2]}"
    elif words[1:3] == ["-m", "venv"]:
        package = re.search(r'pip install "?(?:\.|maixmem)(?:\[(\w+)\]"|$| )', line)
        project = (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
        assert package, line
        assert not package[1] or f"\n{package[1]} = [" in project, line
    else:
        assert words[:2] == ["git", "clone"] or (paths.ROOT / words[1]).exists(), line
    return ""


def _maixmem(words: list[str], invoke) -> str:
    ends = words.index(">") if ">" in words else len(words)
    name, *options = words[:ends]
    image = firmware_image()
    on_image = name in _NEED_AN_IMAGE or "--camera" in options
    if name in (*_NEED_A_BOARD, *_TESTED_ELSEWHERE) or (on_image and not image):
        command = main.get_command(click.Context(main), name)
        assert command is not None, name
        command.make_context(name, options)  # raises for what it does not understand
        return ""
    if on_image and image:
        Path("maixpy.bin").write_bytes(image.read_bytes())
    done = invoke(name, *options)
    fine = (0, 1) if name in (*_FINDINGS, *_NEED_AN_IMAGE) else (0,)
    said = f"{words}: {done.exit_code}\n{done.stdout}{done.stderr}{done.exception}"
    assert done.exit_code in fine, said
    for file in words[ends + 1 :]:
        Path(file).write_text(done.stdout, encoding="utf-8")
    return done.stdout


def _mpremote(words: list[str], folder: Path) -> str:
    """The script after `run` or the code after `exec`, on a stand-in with the minimum firmware. It
    prints itself."""
    kind, what = words
    script = paths.ROOT / what if kind == "run" else folder / "line.py"
    if kind == "exec":
        ast.parse(what)
        script.write_text(what + "\n", encoding="utf-8")
    flash = {address: folder / file.name for address, file in _FLASH.items()}
    assert cmd_sim.run(script, "minimum", flash) == 0, what
    return ""


_FLASH = {0x300000: Path("classes.kmodel"), 0x600000: Path("faces.kmodel")}
