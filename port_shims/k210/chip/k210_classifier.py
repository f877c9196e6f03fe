# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""KPU.classifier: the memory of a self-learning classifier, and no learning."""

import k210_board as board
import k210_files as files
from k210_args import as_int
from k210_gc import finaliser

_ENOMEM, _EIO = 12, 5
_FEATURES = 768  # floats of one picture, where nothing else is asked for


# Contract. Blocks of the system heap, measured on the firmware (v0.6.2_84): 72 bytes, a pointer
# for each class and each sample, and the features (4 bytes each) of one picture more than there
# are classes; add_sample_img() takes those of one more. Freed by __del__(), which the interpreter
# calls for a lost one. predict() finds class 0 at distance 0.
class Classifier:
    def __init__(self, classes, samples, fea_len=0, **other):
        if classes < 0 or samples < 0:
            raise OSError(_ENOMEM)
        fea_len = as_int(fea_len)
        board.point("classifier")
        self._state = _Blocks(classes, samples, fea_len or _FEATURES)
        self._token = finaliser.watch(self._state)
        self.__del__ = self._state.finalise
        board.state.handles.append(self._state)

    def add_class_img(self, img, index=-1):
        board.point("classifier image")
        return self._state.add_class(index)

    def rm_class_img(self):
        return self._state.add_class(-1, -1)

    def add_sample_img(self, img):
        board.point("classifier image")
        return self._state.add_sample()

    def rm_sample_img(self):
        return self._state.drop_sample()

    def train(self):
        board.point("classifier train")

    def predict(self, img):
        board.point("classifier predict")
        return 0, 0.0

    def save(self, path):
        state = self._state
        files.put(path, bytearray(repr((state.classes, state.samples)).encode()))


class _Blocks:
    def __init__(self, classes, samples, features):
        self.classes, self.samples = classes, samples
        self._features = features
        self._known = self._seen = 0
        self._blocks = []
        self._take((72, 8 * classes, 8 * samples))
        for _ in range(classes + 1):
            self._take((24, 4 * features))

    def _take(self, sizes):
        for n in sizes:
            block = board.heap.malloc(n)
            if not block:
                self.release()
                raise OSError(_ENOMEM)
            self._blocks.append(block)

    def add_class(self, index, step=1):
        self._known = max(0, min(self._known + step, self.classes))
        return self._known - 1 if index < 0 else index

    def add_sample(self):
        self._take((24, 4 * self._features))
        self._seen += 1
        return self._seen - 1

    def drop_sample(self):
        if self._seen:
            self._seen -= 1
            board.heap.free(self._blocks.pop())
            board.heap.free(self._blocks.pop())
        return self._seen

    def release(self):
        while self._blocks:
            board.heap.free(self._blocks.pop())

    def finalise(self):
        print("classifier __del__")
        self.release()


def load_classifier(path):
    """(classes, samples) of a saved classifier; OSError where there is no such file."""
    if files.source(path) is None:
        raise OSError(_EIO)
    board.file_read(path)
    return eval(str(files.read(path, 0, 64), "utf-8"), {})
