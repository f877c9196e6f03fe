# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""README.md and README_ZH.md: every block of code runs, every sample of output is what comes out."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import maixmem_advice
import paths
import pytest
from click.testing import Result
from commands import invoke
from cvimodel_build import cvimodel, program
from maixmem_cli import cmd_fit, cmd_sim
from maixmem_cli.cli import main
from maixmem_cli.firmwares import FIRMWARES
from readme_blocks import Block, blocks, masked, shows, write_files

README, CHINESE = paths.ROOT / "README.md", paths.ROOT / "README_ZH.md"
BLOCKS = blocks(README)
_measures = pytest.mark.skipif(
    paths.micropython() is None, reason="no MicroPython unix port here: README figures"
)
_NEED_A_BOARD = ("deploy", "doctor", "top")
_TESTED_ELSEWHERE = ("build",)
_FINDINGS = ("flash", "fit")  # the manual shows what collides and what does not fit
# host/test_mip.py installs from each kind of these
_PACKAGES = ("./package.json", "dist/mpy4/package.json", "maixmem", "github:OWNER/maixmem")
_PROGRAM = b"\x21\xa8\xef\xbe\xad\xde"  # how a firmware begins

# For the Linux boards: what stands for the board before the block runs, and what must hold after it.
_RKNN = """
import librknnrt, maixmem_generic, maixmem_rknn, rknn_model
lib = librknnrt.shared_object("rk3588", 64 << 20, True)
maixmem_generic.meminfo = lib.meminfo
maixmem_rknn.open_library = lambda: lib
io = {"inputs": [[[1, 4, 4, 4], 0]], "outputs": [[[1, 32], 0]]}
for name, internal in (("detect", 65536), ("classify", 100000)):
    more = dict(io, weight=8192, internal=internal, regs=1000, blob=11192, outside=[2000])
    with open(name + ".rknn", "wb") as f:
        f.write(rknn_model.build(name, 17192, ("rk3588",), **more))
"""
_LINUX = {
    "maixcam": ("import maixcam_board as board", "board.cmm.live()"),
    "rknn": (_RKNN, "lib.runtime.npu.live"),
}


def _of(language: str, *platforms: str) -> list:
    wanted = [
        b for b in BLOCKS if b.language == language and (not platforms or b.platform in platforms)
    ]
    assert wanted
    return [pytest.param(b, id=f"line{b.line}") for b in wanted]


def _command_lines(*programs: str) -> list:
    found = [(b, line) for b in BLOCKS if b.language == "sh" for line in b.lines]
    return [pytest.param(b, line, id=line) for b, line in found if line.startswith(programs)]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> tuple[Path, dict[int, Path]]:
    """A folder with the files that the README names, and the flash of its board."""
    folder = tmp_path_factory.mktemp("readme")
    flash = write_files(folder)
    (folder / "maixpy.bin").write_bytes(_PROGRAM + bytes(FIRMWARES["full"].image - len(_PROGRAM)))
    (folder / "main.py").write_text("print('main')\n")
    (folder / "card").mkdir()
    (folder / "project.toml").write_text(cmd_fit.project.EXAMPLE)
    shutil.copytree(paths.EXAMPLES, folder / "examples")
    return folder, flash


# --- Python ---


@pytest.mark.parametrize("block", _of("python", "k210"))
def test_k210_block(block: Block, world, capfd: pytest.CaptureFixture[str]) -> None:
    folder, flash = world
    script = folder / f"line{block.line}.py"
    script.write_text(block.text, encoding="utf-8")
    status = cmd_sim.run(script, "full", flash)
    output = capfd.readouterr().out
    assert status == 0, output
    assert output, "it prints nothing: nobody could see that it works"
    for sample in block.samples:
        assert shows(output, sample), f"{sample}\nis not in\n{output}"


