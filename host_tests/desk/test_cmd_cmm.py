# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem cmm: what a /boot/configs asks for, and setting it without breaking the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import invoke
from maixmem_cli.board import maixcam2


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    file = tmp_path / "configs"
    file.write_bytes(b"# boot\nmaix_memory_cmm=2048\nother=1\n")
    return file


def run(file: Path, *arguments: str):
    return invoke("cmm", str(file), "--board", "4096", *arguments)


def test_a_setting_is_told(configs: Path):
    done = run(configs)
    assert done.exit_code == 0 and "CMM 2048 MiB, Linux 2048 MiB: as it is now." in done.stdout
    found = json.loads(run(configs, "--json").stdout)
    assert (found["value"], found["cmm"], found["linux"], found["findings"]) == (
        2048,
        2048,
        2048,
        [],
    )


def test_a_size_is_set_and_the_rest_stays(configs: Path):
    before = configs.read_bytes()
    done = run(configs, "--set", "3072")
    assert (
        done.exit_code == 0 and "CMM 2048 to 3072 MiB, Linux 1024 MiB. Next: reboot" in done.stdout
    )
    assert configs.read_bytes() == before.replace(b"2048", b"3072")
    assert configs.with_name("configs.bak").read_bytes() == before
    assert sorted(p.name for p in configs.parent.iterdir()) == ["configs", "configs.bak"]


@pytest.mark.parametrize("size", ["0", "3900", "4096", "-2"])
def test_a_size_that_the_readers_disagree_about_is_refused(configs: Path, size: str):
    before = configs.read_bytes()
    done = run(configs, "--set", size)
    assert done.exit_code == 2 and "Next: 1 to 3840" in done.stderr
    assert configs.read_bytes() == before and len(list(configs.parent.iterdir())) == 1


def test_what_is_wrong_in_the_file_is_a_finding(configs: Path):
    configs.write_text("maix_memory_cmm = 3900\r\n")
    done = run(configs)
    assert done.exit_code == 1 and "no spaces around =" in done.stdout


def test_wrong_use(configs: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(maixcam2, "hardware_mib", lambda: None)
    done = invoke("cmm", str(configs))
    assert done.exit_code == 2 and "--board 512, 1024, 2048, 4096" in done.stderr
    done = run(configs.with_name("none"))
    assert done.exit_code == 1 and "give a copy" in done.stderr


def test_the_board_s_memory_is_read(tmp_path: Path):
    meminfo, cmm = tmp_path / "meminfo", tmp_path / "cmm"
    meminfo.write_text("MemTotal:  2012428 kB\nMemFree: 1 kB\n")
    cmm.write_text("---CMM_USE_INFO:\n total size=2097152KB(2048MB),used=18876KB(18MB + 444KB)\n")
    assert maixcam2.hardware_mib(str(meminfo), str(cmm)) == 4096
    assert maixcam2.hardware_mib(str(meminfo), str(tmp_path / "none")) is None
