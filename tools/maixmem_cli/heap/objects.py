# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The objects of a running MicroPython and what each refers to, by name: a chain of names leads
from a root to every one that is in use.

An object begins with its type, and a type with the type of types (py/obj.h); dict, list, tuple,
set, instance, function, closure, generator, module and bound method have their own layout
(py/obj*.h). What has another layout is taken as the collector takes it: every word may refer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Callable, Protocol

from maixmem_cli.heap.frames import Frames
from maixmem_cli.heap.layout import Layout
from maixmem_cli.heap.memory import Memory, Range

Edge = tuple[str, int]  #: what a reference is called after its holder's name, and where it leads
OWN = ""  #: the holder's own memory, as the table of a dict, or an object that has no name there
_KEY = ".<key>"
UNDER_WAY = "a value being computed"  #: what only C holds: a register, its part of a stack
STATE = "the interpreter"
MODULES = "sys.modules"
ASKER = "the asker"  #: who asks the interpreter for all this
MAIN = "main"
STACK = "a stack"
THREAD = "a thread"
_MOST_ITEMS = 1 << 14
_MOST_TEXT = 24  # letters of a key that are shown
_NONE, _DELETED = 0, 4  # py/obj.h: MP_OBJ_NULL, MP_OBJ_SENTINEL; 1 and 3 are the numbers 0 and 1
#: what refers to nothing but its own memory, whose contents no reader needs
_LEAVES = {"str": 3, "bytes": 3, "bytearray": 3, "array": 3, "memoryview": 3, "int": 3}
_LEAVES["float"] = _LEAVES["complex"] = 0  # the word of the pointer to it


class Names(Protocol):
    """The interpreter's table of names."""

    def text(self, number: int) -> str:
        """The name of this number, or "?"."""


@dataclass
class Moment:
    """An interpreter at one time. `sizes`: bytes of the object at each address of the GC heap;
    `types`: the type of types; `globals`: the dict of __main__, `modules`: that of sys.modules
    where it is known; `asker`: the dict of who asks, 0 for none; `state`: from where to where the
    interpreter's state has roots, `registers`: words that only C has, `stacks`: what is in use of
    each, the running one first; `threads`: what the firmware keeps of each of the others.

    `idle`: no program is under way, what is on the running stack is the asker's.

    `contents`: words in what a script keeps bytes in refer, too, as the collector takes it."""

    memory: Memory
    layout: Layout
    sizes: dict[int, int]
    types: int
    globals: int
    state: Range
    modules: int = 0
    asker: int = 0
    registers: Sequence[int] = ()
    stacks: list[Range] = field(default_factory=list)
    threads: Sequence[int] = ()
    contents: bool = True
    idle: bool = False


