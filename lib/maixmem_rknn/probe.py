# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Can be imported only where an RKNN runtime can be opened: what maixmem's table of ports asks
for."""

from maixmem_rknn.librknnrt import open_library

open_library()
