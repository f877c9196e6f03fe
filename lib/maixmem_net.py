# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The net of a port whose runtime makes objects with calls of their own. Ports with other calls
subclass maixmem_models.Net."""

import maixmem_models


class Net(maixmem_models.Net):
    """A model that was added; what is not defined here goes to its handle (each access allocates a
    bound method)."""

    def __getattr__(self, name: str):
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(self.require_handle(), name)
