# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""sim with a firmware image: scripts that do not end, or end otherwise than a script does, are not
left without a word."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import commands
import pytest
from click.testing import Result
from emulated import each_image, needs_cc
from maixmem_cli.emulator import watched
from maixmem_cli.serial.repl import RawRepl

pytestmark = needs_cc

_DEADLOCK = """
    import _thread
    lock = _thread.allocate_lock()
    def wait():
        lock.acquire()
    wait()
    print("locked")
    wait()
    """


def written(folder: Path, source: str) -> Path:
    script = folder / "main.py"
    script.write_text(textwrap.dedent(source).lstrip("\n"))
    return script


def sim(folder: Path, image: Path, source: str, *options: object) -> Result:
    words = (str(written(folder, source)), "--firmware", str(image), *map(str, options))
    return commands.invoke("sim", *words)


def without_threads(said: str) -> None:
    if "no module named '_thread'" in said:
        pytest.skip("this firmware has no _thread")


class _OneRead:
    """A port whose board answers in one piece."""

    in_waiting = 100

    def __init__(self) -> None:
        self._pieces = [b"\x04\x04>", b"", b"OKfirst\r\n"]

    def read(self, most: int) -> bytes:
        return self._pieces.pop()

    def write(self, data: bytes) -> None:
        pass


def test_what_comes_with_the_answer_is_shown_at_once() -> None:
    shown: list[tuple[str, int]] = []
    port = _OneRead()
    repl = RawRepl("a port", port)
    repl.run("print('first')", on_text=lambda text: shown.append((text, len(port._pieces))))
    assert shown[0] == ("first\r\n", 2)


@each_image
def test_a_silent_script_is_said_where_it_is(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "_SILENT", 1.0)
    source = """
        def forever():
            while True:
                pass
        print("a")
        forever()
        """
    done = sim(tmp_path, image, source, "--seconds", 4)
    assert done.exit_code == 0 and done.stdout.startswith("a\n"), done.output
    lines = done.stderr.splitlines()
    assert "main.py has printed nothing for 1 s and goes on" in lines[1]
    assert lines[2] in ("maixmem: at main.py:2: while True:", "maixmem: at main.py:3: pass")
    assert lines[3] == "maixmem:    called by main.py:5: forever()"
    assert "--seconds" in lines[4]


@each_image
def test_seconds_count_from_the_script_on(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a board that waits for code runs ahead: here it is past the limit before all of
    it was typed."""
    write = RawRepl._write

    def late(self: RawRepl, data: bytes) -> None:
        if data == b"\x04":
            time.sleep(1)
        write(self, data)

    monkeypatch.setattr(RawRepl, "_write", late)
    done = sim(tmp_path, image, "print('a')\nwhile True:\n    pass\n", "--seconds", 0.3)
    assert done.exit_code == 0 and done.stdout.startswith("a\n"), done.output
    assert "reboot" not in done.stdout


@each_image
def test_ctrl_c_goes_to_the_script(image: Path, tmp_path: Path) -> None:
    script = written(tmp_path, "print('a')\nwhile True:\n    pass\n")
    command = [sys.executable, "-m", "maixmem_cli", "sim", str(script), "--firmware", str(image)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout and child.stdout.readline() == "a\n"
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130, said
    assert "KeyboardInterrupt" in said and f'File "{script}", line' in said
    assert said.endswith("maixmem: main.py: stopped by Ctrl-C\n")


@each_image
def test_a_script_that_ctrl_c_does_not_end(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "_GRACE", 4.0)
    done = sim(tmp_path, image, _DEADLOCK, "--seconds", 1)
    without_threads(done.stderr)
    assert done.stdout.startswith("locked\n"), done.output
    assert done.exit_code == 3
    # the firmware waits in a loop that changes nothing, or in one that looks at Ctrl-C in vain
    words = ("does nothing any more", "waits in the firmware for ever")
    assert any(w in done.stderr for w in words)
    assert "main.py:4: lock.acquire()\nmaixmem:    called by main.py:7: wait()" in done.stderr


@each_image
def test_a_firmware_that_stops_itself_does_nothing_any_more(image: Path, tmp_path: Path) -> None:
    """Its clock is past the limit before anybody looks; the Ctrl-C is never read."""
    done = sim(tmp_path, image, "from machine import SPI\nSPI(9)\n", "--seconds", 60)
    assert done.exit_code == 3 and "spi.c" in done.stdout, done.output
    assert "does nothing any more" in done.stderr
    assert "maixmem: at main.py:2: SPI(9)" in done.stderr


@each_image
def test_a_script_that_catches_ctrl_c_is_no_wait_for_ever(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "_GRACE", 2.0)
    source = """
        import time
        while True:
            try:
                time.sleep(1)
            except KeyboardInterrupt:
                pass
        """
    done = sim(tmp_path, image, source, "--seconds", 1)
    assert done.exit_code == 0 and "for ever" not in done.stderr, done.output


@each_image
def test_profile_of_a_script_that_ctrl_c_does_not_end(
    image: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "_GRACE", 4.0)
    words = (str(written(tmp_path, _DEADLOCK)), "--firmware", str(image), "--seconds", "1")
    done = commands.invoke("profile", *words)
    without_threads(done.stderr)
    assert "main.py:4: lock.acquire()" in done.stderr and "locked" in done.stderr
    assert "is explained" in done.stdout


@each_image
def test_a_null_pointer_is_named(image: Path, tmp_path: Path) -> None:
    """An image in the frame buffer of a camera that was never set up has no bytes."""
    source = "import image\ni = image.Image(copy_to_fb=1)\nprint(i)\ni.clear()\n"
    done = sim(tmp_path, image, source)
    if done.exit_code != 3:
        pytest.skip("no hang on this firmware")
    assert "at main.py:4: i.clear()" in done.stderr
    assert "the firmware wrote to 0x1000, where nothing is: a null pointer" in done.stderr
