# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem sim: a script has the names of the board and reaches nothing of the computer that it runs on."""

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
from maixmem_cli import places

TABLE = (paths.SHIM / "k210_names.txt").read_text(encoding="utf-8")
_ON_CPYTHON = (
    "import sys\nfrom maixmem_cli import places\nfrom maixmem_cli.cli import main\n"
    "places.micropython = lambda: None\nmain(sys.argv[1:])\n"
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
    Maix.GPIO, Maix.GPIO(Maix.GPIO.GPIO1, Maix.GPIO.OUT), Maix.utils, Maix.FPIOA(), image.Image(size=(8, 8)),
    time.clock(), machine.UART(1, 115200), machine.I2C(0), machine.I2C, Maix.I2S(0), Maix.FFT, audio.Audio()]
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


def test_what_is_tried_on_the_computer_fails_as_on_the_board(sim, tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    module = tmp_path / "outside.py"
    module.write_text("found = 1\n")
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.2)
    tries = [
        (f"os.remove({str(victim)!r})", "OSError 19"),
        (f"os.rename({str(victim)!r}, '/flash/x')", "OSError 19"),
        (f"os.listdir({str(tmp_path)!r})", "OSError 19"),
        (f"os.stat({str(victim)!r})", "OSError 19"),
        (f"os.chdir({str(tmp_path)!r})", "OSError 19"),
        (f"open({str(victim)!r})", "OSError 19"),
        (f"open({str(victim)!r}, 'w')", "OSError 19"),
        (f"uio.open({str(victim)!r}, 'a')", "OSError 19"),
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
            f"socket.socket().connect(('127.0.0.1', {server.getsockname()[1]}))",
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
    source = f"""
import os, sys, socket, machine, uio
sys.path.append({str(tmp_path)!r})
for text in {[t for t, _ in tries]!r}:
    try:
        print("DONE", eval(text))
    except Exception as e:
        print(type(e).__name__, e.args[0])
"""
    status, out = sim(source)
    assert status == 0, out
    for (text, answer), line in zip(tries, out.splitlines()):
        assert line == answer or (answer == "*" and not line.startswith("DONE")), text
    assert len(out.splitlines()) == len(tries)
    assert victim.read_text() == "precious"
    with pytest.raises(OSError):
        server.accept()
    server.close()


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
        ("import ulab", "ulab"),
        ("import machine\nmachine.WDT", "machine.WDT"),
        ("import image\nimage.Image(size=(8, 8)).find_hog()", "Image.find_hog"),
        ("from image import HaarCascade", "image.HaarCascade"),
        ("import uctypes", "uctypes"),
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
        "can't import name ws2812",
        str(build == "openmv_v4"),
    ]
