# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# MaixPy v1 (v0.6.2_84): the part of machine that memory settings need.
from typing import NoReturn

def reset() -> NoReturn: ...
