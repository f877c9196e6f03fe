# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem flash` and `maixmem kfpkg` as a user runs them, and the picture."""

from __future__ import annotations

import hashlib
import json
import os
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import kmodel_build
import paths
import pytest
from click.testing import CliRunner, Result
from maixmem_cli.cli import main
from maixmem_cli.firmware.builds import FIRMWARES
from maixmem_cli.flash.kfpkg import LIST_NAME, read_package
from maixmem_cli.flash.svg_map import draw
from maixmem_cli.text.numbers import parse_size
from maixmem_flash import FlashMap
from maixmem_k210_chip import FLASH_SIZE

# a desk has no GC heap to keep free: with the stand-in's, a scan of 16 MiB would collect 512 times
pytestmark = pytest.mark.usefixtures("plain_python")

PROGRAM = b"\x21\xa8\xef\xbe\xad\xde"  # how a firmware .bin begins
SVG = "{http://www.w3.org/2000/svg}"


def flash(*args: object) -> Result:
    return CliRunner().invoke(main, ["flash", *map(str, args)], env={"COLUMNS": "200"})


def kfpkg(*args: object) -> Result:
    return CliRunner().invoke(main, ["kfpkg", *map(str, args)], env={"COLUMNS": "200"})


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "face.kmodel"
    path.write_bytes(kmodel_build.v3((8, 8, 1), [("conv", 4), ("raw", 12, 100_000)]).to_bytes())
    return path


@pytest.fixture
def firmware(tmp_path: Path) -> Path:
    path = tmp_path / "fw.bin"
    path.write_bytes(PROGRAM + bytes(FIRMWARES["full"].image - len(PROGRAM)))
    return path


def dump(tmp_path: Path, size: int = FLASH_SIZE, **parts: bytes) -> Path:
    """A dump with parts at hexadecimal addresses: at300000=bytes."""
    data = bytearray(b"\xff" * size)
    for name, part in parts.items():
        start = int(name[2:], 16)
        data[start : start + len(part)] = part
    path = tmp_path / "dump.img"
    path.write_bytes(data)
    return path


def image(body: bytes) -> bytes:
    data = b"\x00" + len(body).to_bytes(4, "little") + body
    return data + hashlib.sha256(data).digest()


def test_a_good_layout(firmware: Path, model: Path) -> None:
    result = flash(firmware, f"{model}@0x300000")
    assert result.exit_code == 0, result.output
    assert "0x2046e5" in result.output and "no conflict" in result.output


def test_a_model_inside_the_firmware(firmware: Path, model: Path) -> None:
    result = flash(firmware, f"{model}@0x200000", "--suggest")
    assert result.exit_code == 1
    assert "fw.bin 0x000000..0x2046e5 overlaps face.kmodel 0x200000.." in result.output
    assert "fewest moves: face.kmodel@0x300000" in result.output


def test_without_a_firmware_the_largest_build_may_be_there(model: Path) -> None:
    for address in ("0x1000", "0x100000", "0x200000", "0x23F000"):
        result = flash(f"{model}@{address}")
        assert result.exit_code == 1 and "no conflict" not in result.output, address
        assert "firmware (assumed) 0x000000..0x23f4e5 overlaps face.kmodel" in result.output
        assert "--firmware says which it is" in result.output
        assert "fewest moves: face.kmodel@0x300000" in result.output
    assert flash(f"{model}@0x240000").exit_code == 0
    answer = json.loads(flash(f"{model}@0x100000", "--json").output)
    assert [(c["why"], c["first"]) for c in answer["conflicts"]] == [
        ("overlap", "firmware (assumed)")
    ]
    assert flash(f"{model}@0x0", "--svg", model.with_suffix(".svg")).exit_code == 1


def test_the_firmware_that_is_there_can_be_told(
    model: Path, firmware: Path, tmp_path: Path
) -> None:
    assert flash(f"{model}@0x100000", "--firmware", "minimum").exit_code == 0
    assert flash(f"{model}@0xA0000", "--firmware", "minimum").exit_code == 1
    assert flash(f"{model}@0x100000", "--firmware", "full").exit_code == 1
    own = tmp_path / "own.bin"
    own.write_bytes(PROGRAM + bytes(0x80000 - len(PROGRAM)))
    result = flash(f"{model}@0x90000", "--firmware", own)
    assert result.exit_code == 0 and "firmware (own.bin)" in result.output
    assert "0x080025" in result.output
    result = flash(firmware, "--firmware", "full")
    assert result.exit_code == 2 and "has fw.bin 0x000000..0x2046e5 already" in result.output
    result = flash(f"{model}@0x300000", "--firmware", "huge")
    assert result.exit_code == 2 and "'huge' is no firmware" in result.output
    result = flash(f"{model}@0x300000", "--firmware", model)
    assert result.exit_code == 2 and "no firmware image" in result.output


