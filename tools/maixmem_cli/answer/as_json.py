# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""An answer as JSON, with a version; docs/answer.md has each field."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from maixmem_cli.answer.answer import VERSION, Answer


def data(of: Answer) -> dict[str, Any]:
    """The fields by name; sizes in `facts` are bytes, addresses numbers."""
    return {"version": VERSION, **asdict(of)}
