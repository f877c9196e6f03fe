# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A board on a pseudo-terminal: the MicroPython unix port behind what mpremote and a cable can
see.

    with FakeBoard(folder, "maix") as board:
        subprocess.run(["mpremote", "connect", board.port, "exec", "print(1)"])

    python host_tests/kits/fakeboard.py maix FOLDER [0x300000=model.kmodel]...  one to try

"maix" shows what MaixPy v1 shows: one flat folder /flash, its sys.path, platform and uname, and
the K210 stand-in's modules as if built in. "canmv" is the same with CanMV's modules. "modern" is
today's MicroPython: '/' with folders, /lib on the path; "openmv" and "k230" are that with the
modules by which the library knows those boards.
"""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
import tty
from pathlib import Path

import paths

# Runs on the board before anything else. The VM's process stands in `root`, so that host names are
# relative: VfsPosix cannot rename below a root of its own.
_COMMON = """
import os, sys, vfs
class Tree:
    def __init__(self): self.fs = vfs.VfsPosix()
    def mount(self, readonly, mkfs): pass
    def umount(self): pass
    def name(self, p): return p.lstrip('/') or '.'
    def chdir(self, p): pass
    def getcwd(self): return ''
    def open(self, p, mode): return self.fs.open(self.name(p), mode)
    def stat(self, p): return self.fs.stat(self.name(p))
    def ilistdir(self, p=''):
        for e in self.fs.ilistdir(self.name(p)):
            yield (e[0], e[1], 0, self.fs.stat(self.name(p) + '/' + e[0])[6])
    def mkdir(self, p): self.fs.mkdir(self.name(p))
    def rmdir(self, p): self.fs.rmdir(self.name(p))
    def remove(self, p): self.fs.remove(self.name(p))
    def rename(self, a, b): self.fs.rename(self.name(a), self.name(b))
    def statvfs(self, p): return (4096, 4096, 100000, 100000, 100000, 0, 0, 0, 0, 255)
vfs.umount('/')
"""
_MODERN = (
    _COMMON
    + """
vfs.mount(Tree(), '/')
os.chdir('/')
class Module: pass
for n in '{own}'.split(', ') if '{own}' else ():
    sys.modules[n] = Module()
    if n == 'umalloc':  # one pool, a camera's frame in it
        sys.modules[n].stats = lambda i=-1: (2, 4, 1, 77336, 116368, 76832, 78184)
    if n == 'nncase_runtime':
        sys.path[:] = ['', '.frozen', '/sdcard', '/data']
del Tree, Module
"""
)
_MAIX = (
    _COMMON
    + """
vfs.mount(vfs.VfsPosix('/'), '/host')
class Flat(Tree):
    def name(self, p):
        return (p[1:] if p[:2] == './' else p).lstrip('/').replace('/', '%2f') or '.'
    def mkdir(self, p): raise NotImplementedError('SPIFFS not support')
    def rmdir(self, p): raise OSError(5)
    def statvfs(self, p): return (131072, 131072, 21, {blocks}, {blocks}, 0, 0, 0, 0, 128)
class Limited:
    left = {room}
    def __init__(self, f): self.f = f
    def __getattr__(self, name): return getattr(self.f, name)
    def write(self, data):
        Limited.left -= len(data)
        if Limited.left < 0: raise OSError(5)
        return self.f.write(data)
class Fills(Flat):
    def open(self, p, mode):
        f = super().open(p, mode)
        return Limited(f) if 'w' in mode else f
vfs.mount(Fills() if {room} else Flat(), '/flash')
class Module: pass
def like(real, **more):
    m = Module()
    for n in dir(real): setattr(m, n, getattr(real, n))
    for n in more: setattr(m, n, more[n])
    return m
from collections import namedtuple
sys.path[:] = ['/host' + p for p in {shim!r}]
import gc
for n in 'k210_board, k210_files, {own}'.split(', '):
    gc.collect()  # what comes now lies in the holes of what is there
    __import__(n)
import k210_board, k210_files, {own}
gc.collect()
def written(name, given=k210_files.source, fs=Flat()):
    found = given(name)
    if found is None and name[:7] == '/flash/':
        try:
            with fs.open(name[6:], 'rb') as f: found = f.read()
        except OSError: pass
    return found
k210_files.source = written  # KPU.load() finds what was written
try:
    with open({conf!r}) as f: stored, active = map(int, f.read().split())
except OSError: stored = active = 524288
k210_board.reset({firmware!r}, active, flash={flash!r})
def keep(stored, active=active):  # freq.conf outlives resets; a hard one makes it count
    with open({conf!r}, 'w') as f: f.write('%d %d' % (stored, active))
def configure(n, given=k210_board.gc_configure):
    given(n)
    keep(n)
k210_board.gc_configure(stored)
k210_board.gc_configure = configure
def _restart():
    k210_board.power_on()
    keep(k210_board.gc_configured(), k210_board.gc_configured())
    raise SystemExit
machine.reset = _restart
for n in [n for n in sys.modules if n[:7] == 'maixmem']:
    del sys.modules[n]  # what the stand-in took of the library is not on the board
