# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Flash packages: real ones as they are, broken ones in one line, and ours as kflash reads
them."""

from __future__ import annotations

import json
import random
import re
import zipfile
from pathlib import Path

import paths
import pytest
from devtest import raises
from maixmem_cli.flash import kfpkg
from maixmem_cli.flash.kfpkg import LIST_NAME, Member, PackageError, read_package, write_package

ONE = (
    '{"version": "0.1.0", "files": [{"address": 3145728, "bin": "a.bin", "sha256Prefix": false}]}'
)


def package(folder: Path, listing: str | bytes | None, **files: bytes) -> Path:
    """A package with this list and these files (a_bin=... is a.bin)."""
    path = folder / "x.kfpkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in files.items():
            z.writestr(name.replace("_", "."), data)
        if listing is not None:
            z.writestr(LIST_NAME, listing)
    return path


def refused(path: Path) -> str:
    text = str(raises(PackageError, read_package, path))
    assert text and "\n" not in text and len(text) < 300
    return text


# --- real packages ---


def real(name: str) -> Path:
    folder = paths.models()
    if folder is None:
        pytest.skip("no real models ($MAIXMEM_MODELS): real packages not read")
    return folder / name


@pytest.mark.parametrize(
    ("name", "member", "address", "nbytes"),
    [
        ("pkg_face_model_0x300000.kfpkg", "facedetect.kmodel", 0x300000, 388776),
        ("pkg_face_model_be_0x600000.kfpkg", "facedetect_be.kmodel", 0x600000, 388776),
    ],
)
def test_real_packages_are_read_as_they_are(
    name: str, member: str, address: int, nbytes: int
) -> None:
    (m,) = read_package(real(name))
    assert (m.name, m.address, m.nbytes, m.error, m.sha256_prefix) == (
        member,
        address,
        nbytes,
        None,
        False,
    )


def test_the_real_damaged_package_is_one_clear_line() -> None:
    """Its list is readable, with an unquoted hex address; its member is not."""
    (m,) = read_package(real("pkg_maixpy_sdk_demo.kfpkg"))
    assert (m.name, m.address, m.data, m.nbytes) == ("aug.kmodel", 0x200000, None, None)
    assert m.error.startswith("damaged, cannot be unpacked: ") and "\n" not in m.error


# --- the ways to write a list ---


@pytest.mark.parametrize(
    "address",
    ["3145728", "0x300000", "0x00300000", "0X300000", '"0x300000"', '"3145728"', '"0X300000"'],
)
def test_addresses(tmp_path: Path, address: str) -> None:
    listing = (
        f'{{"version": "0.1.0", "files": [{{"address": {address}, "bin": "a.bin",'
        ' "sha256Prefix": false}]}'
    )
    (m,) = read_package(package(tmp_path, listing, a_bin=b"123"))
    assert (m.address, m.data) == (0x300000, b"123")


def test_hex_inside_a_string_is_not_a_number(tmp_path: Path) -> None:
    listing = (
        '{"": "0.1.0", "files": [{"address": 0x10, "bin": "0x20.bin", "sha256Prefix": true, '
        '"note": "\\"0x30"}]}'
    )
    path = tmp_path / "x.kfpkg"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("0x20.bin", b"abc")
        z.writestr(LIST_NAME, listing)
    (m,) = read_package(path)
    assert (m.name, m.address, m.nbytes) == ("0x20.bin", 0x10, 3 + 37)


def test_the_empty_version_key_and_a_byte_order_mark(tmp_path: Path) -> None:
    listing = "\ufeff" + ONE.replace('"version"', '""')
    assert len(read_package(package(tmp_path, listing.encode(), a_bin=b"1"))) == 1


def test_an_entry_listed_twice_is_a_repeat(tmp_path: Path) -> None:
    entry = '{"address": 0, "bin": "a.bin", "sha256Prefix": false}'
    other = '{"address": 4096, "bin": "a.bin", "sha256Prefix": false}'
    members = read_package(
        package(tmp_path, f'{{"files": [{entry}, {entry}, {other}]}}', a_bin=b"1")
    )
    assert [(m.address, m.repeat) for m in members] == [(0, False), (0, True), (4096, False)]


@pytest.mark.parametrize("key", ["reverse4Bytes", "swap"])
def test_word_swapping_is_told(tmp_path: Path, key: str) -> None:
    listing = ONE.replace('"sha256Prefix": false', f'"{key}": true')
    assert read_package(package(tmp_path, listing, a_bin=b"1"))[0].swapped


# --- what is refused, and what is not believed ---


@pytest.mark.parametrize(
    ("listing", "says"),
    [
        (None, "no flash-list.json"),
        ("", "not JSON"),
        ("[]", "lists no files"),
        ("{}", "lists no files"),
        ('{"files": {}}', "lists no files"),
        ('{"files": []}', "lists no files"),
        ('{"files": [1]}', 'entry 1 has no "bin"'),
        ('{"files": [{"address": 1}]}', 'entry 1 has no "bin"'),
        ('{"files": [{"bin": ["a"], "address": 1}]}', 'entry 1 has no "bin"'),
        (ONE.replace("3145728", "-1"), "-1 is not a flash address"),
        (ONE.replace("3145728", "1.5"), "1.5 is not a flash address"),
        (ONE.replace("3145728", "true"), "True is not a flash address"),
        (ONE.replace("3145728", "null"), "None is not a flash address"),
        (ONE.replace("3145728", '"3MB"'), "'3MB' is not a flash address"),
        (ONE.replace("3145728", "0xZZ"), "not JSON"),
        (ONE.replace("3145728", "1" * 5000), "not JSON"),
        (ONE.replace("3145728", "0x" + "f" * 20000), "flash-list.json"),
        ("[" * 100000, "not JSON"),
        (ONE.encode("utf-16"), "damaged"),
        (ONE.replace("]", ',{"bin": "a.bin", "address": 1}' * 300 + "]"), "lists 301 files"),
        (" " * (kfpkg.MAX_LIST + 1), "unpacks to more than"),
    ],
)
def test_lists_that_are_refused(tmp_path: Path, listing: str | None, says: str) -> None:
    assert says in refused(package(tmp_path, listing, a_bin=b"1"))


def test_files_that_are_no_package(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.kfpkg") == "no such file"
    path = tmp_path / "x.kfpkg"
    for data in (b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x03\x00\x00\x00" * 100):
        path.write_bytes(data)
        refused(path)
    with path.open("wb") as f:
        f.truncate(kfpkg.MAX_TOTAL + 1)
    assert "bigger than" in refused(path)


def test_a_missing_member_is_an_error_of_that_member(tmp_path: Path) -> None:
    (m,) = read_package(package(tmp_path, ONE, b_bin=b"1"))
    assert (m.data, m.error) == (None, "listed, but not in the package")


def test_a_zip_bomb_stops_at_the_size_of_a_chip(tmp_path: Path) -> None:
    (m,) = read_package(package(tmp_path, ONE, a_bin=bytes(kfpkg.MAX_MEMBER + 1)))
    assert m.data is None and f"unpacks to more than {kfpkg.MAX_MEMBER} bytes" in m.error
    (m,) = read_package(package(tmp_path, ONE, a_bin=bytes(kfpkg.MAX_MEMBER)))
    assert m.nbytes == kfpkg.MAX_MEMBER


def test_a_size_that_lies_does_not_help_a_zip_bomb(tmp_path: Path) -> None:
    """The directory says 10 bytes, the stream unpacks to 20 MiB."""
    path = package(tmp_path, ONE, a_bin=bytes(20 << 20))
    data = bytearray(path.read_bytes())
    true, small = (20 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little")
    path.write_bytes(data.replace(true, small))
    (m,) = read_package(path)
    assert m.data is None or len(m.data) <= 10


def test_many_members_share_one_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kfpkg, "MAX_TOTAL", 10000)
    entries = [{"address": i * 4096, "bin": f"{i}.bin", "sha256Prefix": False} for i in range(4)]
    path = tmp_path / "x.kfpkg"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(LIST_NAME, json.dumps({"files": entries}))
        for e in entries:
            z.writestr(e["bin"], bytes(4000))
    assert [m.nbytes for m in read_package(path)] == [4000, 4000, None, None]


def test_damage_anywhere_is_members_or_one_line(tmp_path: Path) -> None:
    """Every byte that is flipped and every cut: members or PackageError, nothing else."""
    good = package(tmp_path, ONE, a_bin=random.Random(1).randbytes(300)).read_bytes()
    path = tmp_path / "y.kfpkg"
    told = 0
    for i in range(len(good)):
        for data in (good[:i], good[:i] + bytes([good[i] ^ 0xFF]) + good[i + 1 :]):
            path.write_bytes(data)
            try:
                for m in read_package(path):
                    assert (m.data is None) != (m.error is None)
                    told += m.error is not None
            except PackageError as e:
                assert str(e) and "\n" not in str(e)
                told += 1
    assert told > len(good)


def test_names_of_strangers_stay_on_one_line(tmp_path: Path) -> None:
    listing = ONE.replace("a.bin", "\\u001b[31m\\n" + "x" * 500).replace("3145728", "-1")
    text = refused(package(tmp_path, listing))
    assert "\x1b" not in text


# --- our own packages ---


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    members = [
        Member("/some/where/face.kmodel", 0x300000, b"face", None, False),
        Member("face.kmodel", 0x400000, b"other", None, False),
        Member("face.kmodel", 0x500000, b"face", None, False),
        Member("fw.bin", 0, b"fw", None, True),
        Member("swapped \u00e9.kmodel", 0x600000, b"swap", None, False, swapped=True),
    ]
    path = tmp_path / "x.kfpkg"
    write_package(path, members)
    back = read_package(path)
    assert [(m.address, m.data, m.sha256_prefix, m.swapped) for m in back] == [
        (m.address, m.data, m.sha256_prefix, m.swapped) for m in members
    ]
    assert [m.name for m in back] == [
        "face.kmodel",
        "face-2.kmodel",
        "face.kmodel",
        "fw.bin",
        "swapped_\u00e9.kmodel",
    ]
    first = path.read_bytes()
    write_package(path, members)
    assert path.read_bytes() == first


def test_kflash_reads_our_list(tmp_path: Path) -> None:
    """kflash turns `"address": X,` into a string by line and takes int(X, 0): one key a line, a
    comma behind it."""
    path = tmp_path / "x.kfpkg"
    write_package(
        path,
        [Member("a.kmodel", 0x300000, b"a", None, False), Member("f.bin", 0, b"f", None, True)],
    )
    text = zipfile.ZipFile(path).read(LIST_NAME).decode("ascii")
    lines = [line.strip() for line in text.splitlines() if "address" in line]
    assert lines == ['"address": 3145728,', '"address": 0,']
    listing = json.loads(re.sub(r'("address": )(.*),', r'\1"\2",', text))
    assert [(int(f["address"], 0), f["bin"], f["sha256Prefix"]) for f in listing["files"]] == [
        (0x300000, "a.kmodel", False),
        (0, "f.bin", True),
    ]


def test_a_member_without_data_is_not_packed(tmp_path: Path) -> None:
    gone = Member("a", 0, None, "damaged", False)
    assert "a: damaged" in str(raises(PackageError, write_package, tmp_path / "x", [gone]))
