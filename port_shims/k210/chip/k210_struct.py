# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""struct as the firmware has it: no padding "x", no half floats "e"."""

import struct


def _of_1_11(name):
    does = getattr(struct, name)

    def checked(form, *data):
        text = str(form, "utf-8") if isinstance(form, bytes) else form
        if isinstance(text, str) and ("x" in text or "e" in text):
            raise ValueError("bad typecode")
        return does(form, *data)

    return checked


for _name in ("calcsize", "pack", "pack_into", "unpack", "unpack_from"):
    globals()[_name] = _of_1_11(_name)
