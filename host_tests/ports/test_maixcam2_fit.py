# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""fit of a MaixCAM2's project: camera, display and models together in CMM."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from commands import invoke
from maixmem_maixcam import media

MIB = 1 << 20
LAYERS = 4
MUD = (
    "[basic]\ntype = axmodel\nmodel_npu = q_l%d.axmodel\n"
    f"[extra]\nmodel_num = {LAYERS}\npost_model = post.axmodel\ntokens_embed = embed.bin\n"
)
PROJECT = """\
board = "maixcam2"
memory = 1024
{more}
[camera]
sensor = "os04d10"
[display]
[[model]]
file = "q.mud"
kind = "Qwen"
resident = true
[[model]]
file = "a.axmodel"
dual_buff = false
[[model]]
file = "b.axmodel"
dual_buff = false
"""


def project(folder: Path, layer: int, others: int, more: str = "") -> Path:
    """A folder with a language model of LAYERS layers of `layer` MiB, two models of `others`
    MiB, and a project of them."""
    sizes = {f"q_l{i}.axmodel": layer for i in range(LAYERS)}
    sizes |= {"post.axmodel": 1, "embed.bin": 20, "a.axmodel": others, "b.axmodel": others}
    for name, size in sizes.items():
        with (folder / name).open("wb") as f:
            f.truncate(size * MIB)
    (folder / "q.mud").write_text(MUD)
    (folder / "project.toml").write_text(PROJECT.format(more=more))
    return folder / "project.toml"


def fit(path: Path) -> tuple[int, dict]:
    done = invoke("fit", str(path), "--json")
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


MEDIA = media.sensor_bytes("os04d10") + media.channel_bytes(640, 480) + media.display_bytes()


@pytest.mark.parametrize(("layer", "others", "fits", "at_once"), [
    (40, 20, True, True),  # 161 + 40 and 141 MiB of media, in 512
    (60, 100, True, False),  # 241 + 200 do not, 241 + 100 do
    (80, 100, False, False),
])  # fmt: skip
def test_cmm_is_the_sum_of_its_parts(tmp_path, layer, others, fits, at_once):
    status, plan = fit(project(tmp_path, layer, others))
    kept = MEDIA + (LAYERS * layer + 1) * MIB
    assert plan["apart"]["cmm"] == kept + 2 * others * MIB
    assert plan["in_turn"]["cmm"] == kept + others * MIB
    assert (plan["cmm"], plan["linux"]) == (512 * MIB, 512 * MIB)
    assert plan["fits"] == fits == (status == 0)
    assert (plan["apart"]["cmm"] <= plan["cmm"]) == at_once


def test_the_table_stays_and_files_are_read_through_linux(tmp_path):
    _, plan = fit(project(tmp_path, 10, 30))
    assert plan["apart"]["heap"] == (20 + 30) * MIB  # the table, then a file on its way
    _, plan = fit(project(tmp_path, 40, 30))
    assert plan["apart"]["heap"] == (20 + 40) * MIB  # the largest is a layer


def test_the_split_of_a_configs(tmp_path):
    (tmp_path / "configs").write_text("maix_memory_cmm=768\n")
    status, plan = fit(project(tmp_path, 80, 100, 'configs = "configs"'))
    assert (status, plan["cmm"], plan["linux"]) == (0, 768 * MIB, 256 * MIB)


def test_another_split_is_named_where_it_helps(tmp_path):
    done = invoke("fit", str(project(tmp_path, 80, 100)))
    need = MEDIA + (LAYERS * 80 + 1 + 100) * MIB
    assert done.exit_code == 1
    assert f"maixmem cmm --set {-(-need // MIB)}`" in done.output
    done = invoke("fit", str(project(tmp_path, 200, 100)))
    assert done.exit_code == 1 and "cmm --set" not in done.output


@pytest.mark.parametrize(("old", "new", "words"), [
    ("memory = 1024", "memory = 700", "one of 512, 1024, 2048, 4096"),
    ("memory = 1024\n", "", "needs 'memory'"),
    ('"os04d10"', '"ov2640"', "one of os04a10"),
    ('"a.axmodel"', '"c.axmodel"', "no such file"),
    ("[display]", "[display]\nlayers = 2", "[display] has no 'layers'"),
    ("dual_buff = false", "dual_buff = 1", "true or false"),
    ("memory = 1024", 'memory = 1024\nconfigs = "none"', "No such file"),
])  # fmt: skip
def test_wrong_keys_are_named(tmp_path, old, new, words):
    path = project(tmp_path, 1, 1)
    path.write_text(path.read_text().replace(old, new, 1))
    done = invoke("fit", str(path))
    assert done.exit_code == 2 and words in done.stderr.replace("\n", " ")


def test_options_of_a_k210_are_refused(tmp_path):
    done = invoke("fit", str(project(tmp_path, 1, 1)), "--firmware", "minimum")
    assert done.exit_code == 2 and "of a MaixCAM2" in done.stderr


def test_the_pools_are_those_of_the_vendor():
    """The rows of MaixCDK's ax_middleware.hpp, where $MAIXMEM_MAIXCDK names its folder."""
    folder = os.environ.get("MAIXMEM_MAIXCDK")
    if not folder:
        pytest.skip("MaixCDK's source: $MAIXMEM_MAIXCDK is not set, the pools were not compared")
    text = next(Path(folder).rglob("ax_middleware.hpp")).read_text()
    bits = {"YUV420_SEMIPLANAR": 12, "BAYER_RAW_10BPP_PACKED": 10}
    named = {
        "os04a10": "Os04a10",
        "sc450ai": "Os450ai",
        "os04d10": "Os04d10",
        "sc850sl": "Sc850sl",
    }
    for sensor, name in named.items():
        theirs: dict[tuple[int, int, int], int] = {}
        for kind in ("gtSysCommPoolSingle", "gtPrivatePoolSingle"):
            table = re.search(rf"{kind}{name}Sdr\[\] = {{(.*?)\n    }};", text, re.DOTALL)
            assert table
            for w, h, form, count in re.findall(
                r"{(\d+), (\d+), \d+, AX_FORMAT_(\w+), (\d+)", table[1]
            ):
                key = int(w), int(h), bits[form]
                theirs[key] = theirs.get(key, 0) + int(count)
        ours = {row[:3]: row[3] for row in media.SENSORS[sensor]}
        assert ours == theirs
