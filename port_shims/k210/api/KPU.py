# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy v1's KPU module: memory, texts and exception classes of the firmware, no
inference."""

import k210_board as board
import k210_fmap
from k210_args import as_float as _float
from k210_args import as_int as _int
from k210_args import as_tuple, exactly
from k210_classifier import Classifier, load_classifier
from k210_console import say
from k210_fmap import kpu_fmap
from k210_gc import finaliser
from k210_image import Image
from k210_kmodel import KpuError
from k210_kpu import Model
from k210_model.values import Any

_P = "[MAIXPY]kpu: "
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
_NULL_PAGE = 0x800  # a number up to here is taken for an address that can be read
_SUFFIXES = (".kmodel", ".smodel", ".emodel")
_STREAM_ARGS = (
    "load_flash arg format error: task=kpu.load_flash(flash_addr, is_dual_buf, batch_size, "
    "spi_speed)"
)
_OUTPUT_GET = "get_output arg format error: get_output(task, int idx)"
_OUTPUT_ARGS = "set_outputs arg format error: set_outputs(task, int idx, int w, int h, int ch)"


def _text(code: int) -> str:
    if code == 2002:
        return "ERR_KMODEL_VERSION: only support kmodel V3" + (
            "/V4 now" if board.state.firmware.v4 else ""
        )
    return _TEXTS[code]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _need(args: Any, n: int) -> None:
    if len(args) < n:
        raise TypeError("function missing %d required positional arguments" % (n - len(args)))


# Contract. What load() returns. Attribute-less and not hashable, as the firmware's type; the model
# behind it is freed by deinit(), by __del__(), or after the interpreter collected the kpu_net.
# `_model` and `_token` are the shim's own.
class kpu_net:
    def __init__(self) -> None:
        self._model = Model()
        self._token = finaliser.watch(self._model)
        self.__del__ = self._model.finalise
        board.state.handles.append(self._model)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("_model", "_token", "__del__"):
            raise AttributeError("'kpu_net' object has no attribute '%s'" % name)
        object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        raise TypeError("unsupported type for __hash__: 'kpu_net'")

    def __eq__(self, other: Any) -> bool:
        return self is other or self._model is other

    def __repr__(self) -> str:
        model = self._model
        return '{"model_addr": %d, "model_size": %d, "model_path": "%s", "net_args": %s}' % (
            model.address or 0,
            model.size,
            model.path or "(null)",
            _yolo_text(model),
        )

    def model_addr(self) -> "int | None":
        return self._model.address

    def model_size(self) -> int:
        return self._model.size

    def model_path(self) -> "str | None":
        return self._model.path

    def net_arg(self) -> Any:
        return self._model.yolo


def _yolo_text(model: Model) -> str:
    if not model.yolo:
        return '"(null)"'
    board.print_floats()
    threshold, nms, anchors = model.yolo
    return '{"threshold":%f, "nms_value":%f, "anchor_number":%d, "anchor":"(%s)"}' % (
        threshold,
        nms,
        len(anchors) // 2,
        ", ".join(["%f" % a for a in anchors]),
    )


# -- load, free


def load(*args: Any, **kwargs: Any) -> "kpu_net":
    _need(args, 1)
    board.alive()
    board.tidy()
    source = args[0]
    if _is_int(source):
        _is_address(source)
        net = kpu_net()
        return _loaded(net, "load error", net._model.load_address, source)
    if not isinstance(source, str):
        raise TypeError(_P + "only accept int or string")
    if not [s for s in _SUFFIXES if s in source]:
        raise ValueError(_P + "model format don't match, only supply .kmodel ")
    net = kpu_net()
    return _loaded(net, "load error", net._model.load_path, source)


def _is_address(value: Any) -> None:
    if value <= 0:
        raise ValueError(_P + "model_addr must > 0 ")


def load_flash(*args: Any, **kwargs: Any) -> "kpu_net":
    _need(args, 4)
    board.alive()
    board.tidy()
    net = kpu_net()
    for arg in args[:4]:
        if not _is_int(arg):
            raise ValueError(_P + _STREAM_ARGS)
    _is_address(args[0])
    print("SPI freq %d Hz" % _spi_hz(args[3]))
    return _loaded(net, "load_flash error", net._model.load_stream, args[0], args[1])


def _spi_hz(asked: int) -> int:
    """The clock that the divider gives: an even divider of 806 MHz / 2."""
    source = 403000000
    divider = max(2, source // max(asked, 1) // 1)
    return source // divider


def _loaded(net: Any, what: Any, f: Any, *args: Any) -> "kpu_net":
    try:
        f(*args)
    except KpuError as e:
        raise ValueError("%s%s:%d, %s" % (_P, what, e.args[0], _text(e.args[0])))
    board.tidy()
    return net


def _model(net: Any) -> Model:
    if not isinstance(net, kpu_net):
        raise TypeError(_P + "kpu_net type error")
    return net._model


def deinit(*args: Any, **kwargs: Any) -> bool:
    _need(args, 1)
    model = _model(args[0])
    board.point("deinit")
    model.release()
    return True


# -- run


def init_yolo2(*args: Any, **kwargs: Any) -> bool:
    _need(args, 5)
    model = _model(args[0])
    threshold, nms, count = _float(args[1]), _float(args[2]), _int(args[3])
    for name, value in (("threshold", threshold), ("nms_value", nms)):
        if not 0 <= value <= 1:
            raise ValueError(_P + name + " only support 0 to 1")
    if count <= 0:
        raise ValueError(_P + "anchor_number should > 0")
    board.point("init_yolo2")
    model.init_yolo2(count, lambda: (threshold, nms, _anchors(args[4], 2 * count)))
    return True


def _anchors(values: Any, n: int) -> list:
    return [_float(value) for value in as_tuple(values, n)]


def run_yolo2(*args: Any, **kwargs: Any) -> None:
    _need(args, 2)
    model, img = _model(args[0]), args[1]
    if not isinstance(img, Image):
        raise TypeError("Can't convert %s to type" % type(img).__name__)
    board.point("run_yolo2")
    shape = model.header.input_shape()
    if shape is None:
        raise ValueError(_P + "first layer not conv layer!\r\n")
    if not _image_fits(img, shape):
        raise ValueError(_P + "check img format err!\r\n")
    if not model.yolo:
        board.crash(
            "run_yolo2 without init_yolo2 reads through a null pointer",
            "call kpu.init_yolo2(net, ...) once after kpu.load",
        )
    w, h, channels = model.header.output_shape()
    anchors = len(model.yolo[2]) // 2
    boxes = w * h * anchors
    if not board.scratch((16 * boxes, 4 * boxes * (channels // anchors - 4), 8 * boxes)):
        raise ValueError(_P + "region_layer_init err!\r\n")


def _image_fits(img: Any, shape: Any) -> bool:
    """What the firmware prints before it refuses an image."""
    w, h, channels = shape
    if not isinstance(img, Image):
        return False
    if img.width() != w or img.height() != h:
        print("%simg w=%d,h=%d, but model w=%d,h=%d" % (_P, img.width(), img.height(), w, h))
    elif not img._has_ai():
        print(_P + "pix_ai is NULL!")
    elif img._bpp == 1 and channels != 1:
        print("%sgrayscale img, but model channel=%d" % (_P, channels))
    elif img._bpp == 2 and channels != 3:
        print("%sRGB img, but model channel=%d" % (_P, channels))
    else:
        return True
    return False


def forward(*args: Any, **kwargs: Any) -> "kpu_fmap | None":
    _need(args, 1)
    net, data = args[0], args[1] if len(args) > 1 else None
    if not isinstance(net, kpu_net):
        return None
    board.point("forward")
    model = net._model
    index = args[2] if len(args) > 2 else kwargs.get("out_index", 0)
    if isinstance(data, list):
        if not data:
            raise ValueError(_P + "check input list format err!\r\n")
        if not board.scratch((4 * len(data),)):
            raise ValueError(_P + "alloc list mem err!\r\n")
    elif isinstance(data, str) or (isinstance(data, int) and not 0 <= data < _NULL_PAGE):
        board.crash(
            "forward() takes an image or a list, not %s" % type(data).__name__,
            "pass image.Image or a list of floats",
        )
    elif not isinstance(data, Image):
        raise ValueError("input not support")
    if not model.loaded:
        raise OSError(_text(2001))
    if isinstance(data, Image):
        shape = model.header.input_shape()
        if shape is None:
            raise OSError(_text(2007))
        if not _image_fits(data, shape):
            raise ValueError(_P + "check img format err!\r\n")
    index = _int(index)
    found = _output(model, index, "sipeed_kpu_get_output err")
    if model.header.version == 4 and index not in model.output_shapes:
        raise OSError(_text(2013))
    return found


def get_output(*args: Any) -> "kpu_fmap | None":
    _need(args, 2)
    if not isinstance(args[0], kpu_net) or not _is_int(args[1]):
        raise ValueError(_P + _OUTPUT_GET)
    board.alive()
    model = args[0]._model  # after deinit() it gives None: measured on v0.6.2_84
    no_such = "get_output err" if model.loaded and model.header.version == 4 else 2001
    return _output(model, args[1], no_such) if model.loaded else None


def _output(model: Model, index: Any, no_such: Any) -> kpu_fmap:
    if model.layers and not index:
        return kpu_fmap(model, model.layers - 1, at_layer=True)
    if not 0 <= index < model.header.outputs:
        raise OSError(no_such)
    return kpu_fmap(model, index)


def set_outputs(*args: Any) -> bool:
    _need(args, 4)
    if len(args) < 5 or not isinstance(args[0], kpu_net):
        raise ValueError(_P + _OUTPUT_ARGS)
    if [arg for arg in args[1:5] if not _is_int(arg)]:
        raise ValueError(_P + _OUTPUT_ARGS)
    model = _model(args[0])
    index, w, h, channels = args[1:5]
    board.alive()
    if not model.loaded or model.header.version != 4:
        print("%sset_outputs ctx error, maybe init err:%d" % (_P, 2002))
        return False
    if index >= model.header.outputs or w * h * channels * 4 != model.header.output(index)[1]:
        print(
            "%sset_outputs ctx error, maybe init err:%d"
            % (_P, 2011 if index >= model.header.outputs else 2012)
        )
        return False
    model.output_shapes[index] = (w, h, channels)
    return True


def set_layers(*args: Any) -> bool:
    exactly(len(args), 2)
    n = _int(args[1])
    if args[0] is None or isinstance(args[0], (str, bytes)):
        board.crash("set_layers() of no model reads through a wild pointer", "pass a kpu_net")
    if not isinstance(args[0], kpu_net):
        raise TypeError("can't convert  to int")
    model = args[0]._model
    board.alive()
    if n > model.header.count:
        print("err: set layers_length to %d, but max %d" % (n, model.header.count))
        return False
    model.layers = 0 if n == model.header.count else n
    return True


fmap = k210_fmap.fmap


def fmap_free(fmap: Any) -> None:
    return None


def netinfo(*args: Any) -> list:
    _need(args, 1)
    board.alive()
    if not isinstance(args[0], kpu_net):  # of None and text it follows a pointer
        raise ValueError("get layer num error!")
    model = args[0]._model
    found = []
    for i, (kind, size) in enumerate(model.header.bodies()):
        print("layer[%d]: %d, %d bytes" % (i, kind, size))
        found.append((i, kind, size))
    return found


def memtest(*args: Any) -> None:
    exactly(len(args), 0)
    board.alive()
    say("###free gc heap memory : %d KB" % (board.gc_largest() // 1024))
    say("###free sys heap memory: %d KB" % (board.heap.heap_free() // 1024))


# -- faces and classes


def face_encode(*args: Any) -> bytearray:
    """One byte for each value, as the firmware's: a bytearray."""
    exactly(len(args), 1)
    as_tuple(args[0])
    board.alive()
    return bytearray(len(args[0]))


def face_compare(*args: Any) -> float:
    """100.0 for two codes that are equal, and less for others: nothing is compared but their
    bytes."""
    exactly(len(args), 2)
    board.alive()
    if len(args[0]) != len(args[1]):
        raise ValueError("compare feature must in same dim!\r\n")
    return 100.0 if bytes(args[0]) == bytes(args[1]) else 50.0


# The type of the firmware: classifier(net, classes, samples), classifier.load(net, path).
class classifier(Classifier):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) < 3:
            raise ValueError("model, class num, sample num")
        if not isinstance(args[0], kpu_net):
            raise ValueError("model")
        Classifier.__init__(self, _int(args[1]), _int(args[2]), **kwargs)

    @staticmethod
    def load(*args: Any, **kwargs: Any) -> tuple:
        _need(args, 2)
        if not isinstance(args[0], kpu_net):
            raise ValueError("must be model")
        if not isinstance(args[1], str):
            raise ValueError("path err")
        classes, samples = load_classifier(args[1])
        return classifier(args[0], classes, samples, **kwargs), classes, samples
