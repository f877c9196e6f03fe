# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem sim: a script has the names of the board and reaches nothing of the computer that it
runs on."""

from __future__ import annotations

import random
import re
import socket
import string
import subprocess
import sys
from pathlib import Path

import paths
import pytest
from maixmem_cli.library import places

TABLE = (paths.SIM / "k210_names.txt").read_text(encoding="utf-8")
_ON_CPYTHON = (
    "import sys\nfrom maixmem_cli.library import places\nfrom maixmem_cli.cli import main\n"
    "places.micropython = lambda: None\nmain([*sys.argv[1:], '--unsafe'])\n"
)
PROGRAMS = [
    pytest.param(["-m", "maixmem_cli"], id="micropython"),
    pytest.param(["-c", _ON_CPYTHON], id="cpython"),
]
#: names that CPython and MicroPython give to every object of their kind
_OF_ALL = re.compile(r"__\w+__$")


@pytest.fixture(params=PROGRAMS)
def sim(request: pytest.FixtureRequest, tmp_path: Path):
    """Runs a script with maixmem sim, in a folder of its own; (exit status, output)."""

    def run(source: str, *options: str) -> tuple[int, str]:
        folder = tmp_path / "script"
        folder.mkdir(exist_ok=True)
        script = folder / "main_script.py"
        script.write_text(source, encoding="utf-8")
        command = [sys.executable, *request.param, "sim", str(script), *options]
        done = subprocess.run(
            command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stdout

    return run


def _names() -> dict[str, set[str]]:
    """{module of the full build: its names that are not absent}"""
    found: dict[str, set[str]] = {}
    for part in TABLE.split("\n["):
        head, _, body = part.partition("\n")
        if "] module" not in head or "-full" in head:
            continue
        names: set[str] = set()
        for line in body.splitlines():
            kind, _, rest = line.partition(":")
            if kind in ("value", "kept", "quiet"):
                names |= {re.split(r"[(=]|->", word)[0] for word in rest.split()}
        for module in head.split("]")[0].split():
            if re.search("^(kept|quiet):", body, re.M):
                found[module] = names
    return found


def _interpreters_modules() -> list[str]:
    """Every module that the interpreter of the simulator has inside, and CPython's."""
    found = set(sys.stdlib_module_names) if hasattr(sys, "stdlib_module_names") else set()
    if places.micropython():
        done = subprocess.run(
            [places.micropython(), "-c", "help('modules')"],
            capture_output=True,
            text=True,
            check=False,
        )
        found |= {word.split("/")[0] for word in done.stdout.split()[:-7]}
    return sorted(
        {n for n in found if n.isidentifier()} | {"click", "pytest", "numpy", "k210_board"}
    )


_WALK = """
def walk(names):
    for name in names:
        try:
            module = __import__(name)
        except ImportError:
            continue
        print(name, *[n for n in dir(module) if n[:2] != "__"])
walk({!r})
"""


def test_every_module_and_name_that_answers_is_the_firmwares(sim) -> None:
    table = _names()
    asked = sorted({*_interpreters_modules(), *table} - {"antigravity", "this"})
    status, out = sim(_WALK.format(asked))
    assert status == 0, out
    walked = {line.split()[0]: set(line.split()[1:]) for line in out.splitlines() if line}
    walked.pop("[Warning]", None)
    assert {
        name: n - table.get(name, set())
        for name, n in walked.items()
        if n - table.get(name, set())
    } == {}
    assert set(table) - set(walked) <= {"uio"}


@pytest.mark.parametrize("seed", [1, 2])
def test_no_object_answers_to_a_name_that_the_firmware_lacks(sim, seed: int) -> None:
    letters = random.Random(seed)
    names = [
        "".join(letters.choices(string.ascii_lowercase + "_", k=letters.randint(1, 9)))
        for _ in range(60)
    ]
    known = set(re.findall(r"[\w]+", TABLE))
    names = [n for n in names if n not in known and n[0] != "_"]
    source = f"""
import image, lcd, sensor, time, KPU, Maix, machine, gc, os, sys, network, audio, video
from fpioa_manager import fm
fm.register(8, fm.fpioa.GPIO1)
objects = [image, lcd, sensor, time, KPU, Maix, machine, gc, os, sys, network, audio, video,
    Maix.GPIO, Maix.GPIO(Maix.GPIO.GPIO1, Maix.GPIO.OUT), Maix.utils, Maix.FPIOA(),
    image.Image(size=(8, 8)),
    time.clock(), machine.UART(1, 115200), machine.I2C(0), machine.I2C, Maix.I2S(0),
    Maix.FFT, audio.Audio()]
for i, o in enumerate(objects):
    for name in {names!r}:
        try:
            getattr(o, name)
        except AttributeError:
            continue
        print("ANSWERS", i, name)
print("walked", len(objects))
"""
    status, out = sim(source)
    assert (status, out) == (0, "walked 25\n")


