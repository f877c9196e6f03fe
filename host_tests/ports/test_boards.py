# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What happens to boards in use: a full file system, a card, a port that is refused; and what is
asked of one."""

from __future__ import annotations

import csv
import errno
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import paths
import pytest
import serial
from commands import invoke, maixmem, mpremote
from fakeboard import FakeBoard
from maixmem_cli.firmware import board_file
from maixmem_cli.firmware.board_file import BoardFile
from maixmem_cli.firmware.builds import FIRMWARES, choose
from maixmem_cli.library import modules
from maixmem_cli.plan.fit import fit
from maixmem_cli.plan.program import project
from maixmem_cli.serial import listing
from maixmem_cli.serial.port import driver

fake_only = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)


@fake_only
def test_a_file_system_that_takes_no_more(tmp_path: Path) -> None:
    """SPIFFS says that there is room and refuses to write: nothing stays behind, and it is said
    what it is."""
    with FakeBoard(tmp_path / "maix", "maix", room=9000) as board:
        said = json.loads(maixmem("deploy", "--port", board.port, "--json", status=1))["error"]
        assert (
            said.startswith("/flash is full or damaged: ") and "Next: remove files there" in said
        )
        assert list(board.root.iterdir()) == []


@fake_only
def test_not_even_the_probe_goes_in(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix", room=10) as board:
        said = json.loads(maixmem("deploy", "--port", board.port, "--json", status=1))["error"]
        assert "/flash is full or damaged" in said
        assert list(board.root.iterdir()) == []


@fake_only
def test_a_board_that_booted_with_a_card(tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    with FakeBoard(tmp_path / "maix", "maix", card=card) as board:
        done = json.loads(maixmem("deploy", "--port", board.port, "--modules", "pool", "--json"))
        assert done["target"] == "/sd" and done["findings"] == done["notes"] == []
        assert {p.stem for p in card.iterdir()} >= {"maixmem", "maixmem_pool"}
        maixmem("deploy", "--port", board.port)
        assert "on k210" in mpremote(board.port, "exec", "import maixmem; maixmem.report()")
        assert json.loads(invoke("doctor", "--port", board.port, "--json").stdout)["report"]


@fake_only
def test_the_library_where_a_board_with_a_card_does_not_look(tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    with FakeBoard(tmp_path / "maix", "maix", card=card) as board:
        done = json.loads(maixmem("deploy", "--port", board.port, "--target", "/flash", "--json"))
        assert done["findings"] == []
        assert "os.chdir('/flash')" in done["notes"][0]
        told = json.loads(maixmem("doctor", "--port", board.port, "--json", status=1))
        assert told["report"]["port"] == "k210", "it is asked all the same"
        (found,) = [f for f in told["findings"] if "the library is in /flash" in f["cause"]]
        assert any("os.chdir('/flash')" in step["text"] for step in found["others"])
        assert mpremote(board.port, "exec", "import os; print(os.getcwd())").strip() == "/sd"


@fake_only
def test_what_was_put_there_can_be_removed(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        (board.root / "main.py").write_text("pass\n")
        maixmem("deploy", "--port", board.port)
        (board.root / "maixmem_pool.mpy~").write_bytes(b"half")
        done = json.loads(maixmem("deploy", "--remove", "--port", board.port, "--json"))
        assert len(done["removed"]) == len(modules.K210) + 1
        assert [p.name for p in board.root.iterdir()] == ["main.py"]


@fake_only
def test_an_idle_board_is_flat(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        maixmem("deploy", "--port", board.port)
        file = tmp_path / "t.csv"
        for _ in range(5):  # visits differ: every other sample of some was 128 bytes off
            command = ("top", "--port", board.port, "--count", "6", "--interval", "0.05")
            maixmem(*command, "--csv", str(file))
            rows = list(csv.DictReader(file.read_text().splitlines()))[1:]
            assert len({(r["gc_free"], r["heap_free"]) for r in rows}) == 1, rows


@fake_only
def test_what_is_sent_is_shown(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        done = invoke("deploy", "--port", board.port, "--modules", "pool", "-v")
        assert "> def who():" in done.stderr
        assert max(map(len, done.stderr.splitlines())) < 200
        assert "> " not in invoke("deploy", "--port", board.port, "--modules", "pool").stderr


@fake_only
def test_a_board_writes_a_file_that_plans_take(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        file = tmp_path / "board.toml"
        maixmem("doctor", "--port", board.port, "--save", str(file))
    told, full = choose(str(file)), FIRMWARES["full"]
    assert (told.heap, told.gc_heap, told.v4, told.end) == (full.heap, 512 << 10, True, full.end)
    assert told.sizes and "QVGA" in told.sizes
    assert "board.toml" in told.source
    for size in (256 << 10, 1 << 20):
        assert abs(told.boot(size).heap_free() - full.boot(size).heap_free()) <= 4096


def test_a_display_that_the_boot_left_alone_takes_its_buffer(tmp_path: Path) -> None:
    """M5StickV: 240x135, and nothing on it before the first lcd.init()."""
    full = FIRMWARES["full"]
    board = tmp_path / "board.toml"
    told = BoardFile("v1", "m", full.end, full.heap or 0, 512 << 10, 5000, True, ("QVGA",), 64_800)
    board.write_text(board_file.text(told, "board.toml"))
    assert board_file.read(board) == told
    plan = tmp_path / "project.toml"
    plan.write_text(
        'firmware = "board.toml"\nlcd = true\norder = ["lcd", "camera"]\n[camera]\nsize = "QVGA"\n'
    )
    lcd, camera = [s for s in fit(project.read(plan)).steps if s.what in ("lcd", "camera")]
    assert lcd.need == 64_800 and 64_800 <= lcd.free - camera.free <= 69_632


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x", "not TOML"),
        ('version = "1"', "machine = None"),
        ('version = "1"\nmachine = "m"\nheap_free = "2"\ngc_heap = 1', "heap_free = '2'"),
        ('version = "1"\nmachine = "m"\nheap_free = -1\ngc_heap = 1', "heap_free = -1"),
    ],
)
def test_a_board_file_that_is_none(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "board.toml"
    file.write_text(text)
    done = invoke("flash", "--firmware", str(file), __file__ + "@0x300000")
    assert done.exit_code == 2 and says in done.stderr and "doctor --save" in done.stderr


# --- ports ---


def test_a_port_that_may_not_be_opened_names_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: object, **more: object) -> None:
        raise serial.SerialException(errno.EACCES, "could not open port: Permission denied")

    monkeypatch.setattr(serial, "serial_for_url", refused)
    done = invoke("doctor", "--port", "/dev/ttyUSB0")
    assert done.exit_code == 2
    assert "usermod -a -G dialout $USER" in done.stderr


def test_a_port_that_is_not_there_leads_to_the_list() -> None:
    assert "maixmem ports" in invoke("doctor", "--port", "/dev/ttyNONE9").stderr


def test_ports_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        SimpleNamespace(device="/dev/ttyS0", vid=None, pid=None, description="n/a"),
        SimpleNamespace(device="/dev/ttyUSB0", vid=0x1A86, pid=0x7523, description="USB Serial"),
    ]
    listed = SimpleNamespace(comports=lambda: found)
    monkeypatch.setattr(listing, "require", lambda name: listed)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    out = maixmem("ports")
    assert out.splitlines()[1].split()[:2] == ["/dev/ttyUSB0", "1a86:7523"] and "CH340" in out
    assert "ttyS0" not in out
    assert os.name != "posix" or "/dev/ttyUSB0: may not be opened by you. Next: " in out
    assert json.loads(maixmem("ports", "--json"))[1]["usb"] is None
    del found[1]
    out = maixmem("ports", status=1)
    assert out.startswith("no USB serial port") and "1. plug the board in" in out
    assert "--port emu:" in out and out.rstrip().endswith("wired one: /dev/ttyS0")
    found.clear()
    assert "/dev/" not in maixmem("ports", status=1).replace("/dev/tty.*", "")


@pytest.mark.parametrize("system", ["linux", "darwin", "win32", "sunos5"])
def test_the_driver_is_that_of_the_machine(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    words = {"linux": "dmesg", "darwin": "/dev/tty.", "win32": "Device Manager"}
    assert words.get(system, "another cable") in driver()


@pytest.mark.parametrize("command", ["deploy", "doctor", "auto", "top", "selftest"])
def test_help_says_that_a_board_in_software_will_do(command: str) -> None:
    assert "emu:IMAGE" in maixmem(command, "--help")
