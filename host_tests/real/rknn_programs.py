# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random programs of public calls, in any order: none ends the process, and nothing is left.

rknn_programs.py ROOT VERSION [FOLDER]; $MAIXMEM_PROGRAMS is "FIRST COUNT", of seeds. What a call
is refused with does not matter here, but it is one of the errors that the documents name.
"""

import gc
import os
import random
import sys
import threading

from rknn_board import MODELS, board, tell

there, version = board()
import maixmem  # noqa: E402
import maixmem_rknn  # noqa: E402
from maixmem_models import ModelManager  # noqa: E402
from maixmem_rknn import Block  # noqa: E402

# NoRoom, KModelError, LockError, RknnError, MissingCall and ModelReleasedError are among these
REFUSALS = (MemoryError, ValueError, RuntimeError, OSError, BufferError, TypeError)
STEPS = 25
TYPES = ("uint8", "int8", "float16", "float32", "native", "nothing")


class Program:
    """One of them: what it holds, and the calls that it makes."""

    def __init__(self, seed, files):
        self.dice = random.Random(seed)
        self.files = files
        self.port = maixmem_rknn.Port(
            there.lib, soc="rk3588", budget=self.dice.choice((4, 64)) << 20
        )
        self.models, self.blocks, self.kept, self.managers = [], [], [], []
        self.refused = 0

    def run(self):
        """STEPS calls, some within the with block of a model, some beside a thread that runs."""
        calls = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        for _ in range(STEPS):
            self.one(self.dice.choice(calls))
        self.kept.clear()
        for manager in self.managers:
            self.one(manager.release_all)
        gc.collect()
        self.port.close()

    def one(self, call):
        try:
            call()
        except REFUSALS as e:
            self.refused += 1
            e.__traceback__ = None
        except KeyError as e:
            assert "no model" in str(e), e

    def any(self, things):
        if not things:
            raise ValueError("none yet")
        return self.dice.choice(things)

    def how(self):
        """Options of load(), of which some exclude each other."""
        dice, how = self.dice, {}
        for name in ("dup", "dynamic", "sram", "zero_copy"):
            if dice.random() < 0.2:
                how[name] = True
        if dice.random() < 0.3:
            how["shared"] = False
        if dice.random() < 0.2:
            how["cores"] = dice.choice((0, 1, (0, 1), (1, 2), 7))
        if dice.random() < 0.1:
            how["flush"] = False
        for name, things in (("master", self.models), ("weights", self.blocks)):
            if things and dice.random() < 0.2:
                how[name] = dice.choice(things)
        if self.blocks and dice.random() < 0.3:
            how["internal"] = dice.choice(self.blocks)
        for name in ("inputs", "outputs"):
            if dice.random() < 0.2:
                how[name] = dice.choice(TYPES)
        return how

    def data(self):
        data = self.dice.choice(self.files)
        if self.dice.random() < 0.05:
            return data[: self.dice.randrange(len(data))]
        return data

    # --- models ---

    def do_load(self):
        self.models.append(self.port.load(self.data(), **self.how()))

    def do_load_simply(self):
        self.models.append(self.port.load(self.files[0], dup=self.dice.random() < 0.5))

    def do_dup(self):
        cores = self.dice.choice((None, 0, 2, 5))
        self.models.append(self.port.dup(self.any(self.models), cores=cores))

    def do_unload(self):
        self.port.unload(self.any(self.models))

    def do_inspect(self):
        cost = self.port.inspect(self.data(), **self.how())
        self.port.check_fit(cost, 0, [m for m in self.port.models if self.dice.random() < 0.5])

    def do_close(self):
        if self.dice.random() < 0.2:
            self.port.close()

    def do_look(self):
        maixmem.set_port(self.port)
        self.port.regions()
        self.port.warnings()
        maixmem.report(out=lambda line: None)

    # --- runs ---

    def do_run(self):
        model = self.any(self.models)
        lengths = [self.dice.choice((t.packed, t.nbytes, 7)) for t in model.inputs]
        model.run(*[bytes(n) for n in lengths])

    def do_turn(self):
        """Another call within a with block, then views that outlive it."""
        model = self.any(self.models)
        with model:
            tensor = self.any(model.inputs + model.outputs)
            view = tensor.view()
            if self.dice.random() < 0.3:
                self.kept.append(view[1:9])
            if self.dice.random() < 0.5:
                self.one(self.dice.choice((self.do_unload, self.do_load, self.do_attach)))
            if self.dice.random() < 0.3:
                self.one(self.do_use)
            model.execute()
            tensor.read()

    def do_out_of_turn(self):
        model = self.any(self.models)
        tensor = self.any(model.inputs + model.outputs)
        self.one(model.execute)
        self.one(tensor.read)
        self.one(lambda: tensor.write(bytes(tensor.nbytes)))
        tensor.sync(self.dice.choice((1, 2)))

    def do_beside_a_thread(self):
        model = self.any(self.models)
        data = [bytes(t.packed) for t in model.inputs]
        thread = threading.Thread(target=lambda: self.one(lambda: model.run(*data)))
        thread.start()
        self.one(self.dice.choice((self.do_unload, self.do_load, self.do_dup, self.do_run)))
        thread.join()

    def do_shapes(self):
        model = self.any(self.models)
        model.set_shapes(*[self.dice.choice((t.shape, (1, 2))) for t in model.inputs])

    # --- memory from outside ---

    def do_block(self):
        nbytes = self.dice.choice((4096, 65536, 1 << 20, 2 << 20))
        mem = self.port.create(self.any(self.models).ctx, nbytes)
        self.blocks.append(Block.of(mem))

    def do_block_by_address(self):
        block = self.any(self.blocks)
        cached = self.dice.random() < 0.3
        self.blocks.append(Block(block.virt, block.nbytes, phys=block.phys or 4096, cached=cached))

    def do_no_block(self):
        fds = os.pipe()
        try:
            block = Block(4096, 65536, fd=self.dice.choice((fds[0], 999)))
            self.any(self.any(self.models).inputs).attach(block)
        finally:
            for fd in fds:
                os.close(fd)

    def do_attach(self):
        model = self.any(self.models)
        offset = self.dice.choice((0, 0, 4096, 1 << 20, -1))
        self.any(model.inputs + model.outputs).attach(self.any(self.blocks), offset)

    def do_let_go(self):
        if self.any(self.dice.choice((self.kept, self.blocks))):
            self.kept.clear()

    # --- managers ---

    def do_manager(self):
        manager = ModelManager(self.port, keep=self.dice.choice((1, 2, 3)), margin=0)
        self.managers.append(manager)
        for name in "abc":
            self.one(lambda: manager.add(name, self.data(), **self.how()))

    def do_use(self):
        manager = self.any(self.managers)
        raw = manager.use(self.dice.choice("abc")).raw
        self.models.append(raw)
        raw.run(*[bytes(t.packed) for t in raw.inputs])

    def do_using(self):
        manager = self.any(self.managers)
        with manager.using(self.dice.choice("abc")) as net:
            self.one(self.do_use)
            self.one(self.do_unload)
            self.one(lambda: manager.release("a"))
            net.raw.run(*[bytes(t.packed) for t in net.raw.inputs])

    def do_release(self):
        manager = self.any(self.managers)
        manager.release(self.dice.choice("abc"))
        manager.status(lambda line: None)

    def do_release_all(self):
        self.any(self.managers).release_all()


def main():
    files = []
    for name in [name for name in MODELS if version >= MODELS[name][2]]:
        with open(there.path(name), "rb") as f:
            files.append(f.read())
    first, count = map(int, os.environ.get("MAIXMEM_PROGRAMS", "0 10").split())
    files = files[:1] * 9 + files[1:]  # the second is large
    refused = 0
    for seed in range(first, first + count):
        print("seed", seed, flush=True)
        program = Program(seed, files)
        program.run()
        refused += program.refused
        left = [there.live(), there.held(), program.port.used, len(program.port.models)]
        if any(left):
            tell("left", seed, *left)
    tell("programs", count, refused > count, there.bad())


main()
sys.stdout.flush()
os._exit(0)
