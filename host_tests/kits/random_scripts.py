# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random scripts for a K210 that are fine: they take and give back memory of both heaps in every
way that a script has, and damage nothing."""

from __future__ import annotations

import random

_HEAD = """import gc, image, os, sys
import KPU as kpu
try:
  import ujson as json
except ImportError:
  import json
kept, named = [], {}
class Box:
  def __init__(self, n):
    self.data = bytearray(n)
    self.more = {'n': n, 'text': str(n) * 3}
  def grow(self):
    self.data.extend(b'x' * 40)
    return len(self.data)
def numbers(n):
  seen = []
  for i in range(n):
    seen.append(i * 1.5)
    yield seen[-1]
def deep(n):
  here = [n] * 5
  return len(here) + (deep(n - 1) if n else 0)
def make(n):
  inside = bytearray(n)
  def inner(i):
    return inside[i % n]
  return inner
"""
#: {n}: a small number, {m}: up to some thousand
_STEPS = (
    "kept.append(bytearray({m}))",
    "kept.append([i * {n} for i in range({n})])",
    "named['k{n}'] = 'text %d of {m}' % len(kept) * {n}",
    "named['k{n}'] = Box({m})",
    "print(sum(b.grow() for b in named.values() if isinstance(b, Box)))",
    "print(int(sum(numbers({n}))))",
    "print(deep({n}))",
    "kept.append(make({m}))",
    "del kept[: len(kept) // 2]",
    "named.clear()",
    "gc.collect()",
    "text = json.dumps([list(range({n})), 'x' * {m}]); print(len(json.loads(text)[0]))",
    "kept = sorted(kept, key=lambda o: str(type(o)))",
    "print(len('%f %d %s' % ({n} / 7, {m}, [{n}] * {n})))",
    "kept.append(bytes({m}).replace(b'\\0', b'ab'))",
    "named['s'] = set(range({n})); print(len(named.pop('s')))",
    "try:\n  kept.append(1 // (len(kept) * 0))\nexcept ZeroDivisionError as e:\n  print(repr(e))",
    "try:\n  kept.append(bytearray(1 << 22))\nexcept MemoryError as e:\n  print('no room')",
    "for i in range({n}):\n  t = [i, str(i), i * 0.5]",
    "with open('/flash/r{n}.txt', 'w') as f:\n  print(f.write('line\\n' * {n}))",
    "print(len(os.listdir('/flash')) > 0)",
    "exec('x{n} = bytearray({m})')",
    "im = image.Image(size=({n} * 4, {n} * 2)); im.draw_line(0, 0, {n}, {n}); im = None",
    "im = image.Image(size=(80, 60)); im.pix_to_ai(); small = im.copy(); im = small = None",
    "model = kpu.load(0x300000); kpu.deinit(model)",
    "model = kpu.load(0x300000); gc.collect(); model = None",
    "import micropython; micropython.mem_info() if {n} < 3 else None",
)


def script(seed: int) -> str:
    """One of them."""
    numbers = random.Random(seed)
    lines = [_HEAD]
    for _ in range(numbers.randint(8, 40)):
        step = numbers.choice(_STEPS)
        small, many = numbers.randint(1, 30), numbers.choice((16, 100, 700, 3000))
        lines.append(step.format(n=small, m=many))
    return "\n".join([*lines, "print('end')", ""])
