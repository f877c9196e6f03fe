# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""PROJECT.toml: what a program puts into a board's memory, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from k210_model.frame_sizes import SIZES

from maixmem_cli.firmware.builds import FIRMWARES, GC_DEFAULT, Firmware
from maixmem_cli.plan.program import checks as check
from maixmem_cli.plan.program.scratch import CALLS, OF_MODEL, WITHOUT_IMAGE
from maixmem_cli.profiler.gate import Limits
from maixmem_cli.text import toml

_TABLES = ("model", "pool", "image", "result", "call", "buffer", "leak")
STEPS = ("camera", "lcd", "pools", "images", "models", "results", "buffers")
HEAPS = ("gc", "heap")  #: the GC heap, the system heap
#: how a temporary image is made -> words for people
MAKES = {
    "image": "image.Image(size=...)",
    "resize": "img.resize()",
    "copy": "img.copy()",
    "to_grayscale": "img.to_grayscale(copy=True)",
}

EXAMPLE_MODEL = "faces.kmodel"  #: what EXAMPLE names, made by example_model
EXAMPLE = """\
# What the program puts into memory: `maixmem fit` says whether it fits, and what to change.
firmware = "full"        # one of: {firmwares}; or a .bin, .kfpkg, board.toml
gc_heap = "512K"         # what Maix.utils.gc_heap_size() is set to
program = "32K"          # GC heap for your own script and its modules; maixmem's is added
# manager = false        # models are loaded by kpu.load() itself, without ModelManager
# pictures = false       # the sizes of pictures are not held against the models
# order = ["camera", "lcd", "pools", "images", "models", "results", "buffers"]  # as the program
#                        # makes them; also names of models
lcd = true               # lcd.init()
# sd = "card"            # a folder beside this file: the card of `maixmem profile` and `sim`

[camera]
size = "QVGA"            # a sensor.NAME: QQVGA, QVGA, VGA, CIF, B240X240 ...
# windowing = [224, 224] # sensor.set_windowing(): the buffers stay those of `size`
# dual_buff = true       # sensor.reset(dual_buff=True): twice the buffers

[[model]]                # repeat for each model
name = "faces"
file = "{model}"    # read here, for its header
address = 0x300000       # where it lies in flash; or: path = "/sd/faces.kmodel"
resident = false         # true: stays loaded; false: takes turns where they do not all fit
# stream = true          # kpu.load_flash, slower, needs less

[[pool]]                 # repeat for each ImagePool
name = "frames"
size = [224, 224]
format = "rgb565"        # or "gray"
count = 1
ai = true                # with an AI copy

# [[image]]              # repeat for each image that the loop makes anew
# name = "small"
# make = "resize"        # or "copy", "to_grayscale", "image"
# size = [64, 64]
# ai = true              # pix_to_ai() is called on it
# once = true            # made once, before the loop

# [[call]]               # repeat for each call of the loop that needs memory while it runs
# do = "run_yolo2"       # or "compressed", "find_blobs", "lens_corr" and others of img
# model = "faces"        # of run_yolo2, and its anchors = 5
# size = [320, 240]      # of the image; default: what the camera gives
# nbytes = "300K"        # instead of `do`: bytes of system heap while it runs

# [[buffer]]             # repeat for other bytes that the program keeps
# name = "recording"
# nbytes = "64K"
# heap = "gc"            # or "heap": of the system heap

# [[leak]]               # repeat for what a loop keeps more of with every round
# name = "names"
# nbytes = 1000          # each round
# rounds = 50            # of which the other figures are; heap = "gc"

# [budget]               # what `maixmem profile` accepts of a run, else status 1
# max_heap = "4M"        # of the system heap; also: min_free, max_gc_live, max_growth

# [[result]]             # repeat for each output that the program keeps as numbers
# name = "scores"
# values = 1000          # 40 bytes each
""".format(firmwares=", ".join(FIRMWARES), model=EXAMPLE_MODEL)


