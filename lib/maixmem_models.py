# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""One accelerator, many models: loaded when used, freed when others need the room, refused when there is none.

models = ModelManager()
models.add("digits", 0x300000)
models.add("faces", "/sd/faces.kmodel", setup=lambda net: net.init_yolo2(0.5, 0.3, 5, ANCHORS))
net = models.use("faces")
"""

import gc
import time

from maixmem import KModelError, NoRoom
from maixmem import port as _port
from maixmem_net import Entry, ModelGone, Net

# What the manager asks of a port. Sizes are bytes; names in [] are optional.
#
#   share      "evict": models take turns in memory. "arena": weights stay, working memory is shared, so models
#              go only when there is no room. It decides the default of `keep`.
#   [slots]    how many models can be loaded at a time (K210: 5).
#   [margin]   default of what must stay free beyond a forecast; 8192 without it.
#   [Net]      class of what use() hands out, made once a name as Net(name): a subclass of maixmem_net.Net
#              with the calls of the platform. Without it Net passes every attribute on to the handle.
#   inspect(source, **how) -> Cost. Reads headers, loads nothing. Asked once a name and kept until forget(); what
#              depends on the moment (an arena that has grown) belongs into shortage(). Cost.refuse set: use()
#              raises ValueError before anything is freed. Raises KModelError, OSError: use() passes them on.
#   [shortage(cost, margin, going)] -> None when a load of `cost` would come through now with `margin` to spare,
#              or a NoRoom, not raised, that names the numbers and the next step. `going` are handles taken as
#              unloaded: () is the last word before load() and must be safe; with handles it is a forecast and
#              must not say no where it might work. Without it: room(region) against cost.peak, region by region.
#   room(region) -> bytes one load may count on, holes included. May take some ms. For status(), and see above.
#   [level()] -> free bytes of the memory that models go into, by the cheapest call: asked around each load, the
#              difference is what status() calls measured. Without it: sample() of the regions in cost.need.
#   load(source, **how) -> handle. Owns nothing when it raises (any exception, KeyboardInterrupt included), so
#              `return runtime.load(source)` has to be its last step. Raises what the runtime raises.
#   unload(handle). When it returns the bytes are free. When it raises, the handle still counts as loaded and
#              unload() is called again later; so a second call on a handle that is gone must be harmless.
#   [turn(handle)] before use() hands out another model than the last time (arenas: what the others kept there
#              is void now). Raises: use() raises, the model stays resident.
#   [overlap(handles)] -> {region: bytes} that the models loaded share, which status() must not count twice.
#   [trouble(source, **how)] -> text about where a source lies (flash overlaps), or None; add() prints it.
#
# Threads: one at a time; the manager has no lock.

MARGIN = 8192
_MANY = 1 << 20
_last = []  # the manager made last

# Exceptions of these very classes come back as a subclass that adds what is resident to the text; others, such as
# KeyboardInterrupt or an error in the caller's setup, come back as they are. Their state is in manager.state.
_PLAIN = (MemoryError, ValueError, OSError, RuntimeError, KModelError)


class _Using:
    def __init__(self, manager, model):
        self._manager = manager
        self._model = self._got = model

    def __enter__(self):
        net = self._manager.use(self._model.name)
        self._got = self._manager._find(net.name)  # perhaps the fallback
        self._got.held += 1
        return net

    def __exit__(self, kind, e, trace):
        if self._got.held:
            self._got.held -= 1


# Owns every model it loaded; nothing else may unload them. A warm use() is a dict look-up; a switch allocates a
# few hundred bytes besides what load() takes. When use() fails, `state` says what is left, the error too:
#   "previous"  what was resident is resident (nothing was freed, or it was loaded again)
#   "none"      neither the new model nor those that had to go are resident
#   "new"       the new model is resident (the last use() succeeded)
# and the next use() works from there. An error of a class in _PLAIN has .state and .cause, the original.
# The last manager of an "evict" port is remembered, and a new one on that port frees what it holds: the models of
# a program that was stopped and run again in the same interpreter, as the IDE does.
class ModelManager:
    """Models that share one accelerator. `keep` is how many stay resident: None is what suits the port."""

    def __init__(self, port=None, keep=None, margin=None):
        p = port or _port()
        if keep is None:
            keep = 1 if p.share == "evict" else _MANY
        if keep < 1:
            raise ValueError("ModelManager: keep is {}, at least 1".format(keep))
        if _last and _last[0].port is p:
            _last[0].release_all()
        self.port = p
        self.keep = min(keep, getattr(p, "slots", _MANY))
        self.margin = getattr(p, "margin", MARGIN) if margin is None else margin
        self.state = "none"
        self.switches = 0
        self.last_ms = 0
        self._models = {}
        self.base = {}  # room before the first load
        self._tick = 0
        self._loads = 0
        self._turn = None
        _last[:] = [self] if p.share == "evict" else []

    def __enter__(self):
        return self

    def __exit__(self, kind, e, trace):
        self.release_all()

    # --- what there is ---

    def add(self, name, source, setup=None, pin=False, fallback=None, **how):
        """Tells the manager about a model; loads nothing, prints where flash is in trouble.

        setup(net) runs after every load. A pinned model stays until release(). `fallback` is the name of a model
        added before that use() takes, and says so, when there is no room for this one (for example the same
        model streamed from flash), and as long as that one is resident. `how` goes to the port: how to load it.
        """
        if name in self._models:
            raise ValueError("add: {!r} is there. Next: forget({!r}) first.".format(name, name))
        if fallback is not None:
            self._find(fallback)
        m = Entry(name, source, how, getattr(self.port, "Net", Net)(name))
        m.setup = setup
        m.pin = pin
        m.fallback = fallback
        if hasattr(self.port, "trouble"):
            text = self.port.trouble(source, **how)
            if text:
                print("maixmem: {!r}: {}".format(name, text))
        self._models[name] = m

    def forget(self, name):
        """Releases a model and drops everything known about it. ValueError if it is the fallback of another."""
        for x in self._models.values():
            if x.fallback == name:
                text = "forget({!r}): it is the fallback of {!r}. Next: forget({!r}) first."
                raise ValueError(text.format(name, x.name, x.name))
        self.release(name)
        del self._models[name]

    def _find(self, name):
        m = self._models.get(name)
        if m is None:
            known = ", ".join(sorted([str(n) for n in self._models])) or "none"
            raise KeyError("no model {!r}; there are: {}. Next: add() it.".format(name, known))
        return m

    def models(self):
        """What was added, as maixmem_net.Entry objects to look at."""
        return list(self._models.values())

    def _loaded(self):
        """What holds memory, oldest load first."""
        return _by_order([m for m in self._models.values() if m.handle is not None])

    # --- use ---

    def use(self, name):
        """The net of a model, loaded if it is not. Raises NoRoom, or what the platform or setup raised.

        See the states above. ValueError with the reason when this model can never run here.
        """
        m = self._models.get(name) or self._find(name)
        if m.told and self._models[m.fallback].ready:
            m = self._models[m.fallback]
        if not m.ready:
            try:
                self._switch(m)
            except NoRoom as e:
                if m.fallback is None:
                    raise
                if not m.told:
                    m.told = True
                    print("maixmem: {} Using {!r} instead.".format(e, m.fallback))
                return self.use(m.fallback)
            m.told = False
        if self._turn is not m.handle:
            if hasattr(self.port, "turn"):
                self.port.turn(m.handle)
            self._turn = m.handle
        self._tick += 1
        m.used = self._tick
        self.state = "new"
        return m.net

    def using(self, name):
        """use() for a with block, inside which the model is not evicted. It stays resident afterwards."""
        return _Using(self, self._find(name))

    def _switch(self, m):
        start = _ticks()
        gone = []
        try:
            for x in self._loaded():
                if not x.ready:  # a failure left it half loaded or half freed
                    self._unload(x)
            if m.cost is None:
                m.cost = self.port.inspect(m.source, **m.how)
            if m.cost.refuse:
                raise ValueError("this model cannot run here: {}.".format(m.cost.refuse))
            if not self.base:
                self.base = {region: self.port.room(region) for region in m.cost.need}
            self._plan(m, gone)
            self._make_room(m, gone)
            self.state = "new"
            self.switches += 1
            self.last_ms = _passed(start)
        except BaseException as e:
            raise self._undo(m, gone, e)

    def _idle(self):
        """What may be evicted, least recently used first."""
        rows = [m for m in self._models.values() if m.ready and not m.pin and not m.held]
        return sorted(rows, key=lambda m: m.used)

    def _plan(self, m, gone):
        """Frees the least recently used as far as a forecast wants; NoRoom before that when nothing would help."""
        idle = self._idle()
        loaded = len(self._loaded())
        k = max(0, loaded + 1 - self.keep)
        if k > len(idle):
            text = "{} of at most {} models are resident, and pinned or in a with block. Next: release() one."
            raise NoRoom(text.format(loaded, self.keep), "slots", 1, 0)
        short = self._short(m.cost, idle[:k])
        while short:
            if k == len(idle):
                raise short
            k += 1
            short = self._short(m.cost, idle[:k])
        for x in reversed(_by_order(idle[:k])):
            self._evict(x, gone)

    def _evict(self, m, gone):
        gone.append(m)
        self.state = "none"
        self._unload(m)

    def _make_room(self, m, gone):
        """Loads m as soon as the port says that there is room, evicting on until then."""
        while True:
            short = self._short(m.cost, ())
            if not short:
                try:
                    return self._load(m)
                except (MemoryError, ValueError) as e:
                    if m.handle is not None:
                        raise
                    short = self._short(m.cost, ()) or e
                    if not isinstance(short, NoRoom):
                        raise
                    if short is not e:
                        short.cause = e
            idle = self._idle()
            if not idle:
                raise short
            self._evict(idle[0], gone)

    def _short(self, cost, going):
        """What the port says about room; garbage, perhaps models of an earlier run, is collected before a no."""
        short = self._ask(cost, going)
        if short:
            gc.collect()
            short = self._ask(cost, going)
        return short

    def _ask(self, cost, going):
        if hasattr(self.port, "shortage"):
            return self.port.shortage(cost, self.margin, [m.handle for m in going])
        for region in cost.peak:
            need = cost.peak[region] + self.margin
            free = self.port.room(region) + sum([m.cost.need.get(region, 0) for m in going])
            if free < need:
                text = "loading takes {} bytes of {}, with {} to spare; {} are free. Next: release() a model."
                text = text.format(cost.peak[region], region, self.margin, free)
                return NoRoom(text, region, need, free)
        return None

    def _load(self, m):
        self.state = "none"
        self._loads += 1
        m.order = self._loads
        before = self._level(m.cost)
        m.handle = self.port.load(m.source, **m.how)
        m.took = before - self._level(m.cost)
        m.net.handle = m.handle
        if m.setup is not None:
            m.setup(m.net)
            if m.handle is None:
                text = "the setup of {!r} released it. Next: no use() or release() in a setup."
                raise RuntimeError(text.format(m.name))
        m.ready = True

    def _level(self, cost):
        p = self.port
        if hasattr(p, "level"):
            return p.level()
        free = [0] * len(p.watched)
        p.sample(free)
        return sum([free[i] for i in range(len(free)) if p.watched[i] in cost.need])

    def _unload(self, m):
        m.ready = False
        m.net.handle = None
        if m.handle is not None:
            self.port.unload(m.handle)
            m.handle = None

    # --- when it fails ---

    def _undo(self, m, gone, e):
        """Brings back what was resident as far as possible; returns the exception to raise."""
        self.state = "none"
        try:
            self._unload(m)
            self._restore(gone)
            self.state = "previous"
        except BaseException as second:
            if isinstance(e, Exception) and not isinstance(second, Exception):
                e = second  # the user pressed stop
        try:
            return self._explain(m, e)
        except MemoryError:  # no room for the text
            return e

    def _restore(self, gone):
        gone = _by_order([x for x in gone if not x.ready])
        for x in gone:
            self._unload(x)
        for x in gone:
            short = self._short(x.cost, ())
            if short:
                raise short
            if len(self._loaded()) >= self.keep:  # a setup loaded others
                raise NoRoom("keep", "slots", 1, 0)
            try:
                self._load(x)
            except BaseException:
                self._unload(x)
                raise

    def _explain(self, m, e):
        """The exception of e's class that tells the state as well; e itself when its class is not plain."""
        kind = type(e)
        names = ", ".join([str(x.name) for x in self._loaded() if x.ready]) or "none"
        if self.state == "previous":
            names += ", as before"
        what = e.args[1] if kind is OSError and len(e.args) > 1 else e
        text = "use({!r}): {} (resident now: {})".format(m.name, what, names)
        if kind is NoRoom:
            new = NoRoom(text, e.region, e.need, e.free)
        elif kind in _PLAIN:
            args = (e.args[0], text) if kind is OSError and e.args else (text,)
            new = type(kind.__name__, (kind,), {})(*args)
        else:
            return e
        new.cause = getattr(e, "cause", e)
        new.state = self.state
        return new

    # --- release ---

    def release(self, name):
        """Frees a model, pinned or not. Harmless when it is not resident. Its definition stays."""
        m = self._find(name)
        m.held = 0
        try:
            self._unload(m)
        except BaseException:
            self._unload(m)  # once more: what was interrupted is not left half freed
            raise

    def release_all(self):
        """Frees every model, last loaded first."""
        for m in reversed(self._loaded()):
            self.release(m.name)
        gc.collect()

    def status(self, out=print):
        """Prints and returns what is resident, what it takes and what is missing: see maixmem_status."""
        from maixmem_status import status

        return status(self, out)


def _ticks():
    return time.ticks_ms() if hasattr(time, "ticks_ms") else int(time.monotonic() * 1000)


def _passed(start):
    now = _ticks()
    return time.ticks_diff(now, start) if hasattr(time, "ticks_diff") else now - start


def _by_order(models):
    return sorted(models, key=lambda m: m.order)
