# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Whether a project makes pictures of the sizes that its models take: KPU refuses all others."""

from __future__ import annotations

from typing import Any

from k210_model.frame_sizes import SIZES

from maixmem_cli.plan.program.project import Project


def wrong_sizes(project: Project, infos: dict[str, Any]) -> list[str]:
    """A sentence for each model that no picture of the project fits. A project without
    pictures says nothing about them."""
    camera = project.camera
    pictures = {"camera": camera.windowing or camera.pixels} if camera else {}
    pictures.update({p.name: p.size for p in project.pools})
    pictures.update({i.name: i.size for i in project.images})
    if not pictures:
        return []
    made = ", ".join(f"{name} {w}x{h}" for name, (w, h) in pictures.items())
    found = []
    for model in project.models:
        wanted = {shape[:1:-1] for shape, _, _ in infos[model.name].inputs if _is_picture(shape)}
        if wanted and not wanted & set(pictures.values()):
            w, h = min(wanted)
            found.append(
                f"{model.name} takes {w}x{h}, and no picture here has that size: {made}. "
                f"KPU refuses others (check img format err!). Next: {_cure(project, w, h)}"
            )
    return found


def _is_picture(shape: Any) -> bool:
    """(1, channels, height, width), all known."""
    return shape is not None and len(shape) == 4 and None not in shape


def _cure(project: Project, w: int, h: int) -> str:
    """A window of the frame where it is large enough: it costs nothing."""
    window = f"sensor.set_windowing(({w}, {h})), windowing = [{w}, {h}] in [camera]"
    image = f"a [[pool]] or [[image]] of {w}x{h} with ai = true"
    if project.camera is None:
        return image
    if all(n <= have for n, have in zip((w, h), project.camera.pixels)):
        return f"{window}; or {image}"
    sizes = {pixels: name for name, pixels in SIZES.items() if w <= pixels[0] and h <= pixels[1]}
    larger = min(sizes, key=lambda pixels: pixels[0] * pixels[1], default=None)
    return f"{image}" + (f"; or size = {sizes[larger]!r} and {window}" if larger else "")
