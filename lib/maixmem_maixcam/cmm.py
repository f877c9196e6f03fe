# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Checks the carve-out size (`maix_memory_cmm`) in the text of a MaixCAM2's /boot/configs, on the
board or a desk.

s = check_cmm(open("/boot/configs").read(), 4096)
print(s.advice())
new = set_cmm(text, 2048, 4096)
"""

from __future__ import annotations

from maixmem_text import say, tell

_KEY = "maix_memory_cmm"
_DEFAULT = -1
# Two programs read the value and disagree: the boot loader accepts 0 and leaves Linux 128 MiB, the
# script that loads the driver wants 1 or more and 256 MiB for Linux. A value between passes one
# and fails the other, and then Linux and the driver disagree about who owns what. Only what both
# accept is right.
_BOOT_LOADER_LEAVES = 128
_DRIVER_LEAVES = 256

# What the image gives Linux when the value is -1, by MiB of the board (its partition table). Only
# a hint: the vendor's page has said 2 + 2 GiB for the 4 GiB board and says 1 + 3 GiB now, and for
# MaixCAM, which has no such setting, 128 MiB in one table and 105 in the next (105 is right, 75 on
# images for the NanoKVM). What maix.sys.memory_info() says is the truth.
LINUX_MIB = {512: 256, 1024: 512, 2048: 1024, 4096: 1024}

# The sizes that the vendor's page gives for its boards, in MiB, as (board, hardware, Linux,
# carve-out); CMA is 0 on all. The same hint and no more: for the 4 GiB board the page has said
# 2048 + 2048 too.
DEFAULTS = (
    ("maixcam", 256, 151, 105),
    ("maixcam2", 1024, 512, 512),
    ("maixcam2", 4096, 1024, 3072),
)
_ENLARGE = {
    "maixcam": "the carve-out is ION memory of a fixed size (105 of 256 MiB by default), set in "
    "the device tree: another size is another image of the system.\nunload models\ntake "
    "smaller camera frames or fewer of them (buff_num)",
    "maixcam2": "the carve-out is set in /boot/configs.\n`maixmem cmm --set MIB` there, and "
    "reboot",
}


def how_to_enlarge(board: str) -> str:
    """What to do when the carve-out of a board ("maixcam", "maixcam2") is too small."""
    return tell(_ENLARGE[board])


# What a text says, in MiB: `value` is the number that the last assignment sets (None: no
# assignment, or no number), `cmm` and `linux` what the board will have after a reboot (None where
# it cannot be told), `findings` what is wrong.
class CmmSetting:
    """The carve-out that a /boot/configs asks for."""

    def __init__(self, hw_mib: int) -> None:
        self.hw = hw_mib
        self.value: int | None = None
        self.cmm: int | None = None
        self.linux: int | None = None
        self.findings: list[str] = []

    def advice(self, cmm_now: int | None = None) -> str:
        """What changes, in sentences; `cmm_now` is the present size in MiB where it is known."""
        if self.findings:
            return " ".join(self.findings)
        if self.cmm is None:
            return "{}: the default of the image. memory_info() tells what that is.".format(_KEY)
        if cmm_now == self.cmm:
            return "CMM {} MiB, Linux {} MiB: as it is now.".format(self.cmm, self.linux)
        text = "CMM {}{} MiB, Linux {} MiB.\nreboot, it changes only then"
        return tell(
            text, "" if cmm_now is None else "{} to ".format(cmm_now), self.cmm, self.linux
        )


def check_cmm(text: str, hw_mib: int) -> CmmSetting:
    """The CmmSetting of the text of /boot/configs on a board with hw_mib MiB of memory."""
    setting = CmmSetting(hw_mib)
    lines = _assignments(text)
    for number, line in lines:
        setting.value = _value(setting, number, line)
    if len(lines) > 1:
        note = "line {}: {} is set {} times, the readers may differ.\nkeep one line"
        setting.findings.append(tell(note, lines[-1][0], _KEY, len(lines)))
    if not lines or setting.value == _DEFAULT:
        _split(setting, hw_mib - LINUX_MIB[hw_mib] if hw_mib in LINUX_MIB else None)
    elif setting.value is not None:
        _split(setting, setting.value)
        setting.findings += why_not(setting.value, hw_mib)
    return setting


def why_not(cmm_mib: int, hw_mib: int) -> list[str]:
    """What is wrong with a size: a list of one sentence, or of none."""
    most = hw_mib - _DRIVER_LEAVES
    if 0 < cmm_mib <= most:
        return []
    text = "{}={}: ".format(_KEY, cmm_mib)
    if 0 <= cmm_mib <= hw_mib - _BOOT_LOADER_LEAVES:
        text += "the boot loader takes it, the driver's script does not, and they then disagree. "
    if most < 1:
        none = "{0}a board of {1} MiB has none to give.\n{2} for the default"
        return [tell(none, text, hw_mib, _DEFAULT)]
    size = "1 to {} (Linux needs {} of the {} MiB), or {}"
    return [say(text.rstrip(), size.format(most, _DRIVER_LEAVES, hw_mib, _DEFAULT))]


def set_cmm(text: str, cmm_mib: int, hw_mib: int) -> str:
    """The text with the value set, other lines as they were. ValueError for a size that a reader
    would refuse."""
    wrong = [] if cmm_mib == _DEFAULT else why_not(cmm_mib, hw_mib)
    if wrong:
        raise ValueError(wrong[0])
    old = [number for number, _ in _assignments(text)]
    lines = text.split("\n")
    kept = [lines[i] for i in range(len(lines)) if i + 1 not in old]
    at = old[0] - 1 if old else len(kept) - (not kept[-1])
    kept.insert(at, "{}={}".format(_KEY, cmm_mib))
    return "\n".join(kept) if old or not text or text.endswith("\n") else "\n".join(kept) + "\n"


def _split(setting: CmmSetting, cmm_mib: int | None) -> None:
    if cmm_mib is not None:
        setting.cmm = cmm_mib
        setting.linux = setting.hw - cmm_mib


def _assignments(text: str) -> list[tuple[int, str]]:
    """[(line number, line)] of the lines that mean to set the value."""
    lines = text.split("\n")
    found = [(i + 1, lines[i]) for i in range(len(lines))]
    return [
        (number, line)
        for number, line in found
        if line.split("=")[0].split() == [_KEY] and "=" in line
    ]


def _value(setting: CmmSetting, number: int, line: str) -> int | None:
    """The number that a line sets, or None; what the shell or the boot loader would trip over is a
    finding."""
    name, value = line.split("=", 1)
    plain = value.split("#")[0].rstrip(" \t")
    if name != name.rstrip() or plain != plain.lstrip(" \t"):
        setting.findings.append(
            tell("line {}: no spaces around =.\nwrite {1}=NUMBER", number, _KEY)
        )
    if plain.endswith("\r"):
        setting.findings.append(
            tell("line {}: the line ends as on Windows (CR).\nsave with LF", number)
        )
    digits = plain.strip()
    sign = -1 if digits[:1] == "-" else 1
    plain_digits = digits[1:] if sign < 0 else digits
    if plain_digits and not plain_digits.strip("0123456789"):
        return sign * int(plain_digits)
    setting.findings.append(
        tell("line {}: {!r} is no number of MiB.\ndigits only, or {2}", number, digits, _DEFAULT)
    )
    return None
