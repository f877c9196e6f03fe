# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every step that names a call of the library is done on a port of each board that it is given
for: none raises NotImplementedError, none names a module that is not there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import paths
import pytest
from maixmem_cli.errors import table
from maixmem_cli.library.modules import modules

#: name in a step -> how it is called
_CALLS = {
    "maixmem.report": "import maixmem; maixmem.report(str)",
    "maixmem.set_gc_heap": "import maixmem; maixmem.set_gc_heap(262144)",
    "maixmem_pool.BufferPool": "from maixmem_pool import BufferPool; BufferPool(64, 1).acquire()",
    "ImagePool": "from maixmem_pool import ImagePool; ImagePool(8, 8).acquire()",
    "FlashMap": "from maixmem_flash import FlashMap; FlashMap().scan().report(str)",
    "read_info": (
        "from maixmem_kmodel import read_info, KModelError\n"
        "try: read_info(b'x' * 64)\nexcept KModelError: pass"
    ),
    "ModelManager": "from maixmem_models import ModelManager; ModelManager()",
    "maixmem_k230.check_media": "from maixmem_k230 import check_media; check_media([(4096, 1)])",
    "gap_for": "from maixmem_flash import FlashMap; FlashMap().gap_for(4096)",
}
_NAMES = re.compile(
    r"\b(maixmem\.\w+|maixmem_\w+\.BufferPool|maixmem_\w+\.check_media|ImagePool|FlashMap|read_info"
    r"|ModelManager|gap_for)\b"
)
#: board -> (platform of the table of modules, stand-ins in front, lines before)
_BOARDS = {
    "k210": ("k210", paths.SHIM_PATH, "import k210_board; k210_board.reset('minimum')"),
    "canmv": (
        "canmv",
        (paths.SHIMS / "canmv", *paths.SHIM_PATH),
        (
            "import sys, k210_board\n"
            "sys.platform = 'CanMV'\n"
            "sys.modules['Maix'] = sys.modules['KPU'] = None\n"
            "k210_board.reset('minimum')"
        ),
    ),
    "micropython": ("generic", (), "import sys; sys.modules['Maix'] = None"),
    "esp32": (
        "generic",
        (),
        (
            "import sys, types; sys.platform = 'esp32'; T = types.SimpleNamespace\n"
            "sys.modules['esp32'] = T(HEAP_DATA=4, idf_heap_info=lambda k: [(9999, 9, 9, 9)])"
        ),
    ),
    "rp2040": ("generic", (), "import sys; sys.platform = 'rp2'"),
    "openmv": (
        "openmv",
        (paths.SHIMS / "openmv" / "api", paths.SHIMS / "openmv", paths.SHIMS),
        "import gc, sys, omv_board; omv_board.reset(); omv_board.install(setattr)",
    ),
    "k230": (
        "k230",
        (),
        (
            "import sys, gc, types; sys.platform = 'rt-smart'; gc.sys_page = lambda: (0, 0, 0)\n"
            "sys.modules['nncase_runtime'] = types.SimpleNamespace()\n"
            "gc.sys_heap = gc.sys_mmz = lambda: (32 << 20, 5 << 20, 27 << 20)"
        ),
    ),
    "circuitpython": (
        "generic",
        (),
        "import sys, types; sys.platform = 'RP2040'\nsys.implementation.name = 'circuitpython'",
    ),
    "linux": ("generic", (), "import sys; sys.platform = 'linux'"),
}
_OTHERS = {"maixcam": "maixcam", "rknn": "rknn", "ascend": "ascend"}
#: board of Linux -> lines that give maixmem the port on its stand-in
_ON_LINUX = {
    "maixcam": "import maixcam_kit as kit; port = kit.port()",
    "rknn": "import rknn_raw as kit; port = kit.Raw('rk3588', 64 << 20).plug()",
    "ascend": "import ascend_kit as kit; kit.start(); port = kit.ascend.Port()",
}


def _named(board: str) -> set[str]:
    """The calls that the steps for a board name."""
    said = " ".join(
        step for row in table.rows() if board in row.on for step in row.steps_on(board)
    )
    return set(_NAMES.findall(said))


@pytest.mark.parametrize("board", sorted({b for row in table.rows() for b in row.on} - {"pc"}))
def test_a_board_is_told_of_calls_that_it_has(board: str) -> None:
    names = _named(board)
    assert names <= set(_CALLS), names - set(_CALLS)
    platform = _OTHERS[board] if board in _OTHERS else _BOARDS[board][0]
    there = modules(platform)
    for name in names:
        wanted = set(re.findall(r"(?:from|import) (maixmem\w*)", _CALLS[name]))
        assert wanted <= set(there), (name, wanted)


@pytest.mark.parametrize("board", sorted(_ON_LINUX))
def test_the_calls_of_steps_run_on_a_port_of_that_linux_board(board: str) -> None:
    names = sorted(_named(board))
    assert names
    _run(
        [_ON_LINUX[board], "import maixmem; maixmem.set_port(port)", *(_CALLS[n] for n in names)],
        (paths.KITS, paths.LIB),
    )


@pytest.mark.parametrize("board", sorted(_BOARDS))
def test_the_calls_of_steps_run_on_a_port_of_that_board(board: str) -> None:
    _, shims, first = _BOARDS[board]
    names = sorted(_named(board))
    assert names
    program = [first, *(_CALLS[name] for name in names)]
    _run(program, (*shims, paths.LIB))


def test_the_calls_of_steps_run_under_micropython() -> None:
    interpreter = paths.micropython()
    if interpreter is None:
        pytest.skip("NO MICROPYTHON: python3 tools/dev.py test sets it up")
    names = sorted(_named("micropython"))
    _run([_CALLS[name] for name in names], (paths.LIB,), str(interpreter), "MICROPYPATH")


def _run(
    program: list[str],
    places: tuple[Path, ...],
    interpreter: str = sys.executable,
    path: str = "PYTHONPATH",
) -> None:
    """The lines in a process of its own, with these places to import from."""
    done = subprocess.run(
        [interpreter, "-c", "\n".join(program)],
        env={**os.environ, path: os.pathsep.join(map(str, places))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (program, done.stderr)


def test_no_step_for_another_board_names_what_only_a_k210_has() -> None:
    for row in table.rows():
        for board in row.on - {"k210", "pc"}:
            for step in row.steps_on(board):
                for word in ("set_gc_heap", "ImagePool", "kpu.", "kflash", "Maix.", "minimum"):
                    assert word not in step, (row.id, board, step)


def test_next_is_written_at_one_place_of_the_library_and_read_at_none() -> None:
    found = [
        path.name
        for path in paths.LIB.rglob("*.py")
        if "Next:" in path.read_text(encoding="utf-8") and "_known_" not in path.name
    ]
    assert found == ["maixmem_text.py"]
    assert (paths.LIB / found[0]).read_text(encoding="utf-8").count("Next:") == 1
