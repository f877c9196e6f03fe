# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A record as JSON, and back: the fields of the dataclasses by name."""

from __future__ import annotations

import json
from dataclasses import MISSING, asdict, fields, is_dataclass
from functools import lru_cache
from typing import Any, get_args, get_origin

from maixmem_cli.record import record as types
from maixmem_cli.record.record import VERSION, Record

_OPTIONAL = " | None"  # get_type_hints() of Python 3.9 does not know it


class NoRecord(ValueError):
    """The text is no record, or of a version that is not known."""


def write(record: Record) -> str:
    """The JSON of a record."""
    return json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n"


def read(text: str) -> Record:
    """The record of a JSON. NoRecord names what is wrong."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise NoRecord(f"no JSON: {e}") from None
    version = data.get("version") if isinstance(data, dict) else None
    if version != VERSION:
        raise NoRecord(f"version {version!r} of a record. Next: this maixmem reads {VERSION}")
    return _made(Record, data, "record")  # type: ignore[no-any-return]


@lru_cache(maxsize=None)
def _kind(annotation: str) -> Any:
    return eval(annotation, vars(types))  # of our own dataclasses


def _field(annotation: str, value: Any, name: str) -> Any:
    """The value of a field; NoRecord where it is of another type."""
    if value is None and annotation.endswith(_OPTIONAL):
        return None
    return _made(_kind(annotation.removesuffix(_OPTIONAL)), value, name)


def _made(kind: Any, value: Any, name: str) -> Any:
    origin, inside = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind, value, name)  # type: ignore[arg-type]
    if origin is tuple and isinstance(value, list):
        kinds = inside[:1] * len(value) if inside[-1] is Ellipsis else inside
        if len(kinds) == len(value):
            return tuple(_made(k, v, name) for k, v in zip(kinds, value))
    if origin is dict and isinstance(value, dict):
        return {str(k): _made(inside[1], v, f"{name}.{k}") for k, v in value.items()}
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(kind, type) and origin is None and type(value) is kind:
        return value
    raise NoRecord(f"{name} = {value!r:.40}: not what a record has there")


def _object(kind: type, value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise NoRecord(f"{name} = {value!r:.40}: not what a record has there")
    given, known = dict(value), {}
    for f in fields(kind):
        if f.name in given:
            known[f.name] = _field(str(f.type), given.pop(f.name), f"{name}.{f.name}")
        elif f.default is MISSING and f.default_factory is MISSING:
            raise NoRecord(f"{name} has no {f.name!r}")
    if given:
        raise NoRecord(f"{name} has a field that is not known: {sorted(given)[0]!r}")
    return kind(**known)
