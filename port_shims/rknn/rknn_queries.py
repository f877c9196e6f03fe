# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the stand-in runtime answers to rknn_query and rknn_set_core_mask."""

import ctypes
import struct

import rknn_model
from rknn_objects import (
    ATTR,
    CTX_INVALID,
    FAIL,
    INFO_ONLY,
    MEM_SIZE,
    MODEL_INVALID,
    PARAM_INVALID,
    SUCC,
)


# Contract. A part of Runtime, which has the contexts, the profile and the release.
class Queries:
    def query(self, number, command, info, size):
        """rknn_query: counts, attributes, version and memory sizes."""
        failed = self._contexts.get(number)
        if (
            command == 6 and failed is not None and failed.failed
        ):  # answered for what init had come to
            spec = failed.spec
            data = (
                MEM_SIZE.pack(spec.weight, spec.internal, failed.dma, *[0] * 12)
                if spec
                else b"\0" * 64
            )
            ctypes.memmove(info, data, min(size, len(data)))
            return SUCC
        context, code = self._live(number)
        if code:
            return code
        if command in (13, 14, 15) and not context.spec.shapes:
            return self._fail(MODEL_INVALID, "rknn model is static shape type")
        if command in (14, 15) and context.place is None:
            return self._fail(CTX_INVALID, "please call rknn_set_input_shape first")
        if command == 13:
            return self._ranges(context, info, size)
        answer = {0: self._counts, 5: self._version, 6: self._mem_size}.get(command)
        if answer:
            data = answer(context, size)
        else:
            data = self._attr(context, command, struct.unpack("@I", ctypes.string_at(info, 4))[0])
        if data is None or len(data) > size:
            return PARAM_INVALID
        ctypes.memmove(info, data, len(data))
        return SUCC

    def set_core_mask(self, number, mask):
        """rknn_set_core_mask: a set of cores that the chip can use together; newer runtimes not of
        a context that only describes."""
        context, code = self._live(number)
        if code:
            return code
        idle = context.flag & INFO_ONLY and self.release.info
        if idle or mask not in self.profile.masks:
            return self._fail(FAIL, "rknn_set_core_mask: failed to set core mask: %x" % mask)
        context.cores = mask
        return SUCC

    def _counts(self, context, size):
        spec = context.spec
        if context.flag & INFO_ONLY and not self.profile.mini and self.release.info:
            return struct.pack("@II", 0, 0)
        return struct.pack("@II", len(spec.inputs), len(spec.outputs))

    # rknn_input_range: index, count, format, name, 512 shapes of 16, dimensions.
    def _ranges(self, context, info, size):
        index = struct.unpack("@I", ctypes.string_at(info, 4))[0]
        shapes = [inputs[index][0] for inputs, _ in context.spec.shapes if index < len(inputs)]
        if not shapes:
            return PARAM_INVALID
        if index in context.relisted:
            shapes = [rknn_model.nchw(shape) for shape in shapes]
        words = [n for shape in shapes for n in shape + [0] * (16 - len(shape))]
        words += [0] * (512 * 16 - len(words))
        data = struct.pack("@IIi256s8192II", index, len(shapes), 1, b"", *words, len(shapes[0]))
        ctypes.memmove(info, data, min(size, len(data)))
        return SUCC

    def _version(self, context, size):
        return (self.version + " (stand-in)").encode().ljust(256, b"\0") + b"0.8.2".ljust(
            256, b"\0"
        )

    def _mem_size(self, context, size):
        spec, sram = context.spec, self.profile.sram
        data = MEM_SIZE.pack(spec.weight, spec.internal, context.dma, sram, sram, *[0] * 10)
        if size >= MEM_SIZE.size:
            return (
                data if sram else data[:16]
            )  # without SRAM the fields behind are not written at all
        return data[:8] if self.profile.mini and size >= 8 else None

    def _attr(self, context, command, index):
        tensors = {
            1: context.spec.inputs,
            8: context.spec.inputs,
            14: context.spec.inputs,
            2: context.spec.outputs,
            9: context.spec.outputs,
            15: context.spec.outputs,
        }.get(command)
        if tensors is None or index >= len(tensors):
            return None
        output = tensors is context.spec.outputs
        shape, stride = tensors[index][:2]
        told = rknn_model.fields(tensors[index])
        count, nbytes, wide = rknn_model.sizes(tensors[index])
        if output and not self.release.stride:
            wide = nbytes
        native = self.profile.mini  # the chip's own layout: NHWC, and no other type than int8
        dims = shape + [0] * (16 - len(shape))
        name = ("output%d" if output else "input%d") % index
        fmt = told.get("fmt", 0 if output and not native else 1)
        return ATTR.pack(
            index,
            len(shape),
            *dims,
            name.encode(),
            count,
            nbytes,
            fmt,
            told.get("type", rknn_model.INT8),
            told.get("qnt", 2),  # affine
            0,
            told.get("zp", 0 if output else -128),
            told.get("scale", 1.0),
            stride,
            wide,
            0,
            0,
        )
