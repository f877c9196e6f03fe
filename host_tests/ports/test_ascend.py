# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The port for Ascend 310: models, the work memory that they share, threads."""

from __future__ import annotations

import importlib
import sys
import threading

import pytest
from ascend_kit import MIB, acl, ascend, board, start, taken
from linux_boards import every_fault
from maixmem import NoRoom
from maixmem_ascend.memory import AclError
from maixmem_models import ModelManager


@pytest.fixture(autouse=True)
def fresh_board() -> None:
    start()


def test_regions_are_normalised():
    found = {r.name: r for r in ascend.Port().regions()}
    assert set(found) == {"ddr", "huge", "normal"}  # no hbm here
    assert found["huge"].total == 1940 * MIB and found["huge"].free == 1940 * MIB
    for r in found.values():
        assert r.used + r.free == r.total and r.used == 0
    assert found["ddr"].total == found["huge"].total + found["normal"].total


def test_the_work_memory_is_the_largest_not_the_sum():
    port = ascend.Port()
    port.reserve(["a.om", "b.om", "c.om"])
    assert port.work_bytes == 3 * MIB
    models = [port.load(p) for p in ("a.om", "b.om", "c.om")]
    assert board.live() == taken(3 * MIB) + taken(2 * MIB) + taken(MIB) + taken(500)
    for m in models:
        port.unload(m)
    assert board.live() == taken(3 * MIB)
    port.close()
    assert board.live() == 0


@pytest.mark.parametrize("order", ["abc", "cba", "bac", "acb"])
def test_the_work_memory_grows_and_all_move_to_it(order: str):
    port = ascend.Port()
    models = []
    for name in order:
        cost = port.inspect(f"{name}.om")
        assert cost.certainty == "estimate" and cost.need == cost.peak == {
            "ddr": taken(cost.work) + taken(cost.weight)
        }
        models.append(port.load(f"{name}.om"))
        assert len(port.works) == 1 and port.work_bytes == max(m.cost.work for m in models)
        assert board.live() == taken(port.work_bytes) + sum(taken(m.cost.weight) for m in models)
        assert len(board.loaded) == len(models) and not port.warnings()
    for m in models:
        port.unload(m)
        port.unload(m)  # harmless
    assert board.live() == 0 and not board.loaded


def test_one_model_after_the_other_computes():
    port = ascend.Port()
    models = [port.load("a.om"), port.load("b.om")]
    given, wanted = port.memory.alloc("device", 64), port.memory.alloc("device", 64)
    for i in range(4):
        port.memory.write(given, bytes([i]) * 64)
        models[i % 2].run([given], [wanted])
        assert port.memory.read(wanted, 1) == bytes([i + 1])
    host = port.memory.alloc("host", 64)
    for wrong in ([], [host], [given, given], [ascend.Picture(given.ptr, (1, 1, "", 63), None)]):
        with pytest.raises(ValueError, match="run: input buffers"):
            models[0].run(wrong, [wanted])
    port.unload(models[0])
    with pytest.raises(RuntimeError, match="was unloaded"):
        models[0].run([given], [wanted])
    models[1].run([given], [wanted])


def test_threads_take_turns_and_have_their_context():
    port = ascend.Port()
    models = [port.load("a.om"), port.load("b.om")]
    inside, failures = [], []

    def running(number):
        inside.append(number)
        gate.wait(0.05)  # the other thread would come in here
        assert inside[-1] == number

    gate = threading.Event()
    board.running = running
    buffers = [[port.memory.alloc("device", 64)] for _ in range(4)]

    def work(i):
        try:
            for _ in range(3):
                models[i].run(buffers[2 * i], buffers[2 * i + 1])
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures and len(inside) == 6


def test_without_the_ports_turn_two_threads_corrupt():
    port = ascend.Port()
    a, b = port.load("a.om"), port.load("b.om")
    buf = port.memory.alloc("device", 64)
    seen = []

    def other():
        acl.rt.set_context(port._context)
        with pytest.raises(board.MemoryCorruption):
            acl.mdl.execute(b.ids[-1][0], [(buf.ptr, 64)], [(buf.ptr, 64)])
        seen.append(True)

    def running(number):
        board.running = None
        t = threading.Thread(target=other)
        t.start()
        t.join()

    board.running = running
    a.run([buf], [buf])
    assert seen == [True]


