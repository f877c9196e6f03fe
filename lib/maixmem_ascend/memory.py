# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""pyACL's memory calls with their codes made into errors: allocation, release by the right call,
and copies.

memory = Memory(acl)
buf = memory.alloc("dvpp", 3133440)
memory.write(buf, jpeg)
memory.free(buf)
"""

from __future__ import annotations

from typing import Any

from maixmem import NoRoom, PoolError
from maixmem_text import say, tell

from maixmem_ascend.pages import POLICIES

ASYNC_ALIGN = 64  # memcpy_async wants both addresses so; memcpy does not
NO_MEMORY = (200000, 207001, 245000, 245001)

# The codes that a program of ours can meet, and in a second line what to do about them.
_CODES = {
    100000: "invalid parameter",
    100001: "acl.init() was not called",
    100003: "invalid file",
    100011: "invalid model id",
    107000: "invalid parameter of the runtime",
    107001: "no such device",
    107002: "this thread has no context.\ncall port.enter() in it",
    107003: "the stream belongs to another context",
    107004: "the model was loaded in another context.\ncall port.enter() in this thread",
    107008: "address not aligned",
    107016: "memory of the wrong kind",
    107018: "freed by another call than its own",
    145000: "invalid parameter: the work memory may be too small",
    145002: "no such model file",
    145003: "no such model",
    200000: "out of memory",
    207000: "not supported by this version",
    207001: "out of memory",
    207002: "not freed: in use",
    500002: "the graph engine failed: the weight memory may be too small",
    545001: "the model could not be loaded",
    545009: "the model could not be unloaded",
}


class AclError(RuntimeError):
    """A pyACL call that failed; `code` is its code."""

    def __init__(self, call: str, code: int, detail: str = "", *more: str) -> None:
        text, *steps = _CODES.get(code, "see acl_base.h").split("\n")
        what = "acl.{}{}: {} ({}).".format(call, detail, text, code)
        super().__init__(say(what, *steps, *more))
        self.code = code


def check(call: str, code: int, detail: str = "", region: str = "device") -> None:
    """Raises AclError for any code but 0; NoRoom, without numbers, for those of exhausted
    memory."""
    if code in NO_MEMORY:
        text = "acl.{}{}: out of device memory ({}).\nfree models or buffers"
        raise NoRoom(tell(text, call, detail, code), region, None, None)
    if code:
        raise AclError(call, code, detail)


# One allocation or a piece of one: `kind` "device", "host" or "dvpp" tells which call frees it,
# `ptr` its address, `nbytes` what was asked for. `pool` is the pool that a piece goes back to, or
# None. `ptr` is 0 once it was freed.
class Buffer:
    """Device or host memory by its address."""

    def __init__(self, kind: str, ptr: int, nbytes: int, pool: Any = None) -> None:
        self.kind = kind
        self.ptr = ptr
        self.nbytes = nbytes
        self.pool = pool


# Owns nothing; whoever calls alloc() owns the Buffer until free(). alloc() takes the bytes asked
# for, rounded up to 32 and 32 more, of the device beyond 1 MiB whole pages of 2 MiB (pages.py);
# "dvpp" takes such pages always, so pool small ones. `region` is the device memory that it takes
# from, "ddr" or "hbm", `policy` by which pages. When a call fails nothing has changed. The calls
# work in threads that have the context (Port.enter()).
class Memory:
    """Allocation by kind, release by the call that belongs to it, copies that are checked
    first."""

    def __init__(self, acl: Any, region: str = "ddr", policy: str = POLICIES[0]) -> None:
        if policy not in POLICIES:
            raise ValueError("policy={!r}: one of {}".format(policy, ", ".join(POLICIES)))
        self._acl = acl
        self.region = region
        self.policy = policy
        number = POLICIES.index(policy)
        self._calls: dict[str, tuple[str, Any, str, Any]] = {
            "device": (
                "rt.malloc",
                lambda n: acl.rt.malloc(n, number),
                "rt.free",
                acl.rt.free,
            ),
            "host": ("rt.malloc_host", acl.rt.malloc_host, "rt.free_host", acl.rt.free_host),
            "dvpp": (
                "media.dvpp_malloc",
                acl.media.dvpp_malloc,
                "media.dvpp_free",
                acl.media.dvpp_free,
            ),
        }

    def alloc(self, kind: str, nbytes: int) -> Buffer:
        """A new Buffer of `nbytes`. NoRoom when there are not so many; ValueError for another
        kind."""
        if kind not in self._calls or nbytes < 1:
            raise ValueError(
                "alloc({!r}, {}): device, host or dvpp, 1 byte or more".format(kind, nbytes)
            )
        name, malloc = self._calls[kind][:2]
        ptr, code = malloc(nbytes)
        if code in NO_MEMORY:
            raise self._short(kind, name, nbytes, code)
        check(name, code, "({})".format(nbytes))
        return Buffer(kind, ptr, nbytes)

    def _short(self, kind: str, name: str, nbytes: int, code: int) -> NoRoom:
        if kind == "host":
            text = "acl.{}({}): out of host memory, of which the pages are locked ({}).\n"
            text += "free host buffers, or take ordinary memory for what is not copied often"
            return NoRoom(tell(text, name, nbytes, code), "host", nbytes, None)
        free, total, _ = self._acl.rt.get_mem_info(1 if self.region == "hbm" else 0)
        text = "acl.{}({}): out of device memory ({}), {} bytes of {} are free in pages of all "
        text += "kinds.\nfree models or buffers"
        free = free if total else None
        text = tell(text, name, nbytes, code, free, self.region)
        return NoRoom(text, self.region, nbytes, free)

    def free(self, buf: Buffer) -> None:
        """Gives a Buffer back by the call of its kind. PoolError if it is free already or a piece
        of a pool."""
        if not buf.ptr:
            raise PoolError("free: this buffer is free already")
        if buf.pool is not None:
            raise PoolError(
                tell("free: a piece of a pool goes back to its pool.\npool.free(piece)")
            )
        name, free = self._calls[buf.kind][2:]
        check(name, free(buf.ptr))
        buf.ptr = 0

    def copy(self, dst: Buffer, src: Buffer, nbytes: int | None = None) -> None:
        """Copies `nbytes` (all of src) now. ValueError if they do not fit."""
        n = _length(dst, src, nbytes)
        check(
            "rt.memcpy", self._acl.rt.memcpy(dst.ptr, dst.nbytes, src.ptr, n, _copy_kind(dst, src))
        )

    def copy_async(self, dst: Buffer, src: Buffer, stream: int, nbytes: int | None = None) -> None:
        """Queues a copy on a stream; both buffers must live until it is synchronized. ValueError
        for what cannot work.

        Host to host: the manual of 5.0.4.6 has it accepted and failing later, newer ones refuse it
        at once; here it is refused before the call, as is an address that is not a multiple of 64.
        """
        n = _length(dst, src, nbytes)
        kind = _copy_kind(dst, src)
        if kind == 0:
            raise ValueError(tell("copy_async: host to host is not done asynchronously.\ncopy()"))
        for buf in (dst, src):
            if buf.ptr % ASYNC_ALIGN:
                text = (
                    "copy_async: address 0x{:x} is not a multiple of {}.\ncopy(), or a buffer "
                    "from a pool"
                )
                raise ValueError(tell(text, buf.ptr, ASYNC_ALIGN))
        check(
            "rt.memcpy_async",
            self._acl.rt.memcpy_async(dst.ptr, dst.nbytes, src.ptr, n, kind, stream),
        )

    def write(self, dst: Buffer, data: Any) -> None:
        """Copies Python bytes into a Buffer."""
        data = bytes(data)  # has to live until the copy is done
        self.copy(dst, Buffer("host", self._acl.util.bytes_to_ptr(data), len(data)))

    def read(self, src: Buffer, nbytes: int | None = None) -> bytes:
        """`nbytes` (all) of a Buffer as Python bytes, through host memory when it is the device's.
        ValueError outside."""
        n = src.nbytes if nbytes is None else nbytes
        if not src.ptr or not 0 < n <= src.nbytes:
            text = (
                "read of {} bytes from a buffer of {}{}.\n1 to {3} bytes of one that is not freed"
            )
            text = tell(text, n, src.nbytes, "" if src.ptr else ", freed", src.nbytes)
            raise ValueError(text)
        if src.kind == "host":
            return bytes(self._acl.util.ptr_to_bytes(src.ptr, n))
        host = self.alloc("host", n)
        try:
            self.copy(host, src, n)
            return bytes(self._acl.util.ptr_to_bytes(host.ptr, n))
        finally:
            self.free(host)


def _length(dst: Buffer, src: Buffer, nbytes: int | None) -> int:
    n = src.nbytes if nbytes is None else nbytes
    if not dst.ptr or not src.ptr or n < 1 or n > src.nbytes or n > dst.nbytes:
        text = (
            "copy of {} bytes from a buffer of {} to one of {}: outside, or freed.\n"
            "the smaller of the two"
        )
        raise ValueError(tell(text, n, src.nbytes, dst.nbytes))
    return n


def _copy_kind(dst: Buffer, src: Buffer) -> int:
    """0 host to host, 1 host to device, 2 device to host, 3 device to device."""
    return (0 if src.kind == "host" else 2) + (0 if dst.kind == "host" else 1)
