# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Our RKNN port and its stand-in against Rockchip's own librknnrt, unchanged, on an emulated
Arm."""

from __future__ import annotations

import ctypes
import os
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import bench
import pytest
from maixmem_rknn import api, read_file
from maixmem_rknn.container import _CHIPS


def first_difference(a: list[Any], b: list[Any]) -> str:
    """Where two lists of rows part, for people."""
    for k, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return f"row {k} of {len(a)}: real {x}, stand-in {y}; before: {a[max(0, k - 2) : k]}"
    return f"{len(a)} rows on the real one, {len(b)} on the stand-in" if len(a) != len(b) else ""


@pytest.mark.parametrize("version", bench.VERSIONS)
@pytest.mark.parametrize("program", ["rknn_calls.py", "rknn_port.py"])
def test_the_stand_in_does_what_the_library_does(program: str, version: str, tmp_path: Path):
    """Returns, sizes, attributes and live bytes after every call, of plain calls and of our
    port."""
    real = bench.rows(bench.rknn(version, program, version))
    assert len(real) > 30
    difference = first_difference(real, bench.on_stand_in(program, version, tmp_path))
    assert not difference


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_every_capability_of_the_guide_ends_with_nothing_held(version: str):
    """The rows of the port's program: forecasts hold, the port's figure covers the driver's, 0
    bytes live or held at the end."""
    rows = bench.rows(bench.rknn(version, "rknn_port.py", version))
    assert all(row[1] for row in rows if row[0] == "forecast holds")
    assert all(row[-1] is True for row in rows if row[0] != "forecast holds")
    assert rows[-1] == ["released", 0, 0, 0, True]


@pytest.mark.parametrize("version", bench.VERSIONS)
@pytest.mark.parametrize("example", ["rknn_memory.py", "rknn_switch.py", "rknn_cores.py"])
def test_an_example_runs_to_its_end(example: str, version: str, tmp_path: Path):
    """As a reader starts it, with real models under the names that it has."""
    models = bench.need("models") / "models"
    second = "rk3588_segment" if version >= "1.5.2" else "rk3588_two_inputs_1.5"
    shutil.copy(models / "rk3588_two_inputs_1.5.rknn", tmp_path / "detect.rknn")
    shutil.copy(models / f"{second}.rknn", tmp_path / "classify.rknn")
    done = bench.rknn(version, "rknn_example.py", example, str(tmp_path))
    assert bench.rows(done) == [["left", 0, 0]]
    said = done.stdout
    if example == "rknn_memory.py":
        assert "weights 5248, working memory 1114112, in all 13" in said
        assert " bytes (at most)\n" in said
        assert "in blocks of your own: 131072 bytes" in said
        assert "in two threads: [131072, 131072] bytes" in said
        assert "on shared weights: 131072 bytes" in said
        assert "one resolution only" in said and "left: 0 bytes" in said
    elif example == "rknn_cores.py":
        assert said.count("core ") == 3 and said.count(": 131072 bytes\n") == 12
        assert "frame 11: 131072 bytes" in said and "left: 0 bytes" in said
    else:
        assert said.count("detect: 131072 bytes") == said.count("classify: ") - 1 == 3
        assert "saved 1114112 bytes of working memory" in said


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_two_threads_and_one_manager(version: str, tmp_path: Path):
    """500 random calls while allocations fail: nothing is lost. On the stand-in too."""
    rows = bench.rows(bench.rknn(version, "rknn_threads.py", version))
    works = [["works", name, 1] for name in range(5)]
    end = ["end", 0, 0, 0, 0]
    wanted = [["done", 500, True, True], ["agree", True], *works, end, ["loaded", 1, 1], end]
    assert rows == wanted
    assert rows == bench.on_stand_in("rknn_threads.py", version, tmp_path)


@pytest.mark.parametrize("version", ["1.4.0", "1.6.0", "2.3.2"])
def test_no_order_of_public_calls_ends_the_process(version: str, tmp_path: Path):
    """10 random programs; $MAIXMEM_PROGRAMS="0 2000" runs as many. Nothing is left of any."""
    rows = bench.on_stand_in("rknn_programs.py", version, tmp_path)
    assert [(row[0], *row[2:]) for row in rows] == [("programs", True, 0)]
    if version in bench.VERSIONS:
        assert bench.rows(bench.rknn(version, "rknn_programs.py", version)) == rows


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_what_each_load_costs_for_good_is_said(version: str):
    """The runtime's own calls alone cost the process's heap some, the port says it."""
    rows = bench.rows(bench.rknn(version, "rknn_growth.py", version))
    assert rows
    for name, alone, ours, said, live in rows:
        assert alone > 1024 and 1024 < ours < 3 * alone, name
        assert "of the process's own heap for good" in said[0] and live == 0


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_out_of_file_descriptors(version: str):
    """200 loads with 6 to 40 free: told as that, nothing lost, and the port's figure covers the
    driver's all the time."""
    *loads, end = bench.rows(bench.rknn(version, "rknn_descriptors.py", version))
    assert {(row[2], row[3]) for row in loads} == {("files", True), ("loaded", True)}
    assert len(loads) >= 200 and end == ["end", 0, 0, 0, 0, 0]


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_without_a_driver_one_sentence_says_so(version: str):
    done = bench.rknn(version, "rknn_refusals.py", version, driver=False)
    (row,) = [row for row in bench.rows(done) if row[0] == "good"]
    assert row[1] == "KModelError" and "this system has no NPU driver" in row[2]
    assert "Next: load the rknpu module" in row[2]


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_files_that_cannot_run_are_refused_by_name(version: str):
    rows = {
        row[0]: row[1:] for row in bench.rows(bench.rknn(version, "rknn_refusals.py", version))
    }
    assert rows["good"] == ["loaded", ""]
    assert rows["other chip"][0] == "KModelError"
    assert "this chip is rk3588" in rows["other chip"][1]
    assert rows["toolkit 1"][0] == "KModelError"
    assert "a file of RKNN-Toolkit 1 (1.3.0), for RK1808" in rows["toolkit 1"][1]
    if version < "1.5.2":
        kind, text = rows["newer"]
        assert kind == "KModelError" and "made by RKNN-Toolkit 2.3.1" in text
        assert "update librknnrt" in text
    assert rows["live"] == [0]


