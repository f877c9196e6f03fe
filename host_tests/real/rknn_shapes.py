# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Models that were converted for several shapes, by our port: every shape, in every order, and
every allocation of a change failing.

Run on the real library and on the stand-in, the rows must be equal. make_shapes.py makes the
models.
"""

import os
import sys

from rknn_board import board, tell

HOWS = (
    {},
    {"shared": False},
    {"dup": True},
    {"dynamic": True},
    {"inputs": "uint8", "outputs": "float32"},
    {"inputs": "native"},
)


class Program:
    def __init__(self):
        import maixmem_rknn

        self.there, _ = board()
        self.port = maixmem_rknn.Port(self.there.lib, soc="rk3588", budget=64 << 20)

    # the port's figure covers the driver's
    def row(self, what, *values):
        tell(what, *values, self.there.live() <= self.port.used)

    def run(self, name, how):
        cost = self.port.inspect(self.there.path(name), **how)
        model = self.port.load(self.there.path(name), **how)
        holds = cost.certainty == "at most" and self.there.live() <= cost.peak["npu"]
        self.row("load", name, sorted(how), holds, state(model), model.shapes())
        sets = list(zip(*model.shapes()))
        for shapes in sets + sets[::-1] + sets:
            model.set_shapes(*shapes)
            lengths = [len(data) for data in model.run(*zeros(model))]
            self.row("set", shapes, state(model), lengths)
        for k in range(1, len(model.inputs + model.outputs) + 1):
            self.starve(model, k, sets[0])
        self.refusals(model, sets)
        if how.get("dup"):
            self.twin(model, sets)
        self.port.unload(model)
        tell("unload", self.there.live(), self.there.held(), self.port.used)

    def starve(self, model, k, shapes):
        before, live = state(model), self.there.live()
        self.there.fail(k)
        error = None
        try:
            model.set_shapes(*shapes)
        except Exception as e:
            error = type(e).__name__
        self.there.fail(0)
        same = (state(model) == before, self.there.live() == live)
        self.row("starved", k, error, same, [len(data) for data in model.run(*zeros(model))])

    def refusals(self, model, sets):
        wrong = [tuple(n + 1 for n in shape) for shape in sets[0]]
        mixed = [sets[i % 2][i] for i in range(len(sets[0]))]
        for shapes in [wrong] + [mixed] * (len(mixed) > 1):
            try:
                model.set_shapes(*shapes)
            except ValueError as e:
                self.row("refused", str(e).partition(": ")[2])
        try:
            self.port.load(self.there.path("shapes"), master=model)
        except Exception as e:
            self.row("master", type(e).__name__, str(e).partition(": ")[2])

    def twin(self, model, sets):
        model.set_shapes(*sets[1])
        twin = self.port.dup(model)
        self.row("twin", state(twin), state(model))
        for shapes in sets + sets[::-1]:
            twin.set_shapes(*shapes)
            lengths = [len(data) for one in (twin, model) for data in one.run(*zeros(one))]
            self.row("twin's", state(twin), state(model), lengths)
        self.port.unload(twin)


def state(model):
    return [(t.shape, t.type, t.packed, t.nbytes) for t in model.inputs + model.outputs]


def zeros(model):
    return [bytes(tensor.packed) for tensor in model.inputs]


sys.path[:0] = [os.path.join(sys.argv[1], "lib")]
program = Program()
for name in ("shapes", "shapes_two"):
    for how in HOWS:
        program.run(name, how)
sys.stdout.flush()
os._exit(0)
