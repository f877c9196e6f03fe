# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The firmware that a plan is for: a name of the table, an image file, or a file that a board
wrote about itself.

The table, and the memory that the boot of a build allocates, are port_shims/k210_model.
"""

from __future__ import annotations

import copy
import functools
import re
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from k210_model.boot import booted
from k210_model.builds import BUILDS, GC_DEFAULT, SCRIPT_IDLE, Build
from k210_model.heap import Heap
from maixmem_k210_chip import IMAGE_OVERHEAD

from maixmem_cli.firmware import board_file, emulated
from maixmem_cli.flash.kfpkg import PackageError, read_package
from maixmem_cli.serial.repl import BoardError

IMAGE_START = b"\x21\xa8\xef\xbe\xad\xde"  # a jump and 0xDEADBEEF: how the SDK begins a program
_TITLES = {
    "minimum": "minimum_with_ide_support",
    "openmv_v4": "openmv_kmodel_v4_with_ide_support",
    "full": "maixpy (full)",
    "lvgl": "with_lvgl",
}
_V4_TEXT = b"only support kmodel V3/V4"  # how a build that loads V4 words its error 2002
_THREADS = b"start_new_thread"
_FINDERS = b"find_blobs"  # builds without OpenMV's finders have the small scratch block
_VERSION = re.compile(rb"v\d+\.\d+\.\d+-\d+-g[0-9a-f]{6,}(?:-dirty)?")
_GUESS = 0x80200000  # a heap base to begin with where only the free bytes are known


class FirmwareError(ValueError):
    """No firmware that can be planned for: one line with the next step."""


# Sizes are bytes. `known_heap` is heap_free() at the prompt after power-on with a GC heap of
# `gc_heap`, where a board was asked; builds of the table replay their boot instead. `sizes` are
# the frame sizes that it has, None: all.
@dataclass(frozen=True)
class Firmware:
    """One build."""

    name: str
    image: int  #: the .bin file
    v4: bool  #: loads V4 models
    gc_heap: int = GC_DEFAULT
    gc_used: int = SCRIPT_IDLE  #: of it, by MaixPy itself at the prompt (4,928 on lvgl)
    title: str = ""
    source: str = "table, measured on v0.6.2_84"
    known_heap: int | None = None
    sizes: tuple[str, ...] | None = None
    scratch: int = 700 << 10  #: what a call gets that wants as much as it can, as packing a JPEG
    lcd: int = 0  #: of the system heap, by the first lcd.init(), where the boot did none
    early: bool = False  #: it lacks calls of Maix.utils, such as what reads flash
    threads: bool = True  #: it has _thread: a model manager brings what lets threads wait
    file: Path | None = None  #: the image, where that is all that is known

    @property
    def end(self) -> int:
        """The first byte of flash behind it."""
        return self.image + IMAGE_OVERHEAD

    @property
    def heap(self) -> int | None:
        """Maix.utils.heap_free() at the prompt after power-on; None where an image alone does not
        tell."""
        if self.name in FIRMWARES:
            return _booted(self, self.gc_heap).heap_free()
        return self.known_heap

    def capabilities(self) -> dict[str, Any]:
        """What KModel.unsupported_reason() wants to know, for a board after power-on."""
        return {"name": self.name, "v4": self.v4, "ram": self.heap}

    def measured(self) -> Firmware:
        """The same with its memory known: an image is started on the board in software and
        queried, once.

        FirmwareError where there is no board in software: an image alone does not tell.
        """
        if self.file is None:
            return self
        try:
            told = emulated.measure(self.file)
        except (BoardError, OSError) as e:
            raise FirmwareError(
                f"{self.name}: an image does not tell what memory it leaves, and it "
                f"could not be started: {e}. Next: "
                "maixmem doctor --save board.toml on a board with it, then --firmware board.toml"
            ) from None
        return replace(
            self,
            known_heap=told.heap_free,
            gc_heap=told.gc_heap,
            gc_used=told.gc_used,
            v4=told.v4,
            sizes=told.frame_sizes,
            lcd=told.lcd,
            early=told.firmware_end is None,
            source=f"{self.source}, asked on the board in software",
            file=None,
        )

    def of_table(self) -> Firmware | None:
        """The entry of the table that this is: an image of that length and kind."""
        builds = FIRMWARES.values()
        return next((b for b in builds if (b.image, b.v4) == (self.image, self.v4)), None)

    def boot(self, gc_heap: int) -> Heap:
        """The allocator of the system heap at the prompt when the GC heap is set to so many bytes:
        yours to change."""
        return copy.deepcopy(_booted(self, gc_heap))


FIRMWARES = {
    name: Firmware(
        name,
        f.image,
        f.v4,
        title=_TITLES.get(name, name),
        scratch=f.fb_all,
        threads=f.threads,
    )
    for name, f in BUILDS.items()
}


@functools.lru_cache(maxsize=None)
def _booted(firmware: Firmware, gc_heap: int) -> Heap:
    if firmware.name in FIRMWARES:
        return booted(BUILDS[firmware.name], gc_heap)
    if firmware.known_heap is None:
        raise FirmwareError(
            f"{firmware.name}: an image does not tell what memory it leaves. "
            "Next: maixmem doctor --save board.toml on a board with it, then --firmware board.toml"
        )
    guessed = booted(Build(firmware.image, _GUESS, firmware.v4), firmware.gc_heap)
    base = _GUESS + guessed.heap_free() - firmware.known_heap
    return booted(Build(firmware.image, base, firmware.v4), gc_heap)


def choose(text: str, folder: Path = Path()) -> Firmware:
    """The build of that name, in that image or kfpkg, or of that board file, looked for in a
    folder. FirmwareError."""
    if text in FIRMWARES:
        return FIRMWARES[text]
    path = folder / text
    if not path.is_file():
        raise FirmwareError(
            f"{text!r} is no firmware and no file. Next: one of {', '.join(FIRMWARES)}, "
            "the .bin or .kfpkg "
            "of another build, or a board.toml written by `maixmem doctor --save board.toml`"
        )
    if path.suffix == ".toml":
        return _of_board(path)
    return _of_image(path, image_bytes(path))


def _of_board(path: Path) -> Firmware:
    try:
        told = board_file.read(path)
    except ValueError as e:
        raise FirmwareError(f"{path}: {e}. Next: maixmem doctor --save {path.name}") from None
    source = f"the board of {path.name}, {told.version}"
    end = told.firmware_end
    if end is None:
        end = max(f.end for f in FIRMWARES.values())
        source += ", end assumed to be that of the largest official build"
    return Firmware(
        name=path.name,
        image=end - IMAGE_OVERHEAD,
        v4=told.v4,
        gc_heap=told.gc_heap,
        gc_used=told.gc_used,
        title=told.version,
        source=source,
        known_heap=told.heap_free,
        sizes=told.frame_sizes,
        lcd=told.lcd,
        early=told.firmware_end is None,
    )


def _of_image(path: Path, data: bytes) -> Firmware:
    said = version(data) or "version unknown"
    return Firmware(
        name=path.name,
        image=len(data),
        v4=_V4_TEXT in data,
        title=said,
        source=f"the image {path.name}, {said}",
        scratch=(700 if _FINDERS in data else 300) << 10,
        threads=_THREADS in data,
        file=path,
    )


def version(data: bytes) -> str:
    """The version that an image says, such as "v0.6.2-84-g8fcd84a58"; "" when it says none."""
    found = _VERSION.search(data)
    return found[0].decode() if found else ""


def image_bytes(path: Path) -> bytes:
    """The program of an image file, of a package, or of an image that has its header already."""
    if zipfile.is_zipfile(path):
        try:
            members = [m for m in read_package(path) if m.address == 0 and m.data]
        except PackageError as e:
            raise FirmwareError(f"{path}: {e}") from None
        data = members[0].data if members else b""
    else:
        data = path.read_bytes()
    assert data is not None
    if wrapped(data):
        data = data[5 : 5 + len(data) - IMAGE_OVERHEAD]
    if not data.startswith(IMAGE_START):
        raise FirmwareError(
            f"{path}: no firmware image for address 0x000000. Next: the .bin or .kfpkg of MaixPy"
        )
    return data


def wrapped(data: bytes) -> bool:
    """True for an image that has its header and hash around it already."""
    return (
        len(data) > IMAGE_OVERHEAD
        and not data[0] & ~3
        and int.from_bytes(data[1:5], "little") + IMAGE_OVERHEAD == len(data)
    )


def assumed(size: int) -> Firmware | None:
    """What may be on a chip of so many bytes when nobody says: the largest build of the table that
    it holds."""
    there = [f for f in FIRMWARES.values() if f.end <= size]
    if not there:
        return None
    biggest = max(there, key=lambda f: f.end)
    text = f"assumed: {biggest.name}, the largest official build; --firmware says which it is"
    return replace(biggest, name="assumed", source=text)