sys.path[:] = ['', '.', '/flash']
if {card!r}:
    class Card(Flat):
        def name(self, p): return {card!r} + '/' + super().name(p)
    vfs.mount(Card(), '/sd')
    del Card
    sys.path[:] = ['', '.']  # /flash is listed on the firmware, and nothing is found there
for n in '{own}'.split(', '):
    __import__(n)
    gc.collect()
for n in [n for n in sys.modules if n[:7] == 'maixmem']:
    del sys.modules[n]  # what the stand-in computes with is not on the board
for n in {absent!r}:
    sys.modules.pop(n, None)
real = sys
who = namedtuple('uname', ('sysname', 'nodename', 'release', 'version', 'machine'))(
    {platform!r}, {platform!r}, '0.6.2', 'a fake', 'a fake with kendryte-k210')
real.modules['os'] = real.modules['uos'] = like(os, uname=lambda w=who: w)
real.modules['sys'] = like(sys, platform={platform!r},
    implementation=namedtuple('implementation', ('name', 'version'))('micropython', (0, 6, 2)))
os.chdir('/sd' if {card!r} else '/flash')
del gc, configure, stored, active, Fills, n, real, who, like, written, Flat, Tree, Module
del namedtuple
"""
)
_BOOT = {"maix": _MAIX, "canmv": _MAIX, "modern": _MODERN, "openmv": _MODERN, "k230": _MODERN}
#: kind -> its sys.platform, the firmware's own modules, those of the stand-in that it lacks
_FIRMWARE = {
    "maix": ("MaixPy", "Maix, KPU, image, sensor, lcd, machine", ()),
    "canmv": ("CanMV", "maix, image, sensor, lcd, machine", ("Maix", "KPU")),
    "modern": ("", "", ()),
    "openmv": ("", "omv, umalloc", ()),
    "k230": ("", "nncase_runtime", ()),
}
_RAW = b"raw REPL; CTRL-B to exit\r\n>"


# Owns a thread, a process (the VM) and two pseudo-terminals; leaving the `with` block ends them
# all. `cut_after` = k breaks the cable after k more bytes from the host: the terminal is closed,
# the board lives on; replug() gives a new one at the same `port`, a symbolic link. `received`
# counts bytes from the host.
class FakeBoard:
    """A board that mpremote can connect to at `port`, whose files are in `root` on the host."""

    def __init__(
        self,
        root: Path,
        kind: str = "maix",
        flash: dict[int, Path] | None = None,
        blocks: int = 21,
        room: int = 0,
        card: Path | None = None,
        firmware: str = "full",
    ) -> None:
        """`blocks` are what statvfs says to be free; `room` the bytes after which writes fail;
        `card` is /sd, `firmware` the build that "maix" is."""
        self.root, self.kind = root, kind
        self.modern = _BOOT[kind] is _MODERN
        #: where the library goes, on the board and on the host
        self.home = {"k230": "/sdcard"}.get(kind, "/lib" if self.modern else "/flash")
        self.files = root / self.home[1:] if self.modern else root
        self._conf = root.parent / f"{root.name}.conf"
        shim = [str(folder) for folder in (*paths.SHIM_PATH, paths.SHIMS / "canmv", paths.LIB)]
        platform, own, absent = _FIRMWARE[kind]
        host_flash = {address: f"/host{path}" for address, path in (flash or {}).items()}
        self._boot = _BOOT[kind].format(
            shim=shim,
            platform=platform,
            own=own,
            absent=absent,
            flash=host_flash,
            firmware=firmware,
            conf=f"/host{self._conf}",
            blocks=blocks,
            room=room,
            card=str(card or ""),
        )
        self.port = str(root.parent / f"{root.name}.port")
        self.received = 0
        self.cut_after: int | None = None
        self.replug_at_once = False
        self._wake_read, self._wake_write = os.pipe()
        self._plug = threading.RLock()  # who holds it may pull the plug or put it in
        self._alive = True
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeBoard:
        self.root.mkdir(exist_ok=True)
        if self.kind == "k230":
            self.files.mkdir(exist_ok=True)
        self._host = self._slave = -1
        self.replug()
        self._raw = False
        self._wants_raw = False  # Ctrl-A came, and no answer yet
        self._tail = b""
        self._start()
        self._until(b">>> ")
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._alive = False
        os.write(self._wake_write, b"x")
        self._thread.join(10)
        self._vm.kill()
        self._vm.wait()
        self._unlink()
        for fd in (self._term, self._wake_read, self._wake_write):
            os.close(fd)

    def replug(self) -> None:
        """A new terminal behind the same name, as when a USB plug goes in again. A cut that is due
        is off."""
        with self._plug:
            self.cut_after = None
            self._unlink()
            self._host, self._slave = pty.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._host, False)
            os.symlink(os.ttyname(self._slave), self.port)
        os.write(self._wake_write, b"x")

    def press_reset(self) -> None:
        """The button: the program is gone, the friendly prompt comes back."""
        self._raw = self._wants_raw = False
        self._vm.kill()

    def _unlink(self) -> None:
        """Takes the name away, then the terminal: its number may be another terminal's at once."""
        Path(self.port).unlink(missing_ok=True)
        ends, self._host, self._slave = (self._host, self._slave), -1, -1
        for fd in ends:
            if fd >= 0:
                os.close(fd)

    def _unplug(self) -> None:
        self._unlink()  # the host notices now, and may call replug() at once
        if self.replug_at_once:
            self.replug()

    def _start(self) -> None:
        """A new VM. It finds its terminal raw, and cooked while a program runs, as it sets it."""
        self._term, slave = pty.openpty()
        tty.setraw(slave)
        env = dict(os.environ, MICROPYPATH=":.frozen:/lib")
        heap = self._conf.read_text().split()[1] if self._conf.is_file() else "512k"
        command = [str(paths.micropython()), "-X", f"heapsize={heap}", "-i", "-c", self._boot]
        self._vm = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=env,
            cwd=self.root,
            start_new_session=True,
        )
        os.close(slave)
        self._busy = False  # runs what the raw REPL was sent
        self._ends = 0  # Ctrl-D of it: one behind its output, one behind its traceback

    def _until(self, end: bytes) -> bytes:
        data = b""
        while not data.endswith(end):
            data += os.read(self._term, 1)
        return data

    def _restart(self) -> None:
        """What Ctrl-D, sys.exit() and machine.reset() end in. A raw REPL stays raw, as on a board;
        one that was asked for comes too: a Ctrl-C between a program's end and its prompt ends this
        interpreter, and no board."""
        self._vm.wait()
        os.close(self._term)
        self._reply(b"\r\nMPY: soft reboot\r\n")
        self._start()
        banner = self._until(b">>> ")
        if self._raw or self._wants_raw:
            os.write(self._term, b"\x01")
        else:
            self._reply(banner)

    def _reply(self, data: bytes) -> None:
        """To the host, which loses what it does not read for a second, as over a cable."""
        while data and self._host >= 0 and select.select([], [self._host], [], 1)[1]:
            data = data[os.write(self._host, data) :]

    def _serve(self) -> None:
        while self._alive:
            self._ready(1)
            with self._plug:
                ready = self._ready(0)  # the plug may have been pulled since
                if self._wake_read in ready:
                    os.read(self._wake_read, 64)
                if self._host in ready:
                    self._from_host(os.read(self._host, 4096))
                if self._term in ready:
                    self._from_vm()

    def _ready(self, seconds: float) -> list[int]:
        ports = [fd for fd in (self._host, self._term, self._wake_read) if fd >= 0]
        try:
            return select.select(ports, [], [], seconds)[0]
        except OSError:  # one of them was just closed
            return []

    def _from_host(self, data: bytes) -> None:
        cut = self.cut_after is not None and len(data) >= self.cut_after
        if self.cut_after is not None:
            data = data[: self.cut_after]
            self.cut_after -= len(data)
        self.received += len(data)
        if (
            not self.modern
        ):  # the MicroPython of 2019 has no raw paste: it sees the Ctrl-A of the question
            data = data.replace(b"\x05A\x01", b"\x01")
        if b"\x02" in data:
            self._raw = self._wants_raw = False
        self._wants_raw |= b"\x01" in data
        running = self._ends < 2 and (
            self._busy or bool(termios.tcgetattr(self._term)[3] & termios.ICANON)
        )
        # two Ctrl-C that come while a program sleeps cancel each other: measured on the firmware
        # (v0.6.2_84)
        if running and (data.count(b"\x03") & 1 if not self.modern else b"\x03" in data):
            self._vm.send_signal(signal.SIGINT)
        elif b"\x04" in data and self._raw:
            self._busy = True
        os.write(self._term, data)
        if cut:
            self._unplug()

    def _from_vm(self) -> None:
        try:
            data = os.read(self._term, 4096)
        except OSError:  # the VM has ended
            data = b""
        if data:
            self._heard(data)
        else:
            self._restart()

    def _heard(self, data: bytes) -> None:
        """Passes on what the interpreter prints; the signs of the raw REPL tell what it does."""
        seen = self._tail + data
        self._tail = seen[-64:]
        self._ends += data.count(b"\x04") if self._busy else 0
        if b"\x04>" in seen or _RAW in seen:
            self._busy, self._ends = False, 0
            self._raw |= _RAW in seen
            self._wants_raw = False
            self._tail = b""  # else the next program would look ended when it says OK
        self._reply(data)


def main(arguments: list[str]) -> None:
    sys.path.insert(0, str(paths.TOOLS))
    from maixmem_cli.commands.options import ADDRESS_FILE

    flash = dict(ADDRESS_FILE.convert(a, None, None) for a in arguments[2:])
    with FakeBoard(Path(arguments[1]).resolve(), arguments[0], flash) as board:
        print(board.port, flush=True)
        signal.sigwait([signal.SIGINT, signal.SIGTERM])


if __name__ == "__main__":
    main(sys.argv[1:])
