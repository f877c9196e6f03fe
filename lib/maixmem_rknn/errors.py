# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The RKNN runtime's codes: their names and what to do about them."""

from __future__ import annotations

from typing import Any

# code, name in rknn_api.h: what it means and the next step
_TABLE = """
-1 RKNN_ERR_FAIL: the runtime says no more. Next: set RKNN_LOG_LEVEL=4 and run again, its log \
tells why
-2 RKNN_ERR_TIMEOUT: the NPU did not answer. Next: see dmesg for rknpu; a driver older than the \
runtime does that
-3 RKNN_ERR_DEVICE_UNAVAILABLE: the NPU cannot be opened. Next: lsmod or dmesg for rknpu, and the \
rights of /dev/dri/card*
-4 RKNN_ERR_MALLOC_FAIL: NPU memory ran out. Next: unload a model; without an IOMMU raise cma= in \
the kernel's arguments
-5 RKNN_ERR_PARAM_INVALID: a wrong argument. Next: report it, the port checks these
-6 RKNN_ERR_MODEL_INVALID: not a model for this chip and runtime, or NPU memory ran out. Next: \
convert it with the runtime's own RKNN-Toolkit2
-7 RKNN_ERR_CTX_INVALID: the context is gone. Next: load the model again
-8 RKNN_ERR_INPUT_INVALID: wrong inputs. Next: see inputs[i].shape, .type and .nbytes
-9 RKNN_ERR_OUTPUT_INVALID: wrong outputs. Next: see outputs[i].shape, .type and .nbytes
-10 RKNN_ERR_DEVICE_UNMATCH: driver and runtime differ. Next: update the board's kernel image and \
librknnrt together
-11 RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL: compiled for another driver. Next: convert the model \
again
-12 RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION: made by another toolkit. Next: convert with \
the RKNN-Toolkit2 of the runtime's version
-13 RKNN_ERR_TARGET_PLATFORM_UNMATCH: made for another chip. Next: convert it with \
target_platform of this chip
"""
# {code: "name: what it means and the next step"}
ROWS = {int(code): text for code, _, text in [r.partition(" ") for r in _TABLE.split("\n") if r]}
MALLOC_FAIL = -4
# What a load that ran out of memory was seen to end with: the second while the file was read.
PERHAPS_MEMORY = (-4, -6)


class RknnError(RuntimeError):
    """A call that the runtime refused: `.code` is its own code; the message has its name and the
    next step.

    `.held` is the MemSize of a context that has to be left alone, None for all else.
    """

    def __init__(self, text: str, code: int, held: Any = None) -> None:
        row = ROWS.get(code, "unknown: a code that rknn_api.h does not have")
        super().__init__(f"{text}: {code} {row}")
        self.code = code
        self.held = held


class MissingCall(NotImplementedError):
    """The runtime of this board has no such call: the message names it and what to do."""


def advise(error: BaseException) -> str | None:
    """What to do about an error of the runtime, from its code; None for others."""
    return ROWS.get(getattr(error, "code", None) or 0, "").partition(": ")[2] or None


def check(call: str, code: int | None) -> None:
    """RknnError for any code but 0."""
    if code is not None and code != 0:
        raise RknnError(call, code)
