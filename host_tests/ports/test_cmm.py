# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maix_memory_cmm: what both readers of /boot/configs accept, what changes, and what a hand-edited
line does wrong."""

from __future__ import annotations

import pytest
from linux_boards import shim
from maixmem_maixcam.cmm import check_cmm, set_cmm, why_not

board, maixcam = shim("maixcam", "maixcam_board", "maixmem_maixcam")


@pytest.mark.parametrize("hw", [256, 512, 1024, 2048, 4096])
def test_only_what_both_readers_accept_is_right(hw: int):
    """Every value of the board, against the boot loader's rule and the driver script's."""
    apart = 0
    for mib in range(-3, hw + 300):
        both = board.cmm_setting_accepted(mib, hw)
        if mib == -1:
            continue  # the default
        setting = check_cmm(f"maix_memory_cmm={mib}\n", hw)
        assert (not setting.findings) == (not why_not(mib, hw)) == all(both), (
            mib,
            both,
            setting.findings,
        )
        if both[0] != both[1]:
            apart += 1
            assert "disagree" in setting.findings[0]
        if setting.findings:
            assert "Next:" in setting.findings[0]
    assert apart == 129  # 0, and those that leave Linux 128 to 255 MiB


def test_what_changes_and_that_it_takes_a_reboot():
    setting = check_cmm("a=1\nmaix_memory_cmm=2048\n", 4096)
    assert (setting.value, setting.cmm, setting.linux, setting.findings) == (2048, 2048, 2048, [])
    assert (
        setting.advice(3072)
        == "CMM 3072 to 2048 MiB, Linux 2048 MiB. Next: reboot, it changes only then."
    )
    assert "reboot" in setting.advice() and "as it is now" in setting.advice(2048)


@pytest.mark.parametrize(
    ("hw", "cmm"), [(1024, 512), (2048, 1024), (4096, 3072), (512, 256), (3000, None)]
)
def test_the_default_is_a_hint(hw: int, cmm: int):
    for text in ("", "other=1\n", "maix_memory_cmm=-1\n", "# maix_memory_cmm=99\n"):
        setting = check_cmm(text, hw)
        assert setting.cmm == cmm and not setting.findings
        assert "reboot" in setting.advice() or "default of the image" in setting.advice()


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("maix_memory_cmm = 512\n", "line 1: no spaces around ="),
        ("maix_memory_cmm= 512\n", "no spaces"),
        ("maix_memory_cmm=512\r\n", "as on Windows"),
        ("\nmaix_memory_cmm=512M\n", "line 2: '512M' is no number of MiB"),
        ('maix_memory_cmm="512"\n', "is no number"),
        ("maix_memory_cmm=\n", "is no number"),
        ("maix_memory_cmm=--5\n", "is no number"),
        ("maix_memory_cmm=\u00b2\n", "is no number"),
        ("maix_memory_cmm=512\nmaix_memory_cmm=600\n", "set 2 times"),
        ("maix_memory_cmm=-2\n", "Next: 1 to 768"),
        ("maix_memory_cmm=1024\n", "Next: 1 to 768"),
    ],
)
def test_lines_that_do_not_do_what_they_seem_to(text: str, finding: str):
    setting = check_cmm(text, 1024)
    assert any(finding in f for f in setting.findings), setting.findings
    assert finding in setting.advice()


def test_a_comment_behind_the_value_is_one():
    assert check_cmm("maix_memory_cmm=512 # half\n", 1024).value == 512


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "maix_memory_cmm=512"),
        ("a=1\n", "a=1\nmaix_memory_cmm=512\n"),
        ("a=1", "a=1\nmaix_memory_cmm=512\n"),
        ("a=1\nmaix_memory_cmm=-1\nb=2\n", "a=1\nmaix_memory_cmm=512\nb=2\n"),
        ("maix_memory_cmm = 7\n# c\nmaix_memory_cmm=8\n", "maix_memory_cmm=512\n# c\n"),
    ],
)
def test_setting_it_leaves_the_rest_alone(old: str, new: str):
    got = set_cmm(old, 512, 1024)
    assert got.rstrip("\n") == new.rstrip("\n")
    assert check_cmm(got, 1024).value == 512 and not check_cmm(got, 1024).findings
    assert set_cmm(got, 512, 1024) == got


def test_a_value_that_a_reader_would_refuse_is_not_set():
    for mib in (0, -2, 769, 1024):
        with pytest.raises(ValueError, match=f"maix_memory_cmm={mib}"):
            set_cmm("", mib, 1024)
    assert check_cmm(set_cmm("", -1, 1024), 1024).value == -1


def test_the_port_warns_on_a_maixcam2_only():
    board.reset("maixcam2", boot_configs="maix_memory_cmm=3900\n")
    port = maixcam.Port(board.read_text)
    assert [w for w in port.warnings() if "maix_memory_cmm=3900" in w]
    board.debugfs = False  # without hw_total nothing can be said
    assert not [w for w in port.warnings() if "maix_memory_cmm" in w]
    board.reset("maixcam2", boot_configs="maix_memory_cmm=2048\n")
    assert maixcam.Port(board.read_text).warnings() == []
