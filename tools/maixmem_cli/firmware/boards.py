# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""K210 boards by name: their pins, as a firmware's `board_info` has them, which firmware they run
and how kflash reaches them.

Pins: those of an M5StickV were read on its firmware (v5.1.2, v0.6.2-16), the others are in
sipeed/MaixPy-v1_scripts, board/config_maix_*.py. kflash's -B: names that kflash 1.1.6 takes
(kd233, dan, bit, bit_mic, goE, goD, maixduino, trainer). Which board: krux's installing page
(amigo, cube, dock, m5stickv), kflash's own README (go) and reset sequences (bit, bit_mic,
maixduino); from documentation, untested.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

_LEDS = {"LED_R": 13, "LED_G": 12, "LED_B": 14}
_WIFI = {"WIFI_TX": 6, "WIFI_RX": 7, "WIFI_EN": 8}
_MIC = {"MIC0_WS": 19, "MIC0_DATA": 20, "MIC0_BCK": 18}
_I2S = {"I2S_WS": 33, "I2S_DA": 34, "I2S_BCK": 35}
_ESP32 = {"CS": 25, "RST": 8, "RDY": 9, "MOSI": 28, "MISO": 26, "SCLK": 27}
_ARDUINO = (4, 5, 21, 22, 23, 24, 32, 15, 14, 13, 12, 11, 10, 3)  # PIN0 to PIN13
_M5STICKV = {
    "LED_R": 6,
    "LED_G": 9,
    "LED_B": 8,
    "LED_W": 7,
    "BUTTON_A": 36,
    "BUTTON_B": 37,
    "MPU_SDA": 29,
    "MPU_SCL": 28,
    "MPU_INT": 23,
    "CONNEXT_A": 35,
    "CONNEXT_B": 34,
    "MIC_LRCLK": 10,
    "MIC_DAT": 12,
    "MIC_CLK": 13,
    "ISP_RX": 4,
    "ISP_TX": 5,
    "SPK_LRCLK": 14,
    "SPK_BCLK": 15,
    "SPK_DIN": 17,
    "SPK_SD": 25,
    "WIFI_RX": 38,
    "WIFI_TX": 39,
}
_AMIGO = {
    "BOOT_KEY": 23,
    "LED_R": 14,
    "LED_G": 15,
    "LED_B": 17,
    "LED_W": 32,
    "BACK": 31,
    "ENTER": 23,
    "NEXT": 20,
    "I2C_SDA": 27,
    "I2C_SCL": 24,
    "I2S0_MCLK": 13,
    "I2S0_SCLK": 21,
    "I2S0_WS": 18,
    "I2S0_IN_D0": 35,
    "I2S0_OUT_D2": 34,
    "SPI_SCLK": 11,
    "SPI_MOSI": 10,
    "SPI_MISO": 6,
    "SPI_CS": 12,
}
_CUBE = {
    "BOOT_KEY": 16,
    "LED_W": 32,
    "BACK": 11,
    "ENTER": 10,
    "NEXT": 16,
    "I2S0_MCLK": 19,
    "I2S0_SCLK": 35,
    "I2S0_WS": 33,
    "I2S0_IN_D0": 34,
    "I2S0_OUT_D2": 18,
    "I2C_SDA": 31,
    "I2C_SCL": 30,
    "SPI_SCLK": 21,
    "SPI_MOSI": 8,
    "SPI_MISO": 15,
    "SPI_CS": 20,
}


@dataclass(frozen=True)
class Board:
    """`image`: the end of its release's file name; `kflash`: what -B has to say; `reads_flash`:
    every firmware of it can."""

    title: str
    kind: str  #: "type" of its config.json
    kflash: str
    pins: dict[str, int]
    image: str = "minimum_with_ide_support.bin"
    reads_flash: bool = True

    @property
    def config(self) -> str:
        """The text of its /flash/config.json."""
        return json.dumps({"type": self.kind, "board_info": self.pins})


BOARDS = {
    "m5stickv": Board("M5StickV", "m5stickv", "goE", _M5STICKV, "m5stickv.bin", reads_flash=False),
    "maixduino": Board(
        "Maixduino",
        "duino",
        "maixduino",
        {"BOOT_KEY": 16, **_LEDS, **_WIFI, **_MIC, **_I2S}
        | {f"ESP32_{name}": pin for name, pin in _ESP32.items()}
        | {f"PIN{i}": pin for i, pin in enumerate(_ARDUINO)},
    ),
    "bit": Board(
        "Maix Bit (without a microphone: -B bit)",
        "bit",
        "bit_mic",
        {"BOOT_KEY": 16, **_LEDS, **_MIC},
    ),
    "dock": Board(
        "Maix Dock",
        "dock",
        "dan",
        {"BOOT_KEY": 16, "LED_R": 14, "LED_G": 13, "LED_B": 12, **_WIFI, **_I2S}
        | {"MIC0_WS": 30, "MIC0_DATA": 20, "MIC0_BCK": 32},
    ),
    "go": Board(
        "Maix Go",
        "Go",
        "goE",
        {"BOOT_KEY": 16, "LED_R": 14, "LED_G": 12, "LED_B": 13, **_WIFI, **_MIC, **_I2S},
    ),
    "amigo": Board("Maix Amigo", "amigo", "goE", {**_AMIGO, **_WIFI}),
    "cube": Board("Maix Cube", "cube", "goE", {**_CUBE, **_LEDS, **_WIFI}),
}