class Objects:
    """`chains`: the names that lead to each address in use; `refers`: where each leads, by its
    address or, of a root, by the first word of its chain, or its kind."""

    def __init__(self, moment: Moment, names: Names) -> None:
        self._at = moment
        self._memory = moment.memory
        self._layout = moment.layout
        self._sizes = moment.sizes
        self._names = names
        self._w = moment.layout.word
        self._data: dict[int, str] = {}  # what belongs to a leaf, which is not read
        self._frames = Frames(
            moment.memory, moment.layout, names, self._sizes.__contains__, self._is_function
        )
        self._layouts: dict[str, Callable[[int], Iterator[Edge]]] = {
            "dict": self._dict,
            "OrderedDict": self._dict,
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
        self.refers: dict[int | str, list[int]] = {}
        self.part_of: dict[int, int] = {}  #: what has no type -> the object that it belongs to
        self.kinds: dict[int, str] = {}  #: of the root that leads there
        self._bring()
        self._find()

    # --- memory ---
    def _word(self, address: int) -> int:
        return self._memory.word(address)

    def _bring(self) -> None:
        """Everything that is read comes before it is read in earnest, many pieces at once."""
        if self._memory.here and self._at.contents:
            return
        self._until_there(self._sizes, self.type_name)
        if not self._at.contents:
            leaves = [a for a in self._sizes if self.type_name(a) in _LEAVES]
            self._until_there(leaves, self._leaf)
        rest = [a for a in self._sizes if a not in self._data]
        self._until_there(rest, lambda a: list(self.edges(a)))
        self._until_there([0], lambda _: list(self._roots()))

    def _until_there(self, items: Iterable[int], read: Callable[[int], object]) -> None:
        self._memory.missed()
        todo = items
        while todo:
            again = []
            for item in todo:
                read(item)
                if self._memory.missed():
                    again.append(item)
            todo = again if self._memory.fetch() else []

    # --- types and names ---
    def type_name(self, address: int) -> str:
        """Of the object there; "" when it has no type."""
        kind = self._word(address)
        if not kind or kind % self._w or self._word(kind) != self._at.types:
            return ""
        return self._names.text(self._word(kind + self._w) >> 16 & 0xFFFF)

    def _is_class(self, kind: int) -> bool:
        """A class that the script made: its type is in the pool."""
        return kind in self._sizes

    def _is_function(self, address: int) -> bool:
        return address in self._sizes and self.type_name(address) in ("function", "generator")

    def what(self, address: int) -> str:
        """The type of the object, or of the one that this is a part of; "" where neither is
        known."""
        return self.type_name(self.part_of.get(address, address))

    def _key(self, value: int) -> str:
        """A key of a dict as the script would write it."""
        number, name = self._layout.number(value), self._layout.name(value)
        if number is not None:
            return str(number)
        if name is not None:
            return repr(self._names.text(name))
        kind, w = self.type_name(value), self._w
        if kind in ("str", "bytes"):
            length = min(self._word(value + 2 * w), _MOST_TEXT)
            data = self._memory.read(self._word(value + 3 * w), length)
            return repr(data.decode(errors="replace") if kind == "str" else data)
        return kind or "..."

    # --- what refers to what ---
    def edges(self, address: int) -> Iterator[Edge]:
        """Every reference of the object there."""
        name, size = self.type_name(address), self._sizes.get(address, 0)
        if name in _LEAVES and not self._at.contents:
            yield from self._leaf(address)
            return
        if name and self._is_class(self._word(address)):
            yield from self._map(address + self._w, ".")
        elif name in self._layouts:
            yield from self._layouts[name](address)
        for at in range(address, address + size, self._w):
            yield OWN, self._word(at)

    def _leaf(self, address: int) -> list[Edge]:
        """Its memory, which has no type and is not read."""
        name = self.type_name(address)
        if not _LEAVES[name]:
            return []
        data = self._word(address + _LEAVES[name] * self._w)
        if data in self._sizes and not self.type_name(data):
            self._data[data] = name
        return [(OWN, data)]

    def _map(self, at: int, named: str) -> Iterator[Edge]:
        """An mp_map_t; `named`: how an entry is called, of its key."""
        w = self._w
        allocated, table = self._word(at + w), self._word(at + 2 * w)
        yield OWN, table
        room = self._sizes.get(table, _MOST_ITEMS * w) // (2 * w)
        for i in range(min(allocated, _MOST_ITEMS, room)):
            key, value = self._word(table + 2 * w * i), self._word(table + 2 * w * i + w)
            if key not in (_NONE, _DELETED):
                word = self._key(key)
                if named == ".":
                    yield "." + word.strip("'"), value
                else:
                    yield f"[{word}]", value
                yield _KEY, key

    def _dict(self, at: int) -> Iterator[Edge]:
        yield from self._map(at + self._w, "[")

    def _items(self, at: int, number: int) -> Iterator[Edge]:
        for i in range(min(number, _MOST_ITEMS, self._sizes.get(at, 1 << 20) // self._w)):
            yield f"[{i}]", self._word(at + self._w * i)

    def _list(self, at: int) -> Iterator[Edge]:
        items = self._word(at + 3 * self._w)
        yield OWN, items
        yield from self._items(items, self._word(at + 2 * self._w))

    def _tuple(self, at: int) -> Iterator[Edge]:
        number = min(self._word(at + self._w), self._sizes.get(at, _MOST_ITEMS) // self._w)
        yield from self._items(at + 2 * self._w, number)

    def _set(self, at: int) -> Iterator[Edge]:
        table = self._word(at + 3 * self._w)
        yield OWN, table
        for _, value in self._items(table, self._word(at + self._w)):
            yield "{...}", value

    def _class(self, at: int) -> Iterator[Edge]:
        """Its members: the only dict that it refers to, wherever this version has it."""
        for place in range(at, at + self._sizes.get(at, 0), self._w):
            members = self._word(place)
            if members in self._sizes and self.type_name(members) == "dict":
                yield OWN, members
                yield from self._map(members + self._w, ".")

    def _module(self, at: int) -> Iterator[Edge]:
        names = self._word(at + self._w)
        yield OWN, names
        yield from self._map(names + self._w, ".")

    def _function(self, at: int) -> Iterator[Edge]:
        if at not in self._sizes:
            return
        code, first = self._frames.code(at), self._frames.FIRST_DEFAULT
        if not self._at.contents and code in self._sizes:
            self._data[code] = "function"
        for place in (2, 3):
            yield OWN, self._word(at + place * self._w)
        for i in range(first, self._sizes[at] // self._w):
            yield f".default[{i - first}]", self._word(at + self._w * i)

    def _closure(self, at: int) -> Iterator[Edge]:
        w = self._w
        yield OWN, self._word(at + w)
        for i in range(min(self._word(at + 2 * w), self._sizes.get(at, 0) // w)):
            cell = self._word(at + 3 * w + w * i)
            yield OWN, cell
            yield f".closed_over[{i}]", self._word(cell + w)

    def _generator(self, at: int) -> Iterator[Edge]:
        name, slots = self._frames.frame(at + 2 * self._w)
        for slot, label in slots:
            yield f" in {name}(), {label}", self._word(slot)

    def _method(self, at: int) -> Iterator[Edge]:
        yield ".method", self._word(at + self._w)
        yield ".self", self._word(at + 2 * self._w)

    # --- roots ---
    def _roots(self) -> Iterator[tuple[str, list[Edge]]]:
        """One kind after the other: what an earlier one leads to is called by it."""
        moment, w = self._at, self._w
        if moment.asker:  # which main may know by name: a module of the board
            asker = [(ASKER, v) for _, v in self._map(moment.asker + w, ".")]
            yield ASKER, [(ASKER, moment.asker), *asker]
        yield MAIN, [(n.lstrip("."), v) for n, v in self._map(moment.globals + w, ".")]
        state = range(*moment.state, w)
        if moment.modules:
            dicts = [moment.modules]
        else:
            kind = self._word(moment.globals)
            dicts = [a for a in state if self._word(a) == kind and a != moment.globals]
        yield MODULES, [(f"{MODULES}{n}", v) for d in dicts for n, v in self._map(d + w, "[")]
        yield STATE, [(STATE, self._word(a)) for a in state]
        own, *others = moment.stacks or [(0, 0)]
        if moment.asker:
            low, high = own
            asks = high if moment.idle else self._frames.end_of(own, moment.asker)
            yield ASKER, [(ASKER, self._word(a)) for a in range(low, asks, w)]
            own = (asks, high)
        yield STACK, [*self._stack(own)]
        yield STACK, [(UNDER_WAY, word) for word in moment.registers]
        yield THREAD, [(THREAD, node) for node in moment.threads]
        for stack in others:
            yield THREAD, [(f"{THREAD}, {name}", v) for name, v in self._stack(stack)]

    def _stack(self, stack: Range) -> Iterator[Edge]:
        """Values of the Python functions whose frames exist, then what only C holds."""
        for place, label in self._frames.stack(*stack):
            yield label or UNDER_WAY, self._word(place)

    def _find(self) -> None:
        for kind, roots in self._roots():
            todo: deque[int] = deque()
            for name, value in roots:
                if self._refer(name or kind, value):
                    self.chains[value] = (name,) if name else ()
                    self.kinds[value] = kind
                    if name or self.type_name(value):  # a dict's table has what the names have
                        todo.append(value)
            self._walk(todo)

    def reach(self, kind: str, address: int) -> None:
        """Follows what no root leads to, as if one of this kind did."""
        self._refer(kind, address)
        self.chains[address], self.kinds[address] = (kind,), kind
        self._walk(deque([address]))

    def _walk(self, todo: deque[int]) -> None:
        while todo:
            address = todo.popleft()
            if address not in self._data:
                self._follow(address, todo)

    def _follow(self, address: int, todo: deque[int]) -> None:
        chain = self.chains[address]
        self.refers[address] = []
        for label, value in self.edges(address):
            if self._refer(address, value):
                kind = self.type_name(value)
                if label == OWN and not kind:
                    self.chains[value] = chain
                    self.part_of[value] = self.part_of.get(address, address)
                else:
                    self.chains[value] = (*chain, label or f".<{kind}>")
                self.kinds[value] = self.kinds[address]
                todo.append(value)

    def _refer(self, holder: int | str, value: int) -> bool:
        """Notes it; whether this is the first reference to something in use."""
        if value not in self._sizes:
            return False
        self.refers.setdefault(holder, []).append(value)
        return value not in self.chains
