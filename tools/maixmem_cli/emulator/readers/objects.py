# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The objects of a running MicroPython 1.11 and what each refers to, by name: a chain of names
leads from a root to every one that is in use.

An object begins with its type, and a type with the type of types (py/obj.h); dict, list, tuple,
set, instance, function, closure, generator, module and bound method have their own layout
(py/obj*.h). What has another layout is taken as the collector takes it: every word may refer.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from k210_model.heap import RAM_END, RAM_START

from maixmem_cli.emulator.readers import heaps
from maixmem_cli.emulator.readers.heaps import BLOCK, FREE, HEAD, TAIL
from maixmem_cli.emulator.readers.qstrs import Qstrs

Edge = tuple[str, int]  #: what a reference is called after its holder's name, and where it leads
OWN = ""  #: the holder's own memory: the table of a dict, the items of a list
UNDER_WAY = "a value under way"  #: what only C holds: a register, its part of a stack
_MOST_ITEMS, _MOST_THREADS, _MOST_VALUES = 1 << 14, 64, 512
_SPARE = 1024  # bytes of a thread's stack beyond what its list says
_MOST_TEXT = 24  # letters of a key that are shown
_HEADER = 5  # words of mp_code_state_t before its values: function, ip, sp, exceptions, globals
_NONE, _DELETED = 0, 4  # py/obj.h: MP_OBJ_NULL, MP_OBJ_SENTINEL; 1 and 3 are the numbers 0 and 1
_LOCALS_OF_TYPE = 14  # word of mp_obj_type_t: locals_dict


@dataclass(frozen=True)
class Moment:
    """The RAM at one time. `seen`: what the collector follows, `ram`: the rest, which does not
    change; `states`: one of each block of the pool that begins at `pool`. `state`, `books`: where
    the interpreter's state begins and ends; `globals`: its dict of __main__. `threads`: the word
    that points to their list."""

    seen: heaps.Ram
    ram: heaps.Ram
    states: bytes
    pool: int
    state: int
    books: int
    globals: int
    threads: int
    text: int  #: the type str