def test_json_has_both_verdicts_apart(firmware: Path, model: Path) -> None:
    answer = json.loads(flash(firmware, f"{model}@0x205000", f"{model}@0xD00000", "--json").output)
    assert [(c["why"], c["first"], c["second"]) for c in answer["conflicts"]] == [
        ("overlap", "SPIFFS", "face.kmodel")
    ]
    assert [(c["why"], c["first"], c["start"], c["end"]) for c in answer["risks"]] == [
        ("padding", "fw.bin", 0x205000, 0x210000)
    ]
    assert [f["what"] for f in answer["findings"]] == ["overlap"]
    assert [m["name"] for m in answer["moves"]] == ["face.kmodel"]


def test_risks_alone_are_no_findings(firmware: Path, model: Path) -> None:
    result = flash(firmware, f"{model}@0x205000")
    assert result.exit_code == 0 and "risk" in result.output and "see the risks" in result.output


def test_suggestions_hold_under_every_official_build(model: Path) -> None:
    places = json.loads(
        flash(f"{model}@0x100000", f"{model}@0x100000", "--suggest", "--json").output
    )["suggest"]
    assert len(places) == 2
    for build in FIRMWARES.values():
        m = FlashMap()
        m.add("firmware", 0, build.end, "firmware")
        for place in places:
            m.add(place["name"], place["to"], model.stat().st_size, "model")
        assert m.check() == []


def test_a_crooked_address_has_the_next_good_ones(model: Path) -> None:
    first = f"{model}@0x300000"
    end = 0x300000 + model.stat().st_size
    result = flash(first, f"{model}@{end + 1:#x}")
    assert result.exit_code == 1
    near = -(-end // 4096) * 4096
    assert f"next: {near:#08x}, or 0x320000 for flashers that write" in result.output


def test_sizes_of_chips(model: Path) -> None:
    assert flash(f"{model}@0x4FF000", "--size", "8M").exit_code == 1
    assert flash(f"{model}@0x400000", "--size", "8M").exit_code == 0
    assert flash(f"{model}@0xFFF000").exit_code == 1
    for size in ("0", "17M", "5000"):
        assert flash(f"{model}@0x300000", "--size", size).exit_code == 2


def test_packages_and_damage(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "x.kfpkg"
    entry = '{"address": 0x300000, "bin": "a.kmodel", "sha256Prefix": false}'
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("a.kmodel", model.read_bytes())
        z.writestr(LIST_NAME, f'{{"": "0.1.0", "files": [{entry}, {entry}]}}')
    answer = json.loads(flash(path, "--json").output)
    assert [r["name"] for r in answer["regions"]] == ["firmware (assumed)", "a.kmodel", "SPIFFS"]
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(LIST_NAME, f'{{"files": [{entry}]}}')
    result = flash(path)
    assert (
        result.exit_code == 1
        and "a.kmodel at 0x300000: listed, but not in the package" in result.output
    )


def test_a_cut_model_is_told(tmp_path: Path, model: Path) -> None:
    model.write_bytes(model.read_bytes()[:-5000])
    result = flash(f"{model}@0x300000")
    assert result.exit_code == 1 and "face.kmodel" in result.output


def test_a_dump_of_a_good_chip(tmp_path: Path, model: Path) -> None:
    path = dump(tmp_path, at000000=image(PROGRAM + bytes(9000)), at300000=model.read_bytes())
    answer = json.loads(flash(path, "--json").output)
    assert [(r["name"], r["kind"]) for r in answer["regions"] if r["kind"] != "free"] == [
        ("firmware", "firmware"),
        ("v3 model", "model"),
        ("SPIFFS", "filesystem"),
    ]
    assert answer["regions"][0]["intact"] is True and answer["findings"] == []


def test_a_dump_with_a_model_in_the_firmware(tmp_path: Path, model: Path) -> None:
    path = dump(tmp_path, at000000=image(PROGRAM + bytes(0x12000)), at010000=model.read_bytes())
    result = flash(path)
    assert result.exit_code == 1
    assert "overlap" in result.output and "SHA-256 does not match" in result.output


def test_a_new_file_beside_a_dump(tmp_path: Path, model: Path) -> None:
    path = dump(tmp_path, at000000=image(PROGRAM + bytes(9000)), at300000=model.read_bytes())
    assert flash(path, f"{model}@0x400000").exit_code == 0
    assert flash(path, f"{model}@0x308000").exit_code == 1
    assert flash(path, f"{model}@0x300000").exit_code == 0, (
        "the same model at its place is no conflict"
    )


def test_a_dump_of_another_chip_is_asked_about(tmp_path: Path) -> None:
    path = dump(tmp_path, 8 << 20)
    result = flash(path)
    assert result.exit_code == 2 and "--size 8388608" in result.output
    assert flash(path, "--size", "8M").exit_code == 1  # no firmware on it


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ("none.kmodel@0x300000", "no such file"),
        ("none.bin", "no such file"),
        ("{model}@here", "'here' is not an address"),
        ("{model}@-4096", "negative"),
        ("{model}@1.3K", "'1.3K' is not an address"),
        ("/proc/self/mem@0x300000", "cannot be read"),
        ("/dev/zero@0x300000", "/dev/zero: no such file"),
        ("{model}", "no firmware, package or flash dump"),
        ("{empty}@0", "empty file"),
        ("{notzip}", "no firmware, package or flash dump"),
        ("{nolist}", "no flash-list.json"),
    ],
)
def test_wrong_use_is_one_line_and_2(tmp_path: Path, model: Path, item: str, says: str) -> None:
    names = {
        "model": model,
        "empty": tmp_path / "empty",
        "notzip": tmp_path / "x.kfpkg",
        "nolist": tmp_path / "y.kfpkg",
    }
    names["empty"].write_bytes(b"")
    names["notzip"].write_bytes(b"PK\x03\x04 not")
    zipfile.ZipFile(names["nolist"], "w").close()
    result = flash(item.format(**names))
    assert result.exit_code == 2 and says in result.output, result.output
    (line,) = result.output.splitlines()
    assert line.startswith("maixmem: ") and "Next: " in line


