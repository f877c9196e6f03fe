# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Camera, display and models of a MaixCAM2 together in its carve-out (CMM): what a project.toml
with `board = "maixcam2"` says, and whether it fits.

    board = "maixcam2"
    memory = 4096                # MiB of the board: 512, 1024, 2048 or 4096
    # configs = "configs"        # a copy of its /boot/configs, where maix_memory_cmm is set
    [camera]
    sensor = "os04d10"           # or os04a10, sc450ai, sc850sl
    size = [640, 480]            # format = "rgb888", buff_num = 3
    [display]
    size = [640, 480]            # of the screen; shown = [640, 480] of the pictures
    [[model]]
    file = "qwen.mud"            # or .axmodel; kind = "Qwen": the class of maix.nn that loads it
    resident = true              # false: takes turns with others where they do not all fit
    # dual_buff = true
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maixmem_maixcam import media
from maixmem_maixcam.cmm import LINUX_MIB, check_cmm, why_not
from maixmem_maixcam.costs import cost_of

from maixmem_cli.plan.program import checks
from maixmem_cli.plan.program.project import ProjectError, Table
from maixmem_cli.text import reading, toml

BOARD = "maixcam2"
_MIB = 1 << 20


@dataclass(frozen=True)
class Step:
    """What one part takes: bytes of CMM and of Linux's memory that stay, and at most while it is
    loaded."""

    what: str
    cmm: int
    cmm_peak: int
    heap: int = 0
    heap_peak: int = 0
    turn: bool = False  #: may take turns


@dataclass(frozen=True)
class Need:
    """Bytes at most, of CMM and of Linux's memory."""

    cmm: int
    heap: int


@dataclass(frozen=True)
class Plan:
    """A project's parts and the memory of its board, in bytes."""

    memory: int
    cmm: int
    linux: int
    steps: tuple[Step, ...]

    @property
    def apart(self) -> Need:
        """With all models loaded at once, in the order of the file."""
        return _need([s for s in self.steps if not s.turn] + self.turning)

    @property
    def in_turn(self) -> Need:
        """With one of those that take turns at a time."""
        fixed = [s for s in self.steps if not s.turn]
        needs = [_need([*fixed, one]) for one in self.turning] or [_need(fixed)]
        return Need(max(n.cmm for n in needs), max(n.heap for n in needs))

    @property
    def turning(self) -> list[Step]:
        """The models that may take turns."""
        return [s for s in self.steps if s.turn]

    def holds(self, need: Need) -> bool:
        """Whether the board has that much."""
        return need.cmm <= self.cmm and need.heap <= self.linux

    @property
    def fits(self) -> bool:
        """At once or in turn."""
        return self.holds(self.apart) or self.holds(self.in_turn)

    @property
    def cmm_that_fits(self) -> int | None:
        """The MiB of CMM with which it fits on the same board: more than now, or less where Linux
        is short; None: there are none."""
        need = self.in_turn
        mib = -(-need.cmm // _MIB)
        rest = self.memory - mib * _MIB
        return mib if not why_not(mib, self.memory // _MIB) and need.heap <= rest else None

    def to_dict(self) -> dict[str, Any]:
        """For --json."""
        steps = [vars(s) for s in self.steps]
        names = ("apart", "in_turn")
        needs = {name: vars(getattr(self, name)) for name in names}
        sizes = {"memory": self.memory, "cmm": self.cmm, "linux": self.linux}
        return {"board": BOARD, **sizes, "steps": steps, **needs, "fits": self.fits}


def _need(steps: list[Step]) -> Need:
    most, kept = [0, 0], [0, 0]
    for s in steps:
        most = [max(most[0], kept[0] + s.cmm_peak), max(most[1], kept[1] + s.heap_peak)]
        kept = [kept[0] + s.cmm, kept[1] + s.heap]
    return Need(*most)


def is_project(path: Path) -> bool:
    """Whether a file is a project of this board. ValueError for what is no TOML."""
    return toml.read(path).get("board") == BOARD


def read(path: Path) -> Plan:
    """The plan of a project file; ProjectError for anything wrong in it, KModelError for a model
    that its class would not load, OSError for a file that cannot be read."""
    data = toml.read(path)
    camera, display = data.pop("camera", None), data.pop("display", None)
    models = data.pop("model", [])
    top = Table("project", data)
    top.take("board", str)
    memory = top.take("memory", _one_of(LINUX_MIB))
    configs = top.take("configs", lambda v: reading.text(path.parent / v), "")
    top.done()
    setting = check_cmm(configs, memory)
    if setting.findings or setting.cmm is None:
        raise ProjectError(f"[project] configs: {setting.advice()}")
    steps = []
    if camera is not None:
        steps += _camera(Table("camera", camera))
    if display is not None:
        steps.append(_display(Table("display", display)))
    if not isinstance(models, list):
        raise ProjectError("[model] must be [[model]]")
    steps += [_model(Table(f"model {i + 1}", row), path.parent) for i, row in enumerate(models)]
    cmm = setting.cmm * _MIB
    return Plan(memory * _MIB, cmm, memory * _MIB - cmm, tuple(steps))


def _camera(table: Table) -> list[Step]:
    sensor = table.take("sensor", _one_of(media.SENSORS))
    w, h = table.take("size", checks.size, (640, 480))
    name = table.take("format", str, "rgb888")
    count = table.take("buff_num", checks.count, 3)
    table.done()
    try:
        channel = media.channel_bytes(w, h, name, count)
    except ValueError as e:
        raise ProjectError(f"[camera] format = {name!r}: {e}") from None
    pipe = media.sensor_bytes(sensor)
    return [
        Step(f"sensor {sensor}", pipe, pipe),
        Step(f"camera {w}x{h} {name}, {max(3, count)} frames", channel, channel),
    ]


def _display(table: Table) -> Step:
    w, h = table.take("size", checks.size, (640, 480))
    shown = table.take("shown", checks.size, (w, h))
    name = table.take("format", str, "rgb888")
    table.done()
    try:
        taken = media.display_bytes(w, h, name, shown)
    except ValueError as e:
        raise ProjectError(f"[display] format = {name!r}: {e}") from None
    return Step(f"display {w}x{h}", taken, taken)


def _model(table: Table, folder: Path) -> Step:
    file = table.take("file", lambda v: _file(v, folder))
    kind = table.take("kind", str, "NN")
    resident = table.take("resident", checks.flag, False)
    dual = table.take("dual_buff", checks.flag, True)
    table.done()
    cost = cost_of(str(file), BOARD, True, 2 if dual else 1, {}, kind)
    if cost.refuse:
        raise ProjectError(f"[{table.name}] {cost.refuse}")
    return Step(
        file.name,
        cost.need["cmm"],
        cost.peak["cmm"],
        cost.need.get("heap", 0),
        cost.peak.get("heap", 0),
        turn=not resident,
    )


def _file(value: Any, folder: Path) -> Path:
    path = folder / checks.text(value)
    if not path.is_file():
        raise ValueError("no such file; its name is relative to the project file")
    return path


def _one_of(known: Any) -> Any:
    def check(value: Any) -> Any:
        if value not in known:
            raise ValueError(f"one of {', '.join(map(str, known))}")
        return value

    return check
