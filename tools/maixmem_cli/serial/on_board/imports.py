# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Imports of what was copied to a board."""

import gc
import sys

try:
    import os
except ImportError:
    import uos as os


def importable(folder, name):
    """Imports a module from a folder and forgets it; raises what the import raises."""
    home = os.getcwd()
    os.chdir(folder)
    try:
        __import__(name)
    finally:
        os.chdir(home)
        sys.modules.pop(name, None)


def try_all(names, folder):
    """Imports each module anew and forgets them: GC heap free before and after in bytes, [(name,
    what it raised)], [(name, file that came from elsewhere)]. Parts for firmware with threads are
    not missed on one without."""
    free = fresh(names)
    failed = []
    elsewhere = []
    home = os.getcwd()
    if folder not in sys.path and home != folder:
        sys.path.append(folder)
    try:
        os.chdir(folder)
    except OSError:
        pass
    for name in names:
        try:
            file = getattr(__import__(name), "__file__", "")
            place = file[: file.rfind("/")] if file[:1] == "/" else os.getcwd()
            if file and place != folder:
                elsewhere.append((name, file if file[:1] == "/" else place + "/" + file))
        except Exception as e:
            if not isinstance(e, ImportError) or "_thread" not in str(e):
                failed.append((name, repr(e)))
    gc.collect()
    after = gc.mem_free()
    os.chdir(home)
    fresh(names)
    return free, after, failed, elsewhere


def fresh(names):
    for name in names:
        sys.modules.pop(name, None)
    gc.collect()
    return gc.mem_free()