class Objects:
    """Chains of names to the objects of a moment: `chains`: {block: names}."""

    def __init__(self, moment: Moment, names: Qstrs) -> None:
        self._at = moment
        self._names = names
        self._seen = array("Q", bytes(moment.seen[: RAM_END - RAM_START]))
        self._ram = array("Q", bytes(moment.ram[: RAM_END - RAM_START]))
        self._end = moment.pool + len(moment.states) * BLOCK
        #: what the collector follows: stack_top and stack_limit come before the state's roots
        self._followed = [(moment.pool, self._end), (moment.state + 16, moment.books)]
        self._types = self._word(moment.text)
        self._stacks = self._all_stacks()
        self._followed += self._stacks
        self._layouts: dict[str, Callable[[int], Iterator[Edge]]] = {
            "dict": self._dict,
            "list": self._list,
            "tuple": self._tuple,
            "set": self._set,
            "module": self._module,
            "function": self._function,
            "closure": self._closure,
            "generator": self._generator,
            "bound_method": self._method,
            "type": self._class,
        }
        self.chains: dict[int, tuple[str, ...]] = {}
        self._find()

    # --- memory ---
    def _word(self, address: int) -> int:
        if not RAM_START <= address < RAM_END - 7:
            return 0
        followed = any(low <= address < high for low, high in self._followed)
        return (self._seen if followed else self._ram)[(address - RAM_START) // 8]

    def _block(self, pointer: int) -> int | None:
        """The block in use that begins there."""
        at = pointer - self._at.pool
        if at < 0 or pointer >= self._end or at % BLOCK:
            return None
        return at // BLOCK if self._at.states[at // BLOCK] == HEAD else None

    def blocks(self, block: int) -> int:
        """How many the object has that begins in this one."""
        states, n = self._at.states, 1
        while block + n < len(states) and states[block + n] == TAIL:
            n += 1
        return n

    def _bytes(self, address: int, n: int) -> bytes:
        first = address & ~7
        words = array("Q", (self._word(at) for at in range(first, address + n, 8)))
        return words.tobytes()[address % 8 :][:n]

    # --- types and names ---
    def type_name(self, address: int) -> str:
        """Of the object there; "" when it has no type."""
        kind = self._word(address)
        if kind & 7 or not RAM_START <= kind < RAM_END or self._word(kind) != self._types:
            return ""
        return self._names.text(self._word(kind + 8) >> 16 & 0xFFFF)

    def _is_class(self, kind: int) -> bool:
        """A class that the script made: its type is in the pool."""
        return self._at.pool <= kind < self._end

    def _key(self, value: int) -> str:
        """A key of a dict as the script would write it."""
        if value & 1:
            return str((value if value < 1 << 63 else value - (1 << 64)) >> 1)
        if value & 3 == 2:
            return repr(self._names.text(value >> 2))
        name = self.type_name(value)
        if name in ("str", "bytes"):
            data = self._bytes(self._word(value + 24), min(self._word(value + 16), _MOST_TEXT))
            return repr(data.decode(errors="replace") if name == "str" else data)
        return name or "..."

    # --- what refers to what ---
    def edges(self, address: int) -> Iterator[Edge]:
        """Every reference of the object there."""
        name = self.type_name(address)
        if name and self._is_class(self._word(address)):
            yield from self._instance(address)
        elif name in self._layouts:
            yield from self._layouts[name](address)
        block = self._block(address)
        if block is not None:
            yield from self._raw(address, self.blocks(block) * BLOCK)

    def _raw(self, address: int, size: int) -> Iterator[Edge]:
        for at in range(address, address + size, 8):
            yield OWN, self._word(at)

    def _map(self, at: int, named: str) -> Iterator[Edge]:
        """An mp_map_t; `named`: how an entry is called, of its key."""
        allocated, table = self._word(at + 8), self._word(at + 16)
        yield OWN, table
        for i in range(min(allocated, _MOST_ITEMS)):
            key, value = self._word(table + 16 * i), self._word(table + 16 * i + 8)
            if key not in (_NONE, _DELETED):
                word = self._key(key)
                if named == ".":
                    yield "." + word.strip("'"), value
                else:
                    yield f"[{word}]", value
                yield OWN, key

    def _dict(self, at: int) -> Iterator[Edge]:
        yield from self._map(at + 8, "[")

    def _items(self, at: int, number: int) -> Iterator[Edge]:
        for i in range(min(number, _MOST_ITEMS)):
            yield f"[{i}]", self._word(at + 8 * i)

    def _list(self, at: int) -> Iterator[Edge]:
        yield OWN, self._word(at + 24)
        yield from self._items(self._word(at + 24), self._word(at + 16))

    def _tuple(self, at: int) -> Iterator[Edge]:
        yield from self._items(at + 16, self._word(at + 8))

    def _set(self, at: int) -> Iterator[Edge]:
        table = self._word(at + 24)
        yield OWN, table
        for i in range(min(self._word(at + 8), _MOST_ITEMS)):
            yield "{...}", self._word(table + 8 * i)

    def _instance(self, at: int) -> Iterator[Edge]:
        yield from self._map(at + 8, ".")

    def _class(self, at: int) -> Iterator[Edge]:
        members = self._word(at + 8 * _LOCALS_OF_TYPE)
        if members:
            yield OWN, members
            yield from self._map(members + 8, ".")

    def _module(self, at: int) -> Iterator[Edge]:
        names = self._word(at + 8)
        yield OWN, names
        yield from self._map(names + 8, ".")

    def _function(self, at: int) -> Iterator[Edge]:
        block = self._block(at)
        if block is None:
            return
        yield OWN, self._word(at + 16)
        yield OWN, self._word(at + 24)
        for i in range(4, self.blocks(block) * BLOCK // 8):
            yield f".default[{i - 4}]", self._word(at + 8 * i)

    def _closure(self, at: int) -> Iterator[Edge]:
        yield OWN, self._word(at + 8)
        for i in range(min(self._word(at + 16), _MOST_ITEMS)):
            cell = self._word(at + 24 + 8 * i)
            yield OWN, cell
            yield f".closed_over[{i}]", self._word(cell + 8)

    def _generator(self, at: int) -> Iterator[Edge]:
        name, slots = self._frame(at + 16)
        for slot, label in slots:
            yield f" in {name}(), {label}", self._word(slot)

    def _method(self, at: int) -> Iterator[Edge]:
        yield ".method", self._word(at + 8)
        yield ".self", self._word(at + 16)

    # --- frames ---
    def _frame(self, at: int) -> tuple[str, list[tuple[int, str]]]:
        """Of an mp_code_state_t: the function's name, and where its values are, by their names:
        arguments have some, of other locals no name is kept. ("", []) when it is none."""
        function, ip = self._word(at), self._word(at + 8)
        if self._block(function) is None or self.type_name(function) not in (
            "function",
            "generator",
        ):
            return "", []
        code = self._word(function + 16)
        if not code <= ip < code + (1 << 16):
            return "", []
        total, named, name = self._prelude(code)
        first, constants = at + 8 * _HEADER, self._word(function + 24)
        out = [(first + 8 * k, "a local") for k in range(total)]
        for k in range(min(named, total)):
            word = self._word(constants + 8 * k)
            label = self._names.text(word >> 2) if word & 3 == 2 else "an argument"
            out[total - 1 - k] = (first + 8 * (total - 1 - k), label)
        return name, out

    def _prelude(self, code: int) -> tuple[int, int, str]:
        """Of bytecode (py/bc.c): values of a frame, how many of them are arguments, its name."""
        data = iter(self._bytes(code, 48))

        def number() -> int:
            n = 0
            for byte in data:
                n = n << 7 | byte & 0x7F
                if byte < 0x80:
                    break
            return n

        total, _, _ = number(), number(), next(data, 0)
        named = next(data, 0) + next(data, 0)
        next(data, 0), number()
        name = next(data, 0) | next(data, 0) << 8
        return min(total, _MOST_VALUES), named, self._names.text(name)

    def _stack(self, low: int, high: int) -> Iterator[Edge]:
        """Values of the Python functions whose frames are there, then what only C holds."""
        at, rest = low, []
        while at < high:
            name, slots = self._frame(at)
            for slot, label in slots:
                yield f"{label} of {name}()", self._word(slot)
            if not slots:
                rest.append(at)
            at += 8 * (_HEADER + len(slots)) if slots else 8
        for place in rest:
            yield UNDER_WAY, self._word(place)

    def _all_stacks(self) -> list[tuple[int, int]]:
        """From where to where each is in use, the running one first; then those of other threads,
        as far as the firmware's collector looks at them."""
        sp, top = self._seen[2] & ~7, self._word(self._at.state)
        others: list[tuple[int, int]] = []
        th = self._seen[(self._at.threads - RAM_START) // 8] if self._at.threads else 0
        while RAM_START <= th < RAM_END and len(others) < _MOST_THREADS:
            task, low = self._word(th), self._word(th + 24)
            begun_here = th < self._at.pool  # the interpreter's own thread is not in its pool
            high = low + 8 * self._word(th + 32) + (0 if begun_here else _SPARE)
            kept = self._seen[(task - RAM_START) // 8] & ~7 if RAM_START <= task < RAM_END else 0
            if low <= sp < high:
                top = top if low <= top <= high else high
            elif low <= kept < high:  # else the look did not come to it
                others.append((kept, high))
            th = self._word(th + 40)
        return [(sp, top), *others]

    # --- roots ---
    def _roots(self) -> Iterator[list[Edge]]:
        """One kind after the other: what an earlier one leads to is called by it."""
        moment = self._at
        main = [(n.lstrip("."), v) for n, v in self._map(moment.globals + 8, ".")]
        yield main
        kind = self._word(moment.globals)
        state = range(moment.state + 16, moment.books, 8)
        dicts = [a for a in state if self._word(a) == kind and a != moment.globals]
        yield [(f"sys.modules{n}", v) for d in dicts for n, v in self._map(d + 8, "[")]
        yield [("the interpreter", self._word(a)) for a in state]
        own, *others = self._stacks
        yield [*self._stack(*own)]
        yield [(UNDER_WAY, self._seen[i]) for i in range(1, 32)]
        for stack in others:
            yield [(f"a thread, {name}", v) for name, v in self._stack(*stack)]

    def _find(self) -> None:
        for roots in self._roots():
            todo: deque[tuple[int, tuple[str, ...]]] = deque()
            for name, value in roots:
                self._reach(value, (name,) if name else (), todo)
            while todo:
                address, chain = todo.popleft()
                for label, value in self.edges(address):
                    self._reach(value, (*chain, label) if label else chain, todo)

    def _reach(
        self, value: int, chain: tuple[str, ...], todo: deque[tuple[int, tuple[str, ...]]]
    ) -> None:
        block = self._block(value)
        if block is not None and block not in self.chains:
            self.chains[block] = chain
            todo.append((value, chain))


def used(states: bytes) -> Iterator[int]:
    """The blocks at which objects in use begin."""
    return (i for i, s in enumerate(states) if s not in (FREE, TAIL))
