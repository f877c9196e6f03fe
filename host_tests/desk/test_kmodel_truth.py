# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The kmodel reader against real models: what loaders allocated, and what netron reads."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import paths
import pytest
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.kmodel.layers import limits, read_layers, run_transient
from maixmem_cli.kmodel.v5 import read_v5
from maixmem_cli.plan.kmodel_verdict import METHODS, judge
from maixmem_kmodel import KModel, read_info

MODELS = paths.models()
#: the way to load -> the column with the bytes that a loader held after it
MEASURED = {
    "load_path": "maixpy_file_live",
    "load_addr": "maixpy_addr_live",
    "stream_single": "loadflash_single_live",
    "stream_dual": "loadflash_dual_live",
}
REFUSED = ("crash", "2002", "2003", "2015")
#: netron reads V5 of one dialect only, and counts what it shows, not what is loaded
NETRON_CANNOT = {"v5a": "Invalid header size"}


def rows() -> list[dict[str, str]]:
    if MODELS is None:
        return []
    with (MODELS / "TRUTH.tsv").open(encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t"))


ROWS = rows()
each = pytest.mark.parametrize("row", ROWS or [None], ids=lambda r: r["file"] if r else "none")
pytestmark = pytest.mark.skipif(
    MODELS is None, reason="no real models ($MAIXMEM_MODELS): forecasts not compared with loaders"
)


def model_of(row: dict[str, str]) -> KModel:
    return read_v5(str(MODELS / row["file"]))


def dialect(row: dict[str, str]) -> str:
    return {"3": "v3", "4": "v4", "5a": "v5a", "5b": "v5b", "refused": "v6+"}[row["version"]]


@each
def test_headers(row: dict[str, str]) -> None:
    m = model_of(row)
    assert m.format == dialect(row)
    assert m.size == int(row["file_size"])
    for name, column in (("nbytes", "walk_size"), ("layers", "layers"), ("main_mem", "main_mem")):
        assert getattr(m, name) == (int(row[column]) if row[column] else None), name


@each
def test_need_is_what_the_loader_held(row: dict[str, str]) -> None:
    m = model_of(row)
    for how, column in MEASURED.items():
        if "header>4096" in row["notes"] and how.startswith("stream"):
            assert m.need(how) is None  # it "loads", as garbage
        elif row[column].isdigit() and row[column] != "0":
            assert m.need(how) == int(row[column]), how
    if row["sdk_live"].isdigit() and m.format in ("v3", "v4"):
        assert m.need("sdk") == m.size + int(row["sdk_live"])
        assert m.peak("sdk") == m.size + int(row["sdk_peak"])
    elif m.format.startswith("v5"):
        assert (
            m.size + int(row["sdk_peak"]) <= m.need("sdk") <= m.size + int(row["sdk_peak"]) + 30000
        )


@each
def test_peak_without_the_flash_driver_is_what_the_loader_reached(row: dict[str, str]) -> None:
    m = model_of(row)
    if row["maixpy_file_peak"]:
        assert m.peak("load_path") == int(row["maixpy_file_peak"])
        assert m.peak("load_addr") >= int(row["maixpy_addr_peak"])


def can_run(m: KModel) -> bool:
    """What a loader takes may still never run: a V3 model whose first layer is no convolution."""
    return m.format != "v3" or m.first_type in (10240, 18)


@each
def test_refusals_are_those_of_the_loaders(row: dict[str, str]) -> None:
    m = model_of(row)
    both = {"name": "it", "v4": True, "ram": None}
    for firmware, columns in (
        (both, ("maixpy_file_rc", "maixpy_addr_rc")),
        ({**both, "v4": False}, ("maixpy_v3lib_file_rc",)),
    ):
        for how, column in zip(("load_path", "load_addr"), columns):
            why = m.unsupported_reason(firmware, how)
            refused = row[column] in REFUSED or not can_run(m) or m.swapped
            assert bool(why) == refused, (how, row[column], why)
            assert can_run(m) or m.swapped or row[column] in REFUSED or "2007" in why
    for how in ("stream_single", "stream_dual"):
        assert m.swapped or m.unsupported_reason(both, how)


@each
def test_inputs(row: dict[str, str]) -> None:
    m = model_of(row)
    if m.format == "v6+":
        return
    (shape, kind, _nbytes) = m.inputs[0]
    if m.format == "v3":
        shown = f"{shape[3]}x{shape[2]}x{shape[1]}" if shape else "none(err 2007)"
        assert shown == row["inputs"] or m.first_type != 10240
    else:
        name = {"f32": "float32", "u8": "uint8"}[kind] if m.format.startswith("v5") else kind
        assert row["inputs"].startswith(f"{name}{list(shape)}")


@each
def test_bodies_are_sound_and_the_sdk_transient_is_measured(row: dict[str, str]) -> None:
    m, layers = read_layers(str(MODELS / row["file"]))
    if m.format in ("v3", "v4"):
        assert len(layers) == m.layers
        assert layers[0].offset == m.header
        assert layers[-1].offset + layers[-1].size == m.nbytes
        assert not [text for text in limits(m, layers) if "KPU RAM" in text]
    if row["sdk_fc_transient"]:
        assert run_transient(m, layers) == int(row["sdk_fc_transient"])


@each
def test_reads_little(row: dict[str, str]) -> None:
    data = (MODELS / row["file"]).read_bytes()
    taken = 0

    def read(offset: int, n: int) -> bytes:
        nonlocal taken
        taken += n
        return data[offset : offset + n] + bytes(max(0, n - len(data[offset:])))

    m = read_info(0, read)
    assert m.format == dialect(row)
    assert taken <= 8192


@pytest.mark.parametrize("name", sorted(FIRMWARES))
def test_verdicts(name: str) -> None:
    """A build without V4 runs no V4, and none runs V5, or more main memory than there is RAM."""
    for row in ROWS:
        m = model_of(row)
        verdict = judge(m, FIRMWARES[name])
        if row["version"] not in ("3", "4") or (row["version"] == "4" and not FIRMWARES[name].v4):
            assert not verdict.good
        else:
            assert verdict.good == (can_run(m) and int(row["main_mem"]) < 6 << 20), row["file"]


# --- netron ---


def netron_folder() -> Path | None:
    spec = importlib.util.find_spec("netron")
    return Path(spec.origin).parent if spec and spec.origin and shutil.which("node") else None


@pytest.fixture(scope="module")
def netron() -> dict[str, Any]:
    folder = netron_folder()
    if folder is None:
        pytest.skip("no netron package or no node: layers not compared with netron")
    command = [
        "node",
        str(paths.RUNNERS / "netron_kmodel.mjs"),
        str(folder),
        *(str(MODELS / r["file"]) for r in ROWS),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {Path(o["file"]).name: o for o in found}


@each
def test_agrees_with_netron(row: dict[str, str], netron: dict[str, Any]) -> None:
    theirs = netron[row["file"]]
    m, layers = read_layers(str(MODELS / row["file"]))
    if m.format in NETRON_CANNOT:
        assert NETRON_CANNOT[m.format] in theirs["error"]
        return
    assert theirs["version"] == int(row["version"][0]) if row["version"] != "refused" else 6
    if m.format in ("v3", "v4"):
        assert [x.name for x in layers] == theirs["layers"]
        assert len(m.outputs) == len(theirs["outputs"])
        kinds = {"f32": "float32", "u8": "uint8", None: None}
        assert [kinds[t[1]] for t in m.outputs] == [o.get("datatype") for o in theirs["outputs"]]


def test_every_way_is_measured_or_known() -> None:
    assert {*MEASURED, "canmv", "sdk"} == set(METHODS)
