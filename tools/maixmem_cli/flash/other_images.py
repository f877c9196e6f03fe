# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Firmware of other chips, known by its first bytes: UF2 (its family, microsoft/uf2), the
header of Espressif's images (esptool), ELF."""

from __future__ import annotations

_UF2, _FAMILY = b"UF2\n", 28
_FAMILIES = {
    0xE48BFF56: "an RP2040",
    0xE48BFF59: "an RP2350",
    0xE48BFF5A: "an RP2350",
    0xE48BFF5B: "an RP2350",
    0xADA52840: "an nRF52840",
    0x1C5F21B0: "an ESP32",
    0xBFDD4EEE: "an ESP32-S2",
    0xC47E5767: "an ESP32-S3",
    0x68ED2B88: "a SAMD21",
    0x55114460: "a SAMD51",
}
_ESPRESSIF, _CHIP, _MOST_SEGMENTS, _LAST_MODE = 0xE9, 12, 16, 5
_CHIPS = {
    0: "an ESP32",
    2: "an ESP32-S2",
    5: "an ESP32-C3",
    9: "an ESP32-S3",
    12: "an ESP32-C2",
    13: "an ESP32-C6",
    16: "an ESP32-H2",
    18: "an ESP32-P4",
}


def what(data: bytes) -> str:
    """What the file is, "" when it may be a K210's."""
    if data[:4] == _UF2:
        family = int.from_bytes(data[_FAMILY : _FAMILY + 4], "little")
        return f"{_FAMILIES.get(family, 'another chip')} image (UF2)"
    if len(data) > _CHIP + 2 and data[0] == _ESPRESSIF:
        number = int.from_bytes(data[_CHIP : _CHIP + 2], "little")
        usual = 0 < data[1] <= _MOST_SEGMENTS and data[2] <= _LAST_MODE
        if usual and number in _CHIPS:
            return f"{_CHIPS[number]} image"
    return "a program in ELF form" if data[:4] == b"\x7fELF" else ""
