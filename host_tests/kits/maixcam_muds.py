# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Twelve .mud files with the keys of MaixCDK's loaders, for classes that load several files; and
the files that they name."""

from __future__ import annotations

from pathlib import Path

LLM = """
model_type = qwen
tokenizer_url = http://127.0.0.1:12345
post_model = post.axmodel # what makes a token
tokens_embed = embed.bin
tokens_embed_num = 100
tokens_embed_size = 32
model_num = 12
"""
LAYERS = {f"q_l{i}.axmodel": 1000 + i for i in range(12)}
HEAD = {"post.axmodel": 5000, "embed.bin": 6400}
VISION = {"vpm.axmodel": 7000}
ONE = {"m.axmodel": 9000}
SPEECH = """
decoder-main = main.axmodel
decoder-loop = loop.axmodel
positional_embedding = pe.bin
tokens = t.txt
whisper_type = base
"""
VPM = "vpm_resampler_model = vpm.axmodel\nvpm_len = 256\n"

# class: (its [extra], its [basic] model_npu, files of the carve-out, files in memory)
CLASSES = {
    "Qwen": (LLM, "q_l%d.axmodel", {**LAYERS, "post.axmodel": 5000}, {"embed.bin": 6400}),
    "Qwen mapped": (
        LLM + "use_mmap_load_embed = true\n",
        "q_l%d.axmodel",
        {**LAYERS, "post.axmodel": 5000},
        {},
    ),
    "Qwen3VL": (
        LLM + VPM + "llm_service = qwen3vl.service\nimg_w = 384\nimg_h = 384\n",
        "q_l%d.axmodel",
        {**LAYERS, **VISION, "post.axmodel": 5000},
        {"embed.bin": 6400},
    ),
    "InternVL": (
        LLM + VPM,
        "q_l%d.axmodel",
        {**LAYERS, **VISION, "post.axmodel": 5000},
        {"embed.bin": 6400},
    ),
    "SmolVLM": (
        LLM + VPM,
        "q_l%d.axmodel",
        {**LAYERS, **VISION, "post.axmodel": 5000},
        {"embed.bin": 6400},
    ),
    "Whisper": (
        SPEECH,
        "m.axmodel",
        {**ONE, "main.axmodel": 4000, "loop.axmodel": 3000},
        {"pe.bin": 2000, "t.txt": 100},
    ),
    "MeloTTS": (
        "encoder = e.onnx\ntokens = t.txt\nlexicon = l.txt\nstatic_input = g.bin\n",
        "m.axmodel",
        ONE,
        {"e.onnx": 8000, "t.txt": 100, "l.txt": 300, "g.bin": 1024},
    ),
    "PP_OCR": ("rec_model = r.axmodel\n", "m.axmodel", {**ONE, "r.axmodel": 3000}, {}),
    "NanoTrack": (
        "target_model = t.axmodel\nhead_model = h.axmodel\n",
        "m.axmodel",
        {**ONE, "t.axmodel": 2000, "h.axmodel": 3000},
        {},
    ),
    "HandLandmarks": (
        "detect_model = d.axmodel\nanchors = a.bin\n",
        "m.axmodel",
        {**ONE, "d.axmodel": 2500},
        {},
    ),
    "YOLOv8": ("labels = a, b\n", "m.axmodel", ONE, {}),
    "YOLO11": ("labels = a, b\nanchors = 1,2\n", "m.axmodel", ONE, {}),
    "Speech": ("model_type = speech\n", "m.axmodel", ONE, {}),
}


def write(folder: Path, name: str) -> str:
    extra, model, cmm, heap = CLASSES[name]
    for file, size in {**cmm, **heap, "embed.bin": 6400}.items():
        (folder / file).write_bytes(bytes(size))
    text = f"[basic] # of MaixCAM2\ntype = axmodel\nmodel_npu = {model}\n[extra]\n{extra}"
    (folder / "m.mud").write_text(text)
    return str(folder / "m.mud")