@pytest.mark.parametrize("size", ["1M", "1.5M", "2M", "3M", "8M"])
def test_no_place_of_a_model_is_where_a_firmware_begins(model: Path, size: str) -> None:
    chip = parse_size(size)
    for address in (0, 0x10000, chip - 0x20000, chip - 0x1000):
        answer = json.loads(
            flash(f"{model}@{address:#x}", "--size", size, "--suggest", "--json").output
        )
        for places in (answer["suggest"], answer.get("moves", [])):
            assert isinstance(places, str) or all(p["to"] > 0 for p in places), answer


def test_addresses_are_written_as_sizes_are(model: Path) -> None:
    found = [
        json.loads(flash(f"{model}@{text}", "--json").output)["regions"][1]["start"]
        for text in ("3M", "3072K", "0x300000", "3145728", "3.5M")
    ]
    assert found == [0x300000] * 4 + [0x380000]


@pytest.mark.skipif(not hasattr(os, "geteuid") or not os.geteuid(), reason="root may read all")
def test_a_file_that_may_not_be_read(model: Path) -> None:
    model.chmod(0)
    result = flash(f"{model}@0x300000")
    assert result.exit_code == 2 and "cannot be read" in result.output


@pytest.mark.parametrize(
    "name", ["[/x].kmodel", "\\[/x].kmodel", ":smile:.kmodel", "[red]a\\.kmodel"]
)
def test_names_are_shown_as_they_are(tmp_path: Path, model: Path, name: str) -> None:
    path = tmp_path / "x.kfpkg"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(name, model.read_bytes())
        entry = {"address": 0x300000, "bin": name, "sha256Prefix": False}
        again = {**entry, "address": 0x301000}
        z.writestr(LIST_NAME, json.dumps({"version": "0.1.0", "files": [entry, again]}))
    result = flash(path, "--suggest")
    assert result.exit_code == 1, result.output
    lines = result.output.splitlines()
    assert any(f" {name} " in line for line in lines), lines
    assert any(f"{name} 0x300000" in line and "overlaps" in line for line in lines), lines
    assert any(f"fewest moves: {name}@" in line for line in lines), lines


@pytest.mark.parametrize("place", ["/nonexist/x.svg", "/dev/full"])
def test_a_picture_that_cannot_be_written(model: Path, place: str) -> None:
    result = flash(f"{model}@0x300000", "--svg", place)
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert "--svg" in line and place in line and "cannot be written" in line and "Next: " in line
    told = json.loads(flash(f"{model}@0x300000", "--svg", place, "--json").output)
    assert list(told) == ["error"] and place in told["error"]


