# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Ascend 310 boards and cards: pyACL, on CPython.

    port = maixmem.set_port(maixmem_ascend.Port())
    detector, classifier = port.load("yolo.om"), port.load("resnet.om")
    detector.run([frame], [boxes])

Port and Model need pyACL (the module acl); pools.py, memory.py and images.py take what they need
and import anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maixmem_text import tell

from maixmem_ascend.memory import AclError, Buffer, Memory
from maixmem_ascend.pools import DevicePool, Picture, Pictures

if TYPE_CHECKING:
    from maixmem_ascend.model import Model
    from maixmem_ascend.port import Port

__all__ = [
    "AclError",
    "Buffer",
    "DevicePool",
    "Memory",
    "Model",
    "Picture",
    "Pictures",
    "Port",
]


def __getattr__(name: str) -> Any:
    if name in ("Model", "Port"):
        try:
            from maixmem_ascend import port
        except ModuleNotFoundError as e:
            if e.name != "acl":
                raise
            raise ImportError(
                tell("no pyACL here (module acl).\ninstall CANN on the board, run its set_env.sh")
            ) from None
        return getattr(port, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
