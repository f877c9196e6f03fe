# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem kmodel`: exit status, --json, the verdicts, and packages."""

from __future__ import annotations

import json
import os
import threading
import zipfile
from pathlib import Path

import kmodel_build
import pytest
from click.testing import CliRunner, Result
from maixmem_cli.cli import main
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash.kfpkg import LIST_NAME, Member, write_package
from maixmem_cli.plan import kmodel_verdict
from maixmem_cli.plan.kmodel_verdict import METHODS, room
from maixmem_kmodel import KModel, read_info

KEYS = "file format nbytes layers main_mem inputs outputs need peak refuse warnings".split()
LAYERS = [("conv", 8), ("dequantize",), ("softmax",)]


def run(*args: object) -> Result:
    return CliRunner().invoke(main, ["kmodel", *map(str, args)], env={"COLUMNS": "200"})


def listed(*args: object) -> list[dict]:
    return json.loads(run("--json", *args).stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small = kmodel_build.v3((28, 28, 1), LAYERS)
    (tmp_path / "v3.kmodel").write_bytes(small.to_bytes())
    (tmp_path / "be.kmodel").write_bytes(kmodel_build.swapped(small).to_bytes())
    (tmp_path / "v4.kmodel").write_bytes(
        kmodel_build.v4((28, 28, 1), LAYERS, trailing=16).to_bytes()
    )
    big = kmodel_build.v4((28, 28, 1), LAYERS, main_mem=15974400)
    (tmp_path / "big.kmodel").write_bytes(big.to_bytes())
    tight = kmodel_build.v3((28, 28, 1), LAYERS, main_mem=2500000)
    (tmp_path / "tight.kmodel").write_bytes(tight.to_bytes())
    (tmp_path / "cut.kmodel").write_bytes(small.to_bytes()[:100])
    (tmp_path / "lfs.kmodel").write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    )
    return tmp_path


def test_json_has_one_object_for_each_model(folder: Path) -> None:
    found = listed(folder / "v3.kmodel", folder / "v4.kmodel")
    assert [o["format"] for o in found] == ["v3", "v4"]
    for o, name in zip(found, ("v3.kmodel", "v4.kmodel")):
        assert set(KEYS) <= set(o)
        m = read_info(str(folder / name))
        assert o["file"] == str(folder / name)
        assert (o["nbytes"], o["layers"], o["main_mem"]) == (m.nbytes, m.layers, m.main_mem)
        assert list(o["need"]) == list(o["peak"]) == list(METHODS)
        assert o["need"] == {how: m.need(how) for how in METHODS}
        assert o["peak"] == {how: m.peak(how) for how in METHODS}
        assert o["inputs"] == [{"shape": [1, 1, 28, 28], "type": "u8", "bytes": m.inputs[0][2]}]
    assert found[0]["refuse"] == {}
    assert set(found[1]["refuse"]) == {name for name, f in FIRMWARES.items() if not f.v4}
    assert any("16 bytes more" in text for text in found[1]["warnings"])


def test_exit_status(folder: Path) -> None:
    assert run(folder / "v3.kmodel").exit_code == 0
    assert run(folder / "be.kmodel").exit_code == 0
    assert run(folder / "v4.kmodel").exit_code == 0
    assert run(folder / "v4.kmodel", "--firmware", "minimum").exit_code == 1
    for name in ("big", "cut", "lfs"):
        assert run(folder / f"{name}.kmodel").exit_code == 1, name
        assert run(folder / "v3.kmodel", folder / f"{name}.kmodel").exit_code == 1, name
        assert run(folder / f"{name}.kmodel", "--json").exit_code == 1, name
    assert run(folder / "v3.kmodel", "--firmware", "none").exit_code == 2
    assert run(folder / "missing.kmodel").exit_code == 2
    assert run().exit_code == 2
    assert run(folder).exit_code == 2


def test_damage_is_one_object_that_says_what(folder: Path) -> None:
    cut, lfs = listed(folder / "cut.kmodel", folder / "lfs.kmodel")
    for o, text in ((cut, "offset 0x"), (lfs, "git lfs pull")):
        assert set(KEYS) <= set(o)
        assert text in o["error"]
        assert o["format"] is None and o["nbytes"] is None
        assert set(o["need"].values()) == {None}
        assert set(o["refuse"]) == set(FIRMWARES)
    assert "git lfs pull" in run(folder / "lfs.kmodel").stdout


def test_the_table_ends_with_a_verdict_for_each_build(folder: Path) -> None:
    lines = run(folder / "v4.kmodel", "--layers").stdout.splitlines()
    assert any("kpu_conv2d" in line and "28x28x1 -> 28x28x8" in line for line in lines)
    verdicts = [
        line.split() for line in lines if line.split()[:1] and line.split()[0] in FIRMWARES
    ]
    assert [v[0] for v in verdicts] == list(FIRMWARES)
    assert ["yes:" in v for v in verdicts] == [f.v4 for f in FIRMWARES.values()]
    assert lines.index(next(x for x in lines if "verdict" in x)) > len(lines) // 2
    one = run(folder / "v4.kmodel", "--firmware", "full").stdout
    assert "full" in one and "minimum" not in one


