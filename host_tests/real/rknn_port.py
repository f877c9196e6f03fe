# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Every capability of the port, one after the other, with what it gave and the bytes that were
live then.

Run on the real library and on the stand-in, the rows must be equal; live bytes end at 0, and the
port's own figure is never below them.
"""

import os
import sys

from rknn_board import MODELS, board, tell

PAGE = 4096


class Program:
    def __init__(self):
        import maixmem
        import maixmem_rknn

        self.there, version = board()
        self.names = [name for name in MODELS if version >= MODELS[name][2]]
        self.rknn = maixmem_rknn
        port = maixmem_rknn.Port(self.there.lib, soc="rk3588", budget=64 << 20)
        self.port = maixmem.set_port(port)
        self.at_most = False

    def row(self, what, *values):
        live, used = self.there.live(), self.port.used
        # of a model that the runtime makes all memory of, what it gives back later is not told: at
        # most, then
        tell(what, *values, live, live <= used and (self.at_most or used <= live + 4 * PAGE))

    def load(self, name, **how):
        model = self.port.load(self.there.path(name), **how)
        tensors = model.inputs + model.outputs
        found = [(t.type, t.fmt, t.shape, t.packed, t.nbytes) for t in tensors]
        self.row("load", name, sorted(how), model.weight, model.internal, found)
        return model

    def run(self, model):
        return [len(data) for data in model.run(*zeros(model))]

    def unload(self, *models):
        for model in models:
            self.port.unload(model)
        self.row("unload")

    def forecasts(self):
        for name in self.names:
            cost = self.port.inspect(self.there.path(name))
            known = (cost.certainty, cost.weight, cost.internal, cost.peak["npu"])
            self.row("inspect", name, *known)
            before = self.there.live()
            model = self.load(name)
            tell("forecast holds", self.there.live() - before <= cost.peak["npu"])
            self.unload(model)

    def types(self):
        for name in self.names:
            own = self.load(name, shared=False)
            self.row("run", self.run(own))
            self.unload(own)
            for how in ({"inputs": "native"}, {"outputs": "float32"}, {"inputs": {0: "float32"}}):
                model = self.load(name, **how)
                with model:
                    lengths = [len(t.read()) for t in model.outputs]
                self.row("outputs read", lengths)
                self.unload(model)

    # the guide's 9.3 one internal memory, 9.4 more contexts on the same weights, 9.5 shared
    # weights
    def sharing(self):
        models = [self.load(name) for name in self.names]
        for model in models * 2:
            self.row("run", self.run(model))
        self.unload(*models)
        first = self.load("two", dup=True)
        twin = self.port.dup(first)
        self.row("dup", self.run(twin), self.run(first))
        self.unload(twin, first)
        master = self.load("two", shared=False)
        self.at_most = True
        slave = self.load("two", master=master)
        self.row("slave", self.run(slave), slave.shapes())
        self.unload(slave, master)
        self.at_most = False

    # 9.2: memory from outside, by descriptor and by address
    def outside(self):
        owner = self.load("two", dup=True)
        block = self.rknn.Block.of(self.port.create(owner.ctx, 4 << 20))
        for by in ({"fd": block.fd}, {"phys": block.phys}):
            outside = self.rknn.Block(block.virt, block.nbytes, **by)
            model = self.load("two", weights=outside, internal=outside)
            self.row("outside", sorted(by), self.run(model))
            model.inputs[0].attach(outside, PAGE)
            model.outputs[0].attach(outside, 1 << 20)
            self.row("attached", self.run(model))
            self.refused(owner, block, model)
            self.unload(model)
        self.unload(owner)

    # the end of the maker would end the process at the next run
    def refused(self, owner, block, model):
        model.inputs[0].attach(block)
        try:
            self.port.unload(owner)
        except ValueError as e:
            self.row("refused", "works in memory that was made with" in str(e), self.run(model))

    def manager(self):
        from maixmem_models import ModelManager

        manager = ModelManager(self.port)
        for name in self.names:
            manager.add(name, self.there.path(name))
        for name in self.names * 2:
            net = manager.use(name)
            self.row("use", name, self.run(net.raw), manager.state)
        manager.release_all()
        self.row("released", self.port.used, self.there.held())


def zeros(model):
    return [bytes(tensor.packed) for tensor in model.inputs]


sys.path[:0] = [os.path.join(sys.argv[1], "lib")]
program = Program()
for part in (program.forecasts, program.types, program.sharing, program.outside, program.manager):
    part()
sys.stdout.flush()
os._exit(0)
