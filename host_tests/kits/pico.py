# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A Raspberry Pi Pico in software as a board: unmodified .uf2 images on npm's rp2040js.

    .venv/bin/python host_tests/kits/pico.py IMAGE.uf2 [FLASH]

starts one, prints its port (socket://127.0.0.1:N) and runs until Ctrl-C. FLASH is a file that
keeps its 2 MiB. $MAIXMEM_FIRMWARE names images and the RP2040's boot ROM (a file called
bootrom...), or folders of them. CircuitPython writes its files only where boot.py has said so:
such an image gets one.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from types import TracebackType

import paths

_BOOT = "import storage\nstorage.remount('/', readonly=False)\n"
_BOOT_SECONDS = 300  # a loaded desk formats CircuitPython's file system slowly
_PAGE = 4096


def _named() -> list[Path]:
    """The files that $MAIXMEM_FIRMWARE names."""
    found: list[Path] = []
    for name in filter(None, os.environ.get("MAIXMEM_FIRMWARE", "").split(os.pathsep)):
        path = Path(name)
        found += sorted(path.iterdir()) if path.is_dir() else [path]
    return found


def images() -> list[Path]:
    """Images for the Pico, each once."""
    return list(dict.fromkeys(p.resolve() for p in _named() if p.suffix == ".uf2"))


def rom() -> Path | None:
    """The boot ROM, or None."""
    return next((p for p in _named() if p.stem.startswith("bootrom")), None)


def missing() -> str:
    """Why there is no Pico here, or ""."""
    if not paths.npm("rp2040js", "RP2040JS"):
        return "NO PICO: it needs node, and npm rp2040js in the environment"
    if not rom():
        return "NO PICO: set MAIXMEM_FIRMWARE to the RP2040's boot ROM (bootrom...) and images"
    return ""


# Owns a process from `with` to its end, and the file of the flash, which is written when it ends.
class Pico:
    """A Pico that runs an image; `port` is where its REPL is."""

    def __init__(self, image: Path, flash: Path) -> None:
        self.image, self.flash = image, flash
        self._ram = flash.with_name("ram.bin")
        self.port = ""

    def __enter__(self) -> Pico:
        self.start()
        if self._read_only():
            self.stop()
            _put_boot(self.flash)
            self.start()
        return self

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Power on; ends when it is on the bus."""
        runner = str(paths.RUNNERS / "pico.mjs")
        fresh = [] if self.flash.exists() else [str(self.image)]
        command = ["node", runner, "--rom", str(rom()), "--flash", str(self.flash)]
        command += ["--ram", str(self._ram), *fresh]
        env = dict(os.environ, RP2040JS=str(paths.npm("rp2040js", "RP2040JS")))
        self._process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.port = self._process.stdout.readline().strip()
        if not self.port:
            raise RuntimeError(f"{self.image}: the Pico did not start")

    def stop(self) -> None:
        """Power off; the flash is in its file then."""
        self._process.terminate()
        self._process.wait()

    def ram(self) -> bytes:
        """Its RAM from 0x20000000 on, between two instructions."""
        self._ram.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR2)
        while not self._ram.exists():
            time.sleep(0.01)
        return self._ram.read_bytes()

    def wait(self) -> None:
        """Until the process ends."""
        self._process.wait()

    def _read_only(self) -> bool:
        from maixmem_cli.emulator.connect import open_board

        board = open_board(self.port)
        try:
            board.enter(_BOOT_SECONDS)
            _, error = board.run("import storage\nopen('/try', 'w').close()")
            return "OSError" in error
        finally:
            board.close()


def _put_boot(flash: Path) -> None:
    """Writes boot.py into the FAT file system that lies somewhere in the flash."""
    warnings.simplefilter("ignore")  # of what pyfatfs imports
    data = flash.read_bytes()
    starts = range(0, len(data), _PAGE)
    start = next(s for s in starts if data[s + 54 : s + 57] == b"FAT" and data[s + 510] == 0x55)
    drive = importlib.import_module("pyfatfs.PyFatFS").PyFatFS(str(flash), offset=start)
    drive.writetext("/boot.py", _BOOT)
    drive.close()


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(str(__doc__))
    if missing():
        sys.exit(missing())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory() as folder:
        flash = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder) / "flash.bin"
        with Pico(Path(sys.argv[1]), flash) as board:
            print(board.port, flush=True)
            board.wait()


if __name__ == "__main__":
    sys.path[:0] = [str(paths.TOOLS), str(paths.LIB)]
    main()
