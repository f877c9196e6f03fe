# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Makes models/rk3588_shapes.rknn and models/rk3588_shapes_two.rknn of the bench: small ones that
were converted for several shapes.

make_shapes.py FOLDER. Needs RKNN-Toolkit2 2.2.0 (pip install rknn-toolkit2==2.2.0) on x86-64, and
onnx; no board.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from rknn.api import RKNN

RANDOM = numpy.random.RandomState(0)


def weights(name: str, *shape: int) -> Any:
    """A constant."""
    return numpy_helper.from_array((RANDOM.randn(*shape) * 0.1).astype(numpy.float32), name)


def conv(source: str, name: str, target: str, stride: int = 1) -> Any:
    """A 3 by 3 convolution."""
    how = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [stride, stride]}
    return helper.make_node("Conv", [source, name], [target], **how)


def floats(name: str, channels: int) -> Any:
    """An input or output of any height and width."""
    shape = [1, channels, f"{name}_height", f"{name}_width"]
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def make(file: Path, graph: Any, shapes: list[list[list[int]]], quantised: bool) -> None:
    """Converts a graph for the shapes."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    source = str(file.with_suffix(".onnx"))
    onnx.save(model, source)
    pictures = file.with_suffix(".txt")
    if quantised:
        largest = max(shapes, key=numpy.prod)[0]  # the toolkit quantises with pictures of that
        image = RANDOM.randint(0, 255, largest).astype(numpy.float32)
        numpy.save(file.with_suffix(".npy"), image)
        pictures.write_text(file.with_suffix(".npy").name + "\n")
    tool = RKNN()
    means = {"mean_values": [[0, 0, 0]], "std_values": [[255, 255, 255]]} if quantised else {}
    tool.config(target_platform="rk3588", dynamic_input=shapes, **means)
    dataset = str(pictures) if quantised else None
    done = [
        tool.load_onnx(model=source),
        tool.build(do_quantization=quantised, dataset=dataset),
        tool.export_rknn(str(file)),
    ]
    assert done == [0, 0, 0], done


def main(folder: Path) -> None:
    """Both models."""
    nodes = [
        conv("x", "w1", "a"),
        helper.make_node("Relu", ["a"], ["b"]),
        conv("b", "w2", "y", stride=2),
    ]
    constants = [weights("w1", 16, 3, 3, 3), weights("w2", 8, 16, 3, 3)]
    one = helper.make_graph(nodes, "g", [floats("x", 3)], [floats("y", 8)], constants)
    make(folder / "rk3588_shapes.rknn", one, [[[1, 3, n, n]] for n in (64, 128, 96)], True)
    nodes = [conv("p", "v1", "y"), conv("q", "v2", "z")]
    constants = [weights("v1", 8, 3, 3, 3), weights("v2", 8, 4, 3, 3)]
    inputs, outputs = [floats("p", 3), floats("q", 4)], [floats("y", 8), floats("z", 8)]
    two = helper.make_graph(nodes, "g", inputs, outputs, constants)
    sides = ((64, 32), (32, 96), (16, 48))
    shapes = [[[1, 3, m, m], [1, 4, n, n]] for m, n in sides]
    make(folder / "rk3588_shapes_two.rknn", two, shapes, False)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
