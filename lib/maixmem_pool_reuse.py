# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An image pool that an earlier run of a script left in a global name: its images for the new one. A one-time part."""

import gc

import __main__


def take_over(pool, count: int, items: list) -> bool:
    """Puts the images of a pool of the main module that is like `pool` (not made yet) into `items`, and closes it."""
    gc.collect()  # what the attempt to make new ones left
    wanted = (pool.w, pool.h, pool.format, pool.ai, count)
    for name in dir(__main__):
        x = getattr(__main__, name, None)
        if type(x) is type(pool) and x is not pool:
            if (x.w, x.h, x.format, x.ai, x.count) == wanted:
                items.extend(x.close())
                return True
    return False
