# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Functions of bytecode and their frames: what a frame's values are called.

Arguments have names; of other locals none is kept. Sources: py/bc.h mp_code_state_t, py/bc.c the
prelude, py/objfun.h.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Callable

from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Memory, Range

_HEADER = 5  # words of mp_code_state_t before its values
_MOST_VALUES = 512
_MOST_CODE = 1 << 16  # bytes
_HEAD = 48  # bytes of a bytecode's beginning that have its name
Slots = list[tuple[int, str]]  #: where a value is, what it is called


class Frames:
    """Reads frames. `is_head`: whether something in use begins at an address of the GC heap,
    `is_function`: whether that is a function of bytecode."""

    FIRST_DEFAULT = 4  #: word of a function at which the defaults of its arguments begin

    def __init__(
        self,
        memory: Memory,
        layout: Layout,
        names: object,
        is_head: Callable[[int], bool],
        is_function: Callable[[int], bool],
    ) -> None:
        self._memory = memory
        self._layout = layout
        self._w = layout.word
        self._text: Callable[[int], str] = names.text  # type: ignore[attr-defined]
        self._is_head = is_head
        self._is_function = is_function

    def code(self, function: int) -> int:
        """Where its bytecode is."""
        return self._memory.word(function + (3 if self._layout.with_context else 2) * self._w)

    def globals_of(self, function: int) -> int:
        """The dict of names that its code sees."""
        place = self._memory.word(function + self._w)
        return self._memory.word(place + self._w) if self._layout.with_context else place

    def end_of(self, stack: Range, names: int) -> int:
        """Where the part of a stack ends that functions with these globals have in use."""
        end, (low, high) = stack[0], stack
        for at in range(low, high, self._w):
            for frame in (at, self._memory.word(at)):  # one of many values is on the GC heap
                _, slots = self.frame(frame) if frame == at or self._is_head(frame) else ("", [])
                if slots and self.globals_of(self._memory.word(frame)) == names:
                    end = (slots[-1][0] if frame == at else at) + self._w
        return end

    def frame(self, at: int) -> tuple[str, Slots]:
        """Of an mp_code_state_t: the function's name, and its values. ("", []) when it is none."""
        function, ip = self._memory.word(at), self._memory.word(at + self._w)
        if not self._is_function(function):
            return "", []
        code = self.code(function)
        if not code <= ip < code + _MOST_CODE:
            return "", []
        if self._layout.short_prelude:
            total, name, arguments = self._short(function, code)
        else:
            total, name, arguments = self._long(function, code)
        first = at + _HEADER * self._w
        out = [(first + self._w * k, "a local") for k in range(total)]
        for k, label in enumerate(arguments[:total]):
            out[total - 1 - k] = (first + self._w * (total - 1 - k), label)
        return name, out

    def _long(self, function: int, code: int) -> tuple[int, str, list[str]]:
        """Values of a frame, the function's name, its arguments' names; up to 1.11."""
        data = iter(self._memory.read(code, _HEAD))
        total, _, _ = _number(data), _number(data), next(data, 0)
        named = next(data, 0) + next(data, 0)
        next(data, 0), _number(data)
        name = next(data, 0) | next(data, 0) << 8
        return min(total, _MOST_VALUES), self._text(name), self._constants(function, named)

    def _short(self, function: int, code: int) -> tuple[int, str, list[str]]:
        """The same since 1.12 (MP_BC_PRELUDE_SIG_DECODE, MP_BC_PRELUDE_SIZE_DECODE)."""
        data = iter(self._memory.read(code, _HEAD))
        z, n = next(data, 0), 0
        values, plain, keywords = z >> 3 & 15, z & 3, 0
        while z & 0x80 and n < 4:
            z = next(data, 0)
            values |= (z & 0x30) << 2 * n
            plain |= (z & 4) << n
            keywords |= (z & 8) >> 3 << n
            n += 1
        while next(data, 0) & 0x80:
            pass
        total = min(values + 1, _MOST_VALUES)
        named = plain + keywords
        if not self._layout.with_context:
            name = next(data, 0) | next(data, 0) << 8
            return total, self._text(name), self._constants(function, named)
        table = self._memory.word(self._memory.word(function + self._w) + 2 * self._w)
        said = [self._short_name(table, _number(data)) for _ in range(1 + named)]
        return total, said[0], said[1:]

    def _short_name(self, table: int, number: int) -> str:
        at = table + 2 * number
        return self._text(int.from_bytes(self._memory.read(at, 2), "little"))

    def _constants(self, function: int, number: int) -> list[str]:
        """Names at the beginning of its table of constants."""
        table = self._memory.word(function + 3 * self._w)
        out = []
        for k in range(min(number, _MOST_VALUES)):
            name = self._layout.name(self._memory.word(table + self._w * k))
            out.append("an argument" if name is None else self._text(name))
        return out

    def stack(self, low: int, high: int) -> Iterator[tuple[int, str]]:
        """(place, "local of function()") of the frames in a part of a stack and of those on the GC
        heap that it refers to, then (place, "") of what only C holds."""
        at, rest = low, []
        while at < high:
            name, slots = self.frame(at)
            for slot, label in slots:
                yield slot, f"{label} of {name}()"
            if not slots and not (yield from self._on_heap(at)):
                rest.append(at)
            at += self._w * (_HEADER + len(slots) if slots else 1)
        for place in rest:
            yield place, ""

    def _on_heap(self, at: int) -> Generator[tuple[int, str], None, bool]:
        """The same of a frame of many values, which C refers to: whether there is one."""
        frame = self._memory.word(at)
        name, slots = self.frame(frame) if self._is_head(frame) else ("", [])
        for slot, label in slots:
            yield slot, f"{label} of {name}()"
        if slots:
            yield at, f"the frame of {name}()"
        return bool(slots)


def _number(data: Iterator[int]) -> int:
    n = 0
    for byte in data:
        n = n << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return n
