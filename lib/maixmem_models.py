# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One accelerator, many models: loaded when used, freed when others need the room, refused when
there is none.

models = ModelManager()
models.add("digits", 0x300000)
models.add("faces", "/sd/faces.kmodel", setup=lambda net: net.init_yolo2(0.5, 0.3, 5, ANCHORS))
net = models.use("faces")
"""

import gc

import maixmem
from maixmem import KModelError, NoRoom, message, run_once


class ModelReleasedError(ValueError):
    """A net was used after its model was released."""


# What use() hands out: one a name, for good. It works while its model is resident and refuses with
# ModelReleasedError at other times, so a released model never reaches the runtime. Results that
# point into model memory die with it: copy them first. Ports subclass it: maixmem_net,
# maixmem_k210_kpu.
# The manager keeps what it knows of a model in the same object: `handle` is not None while memory
# is held, `ready` while use() may hand the net out. A handle that is not ready is half loaded or
# half freed, and the next call frees it.
class Net:
    """A model that was added, resident or not."""

    setup = fallback = cost = handle = None
    how = {}  # type: dict  # to the port: how to load it
    took = None  # type: int | None  # bytes that the last load was measured to take
    pin = ready = fell_back = raw_taken = False
    pin_count = 0  # with blocks that it is in
    used = 0  # tick of the last use()
    order = 0  # number of the load

    def __init__(self, name, source) -> None:
        self.name = name
        self.source = source

    def __lt__(self, other) -> bool:
        """Nets are sorted in the order of their loads."""
        return self.order < other.order

    @property
    def raw(self):
        """The runtime's own object; never keep it longer than the model is resident."""
        self.raw_taken = True
        return self.require_handle()

    def require_handle(self):
        """The handle, or ModelReleasedError."""
        if self.handle is None:
            raise ModelReleasedError(message("release", self.name))
        return self.handle


