# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem deploy, end to end with mpremote, on a board behind a pseudo-terminal; and with the
cable pulled."""

from __future__ import annotations

import binascii
import gc
import json
import os
import sys
import types
from pathlib import Path

import installed
import paths
import pytest
from commands import invoke, maixmem, mpremote
from emulated import answer
from fakeboard import FakeBoard
from maixmem_cli.emulator.connect import connect, open_board, open_port
from maixmem_cli.library import forms, modules
from maixmem_cli.serial import question, visit
from maixmem_cli.serial.identity import identity
from maixmem_cli.serial.repl import PortError, RawRepl
from maixmem_cli.serial.transfer import Transfer, TransferError, matches

pytestmark = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)

_SMALL = ("maixmem_pool", "maixmem")  # enough for the sweeps


@pytest.fixture
def board(tmp_path: Path):
    with FakeBoard(tmp_path / "maix", "maix") as b:
        yield b


@pytest.fixture
def modern(tmp_path: Path):
    with FakeBoard(tmp_path / "modern", "modern") as b:
        yield b


def test_everything_on_a_maixpy_board_and_it_imports(board) -> None:
    done = json.loads(maixmem("deploy", "--port", board.port, "--json"))
    assert done["kind"] == "maixpy"
    assert done["target"] == "/flash"
    assert {Path(n).stem for n in done["copied"]} == set(modules.K210)
    assert done["checked_by"] == "sha256"
    assert done["free_before"] > done["free_after"] > 0
    assert done["findings"] == []
    assert {p.name for p in board.root.iterdir()} == {Path(n).name for n in done["copied"]}
    assert "heap" in mpremote(board.port, "exec", "import maixmem; maixmem.report()")


def test_canmv_gets_its_own_port(tmp_path: Path) -> None:
    """Its board answers as MaixPy does, and was given MaixPy's modules: report() had no port."""
    with FakeBoard(tmp_path / "canmv", "canmv", installed.models(tmp_path)) as b:
        done = json.loads(maixmem("deploy", "--port", b.port, "--json"))
        assert {Path(n).stem for n in done["copied"]} == set(modules.modules("canmv"))
        assert done["findings"] == []
        installed.check(mpremote(b.port, "exec", installed.USES), "canmv")
        installed.check_models(mpremote(b.port, "exec", installed.MODELS))


@pytest.mark.parametrize("kind", ["openmv", "k230"])
def test_a_camera_gets_its_own_port(tmp_path: Path, kind: str) -> None:
    with FakeBoard(tmp_path / kind, kind) as b:
        done = json.loads(maixmem("deploy", "--port", b.port, "--json"))
        assert {Path(n).stem for n in done["copied"]} == set(modules.modules(kind))
        assert (done["findings"], done["bytecode"]) == ([], 6)
        assert done["target"] == b.home and len(list(b.files.iterdir())) == len(done["copied"])
        said = mpremote(b.port, "exec", installed.USES)
        installed.check(said, kind)
        assert (kind == "openmv") == ("uma0: 76.3 KiB in use at most" in said), said


def test_parts_for_threads_are_not_missed_on_a_firmware_without(
    tmp_path: Path, monkeypatch
) -> None:
    """On the minimum build deploy ended with a finding."""
    on_board: dict = {}
    exec((paths.TOOLS / "maixmem_cli/serial/on_board/imports.py").read_text(), on_board)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "_thread", None)
    for name in ("_thread", "no_such_part"):
        (tmp_path / f"needs_{name.strip('_')}.py").write_text(f"import {name}\n")
    monkeypatch.setattr(gc, "mem_free", lambda: 0, raising=False)
    _, _, failed, _ = on_board["try_all"](["needs_thread", "needs_no_such_part"], str(tmp_path))
    assert [name for name, _ in failed] == ["needs_no_such_part"]


def test_nothing_stays_in_memory_after_a_deploy(modern) -> None:
    """What deploy imports to try it would take the room of an image, and doctor would say so."""
    maixmem("deploy", "--port", modern.port, "--modules", "pool")
    with connect(modern.port) as there:
        loaded = answer(there, "import sys\nprint([m for m in sys.modules if m[:7] == 'maixmem'])")
    assert loaded == []


