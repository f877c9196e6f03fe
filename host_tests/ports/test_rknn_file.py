# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The container of .rknn files, and the structures of rknn_api.h on both pointer sizes."""

from __future__ import annotations

import ctypes
import json
import random
import shutil
import struct
import subprocess
import sys

import maixmem_rknn
import pytest
from maixmem import KModelError
from rknn_raw import SEGMENT, api, port, small

read_file = maixmem_rknn.read_file


def container(targets, graph=100, version=6, start=64):
    """A .rknn file around a graph of zeros."""
    text = (
        json.dumps({"target_platform": targets}).encode()
        if not isinstance(targets, bytes)
        else targets
    )
    head = b"RKNN\0\0\0\0" + struct.pack("<QQ", version, graph)
    return head.ljust(start, b"\0") + bytes(graph) + struct.pack("<Q", len(text)) + text


def test_what_a_file_says():
    found = read_file(SEGMENT)
    assert (found.nbytes, found.version, found.targets, found.encrypted) == (
        2738961,
        6,
        ("rk3588",),
        False,
    )
    assert read_file(container(["RK3566", "rk3568"])).targets == ("rk3566", "rk3568")
    assert read_file(container("rv1106")).targets == ("rv1106",)
    # a container of the first version is not believed: the vendor's own for RK3588 says rk3566,
    # and runs
    assert read_file(container("rk3566", version=1, start=24)).targets == ()
    assert read_file(container("rk3588", version=0x1002)).targets == ("rk3588",)
    assert read_file(memoryview(container("rk3588"))).targets == ("rk3588",)
    for text in (
        b"",
        b"{}",
        b"[1]",
        b"\xff",
        b'{"target_platform": 5}',
        b'{"target_platform": [5]}',
        b"[" * 5000,
    ):
        assert read_file(container(text)).targets == ()
    assert read_file(b"CYPTRKNN" + bytes(100)).encrypted


@pytest.mark.parametrize(
    "targets, soc, runs",
    [
        (["rk3588"], "rk3588", True),
        (["rk3588"], "rk3588s", True),
        (["rk3566"], "rk3568", True),
        (["rv1103"], "rv1106", True),
        (["rk3566"], "rk3588", False),
        (["rk3566", "rk3588"], "rk3588", True),
        (["rk3566"], None, True),
        (["rk3566"], "rv1106g3", True),
        (["rk9999"], "rk3588", True),
        ([], "rk3588", True),
    ],
)
def test_chips(targets, soc, runs):
    text = read_file(container(targets)).refuse(soc)
    assert (text is None) == runs
    if not runs:
        assert targets[0] in text and soc in text


@pytest.mark.parametrize("size", [0, 3, 8, 23, 24, 63, 64, 163, 171, 175])
def test_a_cut_file_is_named(size):
    whole = container(["rk3588"])
    with pytest.raises(KModelError, match="offset"):
        read_file(whole[:size])


def test_total_on_bad_input():
    """30,000 damaged containers: a RknnFile or a KModelError, nothing else."""
    rng = random.Random(8)
    whole = bytearray(container(["rk3588"]))
    edges = (0, 1, 0xFF, 0x7FFFFFFF, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1)
    for _ in range(30_000):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            how = rng.randrange(4)
            if how == 0 and data:
                data[rng.randrange(len(data))] = rng.randrange(256)
            elif how == 1:
                del data[rng.randrange(len(data) + 1) :]
            elif how == 2 and len(data) > 32:
                struct.pack_into(
                    "<Q", data, rng.choice((8, 16, min(164, len(data) - 8))), rng.choice(edges)
                )
            else:
                data += bytes(rng.randrange(40))
        try:
            assert read_file(data).nbytes == len(data)
        except KModelError as e:
            assert "offset" in str(e)


