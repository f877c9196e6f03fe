# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One of our examples on the real librknnrt, in a folder with the models that it names; then what
is live and held.

rknn_example.py ROOT EXAMPLE FOLDER
"""

import os
import runpy
import sys

from rknn_board import Real, tell

root, name, folder = sys.argv[1:4]
sys.path.insert(0, os.path.join(root, "lib"))
os.chdir(folder)
there = Real()
runpy.run_path(os.path.join(root, "examples", name), run_name="__main__")
tell("left", there.live(), there.held())
sys.stdout.flush()
os._exit(0)
