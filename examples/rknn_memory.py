# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The memory of one model on a Rockchip NPU, in the ways that the vendor's guide names (RK3566,
RK3568, RK3588).

Put your own detect.rknn beside this file. What each way takes is printed; at the end nothing is
left. Several models in one working memory: rknn_switch.py.
"""

import threading

import maixmem
import maixmem_rknn
from maixmem_rknn import Block, mmz

MODEL = "detect.rknn"


def frame(model):
    """What a camera gives: the bytes of each input."""
    return [bytes(tensor.nbytes) for tensor in model.inputs]


def what_it_takes(port):
    """Asked before it is loaded, and the same afterwards."""
    cost = port.inspect(MODEL)
    print(
        "weights {}, working memory {}, in all {} bytes ({})".format(
            cost.weight, cost.internal, cost.peak["npu"], cost.certainty
        )
    )
    return cost


def memory_of_your_own(port, cost):
    """Weights, working memory and the first input in blocks that the program made, here by
    Rockchip's allocator."""
    owner = port.load(MODEL, dup=True)

    def block(nbytes):
        try:
            return mmz.alloc(nbytes)
        except ImportError:  # no such allocator here: memory of the runtime serves as well
            return Block.of(port.create(owner.ctx, nbytes))

    weights, internal = block(cost.weight), block(cost.internal)
    camera = block(owner.inputs[0].nbytes)
    model = port.load(MODEL, weights=weights, internal=internal)
    model.inputs[0].attach(camera)
    print(
        "in blocks of your own: {} bytes".format(sum([len(x) for x in model.run(*frame(model))]))
    )
    port.unload(model)
    for made in (weights, internal, camera):
        if hasattr(made, "free"):
            made.free()
    port.unload(owner)


def in_two_threads(port):
    """One set of weights, a context for each thread."""
    first = port.load(MODEL, dup=True)
    second = port.dup(first)
    lengths = []

    def work(model):
        lengths.append(sum([len(x) for x in model.run(*frame(model))]))

    threads = [threading.Thread(target=work, args=(model,)) for model in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("in two threads: {} bytes".format(lengths))
    port.unload(second)
    port.unload(first)


def on_the_weights_of_another(port):
    """The same network for another resolution, converted with remove_weight=True; here the same
    file once more."""
    first = port.load(MODEL, shared=False)
    try:
        second = port.load(MODEL, master=first)
    except maixmem.KModelError as e:  # of several resolutions: they share weights by themselves
        print("not on shared weights: {}".format(e))
    else:
        length = sum([len(x) for x in second.run(*frame(second))])
        print("on shared weights: {} bytes".format(length))
        port.unload(second)  # before the first
    port.unload(first)


def several_resolutions(port):
    """Of a model that was converted for several, with runtime 1.5.2 or newer."""
    model = port.load(MODEL)
    choices = list(zip(*model.shapes()))  # for each resolution a shape of each input
    if not choices:
        print("one resolution only: this model was not converted for several")
    for shapes in choices:
        model.set_shapes(*shapes)
        length = sum([len(x) for x in model.run(*frame(model))])
        print("{}: {} bytes".format(", ".join(map(str, shapes)), length))
    port.unload(model)


port = maixmem.set_port(maixmem_rknn.Port())
cost = what_it_takes(port)
memory_of_your_own(port, cost)
in_two_threads(port)
on_the_weights_of_another(port)
several_resolutions(port)
print("left: {} bytes".format(port.used))