def test_the_device_tree_names_the_chip(tmp_path, monkeypatch):
    file = tmp_path / "compatible"
    monkeypatch.setattr(port, "_DEVICE_TREE", str(file))
    assert port._read_soc() is None
    for text, soc in (
        (b"radxa,rock-5b\0rockchip,rk3588\0", "rk3588"),
        (b"rockchip,rk3588s-evb1-lp4x-v10\0rockchip,rk3588s\0", "rk3588s"),
        (b"rockchip,rv1106g-evb1\0rockchip,rv1106\0", "rv1106"),
        (b"sipeed,maixcam\0", None),
        (b"vendor,box\0rockchip,rv1106g3\0", "rv1106g3"),
        (b"\xff\xfe", None),
    ):
        file.write_bytes(text)
        assert port._read_soc() == soc
    file.write_bytes(b"rockchip,rk3566\0")
    from rknn_raw import Raw

    assert port.Port(Raw().lib).soc == "rk3566"


def test_no_library_here(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    with pytest.raises(ImportError, match=r"neither librknnrt\.so nor librknnmrt\.so"):
        port.open_library()


# --- layouts ---

_C_TYPES = {
    ctypes.c_uint64: "unsigned long long",
    ctypes.c_int32: "int",
    ctypes.c_uint32: "unsigned",
    ctypes.c_uint8: "unsigned char",
    ctypes.c_int8: "signed char",
    ctypes.c_char: "char",
    ctypes.c_float: "float",
    ctypes.c_void_p: "void *",
}


def c_source(pointer):
    """Our structures as C with assertions on size and every offset, for one pointer size."""
    lines = []
    for kind, sizes in api.SIZES.items():
        fields = []
        for name, type_ in kind._fields_:
            base = getattr(type_, "_type_", type_) if issubclass(type_, ctypes.Array) else type_
            count = f"[{type_._length_}]" if issubclass(type_, ctypes.Array) else ""
            c_type = "unsigned" if name == "ctx" and pointer == 4 else _C_TYPES[base]
            fields.append(f"{c_type} {name}{count};")
        lines.append(f"struct {kind.__name__} {{ {' '.join(fields)} }};")
        lines.append(
            f"_Static_assert(sizeof(struct {kind.__name__}) == {sizes[pointer == 4]}, "
            f'"{kind.__name__}");'
        )
    at = ["virt 0", "phys 8", "fd 16", "offset 20", "size 24", "flags 28", "priv 32"]
    for name, offset in (text.split() for text in at):
        lines.append(
            f'_Static_assert(__builtin_offsetof(struct TensorMem, {name}) == {offset}, "{name}");'
        )
    for name, offset in (
        ("weight", 0),
        ("internal", 4),
        ("dma", 8),
        ("sram", 16),
        ("sram_free", 20),
        ("reserved", 24),
    ):
        lines.append(
            f'_Static_assert(__builtin_offsetof(struct MemSize, {name}) == {offset}, "{name}");'
        )
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("pointer", [8, 4])
def test_layouts_compile_for_both_abis(tmp_path, pointer):
    """gcc agrees; -malign-double gives 32-bit x86 the 8-byte alignment of 64-bit integers that ARM
    has."""
    if not shutil.which("gcc"):
        pytest.skip("gcc: the C layouts of rknn_api.h were not compiled")
    file = tmp_path / "layout.c"
    file.write_text(c_source(pointer))
    options = ["-m32", "-malign-double"] if pointer == 4 else ["-m64"]
    command = ["gcc", "-ffreestanding", "-fsyntax-only", *options, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_layouts_here():
    pointer = ctypes.sizeof(ctypes.c_void_p)
    for kind, sizes in api.SIZES.items():
        assert ctypes.sizeof(kind) == sizes[pointer == 4]
    names = ("virt", "phys", "fd", "offset", "size", "flags", "priv")
    assert [getattr(api.TensorMem, n).offset for n in names] == [0, 8, 16, 20, 24, 28, 32]
    assert sys.maxsize > 1 << 32 or api.Handle is ctypes.c_uint32


def test_one_small_model_is_whole():
    assert read_file(small("a")).targets == ("rk3588",)