def tries(victim: Path, folder: Path, module: Path, port: int) -> list[tuple[str, str]]:
    """What reaches for the computer, and what a board answers; *: any error."""
    return [
        (f"os.remove({str(victim)!r})", "OSError 19"),
        (f"os.rename({str(victim)!r}, '/flash/x')", "OSError 19"),
        (f"os.listdir({str(folder)!r})", "OSError 19"),
        (f"os.stat({str(victim)!r})", "OSError 19"),
        (f"os.chdir({str(folder)!r})", "OSError 19"),
        (f"open({str(victim)!r})", "OSError 19"),
        (f"open({str(victim)!r}, 'w')", "OSError 19"),
        (f"uio.open({str(victim)!r}, 'a')", "OSError 19"),
        ("open('../../../../etc/passwd')", "OSError 19"),  # after that chdir() it is nowhere
        ("os.chdir('/flash')", "DONE None"),
        ("open('../../../../etc/passwd')", "OSError 2"),
        (f"execfile({str(module)!r})", "*"),
        (
            f"os.unlink({str(victim)!r})",
            "AttributeError 'module' object has no attribute 'unlink'",
        ),
        ("os.system('true')", "AttributeError 'module' object has no attribute 'system'"),
        ("os.getenv('HOME')", "AttributeError 'module' object has no attribute 'getenv'"),
        ("os.environ", "AttributeError 'module' object has no attribute 'environ'"),
        (
            f"socket.socket().connect(('127.0.0.1', {port}))",
            "OSError no available NIC",
        ),
        ("__import__('subprocess')", "ImportError no module named 'subprocess'"),
        ("__import__('vfs')", "ImportError no module named 'vfs'"),
        ("__import__('ffi')", "ImportError no module named 'ffi'"),
        ("__import__('click')", "ImportError no module named 'click'"),
        ("__import__('k210_host')", "ImportError no module named 'k210_host'"),
        ("__import__('outside')", "ImportError no module named 'outside'"),
        ("machine.mem8", "AttributeError 'module' object has no attribute 'mem8'"),
    ]


def test_what_is_tried_on_the_computer_fails_as_on_the_board(sim, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    module = tmp_path / "outside.py"
    module.write_text("found = 1\n")
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.2)
    tried = tries(victim, tmp_path, module, server.getsockname()[1])
    source = f"""
import os, sys, socket, machine, uio
sys.path.append({str(tmp_path)!r})
for text in {[t for t, _ in tried]!r}:
    try:
        print("DONE", eval(text))
    except Exception as e:
        print(type(e).__name__, e.args[0])
"""
    status, out = sim(source)
    assert status == 0, out
    for (text, answer), line in zip(tried, out.splitlines()):
        assert line == answer or (answer == "*" and not line.startswith("DONE")), text
    assert len(out.splitlines()) == len(tried)
    assert victim.read_text() == "precious"
    with pytest.raises(OSError):
        server.accept()
    server.close()


#: collects what can be got at from the globals of the stand-in's own functions, then tries to use
#: it
_BREAK_OUT = """
import os, sys, time, KPU, lcd, image, uio
found, seen = {{}}, []
def walk(o, depth):
    own = o if isinstance(o, dict) else getattr(o, "__dict__", None)
    names = getattr(o, "__globals__", None) or own
    if not isinstance(names, dict) or id(names) in seen or depth > 6:
        return
    seen.append(id(names))
    for name in list(names.keys()):
        found.setdefault(name, names[name])
        walk(names[name], depth + 1)
for o in (os.listdir, sys.exit, open, KPU.load, lcd.init, image.Image, time.sleep, __import__):
    walk(o, 0)
opener, own_import = found["host_open"], __import__.real
class Anything(str):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 0
    def rpartition(self, by):
        return "", "", "x.py"
def module(name):
    return own_import(name)
def patched(name):
    for module in list(found.values()):
        for known in ("str", "type", "len", "_asks", "_opener", "isinstance"):
            try:
                setattr(module, known, lambda *args: True)
            except Exception:
                pass
    return opener(name)
for text in {tries!r}:
    try:
        print("REACHED", text, eval(text))
    except BaseException:
        print("refused")
"""


