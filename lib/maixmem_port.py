# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The contract of a port: one method for each thing that a platform can do about memory.

docs/ports.md is generated from the docstrings of this file (`dev.py docs`). The K210's port
defines every method itself and does without the base class, 2 KiB of its GC heap; a test compares
its signatures with these.
"""

import sys

from maixmem import Cost, NoRoom, Region, resident, run_once

_THREADS = "maixmem_linux.threads"  # by name: no board with MicroPython needs the file


# A port for a new board subclasses this and defines what its platform can do. The port owns no
# memory of the board: what load() and new_image() return belongs to the caller. The manager calls
# it from one thread at a time. Sizes are bytes. Sources and handles are whatever the platform
# accepts and returns. What only some ports have is in docs/ports.md: a method here costs GC heap.
class Port:
    """What a platform can do about memory; the answers of one that can do nothing."""

    name = "unknown"  #: what report() calls the platform
    #: names of the regions that sample() reads, in its order
    watched = ()  # type: tuple[str, ...]
    #: "evict": models take turns in memory; "arena": they share working memory, so more stay
    share = "evict"
    slots = 1 << 20  #: how many models can be loaded at a time
    #: bytes that must stay free beyond a forecast, given to check_fit(); 0 where it is exact
    margin = 8192

    # --- memory ---

    def regions(self) -> "list[Region]":
        """The memory regions of this platform, a new list. May collect garbage; keeps nothing
        else."""
        return []

    def sample(self, free: "list[int]") -> None:
        """Puts the free bytes of each watched region into the list `free`, in the order of
        `watched`. Allocates nothing."""

    def warnings(self) -> "list[str]":
        """Sentences about a set-up that will cause trouble, each with the next step."""
        return []

    def refuse(self) -> None:
        """Raises RuntimeError or NoRoom where importing a part of the library would hang the
        board. Called before each import of a part; allocates nothing when it returns."""

    def set_gc_heap(self, nbytes: int) -> str:
        """Stores a new size of the GC heap; returns what to do for it to become active.
        ValueError for a size that would not boot. NotImplementedError where the platform has
        no such setting."""
        raise self._cannot()

    # --- models: what the ModelManager calls ---

    def for_models(self, manager=None) -> "Port":
        """This port with what loads models. Called once by a new manager: parts that only models
        need are imported here.

        Returns the same object each time: a new manager frees what the last one of an "evict"
        port holds. On CPython an override calls this, which makes managers safe for threads.
        """
        if manager is not None and sys.implementation.name == "cpython":  # its threads preempt
            __import__(_THREADS, None, None, ["guard"]).guard(self, manager)
        return self

    @property
    def Net(self) -> type:
        """The class of what use() returns for a model, a subclass of maixmem_models.Net; one
        object is created for each name.

        The base's has the attributes of the handle: for handles that are numbers define your own.
        """
        return resident("net").Net

    def expect_setup(self) -> None:
        """Called when a model is added whose setup will run while it is loaded: what nets need for
        one can be imported now."""

    def inspect(self, source, **how) -> Cost:
        """What loading `source` takes. Reads headers, loads nothing.

        Called by add(), which leaves KModelError, OSError and MemoryError to use(): that calls it
        again until it succeeds, on CPython also when the file has changed. With Cost.refuse set,
        use() raises before anything is freed.

        `how` are the options of add() that the manager does not know. Name yours in the signature,
        so that others are a TypeError.
        """
        raise self._cannot()

    def check_fit(
        self, cost: Cost, margin: int = 0, freed: "list | tuple" = ()
    ) -> "NoRoom | None":
        """None when a load would succeed with `margin` bytes to spare, else a NoRoom, returned and
        not raised.

        `freed` are handles to be counted as unloaded: the answer is then a forecast, which must
        not refuse what might succeed (nor agree too easily: models are freed in vain). With () it
        is the last check before load() and must be safe.
        """
        raise self._cannot()

    def room(self, region: str) -> int:
        """Bytes of a region that one load may count on, holes included; 0 for a region that the
        platform does not have. Called for each region of Cost.need. May take some milliseconds."""
        raise self._cannot()

    def free_bytes(self) -> int:
        """Free bytes of all that models are loaded into, by the cheapest call: the difference
        before and after load() is what the load took. 0 where unknown. Allocates nothing."""
        raise self._cannot()

    def load(self, source, **how):
        """Loads a model; returns its handle, which belongs to the caller until unload(). `how` as
        in inspect().

        The handle may be an object of the port, created before the runtime's load(), with the
        bytes that it holds, which check_fit() needs for `freed`. Owns nothing when it raises (any
        exception, KeyboardInterrupt included): what follows the runtime's load() frees the model
        when it fails (on CPython see `uninterrupted`).

        Raises NoRoom, and nothing else, where the platform has no memory, whatever its exception:
        the manager then evicts one more and tries again. Any other exception ends use();
        KModelError is for a file that is refused. Both carry the platform's number in `.code`.
        """
        raise self._cannot()

    def unload(self, handle) -> None:
        """Frees a model: when it returns, the bytes are free. When it raises, the handle still
        counts as loaded and unload() is called again, so it must be harmless on a handle that is
        already freed."""
        raise self._cannot()

    def is_loaded(self, handle) -> bool:
        """False when somebody else has freed a handle. Called only after a program took it by
        `net.raw`."""
        return True

    def overlap(self, handles: "list") -> "dict[str, int]":
        """{region: bytes} that the loaded models `handles` share, which status() must not count
        twice."""
        return {}

    def explain(self, error: BaseException) -> str:
        """The sentence for an error that a load ended with, and the next step. The base returns
        the error's own text: load() words it, with the bytes needed and free."""
        return run_once("text", "of", error)

    # --- flash and images ---

    def read_flash(self, offset: int, n: int) -> "bytes | bytearray":
        """n bytes of flash from `offset`, in a new object. ValueError beyond the flash, NoRoom
        where reading would need more memory than is free."""
        raise self._cannot()

    def new_image(self, w: int, h: int, format: str = "rgb565"):
        """A new image of w x h pixels, which belongs to the caller. ValueError for a format that
        the platform does not have; the default is the platform's own."""
        raise self._cannot()

    def copy_into(self, dst, src) -> None:
        """Copies the pixels of image `src` into `dst`, an image of the same size and format.
        Allocates nothing."""
        raise self._cannot()

    def _cannot(self) -> NotImplementedError:
        return NotImplementedError("{}: this platform cannot".format(self.name))
