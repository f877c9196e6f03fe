# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Which model a script wants at which address of flash, by its text: the numbers that it names,
and the words beside them."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from maixmem_flash import SECTOR

from maixmem_cli.text import syntax
from maixmem_cli.text.numbers import MODEL_PLACES

_NO_ADDRESS = re.compile(r"heap|baud|freq|bytearray|range|sleep", re.IGNORECASE)
_OF_ANY = {"", "kmodel", "smodel", "model", "task", "load", "kpu", "flash", "add", "net"}
_MOST = 6  # models whose every order is tried


@dataclass(frozen=True)
class Named:
    """An address that a script names, the words of its line."""

    address: int
    words: frozenset[str]


@dataclass(frozen=True)
class Placed:
    """{model: address}; `unsure`: models of which the script does not say who is where."""

    at: dict[str, int]
    unsure: tuple[str, ...] = ()


def named(source: str) -> list[Named]:
    """The addresses in a script's text, in order; none in one that is no Python."""
    try:
        tree = syntax.tree(source)
    except (SyntaxError, ValueError):
        return []
    lines = source.splitlines()
    other = {id(n) for call in _calls(tree) for a in call.args for n in ast.walk(a)}
    other |= {id(n) for call in _calls(tree) for k in call.keywords for n in ast.walk(k.value)}
    found: dict[int, set[str]] = {}
    numbers = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in other]
    for node in sorted(numbers, key=lambda n: (n.lineno, n.col_offset)):
        if type(node.value) is int and _is_address(node.value):
            found.setdefault(node.value, set()).update(words(lines[node.lineno - 1]))
    return [Named(address, frozenset(said)) for address, said in found.items()]


def _calls(tree: ast.AST) -> list[ast.Call]:
    """Calls whose numbers are no addresses of flash."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [c for c in calls if _NO_ADDRESS.search(ast.unparse(c.func))]


def _is_address(value: int) -> bool:
    return value in MODEL_PLACES and value % SECTOR == 0


def words(text: str) -> set[str]:
    """What a line or a file's name is about, in lower case."""
    return set(re.findall(r"[a-z]+", text.lower().replace(".kmodel", ""))) - _OF_ANY


def placed(source: str, models: Mapping[str, int], taken: Iterable[int] = ()) -> Placed:
    """Where the script wants these models, {name: bytes}, beside addresses that are taken: by the
    words they share with a line, else in the order in which they do not overlap."""
    free = [n for n in named(source) if n.address not in set(taken)]
    at = _by_words(models, free)
    rest = sorted(m for m in models if m not in at)
    left = [n.address for n in free if n.address not in at.values()]
    known = {address: models[name] for name, address in at.items()}
    orders = list(_orders(rest, left, models, known))
    if not rest or not left or not orders:
        return Placed(at)
    at.update(orders[0])
    return Placed(at, tuple(rest) if len(orders) > 1 else ())


def _by_words(models: Mapping[str, int], free: list[Named]) -> dict[str, int]:
    """Models and addresses that have words in common, the most first; not where two models have as
    many, or two addresses."""
    shared = {
        (name, n.address): len(words(name) & n.words) for name in sorted(models) for n in free
    }
    at: dict[str, int] = {}
    for (name, address), count in sorted(shared.items(), key=lambda row: -row[1]):
        rivals = [
            k for k, n in shared.items() if n >= count and (k[0] == name) != (k[1] == address)
        ]
        rivals = [(m, a) for m, a in rivals if m not in at and a not in at.values()]
        if count and name not in at and address not in at.values() and not rivals:
            at[name] = address
    return at


def _orders(
    names: list[str], addresses: list[int], models: Mapping[str, int], known: Mapping[int, int]
) -> Iterable[dict[str, int]]:
    """Every way to put models at addresses in which none reaches into the next, by the order of
    both."""
    names, addresses = names[:_MOST], addresses[:_MOST]
    few = min(len(names), len(addresses))
    for some in itertools.permutations(addresses, few):
        for chosen in itertools.combinations(names, few):
            at = dict(zip(chosen, some))
            sizes = {**known, **{address: models[name] for name, address in at.items()}}
            ends = sorted((a, a + n) for a, n in sizes.items())
            if all(a[1] <= b[0] for a, b in zip(ends, ends[1:])):
                yield at