def test_the_globals_of_the_stand_in_lead_nowhere(sim, tmp_path: Path) -> None:
    victim, made = tmp_path / "victim.txt", tmp_path / "made.txt"
    victim.write_text("precious")
    tries = [
        f"opener({str(victim)!r}).read()",
        f"opener({str(made)!r}, 'w')",
        f"opener(Anything({str(victim)!r})).read()",
        f"found['host'].host_open({str(victim)!r}, 'r').read()",
        f"found['builtins'].open({str(victim)!r}).read()",
        f"found['files'].put('/flash/x', {str(victim)!r}) or open('/flash/x').read()",
        f"uio.FileIO({str(victim)!r}).read()",
        f"uio.TextIOWrapper({str(victim)!r}).read()",
        f"type(sys.stdout)({str(victim)!r}).read()",
        f"module('os').remove({str(victim)!r})",
        f"module('vfs').VfsPosix().open({str(victim)!r}, 'r').read()",
        f"module('posix').unlink({str(victim)!r})",
        "module('os').system('true')",
        "module('os').environ['HOME']",
        "module('os').getenv('PATH')[0]",
        "module('os').listdir('/')",
        "module('os').kill(0, 0)",
        "module('subprocess').Popen(['true'])",
        "module('socket').socket()",
        "module('ctypes').CDLL(None)",
        "module('ffi').open('libc.so.6')",
        "module('uctypes').bytes_at(0, 1)",
        "module('gc').get_objects()",
        "found['uctypes'].bytearray_at(0, 1)",
        f"patched({str(victim)!r}).read()",
    ]
    _, out = sim(_BREAK_OUT.format(tries=tries))
    assert "REACHED" not in out
    assert out.splitlines().count("refused") == len(tries), out
    assert victim.read_text() == "precious" and not made.exists()


@pytest.mark.parametrize("kind", ["native", "viper"])
def test_a_script_makes_no_machine_code(sim, kind: str) -> None:
    status, out = sim(f"import micropython\n@micropython.{kind}\ndef f():\n    pass\n")
    assert status == 1 and out.count("SyntaxError") >= 1


def test_a_file_of_the_card_does_not_open_the_interpreters_own_module(sim, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "vfs.py").write_text("answer = 1\n")
    (card / "helper.py").write_text("answer = 42\n")
    source = "import helper\nprint(helper.answer)\nimport vfs\nprint(hasattr(vfs, 'VfsPosix'))\n"
    status, out = sim(source, "--sd", str(card))
    assert out.splitlines()[0] == "42"
    assert "True" not in out.splitlines()


def test_absent_names_name_the_way_out(sim) -> None:
    for text, name in (
        ("import ulab\nulab.eig", "ulab.eig"),
        ("import machine\nmachine.SDCard", "machine.SDCard"),
        ("import image\nimage.Image(size=(8, 8)).find_hog()", "Image.find_hog"),
        ("from image import ImageReader", "image.ImageReader"),
        ("from ucryptolib import aes", "ucryptolib.aes"),
        ("import ucryptolib\nucryptolib.aes", "ucryptolib.aes"),
    ):
        status, out = sim(text)
        assert status == 1
        assert f"the simulator does not have {name}; a firmware image does" in out, text


@pytest.mark.parametrize("build", ["minimum", "openmv_v4"])
def test_a_small_build_lacks_what_it_lacks(sim, build: str) -> None:
    tried = ["import video", "import _thread", "import touchscreen", "from modules import ws2812"]
    source = f"""
for text in {tried!r}:
    try:
        exec(text)
    except ImportError as e:
        print(e.args[0])
import image
print(hasattr(image.Image(), "find_blobs"))
"""
    status, out = sim(source, "--firmware", build)
    assert status == 0
    assert out.splitlines() == [
        "no module named 'video'",
        "no module named '_thread'",
        "no module named 'touchscreen'",
        "cannot import name ws2812",
        str(build == "openmv_v4"),
    ]
