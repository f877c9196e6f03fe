# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for Ascend 310 boards and cards (pyACL, CPython).

    port = maixmem.set_port(maixmem_ascend.Port())
    detector, classifier = port.load("yolo.om"), port.load("resnet.om")
    detector.run([frame], [boxes])

Each model keeps its weights; all compute in one block of work memory that is as large as the largest needs, one
after the other. So say the Chinese pages of the manual; the English page of 8.0 has "the total size of the
workspaces", which two models that never run at once do not need.
"""

import threading

import acl
import maixmem_image_linux as rules
from maixmem import Cost, NoRoom, Region, kib
from maixmem_acl import AclError, Memory, check
from maixmem_aclpool import Picture
from maixmem_arena import ASCEND_RT, piece_bytes
from maixmem_image import image_bytes

# acl.rt.get_mem_info: what it calls the memory, and the attribute. It returns (free, total, code), free first, and
# 0, 0 for what a board does not have, with a code that no page documents.
_ATTRS = (("ddr", 0), ("huge", 2), ("normal", 3), ("hbm", 1))
_REPEAT_INIT = 100002
# Picture rules by generation, as in the name of the chip: its start is looked for, the longest first.
_GENERATIONS = (
    ("Ascend310P", {"vpc": rules.VPC_310P, "jpegd": rules.JPEGD_310P}),
    ("Ascend310", {"vpc": rules.VPC_310, "jpegd": rules.JPEGD_310}),
    ("Ascend910", {"vpc": rules.VPC_910, "jpegd": rules.JPEGD_310}),
)


# A block of work memory and who computes in it. `kept`: stays when nobody does.
class _Work:
    def __init__(self, buf):
        self.buf = buf
        self.kept = False


# What load() gives. Owns its weights, its description and its ids at the runtime: one, or for a moment two while it
# moves to a larger work block, or two after a move whose end failed; `ids` are (id, work block), the last is in use.
# run() waits for its turn: models share their work memory, a second one that runs destroys what the first keeps
# there. Outputs are the caller's own buffers and stay. After unload() any use is a RuntimeError.
class Model:
    """A loaded model: run(inputs, outputs) on Buffers of device memory."""

    def __init__(self, port, source, cost):
        self.port = port
        self.source = source
        self.cost = cost
        self.weight = None
        self.ids = []
        self.inputs = ()
        self.outputs = ()

    def run(self, inputs, outputs):
        """Computes outputs from inputs, lists of Buffers of at least `inputs` and `outputs` bytes (lists of sizes)."""
        port = self.port
        port.enter()
        with port.serial:
            if not self.ids:
                raise RuntimeError(
                    "{}: this model was unloaded. Next: load it again.".format(self.source)
                )
            _fits("input", inputs, self.inputs)
            _fits("output", outputs, self.outputs)
            with _Dataset(inputs) as given, _Dataset(outputs) as wanted:
                check("mdl.execute", acl.mdl.execute(self.ids[-1][0], given, wanted))

    def bind(self, work):
        """Loads (again) with this work block; from here on the model computes there."""
        args = (self.source, work.buf.ptr, work.buf.nbytes, self.weight.ptr, self.weight.nbytes)
        number, code = acl.mdl.load_from_file_with_mem(*args)
        check("mdl.load_from_file_with_mem", code, "({})".format(self.source))
        self.ids.append((number, work))

    def drop(self, keep):
        """Unloads all but the last `keep` ids, the oldest first."""
        while len(self.ids) > keep:
            check("mdl.unload", acl.mdl.unload(self.ids[0][0]), "({})".format(self.source))
            self.ids.pop(0)

    def describe(self):
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


# One object per program and device. Owns the context, the models, the work blocks and, where nobody had called
# acl.init() before, that; nothing else: buffers of `memory` belong to who asked for them. When load() fails the
# models that were there are in working order and nothing of the new one stays. What the device refuses to take
# back, and a model that it refuses to move to a larger work block, costs memory until the next load, unload or
# close(), which try again; warnings() tells of it. Any thread may call; they wait for each other.
class Port:
    """Ascend 310: weights stay, one work memory for models that take turns."""

    name = "ascend"
    share = "arena"
    watched = ("ddr",)

    def __init__(self, device=0):
        self._device = device
        code = acl.init()
        self._started = not code  # else whoever did ends it
        check("init", 0 if code == _REPEAT_INIT else code)
        try:
            check("rt.set_device", acl.rt.set_device(device))
            self._context, code = acl.rt.create_context(device)
            if code:
                acl.rt.reset_device(device)
            check("rt.create_context", code)
        except BaseException:
            if self._started:
                acl.finalize()
            raise
        self._trouble = None
        self._doomed = []
        self.serial = threading.RLock()
        self.memory = Memory(acl)
        self.models = []
        self.works = []  # the largest first
        self.rules = _rules()

    def enter(self):
        """Makes the port's context this thread's, whatever another library has set; every call of the port does it itself.

        A thread that uses `memory` or acl needs it.
        """
        if acl.rt.get_context()[0] != self._context:
            check("rt.set_context", acl.rt.set_context(self._context))

    def close(self):
        """Unloads every model, frees the work memory and lets the device go. Buffers must be free by then.

        AclError while the device does not take something back: nothing is let go then, try again.
        """
        with self.serial:
            self.enter()
            for model in list(reversed(self.models)):
                self.unload(model)
            for work in self.works:
                work.kept = False
            self._settle()
            if self._trouble:
                raise self._trouble
            check("rt.destroy_context", acl.rt.destroy_context(self._context))
            check("rt.reset_device", acl.rt.reset_device(self._device))
            if self._started:
                check("finalize", acl.finalize())

    # --- regions ---

    def regions(self):
        """The kinds of device memory that the board has: ddr, of it huge pages and normal ones, hbm."""
        self.enter()
        found = []
        for name, attr in _ATTRS:
            free, total, _ = acl.rt.get_mem_info(attr)
            if total:
                found.append(Region(name, total, total - free, free))
        return found

    def sample(self, free):
        """Puts the free bytes of ddr into the list `free`."""
        free[0] = self.room("ddr")

    def room(self, region):
        """Free bytes of a region, 0 when the board does not have it."""
        self.enter()
        free, total, code = acl.rt.get_mem_info(dict(_ATTRS).get(region, -1))
        if not total:
            check("rt.get_mem_info", code, "({})".format(region))
        return free

    def warnings(self):
        """Sentences about memory that the device did not take back."""
        if not self._trouble:
            return []
        text = "{} of work memory in {} blocks, {} models half unloaded: {} Next: load or unload."
        return [
            text.format(kib(self.work_bytes), len(self.works), len(self._doomed), self._trouble)
        ]

    @property
    def work_bytes(self):
        """Bytes of work memory that the port holds."""
        return sum([work.buf.nbytes for work in self.works])

    def overlap(self, handles):
        """{region: bytes} that the costs of these models count more than once: their work memory."""
        counted = sum([piece_bytes(m.cost.work, ASCEND_RT) for m in handles])
        works = [w for w in self.works if [m for m in handles if _in(m, w)]]
        return {"ddr": counted - sum([piece_bytes(w.buf.nbytes, ASCEND_RT) for w in works])}

    # --- models ---

    def inspect(self, source):
        """The Cost of loading a model were it the only one: exact, from acl.mdl.query_size."""
        self.enter()
        work, weight, code = acl.mdl.query_size(source)
        check("mdl.query_size", code, "({})".format(source))
        work, weight = max(1, work), max(1, weight)  # there is no memory of 0 bytes to give it
        need = piece_bytes(weight, ASCEND_RT) + piece_bytes(work, ASCEND_RT)
        cost = Cost({"ddr": need}, {"ddr": need}, "exact", None, source)
        cost.work = work
        cost.weight = weight
        return cost

    def shortage(self, cost, margin=0, going=()):
        """None when a load of `cost` finds its room and `margin` bytes, or a NoRoom to raise. `going`: taken as unloaded.

        A work block that is large enough is not counted again. A larger one stands beside it until all have moved.
        """
        need = piece_bytes(cost.weight, ASCEND_RT) + margin
        free = self.room("ddr") + sum([piece_bytes(m.cost.weight, ASCEND_RT) for m in going])
        stay = [
            work
            for work in self.works
            if work.kept or [m for m in self.models if m not in going and _in(m, work)]
        ]
        if not [work for work in stay if work.buf.nbytes >= cost.work]:
            need += piece_bytes(cost.work, ASCEND_RT)
        free += sum(
            [piece_bytes(work.buf.nbytes, ASCEND_RT) for work in self.works if work not in stay]
        )
        if need <= free:
            return None
        text = "{}: {} of weights and {} of work memory need {} bytes of ddr with {} to spare, {} are free. "
        text = text.format(cost.source, cost.weight, cost.work, need - margin, margin, free)
        return NoRoom(
            text + "Next: unload a model, or reserve() the work memory first.", "ddr", need, free
        )

    def reserve(self, sources):
        """Takes the work memory for these models at once, before the first load: it is not moved later."""
        with self.serial:
            if sources:
                self._work(max([self.inspect(source).work for source in sources]), True)

    def load(self, source):
        """Loads a model with weights of its own and the shared work memory. NoRoom, or AclError with the code."""
        with self.serial:
            cost = self.inspect(source)
            self._settle()
            short = self.shortage(cost)
            if short:
                raise short
            model = Model(self, source, cost)
            self._doomed.append(model)  # until it is whole
            try:
                model.weight = self.memory.alloc("device", cost.weight)
                model.bind(self._work(cost.work, False, model))
                model.describe()
                self.models.append(model)
                self._doomed.remove(model)
            except BaseException:
                self._settle()
                raise
            return model

    def unload(self, handle):
        """Unloads a model, then frees its weights, then work memory that nobody needs. Harmless when it is gone.

        When the device refuses, the model keeps what it has left (the last one the work memory too); unload() again
        goes on from there.
        """
        with self.serial:
            self.enter()
            self._dispose(handle)
            self._settle()
            if self._trouble and not self.models:
                raise self._trouble

    def _dispose(self, model):
        model.drop(0)
        if model.weight and model.weight.ptr:
            self.memory.free(model.weight)
        for group in (self.models, self._doomed):
            if model in group:
                group.remove(model)

    def _work(self, nbytes, keep, newcomer=None):
        """The block of work memory of at least nbytes; a new one, if it must be, to which all models move."""
        if not self.works or self.works[0].buf.nbytes < nbytes:
            self.enter()
            self.works.insert(0, _Work(self.memory.alloc("device", nbytes)))
        work = self.works[0]
        kept = work.kept
        work.kept = True  # nobody uses it yet
        try:
            self._settle(newcomer)
        finally:
            work.kept = kept or keep
        return work

    def _settle(self, spared=None):
        """Brings all to where it should be: one work block, nothing half unloaded. What fails is tried next time."""
        self._trouble = None
        for model in list(self._doomed):
            if model is not spared:
                self._try(self._dispose, model)
        for model in self.models:
            self._try(self._move, model)
        for work in list(self.works):
            if not work.kept and not [m for m in self.models + self._doomed if _in(m, work)]:
                self._try(self._release, work)

    def _try(self, step, item):
        try:
            step(item)
        except (AclError, NoRoom) as e:
            e.__traceback__ = None  # it would keep what the failed step held
            self._trouble = e

    def _move(self, model):
        model.drop(1)
        if model.ids and model.ids[-1][1] is not self.works[0]:
            model.bind(self.works[0])
            model.drop(1)

    def _release(self, work):
        self.memory.free(work.buf)
        self.works.remove(work)

    # --- pictures ---

    def new_image(self, w, h, format="yuv420sp"):
        """A picture for VPC in DVPP memory of its own, whole pages of 2 MiB: use Pictures for more than one."""
        self.enter()
        nbytes = image_bytes(w, h, format, self.rules["vpc"])
        return Picture(self.memory.alloc("dvpp", nbytes).ptr, (w, h, format, nbytes), None)

    def copy_into(self, dst, src):
        """Copies the bytes of src into dst, of the same size and format."""
        self.enter()
        self.memory.copy(dst, src)

    def read_flash(self, offset, n):
        """Always NotImplementedError: models are files here."""
        raise NotImplementedError("ascend: there is no flash to read, models are files")


# The vendor's list of buffers around Buffers, for one run; destroyed at the end of the with block.
class _Dataset:
    def __init__(self, buffers):
        self._buffers = buffers
        self._made = []

    def __enter__(self):
        self._set = acl.mdl.create_dataset()
        try:
            for buf in self._buffers:
                self._made.append(acl.create_data_buffer(buf.ptr, buf.nbytes))
                _, code = acl.mdl.add_dataset_buffer(self._set, self._made[-1])
                check("mdl.add_dataset_buffer", code)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self._set

    def __exit__(self, kind, e, trace):
        for data in self._made:
            acl.destroy_data_buffer(data)
        acl.mdl.destroy_dataset(self._set)
        return False


def _fits(what, buffers, sizes):
    have = [buf.nbytes for buf in buffers if buf.ptr and buf.kind != "host"]
    if len(have) != len(sizes) or [1 for i in range(len(sizes)) if have[i] < sizes[i]]:
        text = "run: {} buffers of {} bytes of device memory are wanted, {} given. Next: memory.alloc() them so."
        raise ValueError(text.format(what, sizes, have))


def _in(model, work):
    return [1 for _, block in model.ids if block is work]


def _rules():
    """The picture rules of the chip: {"vpc", "jpegd", "jpege", "pngd"}; those of the 310 when it has no name."""
    soc = acl.get_soc_name() if hasattr(acl, "get_soc_name") else "Ascend310"
    for start, table in _GENERATIONS:
        if soc.startswith(start):
            break
    else:
        table = _GENERATIONS[1][1]
    return {"vpc": table["vpc"], "jpegd": table["jpegd"], "jpege": rules.JPEGE, "pngd": rules.PNGD}
