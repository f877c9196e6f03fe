# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Texts of .mud files by MaixPy's own parser (nn.MUD) and by ours: a row has what each made of it.

maix_muds.py ROOT
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.argv[1], "lib"))

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


def main():
    from maix import nn
    from maixmem_maixcam.mud import read_mud

    path = os.path.join(tempfile.mkdtemp(), "m.mud")
    for text in TEXTS:
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        try:
            items = nn.MUD(path).items
            theirs = {"": {}, **{section: dict(items[section]) for section in items}}
        except Exception:
            theirs = "refused"
        try:
            ours = read_mud(path)
        except Exception:
            ours = "refused"
        print("> " + json.dumps([text, theirs, ours]), flush=True)


main()
sys.stdout.flush()
os._exit(0)
