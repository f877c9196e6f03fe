# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The KPU of the board in software: layers by their definition, refusals, real models' results."""

from __future__ import annotations

import binascii
from pathlib import Path

import emulated
import kpu_models
import kpu_tiny
import paths
import pytest
import register_programs
from emulated import answer, each_image, needs_cc, needs_image, started
from kpu_layers import ARGUMENT, Layer
from maixmem_cli.emulator import pictures
from maixmem_cli.kmodel import example

pytestmark = needs_cc

_LAYERS = {
    "3x3": Layer(1),
    "1x1": Layer(2, kernel=1, outputs=9),
    "1x1 of more than nine": Layer(8, kernel=1, inputs=20, outputs=6, weight_bytes=2),
    "depthwise": Layer(3, depthwise=True, inputs=6, outputs=6),
    "16-bit weights": Layer(4, weight_bytes=2),
    "past the caches": Layer(5, where=0x40000000),
    "without the base": Layer(6, where=0x80000000),
}
# each: the layer, the argument, its change, and what is said; "" for one that is just possible
_FEW, _MANY = Layer(7), Layer(7, inputs=900, outputs=1, kernel=1)
_REFUSED = {
    "weights nowhere": (_FEW, 5, 0x40000000 << 32, "layer 1: weights at 0xc0500000, 135 bytes"),
    "weights past the end": (_FEW, 5, 0x2FFFF0 << 32, "weights at 0x807ffff0, 135 bytes"),
    "factors to the end": (_FEW, 4, 0x2F0000 - 40 << 32, ""),
    "factors nowhere": (_FEW, 4, 0x2F0000 << 32, "factors at 0x80800000, 40 bytes, are no RAM"),
    "pieces past the end": (_FEW, 7, 0x2DFFF0 << 32, "pieces at 0x807ffff0, 144 bytes, are no"),
    "more depthwise outputs": (_FEW, 0, 8, "depthwise has more outputs than inputs: 5"),
    "input too large": (_MANY, 3, 500 << 10, "input is larger than the AI RAM"),
}  # fmt: skip


@pytest.mark.parametrize("layer", _LAYERS.values(), ids=_LAYERS)
def test_a_layer_is_what_its_definition_says(layer: Layer) -> None:
    ram, said = register_programs.run(layer.stores(), layer.memory())
    assert layer.outcome(ram) == layer.expected()
    assert said == ""
    assert len({v for plane in layer.expected() for v in plane}) > 3  # not one number everywhere


def test_the_largest_products_are_added_up_whole() -> None:
    """Two output channels are computed at once: none has anything of the other's."""
    layer = Layer(9, weight_bytes=2, outputs=5)
    layer.padding, layer.pixels = 255, [[255] * len(plane) for plane in layer.pixels]
    layer.weights = [[w] * len(layer.weights[0]) for w in (65535, 0, 0, 65535, 65535)]
    layer.arg_w = layer.arg_x = layer.add = 0
    layer.norm = [(1, 0, 8)] * 5
    layer.pieces = [(-(1 << 35), 0, 0, 7), *((i, 1, 13, 0) for i in range(15))]
    ram, said = register_programs.run(layer.stores(), layer.memory())
    most = 3 * 9 * 65535 * 255 >> 8 + 13
    assert [set(plane) for plane in layer.outcome(ram)] == [{most}, {7}, {7}, {most}, {most}]
    assert layer.outcome(ram) == layer.expected() and said == ""


@pytest.mark.parametrize(("layer", "argument", "change", "words"), _REFUSED.values(), ids=_REFUSED)
def test_what_no_chip_could_do_is_said_and_nothing_is_written(
    layer: Layer, argument: int, change: int, words: str
) -> None:
    stores = layer.stores()
    stores[1 + argument] = (ARGUMENT, stores[1 + argument][1] + change)
    ram, said = register_programs.run(stores, layer.memory())
    assert words in said and bool(words) == bool(said)
    assert any(v for plane in layer.outcome(ram) for v in plane) == (not words)


def test_the_layers_of_a_tiny_model_one_after_the_other() -> None:
    ram, said = register_programs.run(*kpu_tiny.program())
    want = kpu_tiny.layers()[1].expected()
    assert kpu_tiny.layers()[1].outcome(ram, kpu_tiny.RESULT) == want
    assert said == ""
    assert len({v for plane in want for v in plane}) > 50


