# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A .mud file: its keys as MaixPy's own parser reads them, and the files that a class of maix.nn
loads by it.

The parser was read in MaixCDK (components/3rd_party/ini/inifile2, MUD::load in maix_nn.cpp), the
files in the loader of each class (components/llm, components/nn).
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from maixmem import KModelError
from maixmem_text import tell

_SPACE = " \t\n\v\f\r"
_NUMBER = re.compile(r"%0?\d*d")
_SUFFIXES = (".cvimodel", ".axmodel")

Mud = dict[str, dict[str, str]]


# `region`: where its bytes go; `role`: the key that names it, of layers the template's; `dual`:
# whether it has two sets of input and output buffers where the class has; `stays`: False of what
# is only read (tables in a mapped file).
class Part(NamedTuple):
    """One file that a class loads."""

    path: str
    region: str
    role: str
    dual: bool = False
    stays: bool = True


# Sections and keys keep their case; the first of several keys of one name counts; # begins a
# comment anywhere, ; does not. A section that is there twice, a line that is neither, and a mark
# for the order of bytes at the begin end the parser, and the load.
def read_mud(path: str) -> Mud:
    """{section: {key: value}}. KModelError for what MaixPy's parser refuses."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        lines = f.read().split("\n")
    if lines[0].startswith("\ufeff"):
        text = "{}: begins with a byte order mark, which MaixPy does not read.\nsave it as UTF-8 "
        raise KModelError(tell(text + "without BOM", path))
    found: Mud = {"": {}}
    section = found[""]
    for number, line in enumerate(lines, 1):
        text = line.strip(_SPACE)
        if not text or text[0] == "#":
            continue
        text = text.partition("#")[0].strip(_SPACE)
        if text[0] == "[":
            name = text[1:].partition("]")[0].strip(_SPACE)
            if "]" not in text[2:] or name in found:
                raise _wrong(path, number, line)
            section = found[name] = {}
        elif "=" in text:
            key, _, value = text.partition("=")
            section.setdefault(key.strip(_SPACE), value.strip(_SPACE))
        else:
            raise _wrong(path, number, line)
    if "type" not in found.get("basic", {}):
        text = "{}: no [basic] section with type.\nsee a .mud that works"
        raise KModelError(tell(text, path))
    return found


def _wrong(path: str, number: int, line: str) -> KModelError:
    text = "{}: line {}, {!r}: neither key = value nor a section that is not there yet.\nwrite it "
    return KModelError(tell(text + "so, or put # before it", path, number, line))


# What each class loads besides its [basic] model: (section, key), region, dual buffers. Language
# models: below. Of a class that is not here every model file that its .mud names is taken.
_EXTRA = {
    "HandLandmarks": [("detect_model", "cmm", False)],
    "MeloTTS": [
        ("encoder", "heap", False),  # run by the CPU
        ("tokens", "heap", False),
        ("lexicon", "heap", False),
        ("static_input", "heap", False),
    ],
    "NanoTrack": [("target_model", "cmm", True), ("head_model", "cmm", True)],
    "PP_OCR": [("rec_model", "cmm", False)],
    "Whisper": [
        ("decoder-main", "cmm", False),
        ("decoder-loop", "cmm", False),
        ("positional_embedding", "heap", False),
        ("tokens", "heap", False),
    ],
}
# classes whose [basic] model is a template over [extra] model_num; those with a vision part
_LAYERED = ("Qwen", "InternVL", "SmolVLM", "Qwen3VL")
_VISION = _LAYERED[1:]
_OPTIONAL = ("rec_model",)


def is_layered(mud: Mud, kind: str) -> bool:
    """Whether it is a language model in layers: by its class, or by its keys where no class is
    named."""
    layers = "model_num" in mud.get("extra", {}) and "%" in mud["basic"].get("model_npu", "")
    return kind in _LAYERED or (kind == "NN" and layers)


def parts(path: str, kind: str = "NN") -> list[Part]:
    """The files that maix.nn.`kind` loads by a .mud, the [basic] model first. KModelError names a
    key or a file that does not exist."""
    mud = read_mud(path)
    if is_layered(mud, kind):
        return _language_model(path, mud, kind)
    found = [Part(basic_models(path, mud)[0], "cmm", "model", True)]
    extra = mud.get("extra", {})
    for key, region, dual in _EXTRA.get(kind, []):
        if key in extra or key not in _OPTIONAL:
            found.append(Part(_join(path, _value(path, mud, key)), region, key, dual))
    return [_there(path, part) for part in found]


def others(path: str) -> list[str]:
    """Further model files that a .mud names and that exist, for classes that were not read."""
    mud = read_mud(path)
    named = [value for section in mud.values() for value in section.values()]
    found = [_join(path, name) for name in named if name.endswith(_SUFFIXES)]
    known = set(basic_models(path, mud))
    return [p for p in dict.fromkeys(found) if p not in known and os.path.isfile(p)]


def is_known(kind: str) -> bool:
    """Whether the loader of a class was read."""
    return kind in _EXTRA or kind in _LAYERED


def basic_models(path: str, mud: Mud | None = None) -> list[str]:
    """The [basic] models of a .mud that exist: one, or two where it has one for use with and one
    without the AI-ISP; the one that is named first where none exists."""
    mud = mud or read_mud(path)
    basic = mud["basic"]
    keys = ("model",) if basic["type"] == "cvimodel" else ("model_npu", "model_vnpu")
    paths = [_join(path, basic[key]) for key in keys if key in basic]
    if not paths:
        text = "{}: [basic] has no {}.\nsee a .mud that works"
        raise KModelError(tell(text, path, keys[0]))
    return [p for p in paths if os.path.exists(p)] or [paths[0]]


# The layers, then what makes a token of the last one's output, then the table of tokens, which is
# read into memory unless it is mapped.
def _language_model(path: str, mud: Mud, kind: str) -> list[Part]:
    template = _value(path, mud, "model_npu", "basic")
    many = _value(path, mud, "model_num")
    if not many.isdigit() or int(many) < 1:
        text = "{}: model_num = {}.\nthe number of layers"
        raise KModelError(tell(text, path, many))
    mapped = mud["extra"].get("use_mmap_load_embed") in ("true", "1")
    layers = [_NUMBER.sub(lambda m: m[0] % i, template) for i in range(int(many))]
    found = [Part(_join(path, name), "cmm", "model_npu") for name in layers]
    found.append(Part(_join(path, _value(path, mud, "post_model")), "cmm", "post_model"))
    if kind in _VISION or "vpm_resampler_model" in mud["extra"]:
        name = _value(path, mud, "vpm_resampler_model")
        found.append(Part(_join(path, name), "cmm", "vpm_resampler_model"))
    embed = _join(path, _value(path, mud, "tokens_embed"))
    found.append(Part(embed, "heap", "tokens_embed", stays=not mapped))
    return [_there(path, part) for part in found]


def _value(path: str, mud: Mud, key: str, section: str = "extra") -> str:
    try:
        return mud[section][key]
    except KeyError:
        text = "{}: [{}] has no {}, which this class wants.\nsee a .mud that works"
        raise KModelError(tell(text, path, section, key)) from None


def _there(path: str, part: Part) -> Part:
    if os.path.isfile(part.path):
        return part
    text = "{}: {} names {}, which is not there.\ncopy all files of the model into one folder"
    raise KModelError(tell(text, path, part.role, part.path))


def _join(path: str, name: str) -> str:
    return os.path.join(os.path.dirname(path), name)