@pytest.mark.parametrize("block", _of("python", *_LINUX))
def test_linux_block(block: Block, tmp_path: Path) -> None:
    for name, shared in (("detect", 200_000), ("classify", 900_000)):
        io = [("in", "UINT8", (1, 3, 100, 100))]
        model = cvimodel([("weight", 50_000)], [program(shared=shared, inputs=io)])
        (tmp_path / f"{name}.cvimodel").write_bytes(model)
    before, live = _LINUX[block.platform]
    script = f"{before}\n{block.text}\nassert {live} == 0, {live}\n"
    env = {"PYTHONPATH": f"{paths.LIB}:{paths.ROOT / 'port_shims' / block.platform}"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


# --- commands ---


def _invoke(*words: str) -> Result:
    """Runs a command line, with its `> FILE` at the end if it has one."""
    ends = words.index(">") if ">" in words else len(words)
    done = invoke(*words[:ends])
    for file in words[ends + 1 :]:
        Path(file).write_text(done.stdout, encoding="utf-8")
    return done


@pytest.mark.parametrize(("block", "line"), _command_lines("maixmem "))
def test_maixmem_line(
    block: Block, line: str, world, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    monkeypatch.chdir(world[0])
    name, *arguments = shlex.split(line)[1:]
    if name in (*_NEED_A_BOARD, *_TESTED_ELSEWHERE):
        command = main.get_command(click.Context(main), name)
        assert command is not None, name
        command.make_context(name, arguments)  # raises for what it does not understand
        return
    done = _invoke(name, *arguments)
    output = done.stdout + capfd.readouterr().out
    fine = (0, 1) if name in _FINDINGS else (0,)
    assert done.exit_code in fine, f"{done.exit_code}\n{output}{done.stderr}{done.exception}"
    assert output
    if line == block.lines[-1]:
        for sample in block.samples:
            assert shows(output, sample), f"{sample}\nis not in\n{output}"


def test_a_project_file_comes_from_the_lines_of_the_manual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    lines = [shlex.split(p.values[1])[1:] for p in _command_lines("maixmem fit")]
    assert len(lines) > 1
    for words in lines:
        done = _invoke(*words)
        assert done.exit_code in (0, 1), done.stderr


def test_extras_that_the_manual_and_the_command_name_are_there() -> None:
    project = (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tools = (p.read_text(encoding="utf-8") for p in paths.TOOLS.rglob("*.py"))
    named = re.findall(r'pip install "\.\[(\w+)\]"', "".join([README.read_text(), *tools]))
    assert set(named) == {"board", "sim"}
    for extra in named:
        assert f"\n{extra} = [" in project
    port = runpy.run_path(str(paths.TOOLS / "dev.py"))["UNIX_PORT"]
    assert f'sim = ["{port.replace("==", ">=")}"]' in project


@pytest.mark.parametrize(("block", "line"), _command_lines("mpremote connect"))
def test_what_mpremote_runs(
    block: Block, line: str, world, capfd: pytest.CaptureFixture[str]
) -> None:
    """The script or the code after `run` and `exec`, on a stand-in with the minimum firmware."""
    kind, what = shlex.split(line)[3:5]
    script = paths.ROOT / what if kind == "run" else world[0] / "line.py"
    if kind == "exec":
        script.write_text(what + "\n", encoding="utf-8")
    status = cmd_sim.run(script, "minimum", world[1])
    output = capfd.readouterr().out
    assert status == 0 and output, output
    if line == block.lines[-1]:
        for sample in block.samples:
            wanted = masked("\n".join(sample))
            assert masked(output)[: len(wanted)] == wanted


@pytest.mark.parametrize(
    ("block", "line"), _command_lines("python3 ", "mpremote mip", "git", "pip")
)
def test_other_lines(block: Block, line: str) -> None:
    words = shlex.split(line)
    if words[1:2] == ["tools/dev.py"]:
        text = (paths.TOOLS / "dev.py").read_text(encoding="utf-8")
        assert f'"{words[2]}": {words[2]}' in text, f"dev.py has no {words[2]}"
    elif words[1:3] == ["-m", "venv"]:
        assert words[-3:] == ["pip", "install", ".[board]"]
        assert "\nboard = [" in (paths.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    elif words[0] == "mpremote":
        assert words[1:5] == ["mip", "install", "--target", "/flash"]
        assert words[-1] in _PACKAGES
    else:
        assert words[:2] == ["git", "clone"]


# --- what is written beside the blocks ---


def _table(readme: Path, header: str) -> list[list[str]]:
    """The cells of the rows of the first table whose header begins so."""
    lines = readme.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {header} |")) + 2
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def test_every_error_text_is_one_that_users_meet() -> None:
    library = " ".join(p.read_text(encoding="utf-8") for p in paths.LIB.glob("*.py"))
    rows = _table(README, "text")
    assert len(rows) > 20
    for row in rows:
        for text in re.findall(r"`([^`]+)`", row[0]):
            kind = text.split(": ")[-1] if text.startswith("release: ") else text
            assert kind in library or maixmem_advice.find(text), f"{text!r} is said by nothing"


@_measures
def test_the_cost_of_objects_is_what_the_bench_measures() -> None:
    bench_objects = runpy.run_path(str(paths.HOST_TESTS / "bench" / "bench_objects.py"))
    measure, objects = bench_objects["measure"], bench_objects["ROWS"]
    rows = {row[0]: row[1:] for row in _table(README, "object")}
    assert set(rows) == {row.what for row in objects}
    for row in objects:
        kept, allocated = measure(row)
        said = [int(cell.split()[0]) if cell != "-" else 0 for cell in rows[row.what]]
        assert abs(said[0] - kept) <= max(64, kept // 8), (
            f"{row.what} keeps {kept}: dev.py bench objects"
        )
        assert said[1] == allocated, f"{row.what} allocates {allocated}"


@_measures
def test_figures_of_size_are_what_the_bench_measures(tmp_path: Path) -> None:
    bench = runpy.run_path(str(paths.HOST_TESTS / "bench" / "bench_size.py"))
    sets = [bench["K210"] if " " in names else (names,) for names in bench["IMPORTS"]]
    folders = {version: tmp_path / str(version) for version in (4, 6)}
    for version, folder in folders.items():
        folder.mkdir()
        bench["compile_to"](folder, version)
    files = [sum((folders[4] / f"{m}.mpy").stat().st_size for m in modules) for modules in sets]
    heap = [bench["imported"](names, folders[6]) for names in bench["IMPORTS"]]
    for row, measured in zip(_table(README, "what"), (files, heap)):
        for said, n in zip(re.findall(r"[\d.]+", row[1]), measured):
            assert abs(float(said) - n / 1024) <= n / 1024 / 8, f"{row[0]}: {measured} bytes"


def test_firmware_builds_are_those_of_the_desk() -> None:
    said = {row[0]: row[1:] for row in _table(README, "K210 firmware v0.6.2_84")}
    for f in FIRMWARES.values():
        kinds = "V3, V4" if f.v4 else "V3"
        assert said[f.name] == [f"0x{f.image + 37:06x}", f"{f.heap:,}", kinds]
    assert set(said) == set(FIRMWARES)


def test_the_least_is_enough(tmp_path: Path) -> None:
    """A report on a K210 with only the files that the manual calls the least."""
    text = README.read_text(encoding="utf-8")
    names = re.findall(r"`(\w+\.py)`", text.split("The least for a K210: ")[1].split(". ")[0])
    for name in names:
        shutil.copy(paths.LIB / name, tmp_path)
    env = {"PYTHONPATH": f"{tmp_path}:{paths.SHIM}"}
    command = [sys.executable, "-c", "import maixmem; maixmem.report()"]
    done = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("maixmem ") and "on k210" in done.stdout


def test_files_that_are_linked_are_there() -> None:
    for readme in (README, CHINESE):
        for link in re.findall(r"\]\(([^)]+)\)", readme.read_text(encoding="utf-8")):
            assert link.startswith("https://") or (paths.ROOT / link).exists(), (
                f"{readme.name}: {link}"
            )


# --- the Chinese manual ---


def test_chinese_has_the_same_code() -> None:
    assert [(b.language, b.platform, b.text, b.samples) for b in blocks(CHINESE)] == [
        (b.language, b.platform, b.text, b.samples) for b in BLOCKS
    ]


def test_chinese_has_the_same_headings_tables_and_numbers() -> None:
    def parts(readme: Path) -> list[str]:
        lines = readme.read_text(encoding="utf-8").splitlines()
        heads = [line.split(" ")[0] for line in lines if re.match(r"#+ ", line)]
        rows = [line for line in lines if line.startswith("|")]
        return heads + [f"{row.count(' | ')} {sorted(re.findall('[0-9]+', row))}" for row in rows]

    assert parts(CHINESE) == parts(README)
