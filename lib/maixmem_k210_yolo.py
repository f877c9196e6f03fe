# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""YOLO on a net of the K210, with the guards that the firmware lacks. Comes in with the first
model that has a setup, or with the first call, and stays: the calls go into the class of the nets.

run_yolo2 before init_yolo2, a second init_yolo2 (a leak), and run_yolo2 in a thread whose stack
is too small for it are refused. Allocates what the firmware allocates, no more.
"""

import maixmem_k210_mend
from maixmem import message
from maixmem_k210 import _thread
from maixmem_k210_kpu import Net, kpu

if _thread:
    from maixmem_k210_boxes import require, stack_of, stack_use


def find(net, name: str):
    """The net's call of this name; AttributeError for what is none of these."""
    if name not in ("init_yolo2", "run_yolo2"):
        raise AttributeError(message("KPU", net.name, name))
    return getattr(net, name)


def _init_yolo2(self, threshold, nms_value, anchor_number, anchor) -> None:
    """kpu.init_yolo2, once a load."""
    if _has_yolo(self):
        raise ValueError(message("init_yolo2", self.name))
    kpu.init_yolo2(self.handle, threshold, nms_value, anchor_number, anchor)
    self.yolo = self.handle
    if _thread:
        self.stack = stack_of(self, anchor_number)


def _run_yolo2(self, img) -> "list | None":
    """kpu.run_yolo2: a list of finds, or None."""
    if not _has_yolo(self):
        raise ValueError(message("run_yolo2", self.name))
    self.check_image(img)
    if self.stack:
        require(self, stack_use())
    return kpu.run_yolo2(self.handle, img)


def _has_yolo(net):
    """Asks the firmware; the answer is kept for this load."""
    handle = net.handle or net.require_handle()
    if net.yolo is not handle and hasattr(handle, "net_arg") and handle.net_arg() is not None:
        net.yolo = handle
    return net.yolo is handle


Net.yolo = None  # the handle that has had init_yolo2()
Net.stack = 0  # bytes of a thread's stack that run_yolo2() takes
Net.init_yolo2 = _init_yolo2
Net.run_yolo2 = _run_yolo2
