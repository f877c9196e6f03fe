# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Stand-in for MaixPy's uio, on interpreters that have no such module: BytesIO(n) reserves n
bytes."""

import io


def BytesIO(value=b""):
    return io.BytesIO(b"" if isinstance(value, int) else value)
