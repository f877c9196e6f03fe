# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""OpenMV's own allocator on the desk: umalloc.c and tlsf.c of a checkout that $MAIXMEM_OPENMV
names (github.com/openmv/openmv), compiled by the system's C compiler with what they ask of
MicroPython."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

#: what stands in for the firmware's headers; an error leaves by longjmp, as the interpreter's do
_HEADERS = {
    "py/runtime.h": """
#include <setjmp.h>
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#define NORETURN __attribute__((noreturn))
#define MP_ERROR_TEXT(x) x
extern int mp_type_MemoryError, mp_type_RuntimeError;
NORETURN void raise_msg(const void *type, const char *text);
#define mp_raise_msg(type, text) raise_msg(type, text)
""",
    "py/mphal.h": "",
    "board_config.h": "",
}
_DRIVER = """
#include <string.h>
#include "py/runtime.h"
#include "umalloc.h"
int mp_type_MemoryError, mp_type_RuntimeError;
static jmp_buf back;
static const char *said;
void raise_msg(const void *type, const char *text) { said = text; longjmp(back, 1); }
const char *omv_said(void) { return said; }
void *omv_malloc(size_t n, uint32_t flags) {
    said = NULL;
    return setjmp(back) ? NULL : uma_malloc(n, flags);
}
void *omv_malign(size_t n, size_t to, uint32_t flags) {
    said = NULL;
    return setjmp(back) ? NULL : uma_malign(n, to, flags);
}
void *omv_realloc(void *p, size_t n, uint32_t flags) {
    said = NULL;
    return setjmp(back) ? NULL : uma_realloc(p, n, flags);
}
void omv_acquire(void) {
    said = NULL;
    if (!setjmp(back)) { uma_transient_acquire(); }
}
"""
_POOL = ctypes.c_size_t


def sources() -> Path | None:
    """The folder common/ of the checkout, or None."""
    folder = Path(os.environ.get("MAIXMEM_OPENMV", "/nowhere")) / "common"
    there = (folder / "umalloc.c").is_file() and (folder / "tlsf.c").is_file()
    return folder if there else None


def why_not() -> str:
    """Why it cannot be compared here, loudly; "" where it can."""
    if sources() is None:
        return "NO OPENMV SOURCES: $MAIXMEM_OPENMV names no checkout with common/umalloc.c"
    return "" if shutil.which("cc") else "NO C COMPILER: OpenMV's umalloc.c was not compared"


def build(folder: Path) -> ctypes.CDLL:
    """The allocator as a library, made in `folder`."""
    common = sources()
    assert common is not None
    for name, text in _HEADERS.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (folder / "driver.c").write_text(_DRIVER)
    out = folder / "umalloc.so"
    files = [common / "umalloc.c", common / "tlsf.c", folder / "driver.c"]
    options = ["-shared", "-fPIC", "-O1", "-w", "-DNDEBUG", f"-I{folder}", f"-I{common}"]
    subprocess.run(["cc", *options, *map(str, files), "-o", str(out)], check=True)
    return ctypes.CDLL(str(out))


class _Pool(ctypes.Structure):
    """uma_pool_t."""

    _fields_ = [
        ("tlsf", ctypes.c_void_p),
        *((name, ctypes.c_size_t) for name in ("size", "free", "persist", "peak", "base", "end")),
        ("flags", ctypes.c_uint32),
    ]


class _Stats(ctypes.Structure):
    """uma_stats_t."""

    _fields_ = [
        (f"{kind}_{what}", ctypes.c_size_t)
        for kind in ("free", "used", "persist")
        for what in ("count", "bytes")
    ] + [("peak_bytes", ctypes.c_size_t)]


# Owns the memory of the pools. Calls and errors as those of the stand-in's omv_uma.Uma; blocks are
# addresses. One at a time: the allocator's tables are the library's.
class Umalloc:
    """The real umalloc."""

    word = ctypes.sizeof(ctypes.c_size_t)

    def __init__(self, library: ctypes.CDLL) -> None:
        self._c = library
        library.uma_pool_get.restype = ctypes.POINTER(_Pool)
        library.omv_said.restype = ctypes.c_char_p
        for name in ("omv_malloc", "omv_malign", "omv_realloc"):
            getattr(library, name).restype = ctypes.c_void_p
        library.uma_init()
        self._memory: list[Any] = []

    def add(self, nbytes: int, flags: int = 0) -> int:
        """A pool; its address."""
        memory = ctypes.create_string_buffer(nbytes + 4096)
        base = -(-ctypes.addressof(memory) // 4096) * 4096
        self._memory.append(memory)
        self._c.uma_pool_add(ctypes.c_void_p(base), ctypes.c_size_t(nbytes), flags)
        return base

    def _call(self, name: str, *args: Any) -> int | None:
        at: int | None = getattr(self._c, name)(*args)
        said = self._c.omv_said()
        if said:
            kind = RuntimeError if b"realloc" in said else MemoryError
            raise kind(said.decode())
        return at

    def malloc(self, size: int, flags: int = 0) -> int | None:
        return self._call("omv_malloc", _POOL(size), flags)

    def malign(self, size: int, to: int, flags: int = 0) -> int | None:
        return self._call("omv_malign", _POOL(size), _POOL(to), flags)

    def realloc(self, at: int, size: int, flags: int = 0) -> int | None:
        return self._call("omv_realloc", ctypes.c_void_p(at), _POOL(size), flags)

    def free(self, at: int) -> None:
        self._c.uma_free(ctypes.c_void_p(at))

    def collect(self) -> None:
        self._c.uma_collect()

    def transient_acquire(self) -> None:
        self._c.omv_acquire.restype = None
        self._call("omv_acquire")

    def transient_release(self) -> None:
        self._c.uma_transient_release()

    def stats(self, index: int = -1) -> tuple[int, ...]:
        """As umalloc.stats() gives them to Python."""
        s = _Stats()
        self._c.uma_get_stats(index, True, ctypes.byref(s))
        blocks = (s.used_count, s.free_count, s.persist_count)
        return (*blocks, s.used_bytes, s.free_bytes, s.persist_bytes, s.peak_bytes)

    def pools(self) -> list[tuple[int, int, int, int]]:
        """(size, free, persistent, peak) of each pool, from its own books, not by stats()."""
        found = [self._c.uma_pool_get(i).contents for i in range(self._c.uma_pool_count())]
        return [(p.size, p.free, p.persist, p.peak) for p in found]