def test_again_copies_nothing_and_a_changed_file_only_itself(modern) -> None:
    maixmem("deploy", "--port", modern.port, "--modules", "pool")
    again = json.loads(maixmem("deploy", "--port", modern.port, "--modules", "pool", "--json"))
    assert again["copied"] == []
    one = modern.root / "lib" / Path(again["same"][0]).name
    one.write_bytes(one.read_bytes()[:-1])
    third = json.loads(maixmem("deploy", "--port", modern.port, "--modules", "pool", "--json"))
    assert [Path(n).name for n in third["copied"]] == [one.name]


def test_sources_replace_bytecode_and_bytecode_sources(modern) -> None:
    form = {}
    for name, options in (("mpy", []), ("py", ["--source"]), ("back", [])):
        maixmem("deploy", "--port", modern.port, "--modules", "pool", *options)
        form[name] = {p.suffix for p in (modern.root / "lib").iterdir()}
    assert form == {"mpy": {".mpy"}, "py": {".py"}, "back": {".mpy"}}


def test_a_module_that_is_no_more_is_named_and_left(modern) -> None:
    maixmem("deploy", "--port", modern.port, "--modules", "pool")
    (modern.root / "lib" / "maixmem_retired.mpy").write_bytes(b"M")
    (modern.root / "lib" / "other.py").write_bytes(b"")
    done = json.loads(maixmem("deploy", "--port", modern.port, "--modules", "pool", "--json"))
    text = "/lib/maixmem_retired.mpy belongs to no module of this version. Next: remove it, "
    assert done["notes"] == [text + "unless it is yours"]
    assert (modern.root / "lib" / "maixmem_retired.mpy").exists()


def test_a_modern_board_gets_its_bytecode_in_lib(modern) -> None:
    done = json.loads(maixmem("deploy", "--port", modern.port, "--json"))
    assert (done["kind"], done["target"], done["bytecode"]) == ("micropython", "/lib", 6)
    assert {p.stem for p in (modern.root / "lib").iterdir()} == set(modules.modules("generic"))
    assert (
        mpremote(modern.port, "exec", "import maixmem; print(maixmem.port().name)").strip()
        == "generic"
    )
    installed.check(mpremote(modern.port, "exec", installed.USES), "generic")


def test_a_board_that_is_too_full_is_left_alone(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "full", "maix", blocks=2) as b:
        said = json.loads(maixmem("deploy", "--port", b.port, "--json", status=1))
        assert "/flash is full: " in said["error"] and "missing" in said["error"]
        assert "Next:" in said["error"]
        assert list(b.root.iterdir()) == []


def test_circuitpython_gets_sources_on_its_drive(tmp_path: Path) -> None:
    (tmp_path / "boot_out.txt").write_text("Adafruit CircuitPython 9.2.1\n")
    done = json.loads(maixmem("deploy", "--target", str(tmp_path), "--json"))
    assert done["kind"] == "circuitpython"
    for name in modules.modules("generic"):
        assert (tmp_path / "lib" / f"{name}.py").read_bytes() == (
            paths.LIB / f"{name}.py"
        ).read_bytes()
    assert json.loads(maixmem("deploy", "--target", str(tmp_path), "--json"))["copied"] == []


@pytest.mark.parametrize("gone", [(), ("sha256",), ("sha256", "crc32")], ids=len)
def test_a_file_is_checked_with_what_the_board_has(gone, tmp_path: Path) -> None:
    """CircuitPython 6 has neither; its numbers stay small there: chunks of 512 bytes."""
    file, data = tmp_path / "a", bytes(range(256)) * 70 + b"\xff" * 9000
    file.write_bytes(data)
    there: dict = {}
    exec("\n".join(question.source("files")[0]), there)
    there["binascii"] = types.SimpleNamespace(hexlify=binascii.hexlify)
    if "crc32" not in gone:
        there["binascii"].crc32 = binascii.crc32
    there["sha256"] = None if "sha256" in gone else there["sha256"]
    found = there["check"]([str(file), str(tmp_path / "none")])
    assert found[str(tmp_path / "none")] is None
    assert found[str(file)][1] == ("sha256", "crc32", "adler32")[len(gone)]
    assert matches(data, found[str(file)]) and not matches(data[:-1] + b"x", found[str(file)])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--port", "/nowhere/port"], "--port"),
        (["--modules", "nonsense"], "--modules"),
        (["--target", "/nowhere"], "--target"),
    ],
)
def test_wrong_use_is_status_2_and_names_the_option(board, options: list[str], named: str) -> None:
    command = ["deploy", *([] if named == "--port" else ["--port", board.port]), *options]
    done = invoke(*command)
    assert done.exit_code == 2
    assert [line for line in done.stderr.splitlines() if named in line], done.stderr
    assert list(board.root.iterdir()) == []


