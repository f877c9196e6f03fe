# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
# MaixPy v1 (v0.6.2_84): utils and freq of the module Maix.
from typing import overload

class utils:
    @overload
    @staticmethod
    def gc_heap_size() -> int: ...
    @overload
    @staticmethod
    def gc_heap_size(nbytes: int) -> None: ...
    @staticmethod
    def heap_free() -> int: ...
    @staticmethod
    def flash_read(addr: int, length: int) -> bytes: ...

class freq:
    @staticmethod
    def get() -> tuple[int, int]: ...
    @staticmethod
    def get_cpu() -> int: ...
    @staticmethod
    def get_kpu() -> int: ...
