# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The report's pictures: a flame graph is as wide as its bytes, waiting is shortened, moments that
count have their words."""

from __future__ import annotations

import re

from maixmem_cli.emulator.readers.tracer import Place
from maixmem_cli.profiler import draw, page

MAIN, LEFT, RIGHT = (Place("main.py", f, n) for f, n in (("<module>", 1), ("f", 2), ("g", 3)))
_BOLD = 7.4  # pixels of a bold letter of 12
_BOX = re.compile(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"[^>]*><title>([^<]*)</title>')


def test_a_flame_graph_is_as_wide_as_its_bytes() -> None:
    chains = [((MAIN, LEFT), 3072), ((MAIN, RIGHT), 1024)]
    names = {MAIN: "main", LEFT: "left", RIGHT: "right"}
    boxes = {
        title: (float(x), float(w))
        for x, _, w, title in _BOX.findall(draw.flame(chains, names, "GC heap"))
    }
    assert set(boxes) == {"main: 4.0 KiB", "left: 3.0 KiB", "right: 1.0 KiB"}
    assert boxes["main: 4.0 KiB"] == (0, draw.WIDTH - 1)
    assert boxes["left: 3.0 KiB"] == (0, draw.WIDTH * 3 / 4 - 1)
    assert boxes["right: 1.0 KiB"] == (draw.WIDTH * 3 / 4, draw.WIDTH / 4 - 1)
    assert _BOX.findall(draw.flame([], names, "GC heap")) == []


def test_waiting_is_shortened_and_keeps_its_order() -> None:
    times = [0, 10, 20, 30, 1_000_030, 1_000_040]
    place = page._compressed(times)
    assert [place(t) for t in times] == [0, 10, 20, 30, 61, 71]
    assert place(15) == 15 and 30 < place(500_000) <= 61 and place(-5) <= 0


def test_areas_are_by_line_and_moments_have_their_words() -> None:
    layers = [
        draw.Layer("#111111", "main.py:1", [10, 40, 20]),
        draw.Layer(draw.LEAK, "leak: x", [0, 9, 9]),
        draw.Layer(draw.GARBAGE, "garbage", [0, 11, 1], live=False),
    ]
    plot = draw.Plot("GC heap", 100, layers, ["LEAK 9 bytes a round: x"])
    assert (plot.used, plot.live, plot.to_scale) == ([10, 60, 30], [10, 49, 29], True)
    flags = [(0.5, 0, "peak: main.py:3"), (1.0, -1, "the board hangs at main.py:9")]
    moments = draw.Moments([(0.1, "gc", "gc: main.py:1")], flags, [(0.0, "frame 1"), (0.8, "10")])
    shown = draw.timeline([0.0, 0.5, 1.0], [plot, plot], moments, "axis")
    assert "peak: main.py:3" in shown and "the board hangs at main.py:9" in shown
    assert ">axis<" in shown and ">frame 1<" in shown and 'data-at="0.8000">10<' in shown
    assert shown.count("<title>main.py:1: 40 B at most</title>") == 2
    assert shown.count("capacity 100 B<") == shown.count(">LEAK 9 bytes a round: x<") == 2
    (path, _) = re.findall(rf'<path d="M([^"]*)Z" fill="{draw.LEAK}"', shown)
    points = [tuple(map(float, p.split(","))) for p in re.split(r"[ L]+", path)]
    wide = draw.WIDTH - 80 - 16
    assert {x for x, _ in points} == {0.0, wide / 2, wide}
    each = 170 / 115  # pixels a byte: the capacity is 15 % below the upper edge
    at = {round(y, 1) for x, y in points if x == wide / 2}
    assert {round(170 - 49 * each, 1), round(170 - 40 * each, 1)} <= at


def test_the_picture_fits_a_phone_and_scales() -> None:
    name, layer = "GC heap without garbage", "a name that is long " * 9
    plot = draw.Plot(name, 520_000, [draw.Layer("#111111", layer, [17_000, 17_510])])
    assert not plot.to_scale
    for width in (draw.WIDTH, draw.NARROW):
        shown = draw.timeline([0.0, 1.0], [plot], draw.Moments([], [], []), "axis", width)
        assert (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" viewBox="0 0 {width} ' in shown
        )
        assert "far above this scale" in shown
        right = [float(x) for x in re.findall(r'<rect x="([0-9.]+)"', shown)]
        assert max(right) < width
        ((begin, title),) = re.findall(r'x="([0-9.]+)"[^>]*>(GC heap[^<]*peak[^<]*)<', shown)
        assert float(begin) + _BOLD * len(title) < width  # else its end is not there


def test_leaks_have_a_colour_of_their_own() -> None:
    assert draw.LEAK not in (*draw.COLOURS, *draw.MARK_COLOURS.values())
    assert not set(draw.COLOURS) & set(draw.MARK_COLOURS.values())
