# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The `maixmem` command: what a desk needs around the device library."""

import sys

from maixmem_cli.library import places

if str(places.lib()) not in sys.path[:1]:  # this copy's own, whatever else is installed
    sys.path.insert(0, str(places.lib()))
if str(places.shims()) not in sys.path:  # for k210_model; behind everything else
    sys.path.append(str(places.shims()))
