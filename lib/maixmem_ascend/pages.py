# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What a request of device memory takes, by policy and by the pages that the card has.

The manual of aclrtMalloc, and what of it is to be read in CANN's public host layer
(hicann/runtime, 681ef76): the size of the request to its driver (GetAlignedAndPaddingSize), and
when that is in huge pages (DevMemAllocOnline: beyond 1 MiB; where they run out in normal ones).
How many the driver takes, whole pages of 2 MiB, is the manual's word only.
"""

from __future__ import annotations

from collections.abc import Callable

POLICIES = ("huge_first", "huge_only", "normal_only")  # aclrtMemMallocPolicy: 0, 1, 2
PAGE = 2 << 20
_CRITICAL = 1 << 20
# attributes of acl.rt.get_mem_info: all, huge pages, normal ones
_ATTRS = {"ddr": (0, 2, 3), "hbm": (1, 4, 5)}


def asked(nbytes: int) -> int:
    """What the runtime asks its driver for: rounded up to 32 bytes and 32 more."""
    return (nbytes + 31) // 32 * 32 + 32


def is_huge(nbytes: int, policy: str) -> bool:
    """Whether a request is tried in huge pages."""
    return policy == "huge_only" or (policy == "huge_first" and asked(nbytes) > _CRITICAL)


def device_bytes(nbytes: int, policy: str = POLICIES[0]) -> int:
    """What a request takes, as long as huge pages last."""
    n = asked(nbytes)
    return (n + PAGE - 1) // PAGE * PAGE if is_huge(nbytes, policy) else n


def memory_of(mem_info: Callable[[int], tuple[int, int, int]]) -> str:
    """`hbm` or `ddr`: where acl.rt.malloc allocates on this card. One without HBM answers 0 to the
    query, newer versions with the figures of its DDR."""
    ddr, hbm = [mem_info(_ATTRS[name][0])[:2] for name in ("ddr", "hbm")]
    return "hbm" if hbm[1] and hbm != ddr else "ddr"


# Where a card does not tell its kinds of pages apart, all free bytes are taken for one kind.
class Pages:
    """The free pages of a memory, to see whether requests would find theirs."""

    def __init__(self, mem_info: Callable[[int], tuple[int, int, int]], memory: str) -> None:
        found = [mem_info(attr) for attr in _ATTRS[memory]]
        self.free = found[0][0]
        self._apart = bool(found[1][1] or found[2][1])
        self.has_huge = bool(found[1][1]) or not self._apart
        self._huge, self._normal = found[1][0], found[2][0]

    def give(self, nbytes: int, policy: str) -> None:
        """Counts a request as freed."""
        taken = device_bytes(nbytes, policy)
        self.free += taken
        if is_huge(nbytes, policy):
            self._huge += taken
        else:
            self._normal += taken

    def take(self, nbytes: int, policy: str) -> bool:
        """Whether the request would be served; then its pages are taken."""
        taken = device_bytes(nbytes, policy)
        if not self._apart:
            self.free -= taken
            return self.free >= 0
        if is_huge(nbytes, policy):
            if self._huge >= taken:
                self._huge -= taken
                self.free -= taken
                return True
            if policy == "huge_only":
                return False
        self._normal -= asked(nbytes)
        self.free -= asked(nbytes)
        return self._normal >= 0
