# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The calls of the KPU module that programs seldom make on a net. Comes in with the first of them,
and stays.

get_output, set_outputs, set_layers and netinfo take the net itself; fmap and fmap_free take what
forward() or get_output() gave; classifier(class_num, sample_num) makes one of this net.
"""

from maixmem import message
from maixmem_k210_kpu import kpu

_OF_NET = ("get_output", "set_outputs", "set_layers", "netinfo")
_OF_HANDLE = ("model_addr", "model_size", "model_path", "net_arg")
_OF_FMAP = ("fmap", "fmap_free")


def find(net, name: str):
    """What the net has under this name; AttributeError for what no net has, NotImplementedError
    for what is missing."""
    if name in _OF_HANDLE:
        return getattr(net.require_handle(), name)
    if name not in _OF_NET and name not in _OF_FMAP and name != "classifier":
        raise AttributeError(message("KPU", net.name, name))
    call = getattr(kpu, name, None)
    if not call:
        raise NotImplementedError(message("missing", "KPU." + name))
    handle = net.require_handle()
    if name == "classifier":
        return lambda *args: Classifier(net, call(handle, *args))
    if name in _OF_FMAP:
        return call

    def checked(*args):
        found = call(net.require_handle(), *args)
        if found is False:
            raise RuntimeError(message("kpu", net.name, name, args))
        return found

    return checked


# The firmware's classifier runs the model that it was made of, released or not: every call asks
# first whether the net still has the model of that load. What it learned goes with it: save() it
# before release().
class Classifier:
    """KPU.classifier of a net: add_class_img, add_sample_img, train, predict, save ..."""

    def __init__(self, net, made) -> None:
        self.net = net
        self.made = made
        self.order = net.order

    def __getattr__(self, name: str):
        if self.net.order != self.order or self.net.handle is None:
            raise ValueError(message("classifier", self.net.name))
        return getattr(self.made, name)
