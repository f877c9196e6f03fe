# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Made from lib/maixmem.py and from the calls of run_once() and resident() by `maixmem build`."""

from typing import Any, Literal, overload

import maixmem_camera
import maixmem_flash_check
import maixmem_flash_gap
import maixmem_flash_scan
import maixmem_flash_text
import maixmem_k210_alias
import maixmem_k210_cause
import maixmem_k210_cells
import maixmem_k210_chip
import maixmem_k210_cost
import maixmem_k210_fit
import maixmem_k210_gc
import maixmem_k210_lazy
import maixmem_k210_load
import maixmem_kmodel
import maixmem_kmodel_mem
import maixmem_kmodel_v4
import maixmem_pool_check
import maixmem_recover
import maixmem_report
import maixmem_status
import maixmem_text

import gc as gc
from sys import modules as modules
try:
    from micropython import const as const
except ImportError:
    const = int
__version__ = '1.0.0'
_ONCE_THRESHOLD = const(4096)
_PART = const(17408)
_port = None
class NoRoom(MemoryError):
    """Not tried, or refused, for want of memory: `region` has `free` bytes, `need` are needed;
    None if not known."""
    code = None # type: int | None

    def __init__(self, message: str, region: str, need: 'int | None'=None, free: 'int | None'=None) -> None:
        super(NoRoom, self).__init__(message)
        self.region = region
        self.need = need
        self.free = free
full = MemoryError('gc is full, free up 17408 bytes')
class KModelError(ValueError):
    """A model file that is wrong, or that the platform refused to load."""
    code = None # type: int | None
class FlashOverlap(ValueError):
    """Two owners of the same flash bytes: the message names both ranges."""
class PoolEmpty(MemoryError):
    """Every buffer of a pool is in use: the message says who holds them."""
class PoolError(ValueError):
    """A release of something that is not out: double, foreign or stale."""
class Region:
    """A kind of memory and its sizes in bytes at one moment."""
    holes = None # type: int | None

    def __init__(self, name: str, total: 'int | None', used: 'int | None', free: 'int | None', largest: 'int | None'=None, exact: bool=True) -> None:
        self.name = name
        self.total = total
        self.used = used
        self.free = free
        self.largest = largest
        self.exact = exact
class Cost:
    """The bytes that one load takes, as {region name: bytes}."""
    certainty = 'exact'
    refuse = warning = None # type: str | None
    source = None # type: object

    def __init__(self, need: dict, peak: dict) -> None:
        self.need = need
        self.peak = peak
def message(key: str, *args) -> str:
    """The text of an error with its numbers, from maixmem_text; the numbers and why where there is
    no memory for it."""
    ...
def port():
    """The port of this platform, found once; set_port() overrides. Raises ImportError when its
    file is missing."""
    ...
def set_port(port):
    """Use `port` as the platform's port (None: find it again at the next use). Returns it."""
    ...
def regions() -> 'list[Region]':
    """The memory regions of this platform, a new list of Region. May collect garbage; keeps < 1
    KiB.

    To find the largest block of a GC heap it takes blocks and gives each back at once; one that
    cannot be had is no error.
    """
    ...
def report(out=print) -> dict:
    """Prints regions and warnings, at most 60 columns a line; `out` takes one line of text.

    Returns the same as a dict: {"version", "port", "regions": [dict], "warnings": [text]}.
    """
    ...
def Watch():
    """A new maixmem_watch.Watch: high-water marks per region, for a loop."""
    ...
def set_gc_heap(nbytes: int) -> str:
    """Stores a new GC heap size where the platform can (K210): see Port.set_gc_heap of its
    port."""
    ...

def resident(name: Literal["canmv_kpu", "k210_boxes", "k210_chip", "k210_fit", "k210_kpu", "k210_mend", "k210_net", "k210_yolo", "net", "openmv_ml", "threads", "using", "watch"]) -> Any: ...

@overload
def run_once(name: Literal["camera"], function: Literal["check_camera"], _w: int, _h: int, _buffers: int = ..., _freed: Any = ...) -> NoRoom | None:
    return maixmem_camera.check_camera(_w, _h, _buffers, _freed)

@overload
def run_once(name: Literal["flash_check"], function: Literal["check"], _m: Any) -> list[maixmem_flash_check.Conflict]:
    return maixmem_flash_check.check(_m)

@overload
def run_once(name: Literal["flash_check"], function: Literal["conflicts"], _m: Any) -> list[maixmem_flash_check.Conflict]:
    return maixmem_flash_check.conflicts(_m)

@overload
def run_once(name: Literal["flash_check"], function: Literal["risks"], _m: Any) -> list[maixmem_flash_check.Conflict]:
    return maixmem_flash_check.risks(_m)

@overload
def run_once(name: Literal["flash_gap"], function: Literal["gap_for"], _m: Any, _nbytes: int, _align: int, _start: int, _unit: int) -> int | None:
    return maixmem_flash_gap.gap_for(_m, _nbytes, _align, _start, _unit)