@each_image
def test_a_tiny_v3_model_of_our_own_on_firmware(image: Path, tmp_path: Path) -> None:
    """By its definition alone: needs no real model, and nothing of the board's code."""
    file, want = tmp_path / "tiny.kmodel", kpu_tiny.expected()
    file.write_bytes(kpu_tiny.model())
    with started(image, ((kpu_models.AT, file),)) as (board, repl):
        assert answer(repl, kpu_tiny.script(kpu_models.AT)) == want
        assert board.said() == ""


@each_image
def test_the_model_that_commands_write_to_try_runs(image: Path, tmp_path: Path) -> None:
    """A frame of the camera in, zeros out: its weights and biases are zeros."""
    file = tmp_path / "example.kmodel"
    file.write_bytes(example.data())
    script = """
import sensor
import KPU as kpu
sensor.reset()
sensor.set_pixformat(sensor.RGB565)
sensor.set_framesize(sensor.QVGA)
sensor.run(1)
net = kpu.load({})
out = kpu.forward(net, sensor.snapshot())
print([out[0], out[320 * 240 * 4 - 1]])
kpu.deinit(net)
"""
    camera = pictures.film("pattern")
    with started(image, ((kpu_models.AT, file),), camera=camera) as (board, repl):
        assert answer(repl, script.format(kpu_models.AT)) == [0, 0]
        assert board.said() == ""


@needs_image
def test_a_real_v4_model_is_what_numpy_makes_of_its_layers() -> None:
    np = pytest.importorskip("numpy", reason="NO NUMPY: dev.py test --emulator installs it")
    import kpu_numpy

    model = emulated.model("v4_mnist_cnn.kmodel")
    for image in emulated.images():
        with started(image, ((kpu_models.AT, model),)) as (_, repl):
            if kpu_models.checksums(repl, model)[0] in kpu_models.NOT_HERE:
                continue
            got = answer(repl, "print([out[i] for i in range(10)])")
            pixels = answer(repl, "print(ubinascii.hexlify(shown.to_bytes()))")
        x = np.frombuffer(binascii.unhexlify(pixels), np.uint8).astype(np.int64)
        want = kpu_numpy.outputs(model.read_bytes(), x)
        assert got == pytest.approx(list(map(float, want)), abs=2e-5)
        assert max(want) - min(want) > 10
        return
    pytest.skip("NO FIRMWARE for V4 models: set MAIXMEM_FIRMWARE to one that takes them")


def test_a_layer_takes_no_more_than_its_share_of_the_desk() -> None:
    layer = Layer(8, w=16, h=512, inputs=256, outputs=250)
    _, said = register_programs.run(layer.stores(), {})
    assert "products are too many" in said


def test_dma_does_not_feed_itself() -> None:
    dma = 0x50000000
    source, target, block, control = (dma + 0x100 + o for o in (0, 8, 0x10, 0x18))
    table = register_programs.TABLE + 0x800
    stores = [(table, 0x101), (dma + 0x10, 1), (source, table), (target, dma + 0x18), (block, 0)]
    _, said = register_programs.run(
        [*stores, (control, 3 << 8 | 3 << 11), (dma + 0x18, 0x101)], {}
    )
    assert "DMA 0: its target is the DMA at 0x50000018" in said


def test_more_than_the_fifo_holds_is_said() -> None:
    layer = Layer(9, w=16, h=512, inputs=1, outputs=300, kernel=1)
    stores = layer.stores()
    stores[-1] = (ARGUMENT, 1 | (16 * 512 * 300 - 1) << 32)
    _, said = register_programs.run(stores, {})
    assert "nobody takes from its FIFO more than 1048576" in said


@needs_image
@pytest.mark.parametrize("name", kpu_models.GOLDEN)
def test_a_real_model_gives_its_known_results(name: str) -> None:
    model = emulated.model(name)
    for image in emulated.images():
        with started(image, ((kpu_models.AT, model),)) as (board, repl):
            got = kpu_models.checksums(repl, model)
            assert board.said() == ""
        if got == kpu_models.GOLDEN[name]:
            return
        assert got[0] in kpu_models.NOT_HERE, image.name
    pytest.skip(f"NO FIRMWARE for {name}: set MAIXMEM_FIRMWARE to one with room for it")


def test_every_real_model_has_known_results() -> None:
    folder = paths.models()
    if folder is None:
        pytest.skip("NO REAL MODELS: set MAIXMEM_MODELS")
    there = {p.name for p in folder.glob("v[34]_*.kmodel")}
    assert there <= set(kpu_models.GOLDEN)
