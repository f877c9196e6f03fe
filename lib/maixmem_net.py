# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What stands for a model: the entry that a manager keeps of it, and the net that it hands out."""


class ModelGone(ValueError):
    """A net was used after its model was released."""


# The object use() hands out: one a name, for good. It works while its model is resident and refuses with
# ModelGone at other times, so a released model never reaches the runtime. `handle` is what the port loaded, or
# None. Attribute access through __getattr__ allocates a bound method; platform classes define methods instead.
# Results that point into model memory die with it: copy them first.
class Net:
    """A model that may or may not be resident."""

    def __init__(self, name):
        self.name = name
        self.handle = None

    @property
    def raw(self):
        """The runtime's own object; never keep it longer than the model is resident."""
        return self.live()

    def live(self):
        """The handle, or ModelGone."""
        if self.handle is None:
            text = "net {!r}: its model was released. Next: take it again with use({!r})."
            raise ModelGone(text.format(self.name, self.name))
        return self.handle

    def __getattr__(self, name):
        if name[0] == "_" or "handle" == name:
            raise AttributeError(name)
        return getattr(self.live(), name)


# What a manager knows of one name, its to change. `handle` is not None while memory is held, `ready` while use()
# may hand `net` out: a handle that is not ready is half loaded or half freed, and the next call frees it.
class Entry:
    """A model that was added."""

    def __init__(self, name, source, how, net):
        self.name = name
        self.source = source
        self.how = how
        self.net = net
        self.setup = None
        self.pin = False
        self.fallback = None
        self.cost = None
        self.handle = None
        self.ready = False
        self.held = 0
        self.used = 0  # tick of the last use
        self.order = 0  # number of the load
        self.took = None  # measured bytes of the last load
        self.told = False