def test_all_rknn_files_are_read():
    place = bench.need("models")
    files = sorted((place / "models").glob("*.rknn"))
    assert len(files) >= 24
    for file in files:
        found = read_file(file.read_bytes())
        if found.old:
            assert "rk1808" in file.name
        elif found.version > 1:
            (target,) = found.targets
            family = [chips for chips in _CHIPS if target in chips][0]
            assert file.name.split("_")[0] in family, file.name
        else:
            assert found.targets == ()


def _versions(kind: str) -> list[str]:
    try:
        return sorted(p.name for p in (bench.folder() / kind).glob("*"))
    except pytest.skip.Exception:
        return []


@pytest.mark.parametrize("name", [n for n in _versions("lib") if n.startswith("mini")] or [""])
def test_a_mini_runtime_has_every_call_that_is_needed(name: str):
    """Read, not run: they want another C library. Which calls they export is in their table of
    names."""
    place = bench.need(f"lib/{name}/librknnmrt.so")
    data = (place / "lib" / name / "librknnmrt.so").read_bytes()
    missing = {call for call in api.CALLS if b"\0" + call.encode() + b"\0" not in data}
    assert not missing
    later = {call for call in api.LATER_CALLS if b"\0" + call.encode() + b"\0" not in data}
    assert later - {"rknn_create_mem2"} <= {
        *("rknn_set_input_shapes", "rknn_mem_sync", "rknn_set_core_mask"),
    }
    assert ("rknn_create_mem2" in later) == (name < "mini-2")


_STRUCTS = {
    "rknn_tensor_mem": (
        api.TensorMem,
        {"virt": "virt_addr", "phys": "phys_addr", "priv": "priv_data"},
    ),
    "rknn_mem_size": (
        api.MemSize,
        {
            "weight": "total_weight_size",
            "internal": "total_internal_size",
            "dma": "total_dma_allocated_size",
            "sram": "total_sram_size",
            "sram_free": "free_sram_size",
        },
    ),
    "rknn_tensor_attr": (api.TensorAttr, {}),
    "rknn_input_output_num": (api.Counts, {"inputs": "n_input", "outputs": "n_output"}),
    "rknn_sdk_version": (api.Version, {"api": "api_version", "driver": "drv_version"}),
}
_INPUT_RANGE = {"count": "shape_number", "shapes": "dyn_range"}


@pytest.mark.parametrize("name", _versions("include") or [""])
@pytest.mark.parametrize("compiler", ["gcc", "arm-linux-gnueabihf-gcc"])
def test_layouts_are_those_of_every_header(name: str, compiler: str, tmp_path: Path):
    """Sizes and offsets of our structures, asserted by a compiler against the vendor's header, 64
    and 32 bit."""
    header = bench.need(f"include/{name}/rknn_api.h") / "include" / name / "rknn_api.h"
    if not shutil.which(compiler):
        pytest.skip(f"layouts of rknn_api.h were not compiled: no {compiler}")
    text = header.read_text(errors="replace")
    structs = dict(_STRUCTS)
    if "_rknn_input_range" in text:
        structs["rknn_input_range"] = (api.InputRange, _INPUT_RANGE)
    lines = ["#include <stddef.h>", f'#include "{header}"']
    for struct, (ours, names) in structs.items():
        size = ctypes.sizeof(ours)
        lines.append(f'_Static_assert(sizeof({struct}) == {size}, "{struct}");')
        for field, *_ in ours._fields_:
            theirs = names.get(field, field)
            if theirs == "h_stride" and theirs not in text:
                continue
            at = getattr(ours, field).offset
            lines.append(f'_Static_assert(offsetof({struct}, {theirs}) == {at}, "{theirs}");')
    file = tmp_path / "layout.c"
    file.write_text("\n".join(lines) + "\n")
    command = [compiler, "-fsyntax-only", "-w", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1500:]