@overload
def run_once(name: Literal["flash_scan"], function: Literal["images"], _read: Any) -> list[tuple[str, int, int]]:
    return maixmem_flash_scan.images(_read)

@overload
def run_once(name: Literal["flash_scan"], function: Literal["scan"], _m: Any, _read: Any, _offsets: Any, _verify: bool, _gaps: bool) -> None:
    return maixmem_flash_scan.scan(_m, _read, _offsets, _verify, _gaps)

@overload
def run_once(name: Literal["flash_text"], function: Literal["report"], _m: Any, _out: Any = ...) -> bool:
    return maixmem_flash_text.report(_m, _out)

@overload
def run_once(name: Literal["k210_alias"], function: Literal["kpu_module"]) -> Any:
    return maixmem_k210_alias.kpu_module()

@overload
def run_once(name: Literal["k210_alias"], function: Literal["utils"]) -> Any:
    return maixmem_k210_alias.utils()

@overload
def run_once(name: Literal["k210_cause"], function: Literal["explain"], _p: Any, _error: Any) -> str:
    return maixmem_k210_cause.explain(_p, _error)

@overload
def run_once(name: Literal["k210_cause"], function: Literal["unsupported_reason"], _p: Any, _info: Any, _method: str) -> str | None:
    return maixmem_k210_cause.unsupported_reason(_p, _info, _method)

@overload
def run_once(name: Literal["k210_cells"], function: Literal["cells"], _source: Any) -> int:
    return maixmem_k210_cells.cells(_source)

@overload
def run_once(name: Literal["k210_chip"], function: Literal["regions"], _port: Any) -> list[Region]:
    return maixmem_k210_chip.regions(_port)

@overload
def run_once(name: Literal["k210_chip"], function: Literal["values"], _text: str) -> tuple:
    return maixmem_k210_chip.values(_text)

@overload
def run_once(name: Literal["k210_chip"], function: Literal["warnings"], _port: Any, _utils: Any) -> list[str]:
    return maixmem_k210_chip.warnings(_port, _utils)

@overload
def run_once(name: Literal["k210_cost"], function: Literal["again"], _p: Any, _cost: Any) -> None:
    return maixmem_k210_cost.again(_p, _cost)

@overload
def run_once(name: Literal["k210_cost"], function: Literal["inspect"], _p: Any, _source: Any, _how: dict) -> Cost:
    return maixmem_k210_cost.inspect(_p, _source, _how)

@overload
def run_once(name: Literal["k210_cost"], function: Literal["required_free"], _pieces: Any) -> int:
    return maixmem_k210_cost.required_free(_pieces)

@overload
def run_once(name: Literal["k210_fit"], function: Literal["check_fit"], _p: Any, _cost: Any, _margin: int, _freed: Any) -> NoRoom | None:
    return maixmem_k210_fit.check_fit(_p, _cost, _margin, _freed)

@overload
def run_once(name: Literal["k210_fit"], function: Literal["damage"], _p: Any) -> list[str]:
    return maixmem_k210_fit.damage(_p)

@overload
def run_once(name: Literal["k210_fit"], function: Literal["missing"], _heap: Any, _pieces: Any, _margin: int = ..., _gone: Any = ...) -> int:
    return maixmem_k210_fit.missing(_heap, _pieces, _margin, _gone)

@overload
def run_once(name: Literal["k210_gc"], function: Literal["set_gc_heap"], _nbytes: int) -> str:
    return maixmem_k210_gc.set_gc_heap(_nbytes)

@overload
def run_once(name: Literal["k210_gc"], function: Literal["smaller_gc_heap"], _nbytes: int) -> int:
    return maixmem_k210_gc.smaller_gc_heap(_nbytes)

@overload
def run_once(name: Literal["k210_gc"], function: Literal["warnings"], _p: Any) -> list[str]:
    return maixmem_k210_gc.warnings(_p)

@overload
def run_once(name: Literal["k210_lazy"], function: Literal["adapt"], _port_class: Any) -> None:
    return maixmem_k210_lazy.adapt(_port_class)

@overload
def run_once(name: Literal["k210_load"], function: Literal["not_read"], _path: str, _error: OSError) -> OSError:
    return maixmem_k210_load.not_read(_path, _error)

@overload
def run_once(name: Literal["k210_load"], function: Literal["overwritten"], _source: Any, _error: Any, _where: str) -> Cost:
    return maixmem_k210_load.overwritten(_source, _error, _where)

@overload
def run_once(name: Literal["k210_load"], function: Literal["told"], _p: Any, _source: int, _how: dict, _error: NotImplementedError) -> Any:
    return maixmem_k210_load.told(_p, _source, _how, _error)

@overload
def run_once(name: Literal["k210_load"], function: Literal["way"], _p: Any, _source: Any, _how: dict) -> tuple:
    return maixmem_k210_load.way(_p, _source, _how)