def test_no_room_is_said_before_anything_is_taken():
    board.reset(normal=4 * MIB, huge=0)
    board.add_model("a.om", work=MIB, weight=2 * MIB)
    board.add_model("b.om", work=MIB, weight=2 * MIB)
    board.add_model("d.om", work=2 * MIB, weight=100)
    port = ascend.Port()
    a = port.load("a.om")
    board.faults.clear()
    for path in ("b.om", "d.om"):  # d's larger work memory would stand beside a's
        with pytest.raises(NoRoom, match="Next: unload a model") as e:
            port.load(path)
        assert e.value.region == "ddr" and e.value.need > e.value.free
    assert "rt.malloc" not in board.faults.names
    short = port.check_fit(port.inspect("d.om"), 0, [a])
    assert short is None
    port.unload(a)
    port.unload(port.load("d.om"))
    assert board.live() == 0


def test_the_last_unload_says_when_work_memory_is_not_taken_back():
    port = ascend.Port()
    port.reserve(())
    assert port.work_bytes == 0
    a = port.load("a.om")
    board.faults.clear()
    board.faults.fail(3, 207002)  # the model, its weights, then the work memory
    with pytest.raises(AclError, match=r"rt\.free: not freed: in use"):
        port.unload(a)
    assert (
        board.live() == taken(MIB) and "1.0 MiB of work memory in 1 blocks" in port.warnings()[0]
    )
    port.unload(a)
    assert board.live() == 0 and not port.warnings()
    board.faults.clear()
    board.faults.fail(1, 500000)
    with pytest.raises(AclError, match=r"get_mem_info\(ddr\)"):
        port.room("ddr")
    assert port.room("npu") == 0


def test_what_this_port_does_not_have():
    with pytest.raises(NotImplementedError, match="this platform cannot"):
        ascend.Port().read_flash(0, 16)


def test_a_run_that_fails_leaves_the_model_and_its_buffers():
    port = ascend.Port()
    a = port.load("a.om")
    buf = port.memory.alloc("device", 64)
    for k in (1, 2, 3):
        board.faults.clear()
        board.faults.fail(k, 500002)
        with pytest.raises(AclError):
            a.run([buf], [buf])
    board.faults.clear()
    a.run([buf], [buf])
    assert board.faults.names == ["mdl.add_dataset_buffer"] * 2 + ["mdl.execute"]


def test_errors_name_the_call_the_code_and_what_it_means():
    port = ascend.Port()
    with pytest.raises(
        AclError, match=r"acl\.mdl\.query_size\(none\.om\): no such model file \(145002\)"
    ) as e:
        port.load("none.om")
    assert e.value.code == 145002
    board.faults.clear()
    port.load("a.om")
    k = board.faults.names.index("rt.malloc") + 1
    board.faults.clear()
    board.faults.fail(k, 207001)
    with pytest.raises(NoRoom, match="207001"):
        port.load("b.om")


def test_a_failed_start_leaves_the_device_alone():
    board.faults.clear()
    board.faults.fail(2, 207005)
    with pytest.raises(AclError, match="create_context"):
        ascend.Port()
    assert not board.contexts


# --- failure injection ---


def consistent(port, models) -> None:
    """Every model that counts as loaded computes, and all that is taken belongs to one."""
    given, wanted = port.memory.alloc("dvpp", 64), port.memory.alloc("dvpp", 64)
    for m in models:
        m.run([given], [wanted])
    for buf in (given, wanted):
        port.memory.free(buf)
    blocks = {id(w.buf): w.buf for w in port.works}
    blocks.update(
        {
            id(m.weight): m.weight
            for m in port.models + port._pending_unload
            if m.weight and m.weight.ptr
        }
    )
    assert board.live("device") == sum(taken(b.nbytes) for b in blocks.values())
    assert sum(len(m.ids) for m in port.models + port._pending_unload) == len(board.loaded)


@pytest.mark.parametrize("exc", [207001, 500000, MemoryError, KeyboardInterrupt], ids=str)
def test_every_fault_point_of_load_growth_and_unload(exc, capsys):
    """a is resident, b needs larger work memory: a moves; then a goes. After any failure all is
    accounted for."""

    def prepare():
        board.reset()
        board.add_model("a.om", work=1 * MIB, weight=2 * MIB)
        board.add_model("b.om", work=3 * MIB, weight=1 * MIB)
        port = ascend.Port()
        loaded = [port.load("a.om")]

        def run():
            loaded.append(port.load("b.om"))
            port.unload(loaded[0])

        def check():
            consistent(port, [m for m in loaded if m.ids])
            port._settle()
            assert not port._pending_unload and len(port.works) == 1 and not port.warnings()
            consistent(port, [m for m in loaded if m.ids])
            for m in reversed(loaded):
                port.unload(m)
            assert board.live() == 0 and not board.loaded
            port.close()

        return run, check

    count = every_fault(prepare, board.faults, exc)
    with capsys.disabled():
        print(
            f"\nascend {exc}: {count} failures of load, growth and unload: nothing leaked", end=" "
        )