# bytes of the outputs, and the first runtime that takes the file
FILES = {
    "rk3588_two_inputs_1.2.rknn": ([524288], "1.4.0"),  # container 1
    "rk3588_two_inputs_1.5.rknn": ([131072], "1.4.0"),  # 2
    "rk3588_two_inputs.rknn": ([131072], "1.5.2"),  # 6, and so are the rest
    "rk3588_segment.rknn": ([294912], "1.5.2"),
}


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_files_of_every_container_run(version: str):
    rows = bench.rows(bench.rknn(version, "rknn_files.py", *FILES))
    found = {row[1]: row for row in rows if row[0] not in ("begin", "end")}
    for name, (lengths, first) in FILES.items():
        taken = ["ran", name, [True, True], lengths]
        assert found[name] == taken if version >= first else found[name][0] == "KModelError"
    assert all(row[1:] == [0, 0, 0] for row in rows if row[0] == "end")


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
def test_a_model_with_an_operator_of_its_own(version: str):
    """1.5.2 would end the process, and is not asked; 1.6.0 loads it and does not run it, as
    long as nobody registers the operator."""
    rows = bench.rows(bench.rknn(version, "rknn_files.py", "rk3588_float16.rknn"))
    error = ["RknnError", "rk3588_float16.rknn", -1]
    if version == "1.5.2":
        error = ["KModelError", "rk3588_float16.rknn", None]
    assert rows[1:] == [error, ["end", 0, 0, 0]]


@pytest.mark.parametrize("version", ["1.4.0", "1.5.2", "1.6.0"])
def test_files_over_which_the_runtime_ends_the_process(version: str):
    """A child asks first, so this process goes on: models of another chip where nobody tells it,
    damaged files."""
    names = ("rv1106_facenet.rknn", "rk3588_two_inputs_1.5.rknn")
    rows = bench.rows(bench.rknn(version, "rknn_ends.py", "1,3,15,24", *names))
    said = [row[-1] for row in rows if row[0] in names]
    assert len(said) == 10 and "told" in said
    assert [text for text in said if "ends the process (SIG" in text and "copy it again" in text]
    assert [row for row in rows if row[0] == "end"] == [["end", 0, 0, 0]] * 2


@pytest.mark.parametrize("version", ["1.4.0", "1.5.2", "1.6.0"])
def test_one_interrupt_loses_nothing(version: str):
    """A few of each kind; $MAIXMEM_INTERRUPTS=2000 makes so many, 9 minutes of CPU for which
    $MAIXMEM_BENCH_SECONDS has to allow."""
    runs = os.environ.get("MAIXMEM_INTERRUPTS", "20")
    found = bench.rows(bench.rknn(version, "rknn_interrupts.py", version, runs))
    lengths, in_main, in_work, by_alarm, end = found
    assert min(lengths[1:3]) > 1000
    assert in_main == ["bytecodes", int(runs), int(runs), []]
    assert in_work == ["signals", int(runs), int(runs), []]
    assert by_alarm[2] > 0 and by_alarm[3] == []
    assert end[:4] == ["end", 0, 0, 0] and end[4] <= 3


@pytest.mark.parametrize("version", ["1.4.0", "1.6.0"])
def test_few_addresses_left(version: str):
    """Refused before the runtime can lose anything; what it lost all the same is counted."""
    rows = bench.rows(bench.rknn(version, "rknn_unmapped.py", version))
    assert {row[3] for row in rows} == {"NoRoom", "loaded", "MemoryError"} - (
        {"MemoryError"} if version == "1.4.0" else set()
    )
    for *_, counted, live, used, leaked in rows:
        assert 0 <= counted and live == used == leaked


@pytest.mark.parametrize("version", ["1.4.0", "1.6.0"])
def test_fifty_threads_and_room_for_one(version: str):
    """wait = 3 x 50 x (load and hold, as measured): each is served, in the order in which they
    came; an alarm ends a wait."""
    stopped, served, end = bench.rows(bench.rknn(version, "rknn_fifty.py", version))
    assert stopped == ["ended by the alarm", 49]
    assert served == ["served", 50, 0, True, True]
    assert end == ["end", 0, 0, 0, 0]


@pytest.mark.parametrize("version", bench.VERSIONS)
def test_forecasts_of_many_option_sets(version: str):
    """What the runtime makes itself included: never below what the driver gave at most."""
    ratios = [row[2] for row in bench.rows(bench.rknn(version, "rknn_forecasts.py", version))]
    assert len(ratios) >= 45 and min(ratios) >= 1
    assert statistics.median(ratios) <= 1.02


@pytest.mark.parametrize("version", ["1.5.2", "1.6.0"])
def test_growth_is_said_through_a_manager(version: str):
    """After 50 loads and 512 KiB, near what the process has grown by."""
    first, said, grown = bench.rows(bench.rknn(version, "rknn_switching.py", version))[0]
    assert 50 <= first <= 120
    assert 0.8 * grown <= said <= 1.2 * grown
