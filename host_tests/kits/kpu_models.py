# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a model makes of a known picture: the same question to every board, and the answers."""

from __future__ import annotations

import re
from pathlib import Path

import maixmem_kmodel
from maixmem_cli.emulator.ports import Hangs
from maixmem_cli.serial.repl import BoardError, RawRepl

AT = 0x300000  # of the model, in flash
# it takes others, or has little room; or no picture of that size fits into its GC heap
NOT_HERE = ("ERR_KMODEL_VERSION", "hangs", "MemoryError")
_ASK = """
import gc, image
import uhashlib, ubinascii, ustruct
import KPU as kpu
w, h, channels, outputs = {w}, {h}, {channels}, {outputs}
net = kpu.load({at})
shown = [5.1, 3.5, 1.4, 0.2]
if w:
  shown = image.Image(size=(w, h))
  if channels == 1:
    shown = shown.to_grayscale()
  for k in range(40):
    color = k * 6 if channels == 1 else (k * 6, 255 - k * 5, k * 50 & 255)
    shown.draw_rectangle(k * 37 % w, k * 23 % h, 8 + k, 60 - k, color=color, fill=True)
  shown.pix_to_ai()
if {sized}:
  for i in range(len(outputs)):
    kpu.set_outputs(net, i, 1, 1, outputs[i])
for i in range(len(outputs)):
  out = kpu.forward(net, shown, i)
  got = uhashlib.sha256()
  for n in range(outputs[i]):
    got.update(ustruct.pack('<f', out[n]))
  print(outputs[i], ubinascii.hexlify(got.digest()).decode()[:16], out[0], out[outputs[i] - 1])
"""


def question(model: Path) -> str:
    """Code for a board with that model at AT. A line an output: values, checksum, ends."""
    info = maixmem_kmodel.read_info(model.read_bytes())
    _, channels, h, w = info.inputs[0][0] or (1, 0, 0, 0)
    if info.inputs[0][1] == "f32":
        w = 0
    outputs = [nbytes // 4 for _, _, nbytes in info.outputs]
    return _ASK.format(
        at=AT, w=w, h=h, channels=channels, outputs=outputs, sized=info.format == "v4"
    )


# Checksums of all outputs, computed with another board in software; an error's name where the
# firmware refuses.
GOLDEN: dict[str, tuple[str, ...]] = {
    "v3_face_ld5.kmodel": ("f842db3625d52437",),
    "v3_facedetect_fcaro.kmodel": ("c2a61fc5bf767ebb",),
    "v3_iris_436.kmodel": ("7450be5338bba883",),
    "v3_landmark68.kmodel": ("5db8611583959a12",),
    "v3_mask_maixpy.kmodel": ("8c22ce782c0e1a51",),
    "v3_mnist_maixpy.kmodel": ("6e150d725abf152a",),
    "v3_nn_xo.kmodel": ("ERR_RUN_MODEL",),  # its first layer is none of the KPU
    "v3_trash.kmodel": ("cd42d766eb20f9bb",),
    "v3_voc20_detect.kmodel": ("e700f3fd6cb9094b",),
    "v3_yolo_face.kmodel": ("250bbf6ca3aed712",),
    "v4_feature_extraction.kmodel": ("3083f95b8955bb35",),
    "v4_iris_720.kmodel": ("c19e25da3de70afa",),
    "v4_maix_asr.kmodel": ("eb51c9120027ca21",),
    "v4_mnist_cnn.kmodel": ("adc9075329efaa02",),
    "v4_model5.kmodel": ("190bc5bb535c71a1",),
    "v4_ultra_face.kmodel": ("21051319276d89fd", "a0ce9923b5b9db1e"),
    "v4_yolo20_alpha.kmodel": ("hangs",),  # wants 15 MB
    "v4_yolo20_beta.kmodel": ("dbbf36031b1f5307",),
}


def checksums(repl: RawRepl, model: Path) -> tuple[str, ...]:
    """What the board gives: a checksum an output, or the error's name, or that it hangs."""
    try:
        said = repl.check(question(model), timeout=120)
    except BoardError as e:
        error = re.search(r"ERR_\w+|MemoryError", str(e))
        if not error and not isinstance(e.__cause__, Hangs):
            raise
        return (error[0] if error else "hangs",)
    return tuple(line.split()[1] for line in said.splitlines())
