# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""PROJECT.toml: what a program puts into a board's memory, and in which order."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from maixmem_cli.firmwares import FIRMWARES
from maixmem_cli.values import FLASH_SIZE, parse_size

SIZES = {
    "QQVGA": (160, 120),
    "QVGA": (320, 240),
    "VGA": (640, 480),
    "224x224": (224, 224),
    "240x240": (240, 240),
}
STEPS = ("camera", "lcd", "models", "pools")
_MOST = (6 << 20) // 64  # images of a pool: each takes 64 bytes beside its pixels, of 6 MiB in all

EXAMPLE = """\
# What the program puts into memory: `maixmem fit` says whether it fits, and what to change.
firmware = "full"        # one of: {firmwares}
gc_heap = "512K"         # what Maix.utils.gc_heap_size() is set to
program = "64K"          # GC heap for your own script and its modules
order = ["camera", "lcd", "models", "pools"]   # in which the program makes them

[camera]
size = "QVGA"            # {sizes}, or [width, height]
dual_buff = false

[lcd]
size = [320, 240]

[[model]]                # repeat for each model
name = "faces"
file = "faces.kmodel"    # read here, for its header
address = 0x300000       # where it lies in flash; or: path = "/sd/faces.kmodel"
resident = false         # true: stays loaded; false: takes turns
stream = false           # true: kpu.load_flash, slower, needs less

[[pool]]                 # repeat for each pool of images
name = "frames"
size = [224, 224]
format = "rgb565"        # or "gray"
count = 2
ai = true                # with an AI copy
""".format(firmwares=", ".join(FIRMWARES), sizes=", ".join(SIZES))


class ProjectError(ValueError):
    """A project file that cannot be used: the message names the key."""


@dataclass(frozen=True)
class Camera:
    size: tuple[int, int]
    dual_buff: bool = False


@dataclass(frozen=True)
class Model:
    name: str
    file: Path
    address: int | None = None
    path: str = ""
    resident: bool = False
    stream: bool = False

    @property
    def how(self) -> str:
        """The way it is loaded, as maixmem_kmodel names it."""
        if self.stream:
            return "stream_single"
        return "load_path" if self.address is None else "load_addr"


@dataclass(frozen=True)
class Pool:
    name: str
    size: tuple[int, int]
    format: str = "rgb565"
    count: int = 1
    ai: bool = False


@dataclass(frozen=True)
class Project:
    firmware: str
    gc_heap: int = 512 << 10
    program: int = 64 << 10
    order: tuple[str, ...] = STEPS
    camera: Camera | None = None
    lcd: tuple[int, int] | None = None
    models: tuple[Model, ...] = ()
    pools: tuple[Pool, ...] = field(default=())


# One table of a TOML file. take() gives a value once, checked; done() refuses what nobody took.
class _Table:
    def __init__(self, name: str, values: Any) -> None:
        if not isinstance(values, dict):
            raise ProjectError(f"[{name}] must be a table")
        self.name = name
        self.values = dict(values)

    def take(self, key: str, check: Any, default: Any = ...) -> Any:
        if key not in self.values:
            if default is ...:
                raise ProjectError(f"[{self.name}] needs {key!r}")
            return default
        value = self.values.pop(key)
        try:
            return check(value)
        except (ValueError, TypeError) as e:
            raise ProjectError(f"[{self.name}] {key} = {value!r}: {e}") from None

    def done(self) -> None:
        if self.values:
            raise ProjectError(f"[{self.name}] has no {sorted(self.values)[0]!r}")


