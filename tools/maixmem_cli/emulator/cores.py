# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What runs the board's C: a WebAssembly module in this process, where wasmtime can be had, else a
shared library in a process of its own. Both are called alike, and give the same bits.

Nothing is imported before a board starts: a browser gives a core of its own to board.Board.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import os
import pickle
import platform
import subprocess
import sys
import tempfile
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Protocol, Union

from maixmem_cli.emulator import compiler
from maixmem_cli.emulator.compiler import NoBoardHere
from maixmem_cli.library import places
from maixmem_cli.text.needs import BOARD, WrongUse

Bytes = Union[bytes, bytearray, memoryview]
_NOTHING = (
    "no board in software here: there is neither wasmtime nor a C compiler. "
    f"Next: {BOARD} (where wasmtime has no wheel: a C compiler; Debian: apt install gcc)"
)


class CoreFailed(Exception):
    """The board's C ended in a trap, or its process died: nothing more comes from this core."""


class Core(Protocol):
    """One board's functions and memory. Addresses are what k_place gives."""

    def call(self, name: str, *args: int) -> int:
        """What the exported function returns, 0 for nothing. CoreFailed."""
        ...

    def read(self, at: int, size: int) -> Bytes:
        """So many bytes; a view of the memory itself where that can be had."""
        ...

    def write(self, at: int, data: Bytes) -> None: ...

    def close(self) -> None: ...


#: makes a core where something else runs the module: in a page, the browser
given: Callable[[], Core] | None = None


class Wasm:
    """The module of the repository by wasmtime: it can touch nothing of this machine."""

    def __init__(self) -> None:
        import ctypes

        import wasmtime

        self._errors = (wasmtime.Trap, wasmtime.WasmtimeError)
        self._ctypes = ctypes
        engine, module = _module()
        self._store = wasmtime.Store(engine)
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory: Any = self._exports["memory"]
        self.call("_initialize")

    def call(self, name: str, *args: int) -> int:
        function: Any = self._exports[name]
        try:
            got = function(self._store, *args)
        except self._errors as e:
            raise CoreFailed(str(e).strip().splitlines()[-1].strip()) from e
        return (got or 0) & 0xFFFFFFFF

    def read(self, at: int, size: int) -> memoryview:
        base = self._ctypes.addressof(self._memory.data_ptr(self._store).contents)
        return memoryview((self._ctypes.c_ubyte * size).from_address(base + at)).cast("B")

    def write(self, at: int, data: Bytes) -> None:
        self.read(at, len(data))[:] = data

    def close(self) -> None:
        self._store.close()


@lru_cache(maxsize=1)
def _module() -> tuple[Any, Any]:
    """The engine and the compiled module, which is kept in the user's cache."""
    import wasmtime

    atexit.register(_module.cache_clear)  # while wasmtime still has its functions
    engine = wasmtime.Engine()
    source = (places.board_in_c() / "k210.wasm").read_bytes()
    about = f"{metadata.version('wasmtime')} {sys.platform} {platform.machine()} {platform.node()}"
    key = hashlib.sha256(source + about.encode()).hexdigest()[:16]
    kept = compiler.cache() / f"k210board-{key}.cwasm"
    with contextlib.suppress(OSError, wasmtime.WasmtimeError):
        return engine, wasmtime.Module.deserialize(engine, kept.read_bytes())
    module = wasmtime.Module(engine, source)
    with contextlib.suppress(OSError):
        write_whole(kept, bytes(module.serialize()))
    return engine, module


def write_whole(path: Path, data: bytes) -> None:
    """A file that others see whole or not at all. OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temp = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        os.replace(temp, path)
    except BaseException:
        os.unlink(temp)
        raise


class Native:
    """The same C as a shared library. It has the rights of its process, which is not ours."""

    def __init__(self, library: Path | None = None, env: dict[str, str] | None = None) -> None:
        library = library or compiler.shared_library()
        self.errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("native_child.py")), str(library)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=env,
            start_new_session=True,  # our user's Ctrl-C is not for it
        )

    def _ask(self, *request: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        try:
            pickle.dump(request, self._process.stdin)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        except (OSError, EOFError, ValueError) as e:
            self._process.wait(5)
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip()
            raise CoreFailed(said or f"its process ended: {self._process.returncode}") from e

    def call(self, name: str, *args: int) -> int:
        return self._ask("call", name, args)

    def read(self, at: int, size: int) -> bytes:
        return self._ask("read", at, size)

    def write(self, at: int, data: Bytes) -> None:
        self._ask("write", at, bytes(data))

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()
        self.errors.close()


def missing() -> str | None:
    """Why there is no board here, or None."""
    there = given or importlib.util.find_spec("wasmtime") or compiler.compiler()
    return None if there else _NOTHING


def check() -> None:
    """Ends a command, with exit status 2, where there can be no board."""
    why = missing()
    if why:
        raise WrongUse(why)


def new() -> Core:
    """The best core that this machine has. NoBoardHere says what to install."""
    if given:
        return given()
    if importlib.util.find_spec("wasmtime"):
        # its wheel for other machines brings a library that is none of theirs
        with contextlib.suppress(ImportError, RuntimeError, OSError):
            return Wasm()
    if not compiler.compiler():
        raise NoBoardHere(_NOTHING)
    return Native()
