# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Changes of a script that need another board as well: a model on its card, a model that is
streamed, a smaller firmware."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import libcst.matchers as m

from maixmem_cli.answer.values import Address
from maixmem_cli.plan.script_tree import Script
from maixmem_cli.runs.change import Edit, values_of

_ONE_BUFFER = "0, 8, 80000000"  # of load_flash: not two, layers of a batch, the flash's clock


def _loads(s: Script) -> Iterator[tuple[cst.Call, int, int]]:
    """Each kpu.load() of an address where a model is, with the address and the model's number."""
    numbers = {address: n for n, (address, _) in enumerate(s.models)}
    for call in m.findall(s.tree, m.Call(args=[m.Arg(m.Integer())])):
        assert isinstance(call, cst.Call) and isinstance(call.args[0].value, cst.Integer)
        address = call.args[0].value.evaluated_value
        if s.calls(call) == ["KPU.load"] and address in numbers:
            yield call, address, numbers[address]


def cards(s: Script) -> Iterator[Edit]:
    """A model from the card: that load needs no second buffer of its size."""
    for call, _, n in _loads(s):
        path = s.models[n][1]
        name = f"/sd/{path.name}"
        new = call.with_changes(args=[cst.Arg(cst.SimpleString(f'"{name}"'))])
        values = values_of(model_file=path.name, path=name)
        yield Edit("card", values, s.replaced(call, new), card=((name, path),))


def streams(s: Script) -> Iterator[Edit]:
    """A model that stays in flash, layer by layer: slower."""
    for call, address, n in _loads(s):
        name = s.code(call.func).rpartition(".")[0]
        new = cst.parse_expression(
            f"{name + '.' if name else ''}load_flash({address:#x}, {_ONE_BUFFER})"
        )
        values = values_of(model_file=s.models[n][1].name, at=Address(address))
        yield Edit("stream", values, s.replaced(call, new), turned=(address,))


def firmwares(s: Script) -> Iterator[Edit]:
    """A firmware that takes less, or runs this kmodel."""
    for kind, name in s.firmwares:
        values = values_of(firmware=Path(name).name)
        yield Edit(kind, values, s.tree.code, firmware=name)
