# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for pyACL on an Ascend 310: the calls that take memory, with their tuples, codes and
rules."""

import threading

import ascend_board as board

_DDR = {0: ("normal", "huge"), 2: ("huge",), 3: ("normal",)}
_HBM = {1: ("normal", "huge"), 4: ("huge",), 5: ("normal",)}
_KINDS = {
    0: (True, True),
    1: (False, True),
    2: (True, False),
    3: (False, False),
}  # (to host, from host)


def init(config=""):
    if board.initialised:
        return board.REPEAT_INIT
    board.initialised = True
    return board.OK


def finalize():
    board.initialised = False
    return board.OK


def get_soc_name():
    return "Ascend310"


class _Util:
    """acl.util"""

    def bytes_to_ptr(self, data):
        return board.python_bytes(data)

    def ptr_to_bytes(self, ptr, size):
        block = board.block_at(ptr, size)
        return bytes(block.data()[ptr - block.start : ptr - block.start + size])


class _Rt:
    """acl.rt"""

    def set_device(self, device):
        code = board.begin("rt.set_device")
        if code or device != 0:
            return code or board.INVALID_DEVICEID
        board.contexts.add(0)
        board.set_context(0)
        return board.OK

    def reset_device(self, device):
        board.contexts.discard(0)
        return board.OK

    def create_context(self, device):
        code = board.begin("rt.create_context")
        if code or device != 0:
            return 0, code or board.INVALID_DEVICEID
        context = board.new_id()
        board.contexts.add(context)
        board.set_context(context)
        return context, board.OK

    def set_context(self, context):
        code = board.begin("rt.set_context")
        if code or context not in board.contexts:
            return code or board.RT_PARAM_INVALID
        board.set_context(context)
        return board.OK

    def get_context(self):
        context = board.context()
        return (0, board.CONTEXT_NULL) if context is None else (context, board.OK)

    def destroy_context(self, context):
        board.contexts.discard(context)
        return board.OK

    def get_mem_info(self, attr):
        code = board.gate("rt.get_mem_info")
        names = _HBM.get(attr) if board.memory != "ddr" else _DDR.get(attr)
        if board.memory == "ddr" and board.toolkit >= (8, 0):
            names = names or _HBM.get(attr)  # asked of HBM where there is none, it tells of DDR
        if not code and board.memory == "both" and attr in _DDR:
            free = 0 if attr == 2 else board.OTHER_DDR
            return free, free, board.OK
        if code or names is None:
            return 0, 0, code
        return (
            sum(board.pages[n] for n in names),
            sum(board.pages["all_" + n] for n in names),
            board.OK,
        )

    def malloc(self, size, policy):
        code = board.gate("rt.malloc")
        if code or size < 1:
            return 0, code or board.INVALID_PARAM
        names = board.sources(size, policy)
        if names is None:
            return 0, board.NOT_SUPPORTED
        return _allocated(size, "device", names)

    def free(self, ptr):
        return board.gate("rt.free") or board.free(ptr, "device")

    def malloc_host(self, size):
        code = board.gate("rt.malloc_host")
        if code or size < 1:
            return 0, code or board.INVALID_PARAM
        if board.rc:
            return _allocated(size, "host", ("normal",))
        return board._place(size, 0, "host", None).start, board.OK

    def free_host(self, ptr):
        return board.gate("rt.free_host") or board.free(ptr, "host")

    def memcpy(self, dst, dest_max, src, count, kind):
        code = board.gate("rt.memcpy") or _copy_error(dst, dest_max, src, count, kind)
        if code:
            return code
        board.copy(dst, src, count)
        return board.OK

    def memcpy_async(self, dst, dest_max, src, count, kind, stream):
        code = board.gate("rt.memcpy_async") or _copy_error(dst, dest_max, src, count, kind)
        if code:
            return code
        if dst % 64 or src % 64:
            return board.ADDR_UNALIGNED
        if kind == 0 and not board.rc:
            if board.toolkit >= (7, 0):
                return board.NOT_SUPPORTED
            board.late[stream] = [None]  # accepted, and fails when it is carried out
            return board.OK
        board.late.setdefault(stream, []).append((dst, src, count))
        return board.OK

    def create_stream(self):
        code = board.gate("rt.create_stream")
        return (0, code) if code else (board.new_id(), board.OK)

    def destroy_stream(self, stream):
        board.late.pop(stream, None)
        return board.OK

    def synchronize_stream(self, stream):
        code = board.gate("rt.synchronize_stream")
        if code:
            return code
        board.settle(stream)
        for job in board.late.pop(stream, ()):
            if job is None:
                return board.DRV_INTERNAL
            board.copy(*job)
        return board.OK


def _allocated(size, kind, source):
    block = board.allocate(size, kind, source)
    return (0, board.OUT_OF_MEMORY) if block is None else (block.start, board.OK)


def _copy_error(dst, dest_max, src, count, kind):
    to, here = board.block_at(dst, count), board.block_at(src, count)
    if count < 1 or count > dest_max or to is None or here is None or kind not in _KINDS:
        return board.RT_PARAM_INVALID
    if not board.rc and _KINDS[kind] != (board.is_host(to), board.is_host(here)):
        return board.RT_PARAM_INVALID
    return board.OK


class _Media:
    """acl.media"""

    def dvpp_malloc(self, size):
        code = board.gate("media.dvpp_malloc")
        if code or size < 1:
            return 0, code or board.INVALID_PARAM
        return _allocated(size, "dvpp", ("huge",))

    def dvpp_jpeg_predict_dec_size(self, data, size, format):
        code = board.gate("media.dvpp_jpeg_predict_dec_size")
        jpeg = board.block_at(data, size)
        jpeg = bytes(jpeg.data()[data - jpeg.start : data - jpeg.start + size])
        at = jpeg.find(b"\xff\xc0")  # the frame header: length 2, precision 1, height 2, width 2
        per = {1: (3, 2), 3: (2, 1), 5: (3, 1)}.get(format)
        if code or at < 0 or per is None or jpeg[:2] != b"\xff\xd8":
            return 0, code or board.INVALID_PARAM
        h, w = (
            int.from_bytes(jpeg[at + 5 : at + 7], "big"),
            int.from_bytes(jpeg[at + 7 : at + 9], "big"),
        )
        unit = 64 if get_soc_name().startswith(("Ascend310P", "Ascend310B")) else 128
        return -(-w // unit) * unit * (-(-h // 16) * 16) * per[0] // per[1], board.OK

    def dvpp_free(self, ptr):
        return board.gate("media.dvpp_free") or board.free(ptr, "dvpp")


class _Mdl:
    """acl.mdl"""

    def query_size(self, path):
        code = board.gate("mdl.query_size")
        if code or path not in board.models:
            return 0, 0, code or board.GE_MODEL_PATH
        om = board.models[path]
        return om.work, om.weight, board.OK

    def load_from_file(self, path):
        return self.load_from_file_with_mem(path, 0, 0, 0, 0)

    def load_from_file_with_mem(self, path, work, work_size, weight, weight_size):
        code = board.gate("mdl.load")
        if code or path not in board.models:
            return 0, code or board.GE_MODEL_PATH
        om = board.models[path]
        code = _too_small(work, work_size, om.work, board.GE_PARAM)
        code = code or _too_small(weight, weight_size, om.weight, board.INTERNAL_GE)
        if code:
            return 0, code
        own = []
        places = []
        for ptr, n in ((work, om.work), (weight, om.weight)):
            block = (
                board.block_at(ptr, n) if ptr else board.allocate(n, "device", board.sources(n, 0))
            )
            if block is None:
                for mine in own:
                    board.free(mine.start, "device")
                return 0, board.OUT_OF_MEMORY
            own += [] if ptr else [block]
            places.append((block, ptr or block.start))
        number = board.new_id()
        for block, _ in places:
            block.users.add(number)
        places[0][0].work = True
        board.loaded[number] = board.Loaded(om, board.context(), (places[0][1], om.work), own)
        return number, board.OK

    def unload(self, number):
        code = board.gate("mdl.unload") or _model_error(number)
        if code:
            return code
        for block in board.blocks.values():
            block.users.discard(number)
        for block in board.loaded.pop(number).own:
            board.free(block.start, "device")
        return board.OK

    def create_desc(self):
        return {}

    def get_desc(self, desc, number):
        code = board.faults.point("mdl.get_desc") or _model_error(number)
        if not code:
            desc["om"] = board.loaded[number].om
        return code

    def destroy_desc(self, desc):
        desc.clear()
        return board.OK

    def get_num_inputs(self, desc):
        return len(desc["om"].inputs)

    def get_num_outputs(self, desc):
        return len(desc["om"].outputs)

    def get_input_size_by_index(self, desc, index):
        return desc["om"].inputs[index]

    def get_output_size_by_index(self, desc, index):
        return desc["om"].outputs[index]

    def create_dataset(self):
        return []

    def add_dataset_buffer(self, dataset, buffer):
        code = board.faults.point("mdl.add_dataset_buffer")
        if code is None:
            dataset.append(buffer)
        return dataset, code or board.OK

    def destroy_dataset(self, dataset):
        dataset.clear()
        return board.OK

    def execute(self, number, inputs, outputs):
        code = self._start(number, inputs, outputs, threading.get_ident())
        if code:
            return code
        try:
            if board.running is not None:
                board.running(number)
        finally:
            board.settle(threading.get_ident())
        _results(number, inputs, outputs)
        return board.OK

    def execute_async(self, number, inputs, outputs, stream):
        code = self._start(number, inputs, outputs, stream)
        if not code:
            _results(number, inputs, outputs)
        return code

    def _start(self, number, inputs, outputs, who):
        code = board.gate("mdl.execute") or _model_error(number)
        if code:
            return code
        om = board.loaded[number].om
        for given, sizes in ((inputs, om.inputs), (outputs, om.outputs)):
            if len(given) != len(sizes) or any(_bad_buffer(b, n) for b, n in zip(given, sizes)):
                return board.INVALID_PARAM
        board.claim(number, who)
        return board.OK


def _results(number, inputs, outputs):
    """The stand-in's arithmetic: each output begins with the first byte of the first input, plus
    one."""
    ptr, _ = inputs[0]
    block = board.block_at(ptr, 1)
    for out, _ in outputs:
        to = board.block_at(out, 1)
        to.data()[out - to.start] = (block.data()[ptr - block.start] + 1) & 255


def _too_small(ptr, size, need, code):
    if not ptr:
        return board.OK
    block = board.block_at(ptr, size)
    return code if size < need or block is None or board.is_host(block) or ptr % 64 else board.OK


def _model_error(number):
    if number not in board.loaded:
        return board.GE_MODEL_ID
    return board.OK if board.loaded[number].context == board.context() else board.MODEL_CONTEXT


def _bad_buffer(buffer, n):
    ptr, size = buffer
    block = board.block_at(ptr, size)
    return size < n or block is None or board.is_host(block)


def create_data_buffer(ptr, size):
    return (ptr, size)


def destroy_data_buffer(buffer):
    return board.OK


rt = _Rt()
mdl = _Mdl()
media = _Media()
util = _Util()
