# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a pool seldom needs: to check itself, for an image in place of a changed one, for
those of an earlier run.

A one-time part of maixmem_pool.
"""

import gc

from maixmem import PoolError, message


def check(pool) -> int:
    """See BufferPool.check()."""
    used = pool.in_use
    free = {id(buf) for buf in pool._free[1 : pool.count - used + 1]}
    good = [k for k in free if not pool._held.get(k, True)]
    if len(good) + used != pool.count or len(pool.holders()) != used:
        raise PoolError(message("check", used, pool.count, pool.holders()))
    return used


class _Gap:
    def width(self):
        return 0


# A gap keeps the place while the new image is made, so that the old one's memory can be had for
# it.
def renew(pool, n: int) -> None:
    """A new image for the n-th free one of an ImagePool, whose size or format its holder
    changed."""
    free = pool._free
    held = pool._held
    items = pool._items
    gap = _Gap()
    held[id(gap)] = False
    held.pop(id(free[n]))
    for i in range(len(items)):
        if items[i] is free[n]:
            items[i] = gap
            break
    free[n] = gap
    gc.collect()
    img = pool._new()
    held[id(img)] = False
    items[i] = free[n] = img
    held.pop(id(gap))
    pool.replaced += 1


def take_over(pool, count: int, items: list) -> bool:
    """Puts the images of a pool of the main module that is like `pool` (not made yet) into
    `items`, and closes it."""
    import __main__

    gc.collect()  # what the attempt to make new ones left
    wanted = (pool.w, pool.h, pool.format, pool.ai, count)
    for name in dir(__main__):
        x = getattr(__main__, name, pool)
        if type(x) is type(pool) and x is not pool:
            if (x.w, x.h, x.format, x.ai, x.count) == wanted:
                items.extend(x._items)  # free or not: nobody else may use those that are out
                x._fill([])
                x._items = []
                return True
    return False
