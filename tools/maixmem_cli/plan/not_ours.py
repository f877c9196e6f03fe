# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Scripts and files that are for something else than a K210 under MaixPy v1, by name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from maixmem_cli.text import syntax

#: modules that only one kind of board has -> that board, and where its scripts can run
_SCRIPTS = (
    ({"nncase_runtime", "media", "libs", "aidemo", "mpp"}, "a K230 under CanMV"),
    ({"pyb", "csi", "omv", "tof", "cpufreq", "mjpeg", "fir"}, "an OpenMV camera"),
    ({"board", "displayio", "busio", "digitalio", "picodvi", "supervisor"}, "CircuitPython"),
    ({"esp32", "esp", "espcamera", "espnow", "camera"}, "an ESP32"),
    ({"rp2", "picographics"}, "an RP2040 or RP2350"),
    ({"rknnlite", "rknn", "maixmem_rknn"}, "a Rockchip board (RKNN)"),
    ({"acl", "acllite"}, "an Ascend board"),
)
_MAIX_NEW = {"app", "camera", "display", "nn", "touchscreen", "pinmap", "err", "tracker"}
_MAIX_CANMV = {"KPU"}  # maix.KPU, a class
_K210 = {"KPU", "Maix", "fpioa_manager", "board_info", "lcd", "maixmem_kpu", "maixmem_auto"}
_ARDUINO = re.compile(r"^\s*#include\s*[<\"]|^\s*void\s+(?:setup|loop)\s*\(", re.MULTILINE)
#: first bytes, where they are -> what it is, and where it runs
_FILES = (
    (b"TFL3", 4, "a TensorFlow Lite model (.tflite)", "nncase 0.1 or 0.2 makes a kmodel of it"),
    (b"RKNN", 0, "a model for Rockchip NPUs (.rknn)", "rknn_init() of librknnrt on such a board"),
    (b"CviModel", 0, "a model for MaixCAM (.cvimodel)", "maix.nn on a MaixCAM"),
    (b"UF2\n", 0, "a program in UF2 form", "it is copied to the drive of an RP2040 or the like"),
    (b"IMOD", 0, "a model for Ascend (.om)", "acl on an Ascend board"),
    (b"\x7fELF", 0, "a program (ELF)", "objcopy makes an image of it"),
)
_SUFFIXES = {
    ".onnx": ("an ONNX model", "nncase 0.2 makes a kmodel V4 of it"),
    ".axmodel": ("a model for MaixCAM2 (.axmodel)", "maix.nn on a MaixCAM2"),
    ".pt": ("a PyTorch model", "export it to ONNX, then nncase"),
    ".h5": ("a Keras model", "convert it to .tflite, then nncase"),
    ".caffemodel": ("a Caffe model", "nncase 0.1 makes a kmodel of it"),
}
NEWER = (
    "V6 and later are for the K230 (nncase 2.x), which runs them by nncase_runtime: no K210 does"
)


def script_for(path: Path, text: str) -> str:
    """A sentence with the board that a script is for, when it is for no K210 under MaixPy v1; else
    ""."""
    if _ARDUINO.search(text):
        return _sentence(path, "Arduino or another C++ project", "it is no Python")
    try:
        imports = _imports(syntax.tree(text))
    except (SyntaxError, ValueError):
        return ""
    names = {name for name, _ in imports}
    if names & _K210:
        return ""
    taken = {child for name, child in imports if name == "maix"}
    if taken & _MAIX_CANMV:
        return _sentence(path, "a K210 under CanMV", "it takes KPU from maix")
    if taken & _MAIX_NEW or "maix" in names:
        return _sentence(path, "a MaixCAM", "it imports maix")
    for modules, board in _SCRIPTS:
        found = sorted(m for m in modules & names if not (path.parent / f"{m}.py").exists())
        if found:
            return _sentence(path, board, f"it imports {found[0]}")
    return ""


def _imports(tree: ast.AST) -> set[tuple[str, str]]:
    """(module, what is taken from it or "") of each import."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(a.name.split(".")[0], "") for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {(node.module.split(".")[0], a.name) for a in node.names}
    return found


def _sentence(path: Path, board: str, why: str) -> str:
    return (
        f"{path.name} is for {board}: {why}. This command knows the K210 under MaixPy v1 only. "
        "Next: maixmem.report() on that board, and docs/ports.md"
    )


def file_for(name: str, head: bytes) -> str:
    """What a file is that is no kmodel, and where it runs; "" when that is not known."""
    for magic, at, what, where in _FILES:
        if head[at : at + len(magic)] == magic:
            return f"{what}, no kmodel: {where}"
    what, where = _SUFFIXES.get(Path(name).suffix.lower(), ("", ""))
    return f"{what}, no kmodel: {where}" if what else ""
