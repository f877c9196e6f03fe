# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""MaixCAM and MaixCAM2 under MaixPy v4, on CPython.

    port = maixmem.set_port(maixmem_maixcam.Port())
    detector = port.load("yolo.mud", kind="YOLOv8")

Port and Model need MaixPy (the module maix); what reads files works on any desk: cvimodel.py
(.cvimodel, .mud) and cmm.py (maix_memory_cmm in /boot/configs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maixmem_maixcam.cmm import CmmSetting, check_cmm, set_cmm
from maixmem_maixcam.cvimodel import CviModel, read_cvimodel
from maixmem_maixcam.mud import parts, read_mud

if TYPE_CHECKING:
    from maixmem_maixcam.model import Model
    from maixmem_maixcam.port import Port

__all__ = [
    "CmmSetting",
    "CviModel",
    "Model",
    "Port",
    "check_cmm",
    "parts",
    "read_cvimodel",
    "read_mud",
    "set_cmm",
]


def __getattr__(name: str) -> Any:
    if name in ("Model", "Port"):
        from maixmem_maixcam import port

        return getattr(port, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
