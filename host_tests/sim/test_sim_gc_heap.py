# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The GC heap as a script finds it. After the usual imports, free and in one piece, the stand-in's
is the firmware's within 8 KiB: this needs $MAIXMEM_FIRMWARE, files, or folders with files, of
MaixPy v0.6.2_84; builds that are not there are skipped."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
import sim_both
from maixmem_cli.library import places
from maixmem_cli.runs import run_standin

_NEAR = 8192
_TELL = """
from Maix import utils
print('set', utils.gc_heap_size())
"""


@pytest.mark.parametrize("heap", [128 << 10, 512 << 10, 1 << 20])
@pytest.mark.parametrize("build", ["minimum", "openmv_v4", "full", "lvgl"])
def test_free_and_largest_are_the_firmwares(build: str, heap: int, tmp_path: Path) -> None:
    image = sim_both.firmware(build)
    if image is None or not sim_both.CAN_RUN:
        pytest.skip(sim_both.NO_IMAGE)
    (tmp_path / "program.py").write_text(sim_both.ASK_GC + _TELL, encoding="utf-8")
    real, ours = (
        sim_both.run(tmp_path, "--firmware", name, "--board-heap", str(heap))
        for name in (str(image), build)
    )
    assert real[2] == ours[2] == f"set {heap}"
    for found, board in zip(ours[:2], real[:2]):
        assert abs(int(found.split()[1]) - int(board.split()[1])) <= _NEAR, (found, board)


_ASK_OFTEN = """
import gc, other
free = [gc.mem_free()]
for i in range(20):
    free.append([str(i) * 40, gc.mem_free()][1])
try:
    other.fails()
except ValueError as e:
    free.append(gc.mem_free())
print(free)
raise ValueError(__file__ if "__file__" in globals() else "no file")
"""


@sim_both.needs_unix_port
def test_no_folder_name_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """That of the script, of the stand-in, of the library, of temporary files."""
    lib, shims, found = places.lib(), places.shims(), []
    for n in (1, 40, 90):
        here = tmp_path / ("n" * n)
        here.mkdir()
        for name, target in (("lib", lib), ("shims", shims)):
            (here / name).symlink_to(target)
            monkeypatch.setattr(places, name, lambda to=here / name: to)
        monkeypatch.setattr(tempfile, "tempdir", str(here))
        (here / "other.py").write_text("def fails():\n    raise ValueError\n")
        script = here / "program.py"
        assert run_standin.run(run_standin.Job(script, _ASK_OFTEN, record=True)) == 1
        said = capsys.readouterr().out.splitlines()
        assert f'  File "{script}", line 11, in <module>' in said
        assert said[-1] == f"{script} failed: ValueError: no file"
        found.append(said[0])
    assert found[0].startswith("[5") and len({*found}) == 1, found
