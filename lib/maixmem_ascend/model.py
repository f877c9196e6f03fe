# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A model that an Ascend device holds: its ids, its weights, and running it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import acl
from maixmem_text import tell

from maixmem_ascend.memory import Buffer, check


class Turns(Protocol):
    """What a model asks of its port."""

    serial: Any  # a lock

    def enter(self) -> None:
        """Makes the port's context this thread's."""


# A block of work memory. `kept`: stays when nobody does.
class Work:
    """Work memory that models compute in, one after the other."""

    def __init__(self, buf: Buffer) -> None:
        self.buf = buf
        self.kept = False


# What load() gives. Owns its weights, its description and its ids at the runtime: one, or for a
# moment two while it moves to a larger work block, or two after a move whose end failed; `ids` are
# (id, work block), the last is in use. run() waits for its turn: models share their work memory, a
# second one that runs destroys what the first keeps there. Outputs are the caller's own buffers
# and stay. After unload() any use is a RuntimeError.
class Model:
    """A loaded model: run(inputs, outputs) on Buffers of device memory."""

    def __init__(self, port: Turns, source: str, cost: Any) -> None:
        self.port = port
        self.source = source
        self.cost = cost
        self.weight: Buffer | None = None
        self.ids: list[tuple[int, Work | None]] = []
        self.inputs: Sequence[int] = ()
        self.outputs: Sequence[int] = ()

    def run(self, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
        """Computes outputs from inputs, lists of Buffers of at least `inputs` and `outputs` bytes
        (lists of sizes)."""
        port = self.port
        port.enter()
        with port.serial:
            if not self.ids:
                raise RuntimeError(
                    tell("{}: this model was unloaded.\nload it again", self.source)
                )
            _fits("input", inputs, self.inputs)
            _fits("output", outputs, self.outputs)
            with Dataset(inputs) as given, Dataset(outputs) as wanted:
                check("mdl.execute", acl.mdl.execute(self.ids[-1][0], given, wanted))

    def bind(self, work: Work) -> None:
        """Loads (again) with this work block; from here on the model computes there."""
        assert self.weight is not None
        args = (self.source, work.buf.ptr, work.buf.nbytes, self.weight.ptr, self.weight.nbytes)
        number, code = acl.mdl.load_from_file_with_mem(*args)
        check("mdl.load_from_file_with_mem", code, "({})".format(self.source))
        self.ids.append((number, work))

    def bind_alone(self) -> None:
        """Loads into memory that the runtime manages: of a model without fixed shapes."""
        number, code = acl.mdl.load_from_file(self.source)
        check("mdl.load_from_file", code, "({})".format(self.source))
        self.ids.append((number, None))

    def drop(self, keep: int) -> None:
        """Unloads all but the last `keep` ids, the oldest first."""
        while len(self.ids) > keep:
            check("mdl.unload", acl.mdl.unload(self.ids[0][0]), "({})".format(self.source))
            self.ids.pop(0)

    def describe(self) -> None:
        """Asks the runtime for the sizes of inputs and outputs."""
        desc = acl.mdl.create_desc()
        try:
            check("mdl.get_desc", acl.mdl.get_desc(desc, self.ids[-1][0]))
            mdl = acl.mdl
            self.inputs = [
                mdl.get_input_size_by_index(desc, i) for i in range(mdl.get_num_inputs(desc))
            ]
            self.outputs = [
                mdl.get_output_size_by_index(desc, i) for i in range(mdl.get_num_outputs(desc))
            ]
        finally:
            acl.mdl.destroy_desc(desc)


# The vendor's list of buffers around Buffers, for one run; destroyed at the end of the with block.
class Dataset:
    """Buffers as the runtime takes them."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = buffers
        self._made: list[Any] = []

    def __enter__(self) -> Any:
        self._set = acl.mdl.create_dataset()
        try:
            for buf in self._buffers:
                self._made.append(acl.create_data_buffer(buf.ptr, buf.nbytes))
                _, code = acl.mdl.add_dataset_buffer(self._set, self._made[-1])
                check("mdl.add_dataset_buffer", code)
        except BaseException:
            self.__exit__()
            raise
        return self._set

    def __exit__(self, *exc: object) -> None:
        for data in self._made:
            acl.destroy_data_buffer(data)
        acl.mdl.destroy_dataset(self._set)


def _fits(what: str, buffers: Sequence[Buffer], sizes: Sequence[int]) -> None:
    have = [buf.nbytes for buf in buffers if buf.ptr and buf.kind != "host"]
    if len(have) != len(sizes) or [1 for i in range(len(sizes)) if have[i] < sizes[i]]:
        text = (
            "run: {} buffers of {} bytes of device memory are wanted, {} given.\n"
            "memory.alloc() them so"
        )
        raise ValueError(tell(text, what, sizes, have))


def computes_in(model: Model, work: Work) -> list[int]:
    """Not empty when one of the ids of a model works in that block."""
    return [1 for _, block in model.ids if block is work]
