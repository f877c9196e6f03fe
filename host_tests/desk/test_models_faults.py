# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The model manager on the K210 stand-in when anything fails anywhere: every fault point, and
Ctrl-C before every line."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Callable

import fresh
import manager_kit as kit
import pytest
from maixmem_k210_kpu import Port
from test_models import Rig as K210Rig

EXCEPTIONS = (
    MemoryError("memory allocation failed, allocating 64 bytes"),
    ValueError("[MAIXPY]kpu: load error:2006, ERR_NO_MEM: memory not enough"),
    OSError(5),
    KeyboardInterrupt(),
)
FILES = (
    "maixmem_models.py",
    "maixmem_recover.py",
    "maixmem_k210.py",
    "maixmem_k210_kpu.py",
    "maixmem_k210_chip.py",
)
STREAMING = (("to streaming", 1, "a", "d"), ("from streaming", 1, "d", "b"))


class Rig(K210Rig):
    """Without the look at where the firmware lies, which add() takes before the part under
    test."""

    def start(self) -> Port:
        port = super().start()
        port.firmware = 0
        return port


@pytest.fixture(autouse=True)
def cheap_collections() -> None:
    fresh.quick_collections()


@pytest.fixture(scope="module")
def size() -> dict[str, int]:
    return kit.sizes(Rig())


def yolo(net: Any) -> None:
    """A setup that passes fault points of the board."""
    net.init_yolo2(0.5, 0.3, 2, (1.0, 1.0, 2.0, 2.0))


def say(capsys: pytest.CaptureFixture[str], what: str, done: dict[str, int]) -> None:
    with capsys.disabled():
        text = ", ".join(f"{name} {n}" for name, n in done.items())
        print(f"\n{what}: {sum(done.values())} tried, all as promised ({text})")


@pytest.mark.parametrize("setup", [None, yolo], ids=["plain", "setup"])
def test_every_fault_point(capsys: pytest.CaptureFixture[str], setup: Callable | None) -> None:
    size = kit.sizes(Rig(), setup)
    done = kit.sweep(Rig(), EXCEPTIONS, size, setup, kit.SCENARIOS + STREAMING)
    say(
        capsys,
        f"fault points x (once, for ever) x 4 exceptions, {'with' if setup else 'without'} setup",
        done,
    )


def test_every_pair_of_faults_in_a_switch(capsys: pytest.CaptureFixture[str]) -> None:
    """The second fault hits the way back: restoring the previous model fails as well."""
    rig, done = Rig(), {}
    size = kit.sizes(rig, yolo)
    scenario = ("switch, then the way back", 1, "a", "b")
    m = kit.prepare(rig, scenario, yolo)
    m.use("b")
    points = rig.faults.count
    tried = 0
    for first in range(1, points + 1):
        second = 0
        while True:
            second += 1
            m = kit.prepare(rig, scenario, yolo)
            before = kit.resident(m)
            error = OSError(5)
            arm_twice(rig.faults, first, second, error)
            raised = attempt(lambda: m.use("b"))
            reached = rig.faults.count >= first + second
            disarm(rig.faults)
            kit.verify(rig, m, scenario, size, before, error, raised)
            tried += 1
            if not reached:
                break
    done[scenario[0]] = tried
    say(capsys, "pairs of fault points", done)


def arm_twice(faults: Any, first: int, second: int, error: BaseException) -> None:
    """Fails point `first`, and the point that is `second` later."""
    plain = type(faults).point

    def point(name: str) -> Any:
        faults.count += 1
        if faults.count in (first, first + second):
            raise error
        return None

    faults.point = point
    assert plain is not point


def disarm(faults: Any) -> None:
    del faults.point
    faults.clear()


def attempt(act: Callable[[], Any]) -> BaseException | None:
    try:
        act()
    except BaseException as e:
        return e
    return None


class Tracer:
    """Counts executed lines of the library and raises KeyboardInterrupt before number `at`."""

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.lines = 0
        self.error = KeyboardInterrupt("stop")

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename.rsplit("/", 1)[-1] not in FILES:
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                raise self.error
        return self

    def run(self, act: Callable[[], Any]) -> BaseException | None:
        old = sys.gettrace()
        sys.settrace(self)
        try:
            return attempt(act)
        finally:
            sys.settrace(old)


@pytest.mark.parametrize("broken", [False, True], ids=["works", "setup-fails"])
def test_ctrl_c_before_every_line(
    capsys: pytest.CaptureFixture[str], size: dict[str, int], broken: bool
) -> None:
    """A stop by the user before each executed line of manager and port; with a setup that fails,
    in the way back too."""
    rig, done = Rig(), {}

    def setup(net: Any) -> None:
        if broken and net.name == fails[0]:
            fails[0] = ""
            raise OSError(5)

    for scenario in kit.SCENARIOS + STREAMING:
        if broken and scenario[3][0] == "-":
            continue
        total, at = 1, 0
        while at < total:
            at += 1
            fails = [""]
            m = kit.prepare(rig, scenario, setup)
            before = kit.resident(m)
            fails[0] = scenario[3] if broken else ""
            tracer = Tracer(at)
            raised = tracer.run(lambda m=m, what=scenario[3]: kit._act(m, what))
            total = max(total, tracer.lines + (1 if tracer.lines >= at else 0))
            if tracer.lines < at:
                break
            fails[0] = ""
            if raised is not tracer.error and isinstance(raised, OSError):
                assert broken
                tracer.error = raised  # the stop came when the setup had failed and was answered
            try:
                kit.verify(rig, m, scenario, size, before, tracer.error, raised)
            except AssertionError as e:
                raise AssertionError(f"{scenario[0]}, line {at}: {e}") from e
        done[scenario[0]] = at
    say(capsys, f"Ctrl-C before every line{', setup fails' if broken else ''}", done)
