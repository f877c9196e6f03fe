# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Files and folders of a board."""

import sys

try:
    import os
except ImportError:
    import uos as os
try:
    import ubinascii as binascii
except ImportError:
    import binascii
try:
    from uhashlib import sha256
except ImportError:
    try:
        from hashlib import sha256
    except ImportError:
        sha256 = None


def adler32(data, value):
    """zlib's, for chunks that are short enough for small integers."""
    a, b = value & 0xFFFF, value >> 16
    for byte in data:
        a += byte
        b += a
    return b % 65521 << 16 | a % 65521


def close_cut():
    """Closes the file that was held open when a cut came (RawRepl.write_file calls it f)."""
    try:
        globals()["f"].close()
    except (KeyError, AttributeError, OSError, ValueError):
        pass


def check(names):
    """{name: (size, algorithm, digest), or None when there is no such file}."""
    close_cut()
    return {name: digest(name) for name in names}


def digest(path):
    try:
        file = open(path, "rb")
    except OSError:
        return None
    add = getattr(binascii, "crc32", None) or adler32  # CircuitPython 6 has neither
    name = "adler32" if add is adler32 else "crc32"
    n, c = 0, int(add is adler32)
    h = sha256() if sha256 else None
    try:
        while True:
            b = file.read(512)
            if not b:
                break
            n += len(b)
            if h:
                h.update(b)
            else:
                c = add(b, c)
    finally:
        file.close()
    if h:
        return n, "sha256", binascii.hexlify(h.digest()).decode()
    return n, name, c & 0xFFFFFFFF


def content(name):
    """The bytes of a file, None where there is none."""
    try:
        file = open(name, "rb")
    except OSError:
        return None
    try:
        return file.read()
    finally:
        file.close()


def remove(names):
    """Takes files away, the one that was held open as well; the names of those that existed."""
    close_cut()
    gone = []
    for name in names:
        try:
            os.remove(name)
            gone.append(name)
        except OSError:
            pass
    return gone


def rename(names, temp, stale):
    """Puts NAME+temp in the place of each NAME, then removes what is stale."""
    for name in names:
        try:
            os.rename(name + temp, name)
        except OSError:  # a file system that does not replace
            os.remove(name)
            os.rename(name + temp, name)
    for name in stale:
        os.remove(name)
    if hasattr(os, "sync"):
        os.sync()


def writes():
    """Whether code on the board may write its files: CircuitPython's are those of a USB drive,
    until its boot.py takes them back."""
    try:
        open("/maixmem_try", "w").close()
        os.remove("/maixmem_try")
        return True
    except OSError:
        return False


def listing(folder):
    return os.listdir(folder)


def make(folder):
    try:
        os.stat(folder)
    except OSError:
        os.mkdir(folder)


def statistics(folders):
    """{folder: (bytes free, in all, of a block)} of those that can say."""
    found = {}
    for folder in folders:
        try:
            s = os.statvfs(folder)
            found[folder] = (s[1] * s[3], s[1] * s[2], s[1])
        except (OSError, AttributeError):
            pass
    return found


def searched():
    """{folder: its files} of every folder that imports look into; the working folder by its
    name."""
    found = {}
    for folder in sys.path:
        folder = os.getcwd() if folder in ("", ".") else folder
        try:
            found[folder or "/"] = os.listdir(folder or "/")
        except OSError:
            pass
    return found
