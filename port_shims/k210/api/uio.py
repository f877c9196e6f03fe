# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy's uio, on interpreters that have no such module: BytesIO(n) reserves n
bytes."""

import io

from k210_model.values import Any


def BytesIO(value: Any = b"") -> io.BytesIO:
    return io.BytesIO(b"" if isinstance(value, int) else value)
