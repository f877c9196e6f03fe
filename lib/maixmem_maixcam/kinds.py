# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The classes of maix.nn that load models: what arguments each takes, read from the class itself.

They differ: most take (model, dual_buff), some only a model, FaceRecognizer two models, YOLOWorld
features and labels too, language and speech models options of their own. Bindings have no
signature for Python; their docstring begins with it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any, Union

from maixmem_text import tell

_PARAMETER = re.compile(r"(\w+)\s*:")
_DUAL_BY_DEFAULT = re.compile(r"dual_buff: bool = True")

#: A path, or one for each model of a class that takes several.
Source = Union[str, Sequence[str]]


# What a class of maix.nn takes: `parameters` in order, `models` those that are paths of models,
# `dual` whether it takes two sets of input and output buffers unless told otherwise (False where
# it cannot be told, and then takes one).
class Kind:
    """A class of maix.nn that loads models."""

    def __init__(self, name: str, make: Any, parameters: tuple[str, ...], dual: bool) -> None:
        self.name = name
        self.make = make
        self.parameters = parameters
        self.models = tuple([p for p in parameters if p == "model" or p.endswith("_model")])
        self.dual = dual

    def sets(self, dual_buff: bool | None) -> int:
        """How many sets of input and output buffers it takes."""
        return 2 if (self.dual if dual_buff is None else dual_buff) else 1

    def arguments(
        self, source: Source, dual_buff: bool | None, more: dict[str, Any]
    ) -> dict[str, Any]:
        """What to call it with, by name. ValueError names what it does not take and what it
        does."""
        paths = [source] if isinstance(source, str) else list(source)
        if len(paths) != len(self.models):
            text = "nn.{} takes {} models ({}), {} given.\ngive one path for each"
            names = ", ".join(self.models)
            raise ValueError(tell(text, self.name, len(self.models), names, len(paths)))
        found = {**dict(zip(self.models, paths)), **more}
        if dual_buff is not None:
            found["dual_buff"] = dual_buff
        wrong = sorted(set(found) - set(self.parameters))
        if wrong:
            text = "nn.{} takes no {}.\nit takes {2}"
            raise ValueError(tell(text, self.name, wrong[0], ", ".join(self.parameters)))
        return found


def kind_of(nn: Any, name: str) -> Kind:
    """The Kind of a class of the module maix.nn. ValueError, with those there are, when it is none
    that loads a model."""
    kind = _read(nn, name)
    if kind is None:
        known = [k for k in sorted(dir(nn)) if _read(nn, k)]
        text = "maix.nn has no class {} that loads a model.\none of {1}"
        raise ValueError(tell(text, name, ", ".join(known)))
    return kind


def _read(nn: Any, name: str) -> Kind | None:
    make = getattr(nn, name, None)
    if name[0] == "_" or not callable(make):
        return None
    parameters, dual = _parameters(make)
    kind = Kind(name, make, parameters, dual)
    return kind if kind.models else None


def _parameters(make: Any) -> tuple[tuple[str, ...], bool]:
    try:
        found = inspect.signature(make).parameters
    except (ValueError, TypeError):
        text = (getattr(make.__init__, "__doc__", None) or "").split("\n")[0]
        names = [n for n in _PARAMETER.findall(text) if n != "self"]
        return tuple(names), bool(_DUAL_BY_DEFAULT.search(text))
    return tuple(found), "dual_buff" in found and found["dual_buff"].default is True
