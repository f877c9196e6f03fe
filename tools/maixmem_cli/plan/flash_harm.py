# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What lies where in the flash of a simulated board, and which harm it does; reported before the
script runs."""

from __future__ import annotations

from pathlib import Path

from maixmem_k210_chip import SPIFFS_START

from maixmem_cli.firmware.builds import Firmware


def harm(build: Firmware, files: dict[int, Path]) -> list[str]:
    """One line for each file that destroys something, or is destroyed, in order of address."""
    found = []
    behind = ""
    reaches = 0
    for address, path in sorted(files.items()):
        name, last = f"{path.name} at {address:#x}", address + path.stat().st_size
        if address < build.end:
            found.append(
                f"{name} overwrites the firmware {build.name}, which ends at {build.end:#x}: the "
                "board does not start. "
                "Next: an address from 0x300000"
            )
        if last > SPIFFS_START:
            found.append(
                f"{name} ends at {last:#x}, in the file system from {SPIFFS_START:#x}: the "
                "firmware formats that at "
                "the start, and what was there of the file is gone. Next: a lower address"
            )
        if address < reaches:
            found.append(
                f"{name} and {behind} overlap. Next: maixmem flash says where there is room"
            )
        if last > reaches:
            behind, reaches = name, last
    return found