def test_a_name_with_an_at_sign(tmp_path: Path, firmware: Path) -> None:
    path = tmp_path / "fw@home.bin"
    path.write_bytes(firmware.read_bytes())
    assert flash(path).exit_code == 0


# --- maixmem kfpkg ---


def test_a_package_that_passes_our_own_check(tmp_path: Path, model: Path, firmware: Path) -> None:
    path = tmp_path / "x.kfpkg"
    result = kfpkg(firmware, f"{model}@0x300000", f"{model}@0x400000", "-o", path)
    assert result.exit_code == 0, result.output
    assert [(m.name, m.address, m.sha256_prefix) for m in read_package(path)] == [
        ("fw.bin", 0, True),
        ("face.kmodel", 0x300000, False),
        ("face.kmodel", 0x400000, False),
    ]
    assert flash(path).exit_code == 0


@pytest.mark.parametrize("place", ["/nonexist/x.kfpkg", "/dev/full"])
def test_a_package_that_cannot_be_written(model: Path, place: str) -> None:
    result = kfpkg(f"{model}@0x300000", "-o", place)
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert "--output" in line and place in line and "cannot be written" in line


def test_a_package_that_does_not_read_back(model: Path) -> None:
    result = kfpkg(f"{model}@0x300000", "-o", "/dev/null")
    assert result.exit_code == 1
    (line,) = result.output.splitlines()
    assert "does not read back" in line and "Next: " in line


def test_a_bad_layout_is_not_packed(tmp_path: Path, model: Path, firmware: Path) -> None:
    path = tmp_path / "x.kfpkg"
    for items in (
        [firmware, f"{model}@0x200000"],
        [f"{model}@0x300001"],
        [f"{model}@0xD00000"],
        [f"{model}@0x0"],
        [f"{model}@0x100000"],
        [f"{model}@0xFFF000"],
    ):
        result = kfpkg(*items, "-o", path)
        assert result.exit_code == 1 and "not written" in result.output
        assert not path.exists()
    result = kfpkg(f"{model}@0x100000", "-o", path, "--firmware", "minimum")
    assert result.exit_code == 0 and path.exists()
    assert kfpkg(dump(tmp_path), "-o", path).exit_code != 0


def test_the_picture_is_to_scale_and_well_formed(
    tmp_path: Path, firmware: Path, model: Path
) -> None:
    picture = tmp_path / "x.svg"
    flash(firmware, f"{model}@0x200000", f"{model}@0x800000", "--svg", picture)
    root = ET.parse(picture).getroot()
    width = float(root.get("width"))
    titles = {t.text: e for e in root.iter(f"{SVG}rect") for t in e.iter(f"{SVG}title")}
    second = titles[f"face.kmodel 0x800000..{0x800000 + model.stat().st_size:#x}"]
    assert abs(float(second.get("x")) - width / 2) < 1
    assert [t for t in titles if "overlaps" in t]
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("width") != "100%":
            assert (
                0 <= float(rect.get("x", 0))
                and float(rect.get("x", 0)) + float(rect.get("width")) <= width
            )


# --- real packages ---


def test_real_packages_through_the_command() -> None:
    folder = paths.models()
    if folder is None:
        pytest.skip("no real models ($MAIXMEM_MODELS): real packages not checked")
    names = ("pkg_face_model_0x300000.kfpkg", "pkg_face_model_be_0x600000.kfpkg")
    result = flash(*[folder / n for n in names], "--json")
    assert result.exit_code == 0
    regions = json.loads(result.output)["regions"]
    assert [(r["start"], r["end"], r["kind"]) for r in regions[1:3]] == [
        (0x300000, 0x35EEA8, "model"),
        (0x600000, 0x65EEA8, "model"),
    ]
    damaged = flash(folder / "pkg_maixpy_sdk_demo.kfpkg")
    assert damaged.exit_code == 1
    lines = [line for line in damaged.output.splitlines() if "aug.kmodel" in line]
    assert len(lines) == 1 and "aug.kmodel at 0x200000: damaged, cannot be unpacked" in lines[0]


def test_the_picture_takes_any_name_and_any_layout() -> None:
    m = FlashMap(1 << 20)
    m.add('<b>&"\x1b\x00' + "n" * 300, 0, 10, "firmware")
    m.add("far", 9 << 20, 1 << 20, "model")
    for i in range(40):
        m.add(str(i), 1000 * i, 5000, "data")
    text = "".join(ET.fromstring(draw(m)).itertext())
    assert '<b>&"' in text and "\x1b" not in text
