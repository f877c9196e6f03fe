# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Texts of .mud files by MaixPy's own parser (nn.MUD) and by ours: a row has what each read.
Then .mud files of twelve classes: the bytes of the files that its parser names, and those that
our forecast counts.

maix_muds.py ROOT
"""

import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1])
sys.path[:0] = [str(ROOT / "lib"), str(ROOT / "host_tests" / "kits")]

TEXTS = (
    "[basic]\ntype = axmodel\nmodel_npu = a.axmodel\n[extra]\nk = v\n",
    "# c\n[basic] # x\ntype=cvimodel # note\nmodel = x.cvimodel # note\n",
    "[basic]\ntype = a\nmodel = 1\nmodel = 2\n",
    "[basic]\ntype = a\n[basic]\nmodel = 2\n",
    "[basic]\nType = b\ntype = a\nMODEL = 1\n",
    "\ufeff[basic]\ntype = a\n",
    "\ufeff# c\n[basic]\ntype = a\n",
    "[basic]\n; note = x\ntype = a\n",
    "[basic]\n; note\ntype = a\n",
    "[basic]\ntype = a\njunk\n",
    "[basic]\r\ntype = a\r\nmodel = b\r\n",
    "[]\n[basic]\ntype = a\n",
    "  [basic]\n\t type =  a b \n",
    "x = 1\n[basic]\ntype = a\n",
    "[basic]\nmodel = a\n",
    "[basic]\ntype = a\nl = b=c=d\n",
    "[basic]\ntype = a\nl =\n",
    "[basic\ntype = a\n",
    "[basic] junk\ntype = a\n",
    "[basic]\ntype = a\nlabels = \u732b,\u72d7\n",
)


def both(path):
    """The sections of a .mud by their parser, and by ours."""
    from maix import nn
    from maixmem_maixcam.mud import read_mud

    try:
        items = nn.MUD(path).items
        theirs = {"": {}, **{section: dict(items[section]) for section in items}}
    except Exception:
        theirs = "refused"
    try:
        ours = read_mud(path)
    except Exception:
        ours = "refused"
    return theirs, ours


def named(folder, sections):
    """Bytes of the files in a folder that the values of a .mud name, layers by their template."""
    layers = int(sections["extra"].get("model_num", "0"))
    values = {value for section in sections.values() for value in section.values()}
    names = {value % i if "%" in value else value for value in values for i in range(layers or 1)}
    return {name: (folder / name).stat().st_size for name in names if (folder / name).is_file()}


def main():
    from maixcam_muds import CLASSES, write
    from maixmem_maixcam.costs import cost_of

    path = Path(tempfile.mkdtemp(), "m.mud")
    for text in TEXTS:
        path.write_text(text, encoding="utf-8", newline="")
        print("> " + json.dumps(["text", text, *both(str(path))]), flush=True)
    for name in CLASSES:
        folder = Path(tempfile.mkdtemp())
        path = write(folder, name)
        theirs, ours = both(path)
        kind = name.split(maxsplit=1)[0]
        counted = cost_of(path, "maixcam2", True, 1, {}, kind).files
        counted = {Path(file).name: nbytes for file, _, nbytes in counted}
        row = ["class", name, theirs, ours, named(folder, theirs), counted]
        print("> " + json.dumps(row), flush=True)


main()
sys.stdout.flush()
os._exit(0)
