# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What every port answers: the base class, with the answers of a platform that can do nothing.

The K210's port has all of it itself and does without the base class, which would take 2 KiB of its
GC heap.
"""

import sys

from maixmem import Region, resident, run_once

_THREADS = "maixmem_linux.threads"  # by name: no board with MicroPython needs the file


# The base class of all ports: what a platform has says its own class, the rest is answered here. A
# port for a new board names itself, lists the regions that it watches, and overrides what its
# platform can do. NotImplementedError is what a platform cannot do at all:
#   set_gc_heap(nbytes) -> str stores a new GC heap size, returns what to do for it to become
#   active read_flash(offset, n) n bytes of flash, as bytes or a bytearray
#   new_image(w, h, format)             a new image of w x h pixels
#   copy_into(dst, src) copies pixels between images of one size and format, allocates none
# For models (one thread at a time, managers see to it; sources and handles are whatever the
# platform takes and gives):
#   inspect(source, **how) -> Cost reads headers, loads nothing; raises KModelError, OSError,
#   NoRoom. Asked once
#                                       a name. Cost.refuse set: use() raises before anything is
#                                       freed
#   check_fit(cost, margin, freed) None when a load would come through with `margin` to spare, else
#   a NoRoom, not
#                                       raised. `freed` are handles taken as unloaded: a forecast,
#                                       which must not say no where it might work. With () it is
#                                       the last word before load(), must be safe
#   room(region) -> bytes that one load may count on, holes included; may take some ms free_bytes()
#   -> bytes of what models go into, by the cheapest call: what a load took is the difference
#   load(source, **how) -> handle owns nothing when it raises (any exception, KeyboardInterrupt
#   included), so
#                                       `return runtime.load(...)` has to be its last step. A code
#                                       of the platform becomes `.code` of a NoRoom or KModelError
#                                       here
#   unload(handle) when it returns the bytes are free. When it raises, the handle still counts as
#                                       loaded and it is called again: harmless on a handle that is
#                                       gone
class Port:
    """What a platform can do about memory. The answers here are those of one that can do
    nothing."""

    name = "unknown"
    watched = ()  # type: tuple[str, ...]  # regions that sample() reads, in its order
    # "evict": models take turns in memory; "arena": they share working memory, so more stay
    share = "evict"
    slots = 1 << 20  # how many models can be loaded at a time
    margin = 8192  # bytes that must stay free beyond a forecast

    def regions(self) -> "list[Region]":
        """The memory regions of this platform, a new list. May collect garbage; keeps nothing
        else."""
        return []

    def sample(self, free: "list[int]") -> None:
        """Puts the free bytes of each watched region into the list `free`. Allocates nothing."""

    def warnings(self) -> "list[str]":
        """Sentences about a set-up that will make trouble."""
        return []

    def for_models(self, manager=None) -> "Port":
        """This port with what loads models, for the manager: parts that nobody else needs come in
        here."""
        if manager is not None and sys.implementation.name == "cpython":  # its threads preempt
            __import__(_THREADS, None, None, ["guard"]).guard(self, manager)
        return self

    @property
    def Net(self):
        """The class of what use() hands out for a model, made once a name: a subclass of
        maixmem_models.Net."""
        return resident("net").Net

    def expect_setup(self) -> None:
        """A model was added whose setup will run while it is loaded: what nets need for one can
        come in now."""

    def explain(self, error) -> str:
        """The sentence of an error that a load ended with, with the next step."""
        return run_once("text", "of", error)

    def is_loaded(self, handle) -> bool:
        """False when somebody else has freed a handle. Asked only after a program took it by
        `net.raw`."""
        return True

    def overlap(self, handles) -> dict:
        """{region: bytes} that loaded models share, which status() must not count twice."""
        return {}

    def _cannot(self, *args, **how):
        raise NotImplementedError("{}: this platform cannot".format(self.name))

    inspect = check_fit = room = free_bytes = load = unload = _cannot
    set_gc_heap = read_flash = new_image = copy_into = _cannot
