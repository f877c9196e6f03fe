# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What deploy runs on a board: importing what was copied, and taking things away."""

from __future__ import annotations

from maixmem_cli.serial.identity import IMPORT_OS

# Imports each module anew from the target, says what it took and where it came from, and forgets
# it again.
IMPORT = (
    IMPORT_OS
    + """
import sys, gc
def fresh(names):
    for n in names:
        sys.modules.pop(n, None)
    gc.collect()
    return gc.mem_free()
def load(names, target):
    free, failed, where = fresh(names), [], []
    home = os.getcwd()
    if target not in sys.path and home != target:
        sys.path.append(target)
    try:
        os.chdir(target)
    except OSError:
        pass
    for n in names:
        try:
            f = getattr(__import__(n), '__file__', '')
            d = f[:f.rfind('/')] if f[:1] == '/' else os.getcwd()
            if f and d != target:
                where.append((n, f if f[:1] == '/' else d + '/' + f))
        except Exception as e:
            failed.append((n, repr(e)))
    gc.collect()
    after = gc.mem_free()
    os.chdir(home)
    return free, after, failed, where
result = load({names!r}, {target!r})
fresh({names!r})
print(repr(result))
del load, fresh, result
"""
)
# Closes and removes the probe, whatever became of it.
DROP = (
    IMPORT_OS
    + """
try:
    f.close()
except (NameError, AttributeError, OSError, ValueError):
    pass
try:
    os.remove({name!r})
except OSError:
    pass
"""
)
# Removes what is ours from a folder: modules in both forms, and rests of a cut transfer.
REMOVE = (
    IMPORT_OS
    + """
gone = []
for n in os.listdir({folder!r}):
    if n in {names!r}:
        os.remove({folder!r}.rstrip('/') + '/' + n)
        gone.append(n)
print(repr(gone))
"""
)