@overload
def run_once(name: Literal["kmodel"], function: Literal["File"], _reader: Any, _size: int, _start: int = ...) -> maixmem_kmodel.File:
    return maixmem_kmodel.File(_reader, _size, _start)

@overload
def run_once(name: Literal["kmodel"], function: Literal["KModel"], _kind: str, _swapped: bool, _size: int | None) -> maixmem_kmodel.KModel:
    return maixmem_kmodel.KModel(_kind, _swapped, _size)

@overload
def run_once(name: Literal["kmodel"], function: Literal["begins_model"], _word: int) -> bool:
    return maixmem_kmodel.begins_model(_word)

@overload
def run_once(name: Literal["kmodel"], function: Literal["read_info"], _source: Any, _reader: Any = ...) -> maixmem_kmodel.KModel:
    return maixmem_kmodel.read_info(_source, _reader)

@overload
def run_once(name: Literal["kmodel_mem"], function: Literal["allocations"], _m: Any, _method: str, _whole: int, _rest: list) -> list[tuple[int, int]]:
    return maixmem_kmodel_mem.allocations(_m, _method, _whole, _rest)

@overload
def run_once(name: Literal["kmodel_mem"], function: Literal["need"], _allocations: list) -> int | None:
    return maixmem_kmodel_mem.need(_allocations)

@overload
def run_once(name: Literal["kmodel_mem"], function: Literal["peak"], _allocations: list) -> int | None:
    return maixmem_kmodel_mem.peak(_allocations)

@overload
def run_once(name: Literal["kmodel_mem"], function: Literal["unsupported_reason"], _m: Any, _firmware: dict, _method: str) -> str | None:
    return maixmem_kmodel_mem.unsupported_reason(_m, _firmware, _method)

@overload
def run_once(name: Literal["kmodel_mem"], function: Literal["with_file"], _source: Any, _look: Any) -> Any:
    return maixmem_kmodel_mem.with_file(_source, _look)

@overload
def run_once(name: Literal["kmodel_v4"], function: Literal["read"], _m: Any, _f: Any) -> None:
    return maixmem_kmodel_v4.read(_m, _f)

@overload
def run_once(name: Literal["pool_check"], function: Literal["check"], _pool: Any) -> int:
    return maixmem_pool_check.check(_pool)

@overload
def run_once(name: Literal["pool_check"], function: Literal["renew"], _pool: Any, _n: int) -> None:
    return maixmem_pool_check.renew(_pool, _n)

@overload
def run_once(name: Literal["pool_check"], function: Literal["take_over"], _pool: Any, _count: int, _items: list) -> bool:
    return maixmem_pool_check.take_over(_pool, _count, _items)

@overload
def run_once(name: Literal["recover"], function: Literal["recover"], _manager: Any, _m: Any, _gone: list, _e: BaseException) -> BaseException:
    return maixmem_recover.recover(_manager, _m, _gone, _e)

@overload
def run_once(name: Literal["report"], function: Literal["find_port"]) -> str:
    return maixmem_report.find_port()

@overload
def run_once(name: Literal["report"], function: Literal["gc_region"], _largest: bool = ...) -> Region | None:
    return maixmem_report.gc_region(_largest)

@overload
def run_once(name: Literal["report"], function: Literal["report"], _port: Any, _out: Any = ...) -> dict:
    return maixmem_report.report(_port, _out)

@overload
def run_once(name: Literal["report"], function: Literal["show"], _items: Any, _out: Any = ...) -> None:
    return maixmem_report.show(_items, _out)

@overload
def run_once(name: Literal["status"], function: Literal["forget"], _manager: Any, _name: Any) -> None:
    return maixmem_status.forget(_manager, _name)

@overload
def run_once(name: Literal["status"], function: Literal["status"], _manager: Any, _out: Any = ...) -> dict:
    return maixmem_status.status(_manager, _out)

@overload
def run_once(name: Literal["status"], function: Literal["watched"], _watch: Any, _out: Any = ...) -> None:
    return maixmem_status.watched(_watch, _out)

@overload
def run_once(name: Literal["text"], function: Literal["fill"], _key: str, *_args: Any) -> str:
    return maixmem_text.fill(_key, *_args)

@overload
def run_once(name: Literal["text"], function: Literal["like"], _said: Any, _what: str) -> str:
    return maixmem_text.like(_said, _what)

@overload
def run_once(name: Literal["text"], function: Literal["of"], _error: BaseException) -> str:
    return maixmem_text.of(_error)

@overload
def run_once(name: Literal["text"], function: Literal["say"], _what: str, *_steps: Any) -> str:
    return maixmem_text.say(_what, *_steps)

@overload
def run_once(name: Literal["text"], function: Literal["signature"], _word: int, _behind: bytes) -> str:
    return maixmem_text.signature(_word, _behind)

@overload
def run_once(name: Literal["text"], function: Literal["tell"], _form: str, *_args: Any) -> str:
    return maixmem_text.tell(_form, *_args)
