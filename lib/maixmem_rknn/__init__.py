# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Rockchip NPUs (RK3562 to RK3588, RV1103, RV1106, RV1126B): librknnrt over ctypes, on CPython.

    port = maixmem.set_port(maixmem_rknn.Port())
    detector = port.load("yolo.rknn")
    boxes = detector.run(frame)

port.py has the port and loading.py its steps; model.py, tensor.py and lock.py what it hands out;
arena.py the shared working memory; block.py and mmz.py memory of the caller; cost.py what a load
takes, container.py the .rknn file; runtime.py the library's calls with checks, api.py what
rknn_api.h says, errors.py its codes, librknnrt.py where it is; trial.py asks it by a child first.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maixmem_rknn.block import Block
    from maixmem_rknn.container import RknnFile, read_file
    from maixmem_rknn.cost import RknnCost
    from maixmem_rknn.errors import MissingCall, RknnError
    from maixmem_rknn.lock import LockError
    from maixmem_rknn.model import Model
    from maixmem_rknn.port import Port
    from maixmem_rknn.tensor import Tensor

# Loaded when asked for: a computer without the runtime only ever asks probe.py.
_WHERE = {
    "Block": "block",
    "LockError": "lock",
    "MissingCall": "errors",
    "Model": "model",
    "Port": "port",
    "RknnCost": "cost",
    "RknnError": "errors",
    "RknnFile": "container",
    "Tensor": "tensor",
    "read_file": "container",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f"maixmem_rknn.{_WHERE[name]}"), name)
    if name in _WHERE.values():
        return importlib.import_module(f"maixmem_rknn.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
