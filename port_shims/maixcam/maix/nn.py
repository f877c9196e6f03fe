# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maix.nn: models that stay in the carve-out until their object dies.  There is no unload()."""

import os
import weakref

import cvi_runtime
import maixcam_board as board

from maix import err

_NONE = err.Err.ERR_NONE


class LayerInfo:
    def __init__(self, name, dtype, shape):
        self.name, self.dtype, self.shape = name, dtype, shape


# Contract.  The constructor loads and raises err.Exception; load() returns a code.  Memory belongs
# to the object and goes back when the last reference to it dies, at once.  A second load() is
# refused.
class NN:
    def __init__(self, model="", dual_buff=False):
        self._dual = dual_buff
        self._model = None
        self._extra = {}
        if model:
            err.check_raise(self.load(model), "load model %s failed" % model)

    def load(self, model):
        if self._model is not None:
            return err.Err.ERR_NOT_PERMIT
        try:
            path, self._extra = _follow(model)
            loaded = _load(path, self._dual)
        except err.Exception as e:
            return e.code
        self._model = loaded
        weakref.finalize(self, cvi_runtime.release, loaded.blocks).atexit = False
        return _NONE

    def loaded(self):
        return self._model is not None

    def set_dual_buff(self, enable):
        self._dual = enable

    def inputs_info(self):
        return [LayerInfo(*t) for t in self._model.inputs]

    def outputs_info(self):
        return [LayerInfo(*t) for t in self._model.outputs]

    def extra_info(self):
        return dict(self._extra)

    def forward(self, tensors, copy_result=True, dual_buff_wait=False):
        model = self._model
        del self  # a method in C++ leaves no frame in a traceback that would keep the object
        return _forward(model)

    def forward_image(self, img, *mean_scale_fit, copy_result=True, dual_buff_wait=False):
        model = self._model
        del self
        return _forward(model)


def _forward(model):
    if model is None:
        raise err.Exception(err.Err.ERR_NOT_INIT, "model not loaded")
    if board.faults.point("forward") is not None:
        raise err.Exception(err.Err.ERR_RUNTIME, "forward failed")
    return {name: bytes(1) for name, _, _ in model.outputs}


class _Wrapper:
    """A decoder around an NN of its own; two sets of input and output buffers unless told
    otherwise."""

    def __init__(self, model="", dual_buff=True):
        self._nn = None
        self._dual = dual_buff
        if model:
            err.check_raise(self.load(model), "load model %s failed" % model)

    def load(self, model):
        self._nn = None
        self._nn = NN(model, self._dual)
        return _NONE

    def detect(self, img, *thresholds):
        model = self._nn._model
        del self
        _forward(model)
        return []


class YOLOv5(_Wrapper):
    pass


class YOLOv8(_Wrapper):
    pass


class YOLO11(_Wrapper):
    pass


class Classifier(_Wrapper):
    classify = _Wrapper.detect


class PP_OCR(_Wrapper):
    """Finds and reads text: one set of buffers, and a second model that the .mud names."""

    def __init__(self, model=""):
        _Wrapper.__init__(self, model, False)

    def load(self, model):
        self._nn = self._reader = None
        self._nn = NN(model, False)
        name = self._nn.extra_info().get("rec_model")
        if name:
            self._reader = NN(os.path.join(os.path.dirname(model), name), False)
        return _NONE


class FaceRecognizer:
    """Two models: one finds faces, one tells them apart."""

    def __init__(self, detect_model="", feature_model="", dual_buff=True):
        self._nets = []
        if detect_model or feature_model:
            # maix_nn_face_recognizer.hpp: of the features' model there is one set, always
            self._nets = [NN(detect_model, dual_buff), NN(feature_model, False)]

    def recognize(self, img, *thresholds):
        models = [net._model for net in self._nets]
        del self
        for model in models:
            _forward(model)
        return []


class _Several:
    """A class whose .mud names several models, one set of buffers each."""

    keys = ()

    def __init__(self, model=""):
        path, extra = _follow(model)
        folder = os.path.dirname(model)
        self._nets = [NN(os.path.join(folder, name), False) for name in self.files(path, extra)]

    def files(self, path, extra):
        return [path] + [extra[key] for key in self.keys]


class Whisper(_Several):
    """maix_nn_whisper_maixcam2.cpp: the encoder is the model, and two decoders."""

    keys = ("decoder-main", "decoder-loop")


class Qwen(_Several):
    """LLM_Qwen.hpp: layers by a template, then what makes a token of the last one's output."""

    keys = ("post_model",)

    def files(self, path, extra):
        layers = [path % i for i in range(int(extra["model_num"]))]
        return layers + [extra[key] for key in self.keys]


class SmolVLM(Qwen):
    """LLM_SmolVLM.hpp: and a part that sees."""

    keys = ("post_model", "vpm_resampler_model")


class MUD:
    """What a .mud says; loads nothing."""

    def __init__(self, model_path=""):
        self.model_path = model_path


def _follow(model):
    """(path of the model file, extra section) of a .mud; any other path stands for itself."""
    if (
        not os.path.isfile(model)
        or board.faults.point("open " + os.path.basename(model)) is not None
    ):
        raise err.Exception(err.Err.ERR_NOT_FOUND, model)
    if not model.endswith(".mud"):
        return model, {}
    mud = _ini(model)
    if mud is None or "type" not in mud.get("basic", {}):
        raise err.Exception(err.Err.ERR_ARGS, model)
    key = "model" if mud["basic"]["type"] == "cvimodel" else "model_npu"
    path = os.path.join(os.path.dirname(model), mud["basic"][key])
    return path, mud.get("extra", {})


# IniFile::Load of MaixCDK's inifile2: None for what it refuses.
def _ini(path):
    sections = {"": {}}
    items = sections[""]
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    for line in lines:
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        line = line.split(b"#")[0].strip().decode("utf-8", "surrogateescape")
        if line.startswith("["):
            end = line.find("]")
            name = line[1:end].strip()
            if end < 2 or name in sections:
                return None
            items = sections[name] = {}
        elif "=" not in line:
            return None
        else:
            key, value = [part.strip() for part in line.split("=", 1)]
            items.setdefault(key, value)
    return sections


def _load(path, dual):
    if board.chip == "linux":
        raise err.Exception(err.Err.ERR_NOT_IMPL, "NN not support this platform yet")
    kind = {
        "maixcam": (".cvimodel", cvi_runtime.load),
        "maixcam2": (".axmodel", cvi_runtime.load_ax),
    }[board.chip]
    if not path.endswith(kind[0]):
        raise err.Exception(err.Err.ERR_ARGS, "%s cannot run on %s" % (path, board.chip))
    return kind[1](path, dual)
