# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for OpenMV cameras: the GC heap, and each pool of umalloc with its peak.

    umalloc.stats(i)    of pool i, without i of all: blocks used, free, persistent, then bytes
                        used, free, persistent, most ever used; since firmware 5.0, most boards

From its source (openmv/openmv, 2026), untested on a board. Models: maixmem_openmv_ml.
"""

import maixmem_generic
from maixmem import Region, resident, set_port


# One pool of umalloc. `used` is what is not free, the persistent bytes (frame buffers, models from
# files) among them; `peak` the most that was used, since the last run of the NPU in its own pool.
# Both as umalloc counts: a block's header of 4 bytes counts as free.
class Pool(Region):
    """A pool of umalloc at one moment."""

    peak = 0


# Owns no memory. Before 5.0 the frame buffer memory is not in umalloc, and no call reports it.
class Port(maixmem_generic.Port):
    """An OpenMV camera."""

    name = "openmv"

    def regions(self) -> "list[Region]":
        """The GC heap, then a Pool of each of umalloc's: uma0 is the default, the others are of
        fast memory, as far as the board has them."""
        return super().regions() + pools()

    def for_models(self, manager=None) -> "Port":
        """The port that loads models as well: it is the port of this program from now on."""
        return set_port(resident("openmv_ml").Port())


def pools() -> "list[Region]":
    """A Pool for each of umalloc's; [] where the firmware has no such module."""
    try:
        from umalloc import stats
    except ImportError:
        return []
    found = []  # type: list[Region]
    left = sum(stats()[3:5])  # asked for a pool that is not there it answers for all
    while left > 0:
        used, free, _, peak = stats(len(found))[3:]
        pool = Pool("uma{}".format(len(found)), used + free, used, free)
        pool.peak = peak
        found.append(pool)
        left -= used + free
    return found
