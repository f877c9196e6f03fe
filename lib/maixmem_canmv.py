# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for the K210 under CanMV (sys.platform "CanMV", module maix): memory, flash and images
as on MaixPy.

From its sources (kendryte/canmv, 2025): no image of it could be run. Models: maixmem_canmv_kpu.
"""

import maixmem_k210
from maixmem import resident, set_port


class Port(maixmem_k210.Port):
    """The K210 under CanMV."""

    name = "canmv"

    def for_models(self, manager=None) -> "maixmem_k210.Port":
        """The port that loads models as well: it is the port of this program from now on."""
        return set_port(resident("canmv_kpu").Port())