@pytest.mark.parametrize("exc", [500000, KeyboardInterrupt], ids=str)
def test_every_fault_point_of_reserve_and_close(exc):
    def prepare():
        board.reset()
        board.add_model("a.om", work=1 * MIB, weight=2 * MIB)
        port = ascend.Port()

        def run():
            port.reserve(["a.om"])
            port.load("a.om")
            port.close()

        def check():
            if board.contexts:
                port.close()
            assert board.live() == 0 and not board.loaded

        return run, check

    assert every_fault(prepare, board.faults, exc) > 10


def test_a_model_that_cannot_move_stays_where_it_works_and_moves_later():
    port = ascend.Port()
    a = port.load("a.om")
    board.faults.clear()
    port.load("c.om")  # c's larger work memory: a moves
    moving = board.faults.names.index("mdl.load") + 1
    for m in list(port.models):
        port.unload(m)
    a = port.load("a.om")
    board.faults.clear()
    board.faults.fail(moving, 500000)
    c = port.load("c.om")
    assert [m.ids[-1][1].buf.nbytes for m in (a, c)] == [MIB, 2 * MIB]
    assert "3.0 MiB of work memory in 2 blocks" in port.warnings()[0]
    consistent(port, [a, c])
    port.load("b.om")
    assert len(port.works) == 1 and not port.warnings()


def test_a_context_that_another_library_made_current_is_not_used():
    p = ascend.Port()
    first = p.load("a.om")
    other, _ = acl.rt.create_context(0)
    second = p.load("b.om")
    buf = p.memory.alloc("device", 64)
    for model in (first, second):
        acl.rt.set_context(other)
        model.run([buf], [buf])
    acl.rt.set_context(other)
    p.unload(first)
    acl.rt.set_context(other)
    p.unload(second)
    p.memory.free(buf)
    acl.rt.set_context(other)
    p.close()
    assert board.live() == 0 and not board.loaded and other in board.contexts


def test_two_ports_do_not_meet():
    ports = [ascend.Port() for _ in range(2)]
    models = [p.load("a.om") for p in ports]
    contexts = [loaded.context for loaded in board.loaded.values()]
    assert len(set(contexts)) == 2
    for p, model in zip(ports, models):
        p.unload(model)
    assert board.live() == 0


def test_who_started_acl_ends_it():
    ascend.Port().close()
    assert not board.initialised
    acl.init()
    ascend.Port().close()
    assert board.initialised


def test_a_model_without_weights_or_without_work_memory():
    board.add_model("no weights.om", work=MIB, weight=0)
    board.add_model("no work.om", work=0, weight=MIB)
    p = ascend.Port()
    for path in ("no weights.om", "no work.om"):
        model = p.load(path)
        assert board.live() == p.inspect(path).need["ddr"]
        p.unload(model)
        assert board.live() == 0


def test_the_manager_evicts_when_the_driver_has_no_more_than_its_total_says():
    """Up to 1 MiB come from normal pages only; the free bytes count huge pages too."""
    board.reset(normal=5 * MIB, huge=20 * MIB)
    names = [f"{i}.om" for i in range(8)]
    for name in names:
        board.add_model(name, work=600 * 1024, weight=900 * 1024)
    m = ModelManager(ascend.Port())
    for name in names:
        m.add(name, name)
        m.use(name)
    resident = [x.name for x in m.models.values() if x.ready]
    assert resident[-1] == names[-1] and 1 < len(resident) < len(names)
    m.release_all()
    assert board.live() == 0


def test_what_models_share_is_counted_once_in_what_is_gone():
    p = ascend.Port()
    m = ModelManager(p)
    for name in ("a.om", "b.om"):
        m.add(name, name)
        m.use(name)
    assert m.status(out=str)["unaccounted"] == {"ddr": 0}
    leak = p.memory.alloc("device", 900 * 1024)
    assert m.status(out=str)["unaccounted"] == {"ddr": taken(900 * 1024)}
    p.memory.free(leak)


def test_without_pyacl_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "acl", None)
    for name in [n for n in sys.modules if n.startswith("maixmem_ascend")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"no pyACL here .* Next: install CANN"):
        importlib.import_module("maixmem_ascend").Port