class ProjectError(ValueError):
    """A project file that cannot be used: the message names the key."""


@dataclass(frozen=True)
class Camera:
    size: str  #: a name of SIZES
    windowing: tuple[int, int] | None = None
    dual_buff: bool = False

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height of the buffers: windowing does not change them."""
        return SIZES[self.size]


@dataclass(frozen=True)
class Model:
    name: str
    file: Path
    address: int | None = None
    path: str = ""
    resident: bool = False
    stream: bool = False

    @property
    def method(self) -> str:
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
class Image:
    """Images that the program makes as it goes, all alive at once."""

    name: str
    size: tuple[int, int]
    make: str = "resize"
    format: str = "rgb565"
    count: int = 1
    ai: bool = False
    once: bool = False  #: not in the loop: no round makes a new one beside the old one


@dataclass(frozen=True)
class Call:
    """A call of the loop that needs memory only while it runs: `do` is a name of scratch.CALLS, or
    it takes `nbytes`."""

    name: str
    do: str
    size: tuple[int, int]
    format: str = "rgb565"
    model: str = ""
    anchors: int = 5
    nbytes: int = 0


@dataclass(frozen=True)
class Buffer:
    """Other bytes of a heap that a program keeps."""

    name: str
    nbytes: int
    heap: str = "gc"


@dataclass(frozen=True)
class Leak:
    """What a loop keeps more of: bytes each round, beyond what it has after `rounds`."""

    name: str
    nbytes: int
    rounds: int = 0
    heap: str = "gc"


@dataclass(frozen=True)
class Result:
    """Numbers that a program keeps of a model's output, as a tuple or list of floats."""

    name: str
    values: int