def read(path: Path) -> Project:
    """The project; ProjectError for anything wrong. Model files are looked for beside the project file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as e:
        raise ProjectError(f"not TOML: {e}") from None
    camera, lcd = data.pop("camera", None), data.pop("lcd", None)
    models, pools = data.pop("model", []), data.pop("pool", [])
    top = _Table("project", data)
    project = Project(
        firmware=top.take("firmware", _one_of(FIRMWARES)),
        gc_heap=top.take("gc_heap", _bytes, 512 << 10),
        program=top.take("program", _bytes, 64 << 10),
        order=top.take("order", _order, STEPS),
        camera=_camera(camera) if camera is not None else None,
        lcd=_lcd(lcd) if lcd is not None else None,
        models=tuple(_model(i, m, path.parent) for i, m in enumerate(_rows("model", models))),
        pools=tuple(_pool(i, p) for i, p in enumerate(_rows("pool", pools))),
    )
    top.done()
    for kind, rows in (("models", project.models), ("pools", project.pools)):
        names = [row.name for row in rows]
        for name in names:
            if names.count(name) > 1:
                raise ProjectError(f"two {kind} are named {name!r}")
    return project


def _rows(name: str, rows: Any) -> list[Any]:
    if not isinstance(rows, list):
        raise ProjectError(f"[[{name}]] must have two brackets: there can be several")
    return rows


def _camera(values: Any) -> Camera:
    table = _Table("camera", values)
    camera = Camera(table.take("size", _size), table.take("dual_buff", _flag, False))
    table.done()
    return camera


def _lcd(values: Any) -> tuple[int, int]:
    table = _Table("lcd", values)
    size = table.take("size", _size, (320, 240))
    table.done()
    return size


def _model(i: int, values: Any, folder: Path) -> Model:
    table = _Table(f"model {i + 1}", values)
    file = folder / table.take("file", _text)
    model = Model(
        name=table.take("name", _text, file.stem),
        file=file,
        address=table.take("address", _address, None),
        path=table.take("path", _path, ""),
        resident=table.take("resident", _flag, False),
        stream=table.take("stream", _flag, False),
    )
    table.done()
    if (model.address is None) == (not model.path):
        raise ProjectError(
            f"[model {i + 1}] needs either address (in flash) or path (on /sd or /flash)"
        )
    if model.stream and model.address is None:
        raise ProjectError(
            f"[model {i + 1}] stream = true needs an address: load_flash reads flash only"
        )
    if not file.is_file():
        raise ProjectError(f"[model {i + 1}] file = {str(file)!r}: no such file")
    return model


def _pool(i: int, values: Any) -> Pool:
    table = _Table(f"pool {i + 1}", values)
    pool = Pool(
        name=table.take("name", _text, f"pool {i + 1}"),
        size=table.take("size", _size),
        format=table.take("format", _one_of(("rgb565", "gray")), "rgb565"),
        count=table.take("count", _count, 1),
        ai=table.take("ai", _flag, False),
    )
    table.done()
    return pool


# --- values ---


def _one_of(names: Any) -> Any:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise ValueError(f"known are {', '.join(names)}")
        return value

    return check


def _bytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError("bytes, as 524288 or '512K'")
    n = value if isinstance(value, int) else parse_size(value)
    if n < 0:
        raise ValueError("not below 0")
    return n


def _size(value: Any) -> tuple[int, int]:
    if isinstance(value, str):
        if value not in SIZES:
            raise ValueError(f"known are {', '.join(SIZES)}, or [width, height]")
        return SIZES[value]
    pair = isinstance(value, list) and len(value) == 2
    if not pair or not all(type(n) is int and 0 < n <= 4096 for n in value):
        raise ValueError("[width, height], 1 to 4096 each")
    return value[0], value[1]


def _address(value: Any) -> int:
    n = _bytes(value)
    if not 0 < n < FLASH_SIZE:
        raise ValueError(f"an address above 0 and below {FLASH_SIZE:#x}")
    return n


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise ValueError(f"a number from 1 to {_MOST}, more do not go into 6 MiB")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value:
        raise TypeError("a text of printable characters")
    return value


def _path(value: Any) -> str:
    folder, slash, name = _text(value)[1:].partition("/")
    if value[0] != "/" or folder not in ("flash", "sd") or not name or name.endswith("/"):
        raise ValueError("the name of a file as the board has it: /sd/NAME or /flash/NAME")
    if folder == "flash" and "/" in name:
        raise ValueError("/flash has no folders: /flash/NAME")
    return value


def _order(value: Any) -> tuple[str, ...]:
    texts = isinstance(value, list) and all(isinstance(v, str) for v in value)
    if not texts or sorted(value) != sorted(STEPS):
        raise ValueError(f"each of {', '.join(STEPS)} once")
    return tuple(value)