# Owns every model it loaded; nothing else may unload them. A warm use() is a dict look-up and
# allocates nothing; a switch allocates a few hundred bytes besides what load() takes. add()
# imports what reads headers and drops it again, at most 16 KiB of GC heap; a use() that succeeds
# after it imports nothing (what a setup calls may). using() makes one object a call, and the first
# imports maixmem_using. When use() fails, `state` says what is left, the message too where the
# error is one of this library or a plain one:
#   "rolled_back"  what was resident is resident (nothing was freed, or it was loaded again)
#   "empty"        neither the new model nor those that had to go are resident
#   "loaded"       the new model is resident (the last use() succeeded)
# and the next use() works from there. Threads: one at a time; on CPython they
# wait for each other (maixmem_linux).
# The last manager of an "evict" port is remembered, and a new one on that port frees what it
# holds: the models of a program that was stopped and run again in the same interpreter, as the IDE
# does.
class ModelManager:
    """Models that share one accelerator. `keep` is how many stay resident: None is what suits the
    port."""

    _last = None  # type: ModelManager | None  # the manager made last
    busy = None  # type: Net | None  # what is loaded or freed just now

    def __init__(self, port=None, keep: "int | None" = None, margin: "int | None" = None) -> None:
        p = (port or maixmem.port()).for_models(self)
        if keep is None:
            keep = 1 if p.share == "evict" else p.slots
        if keep < 1:
            raise ValueError(message("keep", keep))
        last = ModelManager._last
        if last and last.port is p:  # type: ignore[has-type]
            last.release_all()
        self.port = p
        self.keep = min(keep, p.slots)
        self.margin = p.margin if margin is None else margin
        self.state = "empty"
        self.switches = 0
        self.base = {}  # type: dict[str, int]  # room before the first load
        self.models = {}  # type: dict[object, Net]  # all that were added, resident or not
        self._tick = 0
        self._loads = 0
        ModelManager._last = self if p.share == "evict" else None

    def __enter__(self) -> "ModelManager":
        return self

    def __exit__(self, kind, e, trace) -> None:
        self.release_all()

    # --- what there is ---

    def add(self, name, source, setup=None, pin: bool = False, fallback=None, **how) -> None:
        """Tells the manager about a model: reads its header, loads nothing, prints where flash is
        in trouble.

        setup(net) runs after every load. A pinned model stays until release(). `fallback` is the
        name of a model added before that use() takes, and says so, when there is no room for this
        one (for example the same model streamed from flash), and as long as that one is resident.
        `how` goes to the port: how to load it. ValueError and TypeError for what is no source;
        what cannot be read yet is read at the first use().
        """
        if name in self.models:
            raise ValueError(message("add", name))
        m = self.port.Net(name, source)
        if fallback is not None:
            m.fallback = self._find(fallback).name
        if pin:
            m.pin = pin
        if how:
            m.how = how
        try:
            if setup:
                m.setup = setup
                self.port.expect_setup()
            m.cost = self.port.inspect(source, **how)
            warning = m.cost.warning
            if warning:
                print(message("warning", name, warning))
        except (KModelError, OSError, MemoryError):
            pass  # use() says it
        self.models[name] = m

    def forget(self, name) -> None:
        """Releases a model and drops everything known about it. ValueError if it is the fallback
        of another."""
        run_once("status", "forget", self, name)

    # The model of a name, where nothing is loaded or freed just now. The words of that are here: a
    # part is read from flash in 60 ms, and a timer that asks every 20 ms would leave the main
    # program no time.
    def _find(self, name):
        if self.busy:
            text = "{!r} is being loaded or freed: use() in the main loop"
            raise RuntimeError(text.format(self.busy.name))
        m = self.models.get(name)
        if m is None:
            raise KeyError(message("use", name, sorted(map(str, self.models))))
        return m

    def loaded(self) -> "list[Net]":
        """What holds memory, oldest load first."""
        found = []  # type: list[Net]
        for m in self.models.values():
            if m.handle is not None:
                found.append(m)
        found.sort()
        return found

    # --- use ---

    def use(self, name) -> Net:
        """The net of a model, loaded if it is not. Raises NoRoom, KModelError, or what the
        platform or setup raised.

        See the states above. KModelError with the reason when this model can never run here.
        """
        m = self.models.get(name) or self._find(name)
        if m.fell_back and self.models[m.fallback].ready:
            m = self.models[m.fallback]
        if m.raw_taken and m.ready and not self.port.is_loaded(m.handle):
            m.ready = False  # somebody freed it; the port must be told as well
        if not m.ready:
            try:
                self._switch(m)
            except NoRoom as e:
                if m.fallback is None:
                    raise
                if not m.fell_back:
                    m.fell_back = True
                    print(message("fallback", e, m.fallback))
                return self.use(m.fallback)
            if m.fell_back:
                m.fell_back = False
        self._tick += 1
        m.used = self._tick
        self.state = "loaded"
        return m

    def using(self, name):
        """use() for a with block, inside which the model is not evicted. It stays resident
        afterwards."""
        return maixmem.resident("using").Using(self, name)

    def _switch(self, m):
        if m.ready:
            return  # another thread has loaded it meanwhile
        if self.busy:
            self._find(0)  # raises it
        p = self.port
        gone = []
        try:
            self.busy = m
            for x in self.models.values():
                if x.handle is not None and not x.ready:
                    self._unload(x)  # a failure left it half loaded or half freed
            if not m.cost:
                m.cost = p.inspect(m.source, **m.how)
            refuse = m.cost.refuse
            if refuse:
                raise KModelError(message("cannot_run", refuse))
            if not self.base:
                for region in m.cost.need:
                    self.base[region] = p.room(region)
            refusal = None  # of a load that was forecast to succeed
            while not m.ready:
                x = self._plan(m, refusal)
                refusal = None if x else self._load(m)
                if x:
                    gone.append(x)
                    self._unload(x)
            self.state = "loaded"
            self.busy = None  # and in the finally: Ctrl-C may come before either
        except BaseException as e:
            self.busy = None  # for the line of the next try, which CPython's finally misses
            self.state = "empty"
            try:
                self.busy = m
                self._unload(m)
                e = run_once("recover", "recover", self, m, gone, e)
            except (MemoryError, ImportError, RuntimeError):
                pass  # no room for it: nothing comes back
            self.busy = None
            raise e
        finally:
            self.busy = None
        self.switches += 1

    def _plan(self, m, e) -> "Net | None":
        """The model to evict next for m, None where m can be loaded now: the last loaded of the
        least recently used, as few as the port's forecast requires; repeated after each. At
        least one after the NoRoom `e` of a load. NoRoom where evicting all would not help."""
        held = self.loaded()
        going = []  # type: list[Net]
        handles = []  # type: list
        while True:
            if len(held) - len(going) < self.keep and (going or not e):
                e = self._refusal(m, handles)
                if not e:
                    going.sort()
                    return going[-1] if going else None
            oldest = None
            for x in held:
                if x.ready and not (x.pin or x.pin_count or x in going):
                    if oldest is None or x.used < oldest.used:
                        oldest = x
            if oldest is None:
                raise e or NoRoom(message("pin", len(held), self.keep), "slots", 1, 0)
            going.append(oldest)
            handles.append(oldest.handle)

    def _refusal(self, m, freed=()) -> "NoRoom | None":
        """Why the port refuses to load m once the handles `freed` are unloaded, or None. Garbage,
        perhaps models of an earlier run, is collected before a no."""
        check = self.port.check_fit
        e = check(m.cost, self.margin, freed)
        if e:
            gc.collect()
            e = check(m.cost, self.margin, freed)
        return e

    def _load(self, m) -> "NoRoom | None":
        """Loads m and runs its setup; the NoRoom of the port, returned, where m is not loaded."""
        p = self.port
        self.state = "empty"
        self._loads += 1
        m.order = self._loads
        known = m.took == m.cost.need.get("heap", -1)  # as forecast: no need to measure again
        if not known:
            before = p.free_bytes()
        try:
            m.handle = p.load(m.source, **m.how)
        except NoRoom as e:
            return e
        if not known:
            m.took = before - p.free_bytes()
        if m.setup:
            m.setup(m)
        if m.raw_taken:
            m.raw_taken = False
        m.ready = True
        return None

    def _unload(self, m):
        m.ready = False
        if m.handle is not None:
            self.port.unload(m.handle)
            m.handle = None

    # --- release ---

    def release(self, name) -> None:
        """Frees a model, pinned or not. Harmless when it is not resident. Its definition stays."""
        m = self._find(name)
        m.pin_count = 0
        try:
            self.busy = m
            self._unload(m)
            self.busy = None
        except BaseException:
            self._unload(m)  # once more: what was interrupted is not left half freed
            self.busy = None
            raise
        finally:
            self.busy = None

    def release_all(self) -> None:
        """Frees every model, last loaded first."""
        for m in reversed(self.loaded()):
            self.release(m.name)
        gc.collect()

    def status(self, out=print) -> dict:
        """Prints and returns what is resident, what it takes and what is missing: see
        maixmem_status."""
        return run_once("status", "status", self, out)