@dataclass(frozen=True)
class Project:
    firmware: Firmware
    gc_heap: int = GC_DEFAULT
    program: int = 32 << 10
    order: tuple[str, ...] = STEPS
    camera: Camera | None = None
    lcd: bool = False
    models: tuple[Model, ...] = ()
    pools: tuple[Pool, ...] = field(default=())
    images: tuple[Image, ...] = ()
    results: tuple[Result, ...] = ()
    calls: tuple[Call, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    leaks: tuple[Leak, ...] = ()
    manager: bool = True  #: models are loaded by ModelManager, not by kpu.load() itself
    pictures: bool = True  #: whether their sizes are held against those that the models take

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of `order` that this project has; a model that is named there is one."""
        return tuple(s for s in self.order if s not in STEPS or getattr(self, s))

    @property
    def unnamed(self) -> tuple[Model, ...]:
        """The models that `order` does not name."""
        return tuple(m for m in self.models if m.name not in self.order)


# One table of a TOML file. take() gives a value once, checked; done() refuses what nobody took.
class Table:
    """A table of the file whose keys are taken one by one, each checked; ProjectError names the
    table, the key and what is wanted."""

    def __init__(self, name: str, values: Any) -> None:
        if not isinstance(values, dict):
            raise ProjectError(f"[{name}] must be a table")
        self.name = name
        self.values = dict(values)

    def take(self, key: str, check: Any, default: Any = ...) -> Any:
        """The value of a key as `check` returns it; without a default it is required."""
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
        """ProjectError for a key that nobody took."""
        if self.values:
            raise ProjectError(f"[{self.name}] has no {sorted(self.values)[0]!r}")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return toml.read(path)
    except ValueError as e:
        raise ProjectError(str(e)) from None


@dataclass(frozen=True)
class Setup:
    """What a run of the project's script is given: `firmware` as it is written there, or ""; the
    models in flash whose file exists, the folder of the card, a camera, budgets."""

    firmware: str = ""
    flash: tuple[tuple[int, Path], ...] = ()
    sd: Path | None = None
    camera: bool = False
    limits: Limits = field(default_factory=Limits)


def setup(path: Path) -> Setup:
    """What of a project a run needs; ProjectError for anything wrong with it."""
    data = _toml(path)
    rows = _rows("model", data.get("model", []))
    models = [_model(i, row, path.parent, {}) for i, row in enumerate(rows)]
    at = [(m.address, m.file) for m in models if m.address is not None and m.file.is_file()]
    firmware = data.get("firmware", "")
    beside = path.parent / str(firmware)
    return Setup(
        firmware=str(beside) if firmware and beside.is_file() else str(firmware),
        flash=tuple(at),
        sd=Table("project", data).take("sd", lambda v: check.folder(v, path.parent), None),
        camera="camera" in data,
        limits=_budget(data.get("budget", {})),
    )


def _budget(values: Any) -> Limits:
    table = Table("budget", values)
    limits = Limits(**{f.name: table.take(f.name, check.nbytes, None) for f in fields(Limits)})
    table.done()
    return limits


def read(
    path: Path,
    flash: Mapping[int, Path] = MappingProxyType({}),
    instead: Firmware | None = None,
) -> Project:
    """The project; ProjectError for anything wrong. Model files are looked for beside the project
    file, but for those that `flash` gives: {address: file}. `instead` of the firmware that it
    names."""
    data = _toml(path)
    _budget(data.pop("budget", {}))  # of maixmem profile
    data.pop("sd", None)  # of a run
    camera = data.pop("camera", None)
    rows = {key: _rows(key, data.pop(key, [])) for key in _TABLES}
    top = Table("project", data)
    firmware = top.take("firmware", lambda v: instead or check.firmware(v, path.parent))
    seen = _camera(camera, firmware) if camera is not None else None
    models = tuple(_model(i, m, path.parent, flash) for i, m in enumerate(rows["model"]))
    names = [m.name for m in models]
    project = Project(
        firmware=firmware,
        gc_heap=top.take("gc_heap", check.nbytes, firmware.gc_heap),
        program=top.take("program", check.nbytes, 32 << 10),
        order=top.take("order", check.some_of(STEPS, names), STEPS),
        camera=seen,
        lcd=top.take("lcd", check.flag, False),
        models=models,
        manager=top.take("manager", check.flag, True),
        pictures=top.take("pictures", check.flag, True),
        pools=tuple(_pool(i, p) for i, p in enumerate(rows["pool"])),
        images=tuple(_image(i, p) for i, p in enumerate(rows["image"])),
        results=tuple(_result(i, p) for i, p in enumerate(rows["result"])),
        calls=tuple(_call(i, p, seen) for i, p in enumerate(rows["call"])),
        buffers=tuple(_buffer(i, p) for i, p in enumerate(rows["buffer"])),
        leaks=tuple(_leak(i, p) for i, p in enumerate(rows["leak"])),
    )
    top.done()
    for kind in ("models", "pools", "images", "results", "buffers"):
        names = [row.name for row in getattr(project, kind)]
        for name in names:
            if names.count(name) > 1:
                raise ProjectError(f"two {kind} are named {name!r}")
    left = {step: getattr(project, step) for step in STEPS} | {"models": project.unnamed}
    missing = [step for step, rows in left.items() if rows and step not in project.order]
    if missing:
        raise ProjectError(
            f"[project] order has no {missing[0]!r}, and the project has {missing[0]}"
        )
    for at in sorted(set(flash) - {m.address for m in project.models}):
        raise ProjectError(f"--flash {flash[at]}@{at:#x}: no [[model]] has this address")
    for call in project.calls:
        if call.model and call.model not in [m.name for m in project.models]:
            raise ProjectError(f"[call {call.name}] there is no model {call.model!r}")
    return project


def _rows(name: str, rows: Any) -> list[Any]:
    if not isinstance(rows, list):
        raise ProjectError(f"[[{name}]] must have two brackets: there can be several")
    return rows


def _camera(values: Any, firmware: Firmware) -> Camera:
    table = Table("camera", values)
    size = table.take("size", lambda value: check.frame(value, firmware))
    camera = Camera(
        size, table.take("windowing", check.size, None), table.take("dual_buff", check.flag, False)
    )
    table.done()
    if camera.windowing and any(w > n for w, n in zip(camera.windowing, camera.pixels)):
        raise ProjectError(
            f"[camera] windowing = {list(camera.windowing)}: larger than {size}, "
            f"{list(camera.pixels)}"
        )
    return camera


def _model(i: int, values: Any, folder: Path, flash: Mapping[int, Path]) -> Model:
    table = Table(f"model {i + 1}", values)
    address = table.take("address", check.address, None)
    given = flash.get(address) if address is not None else None
    file = folder / table.take("file", check.text, str(given) if given else ...)
    model = Model(
        name=table.take("name", check.text, file.stem),
        file=given or file,
        address=address,
        path=table.take("path", check.path, ""),
        resident=table.take("resident", check.flag, False),
        stream=table.take("stream", check.flag, False),
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
    if not model.file.is_file():
        raise ProjectError(
            f"[model {i + 1}] file = {str(file)!r}: no such file. Next: put your model there, or "
            "begin with `maixmem init FOLDER`, a program with its models"
        )
    return model


def _pool(i: int, values: Any) -> Pool:
    table = Table(f"pool {i + 1}", values)
    pool = Pool(
        name=table.take("name", check.text, f"pool {i + 1}"),
        size=table.take("size", check.size),
        format=table.take("format", check.one_of(("rgb565", "gray")), "rgb565"),
        count=table.take("count", check.count, 1),
        ai=table.take("ai", check.flag, False),
    )
    table.done()
    return pool


def _image(i: int, values: Any) -> Image:
    table = Table(f"image {i + 1}", values)
    image = Image(
        name=table.take("name", check.text, f"image {i + 1}"),
        size=table.take("size", check.size),
        make=table.take("make", check.one_of(MAKES), "resize"),
        format=table.take("format", check.one_of(("rgb565", "gray")), "rgb565"),
        count=table.take("count", check.count, 1),
        ai=table.take("ai", check.flag, False),
        once=table.take("once", check.flag, False),
    )
    table.done()
    return image


def _call(i: int, values: Any, camera: Camera | None) -> Call:
    table = Table(f"call {i + 1}", values)
    nbytes = table.take("nbytes", check.nbytes, 0)
    if nbytes:
        name = table.take("name", check.text, f"call {i + 1}")
        table.done()
        return Call(name, "", (0, 0), nbytes=nbytes)
    do = table.take("do", check.one_of(CALLS))
    whole = camera.windowing or camera.pixels if camera else ...
    of_model = do in OF_MODEL
    call = Call(
        name=table.take("name", check.text, do),
        do=do,
        size=table.take("size", check.size, (0, 0) if do in WITHOUT_IMAGE else whole),
        format=table.take("format", check.one_of(("rgb565", "gray")), "rgb565"),
        model=table.take("model", check.text) if of_model else "",
        anchors=table.take("anchors", check.count, 5),
    )
    table.done()
    return call


def _buffer(i: int, values: Any) -> Buffer:
    table = Table(f"buffer {i + 1}", values)
    buffer = Buffer(
        table.take("name", check.text, f"buffer {i + 1}"),
        table.take("nbytes", check.nbytes),
        table.take("heap", check.one_of(HEAPS), "gc"),
    )
    table.done()
    return buffer


def _leak(i: int, values: Any) -> Leak:
    table = Table(f"leak {i + 1}", values)
    leak = Leak(
        table.take("name", check.text, f"leak {i + 1}"),
        table.take("nbytes", check.some_bytes),
        table.take("rounds", check.nbytes, 0),
        table.take("heap", check.one_of(HEAPS), "gc"),
    )
    table.done()
    return leak


def _result(i: int, values: Any) -> Result:
    table = Table(f"result {i + 1}", values)
    result = Result(
        table.take("name", check.text, f"result {i + 1}"), table.take("values", check.count)
    )
    table.done()
    return result
