# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's KPU module."""

import k210_board as board
import k210_model

_TEXTS = {
    2001: "ERR_PARAM: please check param, load address or kmodel file name",
    2003: "ERR_KMODEL_FORMAT: layer_header.body_size <=0",
    2004: "ERR_DECRYPT: check smodel match with your board",
    2005: "ERR_READ_FILE: read file failed",
    2006: "ERR_NO_MEM: memory not enough",
    2007: "ERR_GET_CONV_LAYER: first layer should be conv layer",
    2008: "ERR_RUN_MODEL: maybe model dirty",
    2009: "ERR_MODELS_FULL: we only support load 5 models in the same time",
    2013: "ERR_OUTPUTS_SET: need kpu.set_outputs() to set shape",
    2015: "ERR_UNKNOWN",
}


def _text(code):
    if code == 2002:
        return "ERR_KMODEL_VERSION: only support kmodel V3" + ("/V4 now" if board.state.firmware.v4 else "")
    return _TEXTS[code]


class kpu_net:
    def __init__(self, model):
        self._model = model

    def __hash__(self):
        raise TypeError("unsupported type for __hash__: 'kpu_net'")

    def __eq__(self, other):
        return self is other or self._model is other

    def model_addr(self):
        return self._model.address

    def model_size(self):
        return self._model.size

    def model_path(self):
        return self._model.path


def _reader(address):
    def read(offset, n):
        return board.flash.read(address + offset, n)

    return read


def _file_reader(source):
    def read(offset, n):
        if isinstance(source, str):
            with open(source, "rb") as f:
                f.seek(offset)
                return f.read(n)
        return bytes(source[offset:offset + n])

    return read


def load(*args, **kwargs):
    if not args:
        raise TypeError("function missing 1 required positional arguments")
    source = args[0]
    board.point("load")
    model = k210_model.Model()
    try:
        if isinstance(source, int) and not isinstance(source, bool):
            if source <= 0:
                raise ValueError("[MAIXPY]kpu: model_addr must > 0 ")
            model.address = source & 0xFFFFFFFF
            model.load(_reader(source))
        elif isinstance(source, str):
            _load_path(model, source)
        else:
            raise TypeError("[MAIXPY]kpu: only accept int or string")
    except k210_model.LoadError as e:
        raise ValueError("[MAIXPY]kpu: load error:%d, %s" % (e.args[0], _text(e.args[0])))
    return kpu_net(model)


def _load_path(model, path):
    if ".kmodel" not in path and ".smodel" not in path and ".emodel" not in path:
        raise ValueError("[MAIXPY]kpu: model format don't match, only supply .kmodel ")
    if path not in board.state.files:
        raise k210_model.LoadError(2005)
    source = board.state.files[path]
    model.path = path
    model.load(_file_reader(source), board.file_size(source))


def _model(net):
    if not isinstance(net, kpu_net):
        raise TypeError("[MAIXPY]kpu: kpu_net type error")
    return net._model


def deinit(net):
    model = _model(net)
    board.point("deinit")
    model.release()
    return True


def init_yolo2(*args, **kwargs):
    if len(args) < 5:
        raise TypeError("function missing %d required positional arguments" % (5 - len(args)))
    _model(args[0])
    board.point("init_yolo2")
    return True


def run_yolo2(net, img):
    _model(net)
    board.point("run_yolo2")
    return None


def forward(net, img, out_index=0, dma=-1):
    if not isinstance(net, kpu_net):
        return None
    board.point("forward")
    return None
