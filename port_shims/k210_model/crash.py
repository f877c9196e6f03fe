# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What ends a program on the board other than an exception of Python."""

# what to do where a read of the flash does not fit
CURES = {
    "flash_read": "free memory first or read in pieces of 4096 bytes",
    "kpu.load": "free memory first: another order of camera and models (maixmem fit says which "
    "fits), kpu.deinit() of a model, or a smaller camera frame",
}


class DeviceCrash(BaseException):
    """The real board hangs here until it is reset: .cause says why, .cure what to do instead."""

    def __init__(self, cause: str, cure: str) -> None:
        super().__init__("%s: %s" % (cause, cure))
        self.cause = cause
        self.cure = cure


class HardReset(BaseException):
    """machine.reset(): the board was powered off and on again, the program is gone."""


class RunEnded(BaseException):
    """The run was to have so many frames or seconds, and has had them."""