def test_a_smaller_gc_heap_may_be_the_answer(folder: Path) -> None:
    """2.5 MB fits no full build after power-on, and does with 64 KiB of GC heap less."""
    out = run(folder / "tight.kmodel", "--firmware", "full").stdout
    assert "yes:" in out and "gc_heap_size() is" in out
    size = int(out.split("gc_heap_size() is ")[1].split()[0])
    full = FIRMWARES["full"]
    needed = room(read_info(str(folder / "tight.kmodel")), "load_path")
    assert 65536 <= size < full.gc_heap
    assert full.heap + full.gc_heap - size >= needed


def test_packages(folder: Path) -> None:
    data = (folder / "v3.kmodel").read_bytes()
    members = [
        Member("maixpy.bin", 0, b"\x21\xa8\xef\xbe\xad\xde" + bytes(100), None, True),
        Member("a.kmodel", 0x300000, data, None, False),
        Member("b.kmodel", 0x400000, data, None, False, swapped=True),
        Member("font.bin", 0xA00000, bytes(1000), None, False),
        Member("bad.kmodel", 0x500000, data[:60], None, False),
    ]
    write_package(folder / "x.kfpkg", members)
    plain, swapped, bad = listed(folder / "x.kfpkg")
    assert plain["file"].endswith("x.kfpkg:a.kmodel@0x300000") and plain["swapped"] is False
    assert swapped["file"].endswith("@0x400000") and swapped["swapped"] is True
    assert plain["need"] == swapped["need"]
    assert bad["error"]
    assert run(folder / "x.kfpkg").exit_code == 1
    write_package(folder / "y.kfpkg", members[:3])
    assert run(folder / "y.kfpkg").exit_code == 0
    write_package(folder / "z.kfpkg", members[3:4])
    assert "no model" in listed(folder / "z.kfpkg")[0]["error"]
    (folder / "broken.kfpkg").write_bytes((folder / "x.kfpkg").read_bytes()[:50])
    assert listed(folder / "broken.kfpkg")[0]["error"]


@pytest.mark.parametrize("name", ["[/x].kmodel", "\\[/x].kmodel", ":smile:.kmodel"])
def test_names_are_shown_as_they_are(folder: Path, name: str) -> None:
    data = (folder / "v3.kmodel").read_bytes()
    with zipfile.ZipFile(folder / "n.kfpkg", "w") as z:
        z.writestr(name, data)
        entry = {"address": 0x300000, "bin": name, "sha256Prefix": False}
        z.writestr(LIST_NAME, json.dumps({"version": "0.1.0", "files": [entry]}))
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    done = run(folder / "n.kfpkg", folder / name)
    assert done.exit_code == 0, done.exception
    heads = "".join(line.rstrip(" ─") for line in done.stdout.splitlines())
    assert f"n.kfpkg:{name}@0x300000" in heads and f"{folder.name}/{name}" in heads


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("name", ["v3.kmodel", "cut.kmodel", "lfs.kmodel", "x.kfpkg"])
def test_what_comes_out_of_a_pipe_is_read_as_a_file_is(folder: Path, name: str) -> None:
    data = (folder / "v3.kmodel").read_bytes()
    write_package(folder / "x.kfpkg", [Member("a.kmodel", 0x300000, data, None, False)])
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    told = []
    for path in (pipe, folder / name):
        if path is pipe:
            threading.Thread(target=pipe.write_bytes, args=[(folder / name).read_bytes()]).start()
        (found,) = listed(path)
        told.append({**found, "file": found["file"].replace(str(path), "")})
    assert told[0] == told[1]


def test_a_file_without_end_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kmodel_verdict, "MAX_TOTAL", 1 << 20)
    (found,) = listed("/dev/zero")
    assert "more than 1048576 bytes" in found["error"]


@pytest.mark.parametrize(
    ("nbytes", "main_mem", "worked"),
    [(208072, 14112, 475136), (1885896, 188160, 2154496), (1910696, 9800, 2179072)],
)
def test_room_is_what_boards_needed(nbytes: int, main_mem: int, worked: int) -> None:
    """The least heap_free() with which kpu.load(address) of such a model worked on the firmware
    (v0.6.2_84), in steps of 4096; beside it a page for what the heap hides at its top."""
    m = KModel("v3", False, None)
    m.nbytes, m.main_mem = nbytes, main_mem
    assert worked <= room(m, "load_addr") <= worked + 4096