# --- the cable is pulled after k bytes ---


def _state(root: Path, old: dict[str, bytes], new: dict[str, bytes]) -> str:
    """ "old" or "new" when exactly one of the two sets is on the board, else what is wrong."""
    found = {p.name: p.read_bytes() for p in root.iterdir() if not p.name.endswith("~")}
    return "old" if found == old else "new" if found == new else f"neither: {sorted(found)}"


def _files(suffix: bytes) -> dict[str, bytes]:
    return {f"{m}.py": (paths.LIB / f"{m}.py").read_bytes()[:3000] + suffix for m in _SMALL}


def _transfer(board, new: dict[str, bytes], patience: float):
    return Transfer(
        lambda: connect(board.port), {f"/flash/{n}": d for n, d in new.items()}, (), patience
    )


def _whole_length(board, new: dict[str, bytes]) -> int:
    """Bytes that the host sends when nothing goes wrong."""
    before = board.received
    _transfer(board, new, 0).run(lambda name, done: None)
    return board.received - before


def _put(root: Path, files: dict[str, bytes]) -> None:
    for p in root.iterdir():
        p.unlink()
    for name, data in files.items():
        (root / name).write_bytes(data)


def test_cable_pulled_at_every_stage_leaves_the_old_set_or_the_new_one(board) -> None:
    old, new = _files(b"#old\n"), _files(b"#new\n")
    _put(board.root, old)
    length = _whole_length(board, new)
    every = int(os.environ.get("MAIXMEM_CUT_EVERY", length // 12))
    stages = sorted(
        {*range(1, length, every), *range(length - 800, length, min(80, every))}
    )  # the end: checked, renamed
    seen = {"old": 0, "new": 0}
    for k in stages:
        _put(board.root, old)
        board.cut_after = k
        said = ""
        try:
            _transfer(board, new, 0).run(lambda name, done: None)
        except TransferError as e:
            said = str(e)
            assert "run the same command again" in said
        state = _state(board.root, old, new)
        assert state in (seen if said else ("new",)), (
            f"cut after {k} of {length} bytes: {state}, and said {said!r}"
        )
        seen[state] += 1
        board.replug()
        _transfer(board, new, 0).run(lambda name, done: None)
        assert _state(board.root, old, new) == "new", f"not finished after a cut at {k}"
        assert not list(board.root.glob("*~"))
    assert seen["old"] > 0
    assert seen["new"] > 0


def _deploy_cut_after(board: FakeBoard, k: int, *options: str) -> str:
    """Runs the whole command with a cut; what it said, "" when it was done before."""
    board.cut_after = k
    done = invoke("deploy", "--port", board.port, "--wait", "0", *options)
    board.replug()
    assert done.exit_code in ((1, 2) if done.stderr else (0,)), done.stdout + done.stderr
    return done.stderr


def test_cable_pulled_from_a_bare_board_leaves_nothing_or_all(modern) -> None:
    lib = modern.root / "lib"
    maixmem("deploy", "--port", modern.port, "--modules", "pool")
    length = modern.received
    whole = {p.name: p.read_bytes() for p in lib.iterdir()}
    for k in range(5, length, length // 9):
        for p in lib.iterdir():
            p.unlink()
        said = _deploy_cut_after(modern, k, "--modules", "pool")
        modern.press_reset()  # it has its power from the cable
        there = {p.name: p.read_bytes() for p in lib.iterdir() if not p.name.endswith("~")}
        assert there in ((({}, whole)) if said else (whole,)), f"cut after {k} of {length} bytes"
        assert "Next:" in said or not said
    maixmem("deploy", "--port", modern.port, "--modules", "pool")
    assert {p.name: p.read_bytes() for p in lib.iterdir()} == whole


def test_cable_pulled_while_the_board_is_asked(board) -> None:
    for k in range(1, 1700, 240):
        said = _deploy_cut_after(board, k)
        assert "Next:" in said
        left = {p.name for p in board.root.iterdir() if not p.name.endswith("~")}
        assert left <= {"maixmem_try.mpy"}
    maixmem("deploy", "--port", board.port, "--modules", "pool")
    assert "maixmem_try.mpy" not in {p.name for p in board.root.iterdir()}


def test_a_plug_that_comes_back_is_not_noticed_but_in_time(board) -> None:
    old, new = _files(b"#old\n"), _files(b"#new\n")
    _put(board.root, old)
    length = _whole_length(board, new)
    board.replug_at_once = True
    for k in (10, length // 3, length // 2, length - 300):
        _put(board.root, old)
        board.cut_after = k
        result = _transfer(board, new, 5).run(lambda name, done: None)
        assert _state(board.root, old, new) == "new"
        assert sorted(result.copied) == sorted(f"/flash/{n}" for n in new)


def test_what_was_sent_before_the_cut_is_not_sent_again(board) -> None:
    old, new = _files(b"#old\n"), _files(b"#new\n")
    _put(board.root, old)
    length = _whole_length(board, new)
    _put(board.root, old)
    board.cut_after = length * 3 // 4  # one of the two files is there
    with pytest.raises(Exception, match="cut"):
        _transfer(board, new, 0).run(lambda name, done: None)
    board.replug()
    assert _whole_length(board, new) < length * 3 // 4


def test_ctrl_c_leaves_the_old_files_and_the_prompt(board) -> None:
    old, new = _files(b"#old\n"), _files(b"#new\n")
    _put(board.root, old)

    def stop(name: str, done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(TransferError, match="The old files on the board are as they were"):
        _transfer(board, new, 0).run(stop)
    assert _state(board.root, old, new) == "old"
    assert mpremote(board.port, "resume", "exec", "print(6 * 7)").strip() == "42"


def test_the_probe_finds_what_the_board_loads(board) -> None:
    with open_board(board.port) as b:
        who = identity(b)
        assert who.bytecode is None  # MaixPy's sys.implementation has two fields
        assert forms.accepted(b, who, "/flash") == 6  # what the unix port behind the fake loads
    assert list(board.root.iterdir()) == []


# --- the same on the board that is given: the host stops in the middle of a byte stream ---


class _Cut(RawRepl):
    """A connection that breaks after `left` bytes to the board."""

    left = 0

    def _write(self, data: bytes) -> None:
        count = min(len(data), self.left)
        _Cut.left -= count
        super()._write(data[:count])
        if count < len(data):
            raise PortError("cut by the test")

    def close(self) -> None:
        self._port.close()  # nothing more reaches the board, as when the plug is out


def _cut(port: str) -> _Cut:
    board = _Cut(port, open_port(port))
    board.enter(5)
    return board


@pytest.mark.skipif(
    not os.environ.get("MAIXMEM_BOARD"), reason="no board: MAIXMEM_BOARD=PORT gives one"
)
def test_cable_pulled_from_the_board_that_is_given() -> None:
    port = os.environ["MAIXMEM_BOARD"]
    old, new = (
        {f"/flash/cut_{n}": d for n, d in _files(s).items()} for s in (b"#old\n", b"#new\n")
    )

    def there() -> str:
        with open_board(port) as board:
            found = visit.ask(board, "files", "check", list(old))
        for state, files in (("old", old), ("new", new)):
            if all(matches(data, found[name]) for name, data in files.items()):
                return state
        return f"neither: {found}"

    def put(files: dict[str, bytes]) -> None:
        Transfer(lambda: connect(port), files).run(lambda name, done: None)

    seen = []
    put(old)
    for k in (1, 50, 1200, *range(3000, 13001, 2000), 14000, *range(15000, 17001, 500)):
        _Cut.left = k
        try:
            Transfer(lambda: _cut(port), new, patience=0, attempts=1).run(lambda name, done: None)
        except TransferError as e:
            assert "run the same command again" in str(e)
        seen.append(there())
        put(old)
    with open_board(port) as board:
        board.check(f"import os\nfor n in {list(old)!r}: os.remove(n)")
    assert set(seen) == {"old", "new"}, seen
