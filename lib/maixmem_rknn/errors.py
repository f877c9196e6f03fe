# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The RKNN runtime's codes: their names and what to do about them."""

from __future__ import annotations

from typing import Any

from maixmem_text import say

# code, name in rknn_api.h: what it means | the next step
_TABLE = """
-1 RKNN_ERR_FAIL: this code says no more. | set RKNN_LOG_LEVEL=4 and run again, its log \
tells why
-2 RKNN_ERR_TIMEOUT: the NPU did not answer. | see dmesg for rknpu; a driver older than the \
runtime does that
-3 RKNN_ERR_DEVICE_UNAVAILABLE: the NPU cannot be opened. | lsmod or dmesg for rknpu, and the \
rights of /dev/dri/card*
-4 RKNN_ERR_MALLOC_FAIL: NPU memory ran out. | unload a model; without an IOMMU raise cma= in \
the kernel's arguments
-5 RKNN_ERR_PARAM_INVALID: a wrong argument. | report it, the port checks these
-6 RKNN_ERR_MODEL_INVALID: not a model for this chip and runtime, or NPU memory ran out. | \
convert it with the runtime's own RKNN Toolkit
-7 RKNN_ERR_CTX_INVALID: the context is gone. | load the model again
-8 RKNN_ERR_INPUT_INVALID: wrong inputs. | see inputs[i].shape, .type and .nbytes
-9 RKNN_ERR_OUTPUT_INVALID: wrong outputs. | see outputs[i].shape, .type and .nbytes
-10 RKNN_ERR_DEVICE_UNMATCH: driver and runtime differ. | update the board's kernel image and \
runtime together
-11 RKNN_ERR_INCOMPATILE_PRE_COMPILE_MODEL: compiled for another driver. | convert the model \
again
-12 RKNN_ERR_INCOMPATILE_OPTIMIZATION_LEVEL_VERSION: made by another toolkit. | convert with \
the RKNN Toolkit of the runtime's version
-13 RKNN_ERR_TARGET_PLATFORM_UNMATCH: made for another chip. | convert it with \
target_platform of this chip
"""
# {code: ["name: what it means", the next step]}
ROWS = {
    int(code): text.split(" | ")
    for code, _, text in [row.partition(" ") for row in _TABLE.split("\n") if row]
}
MALLOC_FAIL = -4
# What a load that ran out of memory was seen to end with: the second while the file was read.
PERHAPS_MEMORY = (-4, -6)


class RknnError(RuntimeError):
    """A call that the runtime refused: `.code` is its own code; the message has its name and the
    next step.

    `.held` is the MemSize of a context that has to be left alone, None for all else.
    """

    def __init__(self, text: str, code: int, held: Any = None) -> None:
        means, *step = ROWS.get(code, ["unknown: a code that rknn_api.h does not have"])
        what = f"{getattr(text, 'what', text)}: {code} {means}"
        super().__init__(say(what, *getattr(text, "steps", ()), *step))
        self.code = code
        self.held = held


class MissingCall(NotImplementedError):
    """The runtime of this board has no such call: the message names it and what to do."""


def advise(error: BaseException) -> str | None:
    """What to do about an error of the runtime, from its code; None for others."""
    means, *step = ROWS.get(getattr(error, "code", None) or 0, [""])
    return say(means.partition(": ")[2], *step) if step else None


def check(call: str, code: int | None) -> None:
    """RknnError for any code but 0."""
    if code is not None and code != 0:
        raise RknnError(call, code)
