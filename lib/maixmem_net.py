# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The net that a model manager hands out: it works while its model is resident and refuses at other times."""


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
