# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Where the board hangs, as an exception that says what to do instead."""

# what to do where a read of the flash does not fit
CURES = {
    "flash_read": "free memory first or read in pieces of 4096 bytes",
    "kpu.load": "free memory first, kpu.deinit() of a model or a smaller camera frame: load "
    "models before the camera",
}


class DeviceCrash(BaseException):
    """The real board hangs here until it is reset: .cause says why, .cure what to do instead."""

    def __init__(self, cause: str, cure: str) -> None:
        super().__init__("%s: %s" % (cause, cure))
        self.cause = cause
        self.cure = cure
