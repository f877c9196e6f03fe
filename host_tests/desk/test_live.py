# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""From a bare board to a live view: deploy, import, report, doctor, top; on a board behind a pty,
and on the board at $MAIXMEM_BOARD (a serial port, a pty or socket://HOST:PORT) when it is
given."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import kmodel_build
import paths
import pytest
import serial
from commands import invoke, maixmem, mpremote
from fakeboard import FakeBoard
from maixmem_cli.answer.answer import Answer, Step
from maixmem_cli.commands import doctor as cmd_doctor

REAL = os.environ.get("MAIXMEM_BOARD")
fake_only = pytest.mark.skipif(
    paths.micropython() is None or sys.platform == "win32",
    reason="no MicroPython unix port here: no fake board",
)


def _built(path: Path) -> Path:
    path.write_bytes(
        kmodel_build.v3(
            (28, 28, 1), [("conv", 16), ("conv", 10), ("dequantize",), ("softmax",)]
        ).to_bytes()
    )
    return path


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """A fake MaixPy board with a model in flash and the library on it."""
    folder = tmp_path_factory.mktemp("live")
    model = _built(folder / "m.kmodel")
    with FakeBoard(folder / "maix", "maix", {0x300000: model}) as board:
        maixmem("deploy", "--port", board.port)
        yield board


def _of_the_stand_in(what: str) -> bool:
    """A fake board's GC heap carries the stand-in too: what pieces it is in is not the library's
    doing."""
    return not REAL and what.startswith("GC heap in pieces")


def _story(port: str) -> None:
    """What a user does with a board, in order."""
    deployed = json.loads(maixmem("deploy", "--port", port, "--json"))
    assert deployed["findings"] == []
    assert "on k210" in mpremote(port, "exec", "import maixmem; maixmem.report()")
    told = json.loads(invoke("doctor", "--port", port, "--json").stdout)
    assert [f for f in told["findings"] if not _of_the_stand_in(f["cause"])] == []
    assert [r["name"] for r in told["report"]["regions"]] == ["gc", "heap"]
    assert told["flash"]["regions"][0][0] == "firmware"
    assert told["gc_heap"]["stored"] - told["gc_heap"]["active"] < 160
    once = json.loads(maixmem("top", "--port", port, "--once", "--json"))
    assert all(0 < r["least_free"] <= r["free"] < r["total"] for r in once["regions"])
    assert mpremote(port, "exec", "print(6 * 7)").strip() == "42"


@fake_only
def test_story_on_a_fake_board(fake) -> None:
    _story(fake.port)


@pytest.mark.skipif(not REAL, reason="no board: MAIXMEM_BOARD=PORT gives one")
def test_story_on_the_board_that_is_given() -> None:
    _story(str(REAL))


@pytest.mark.skipif(not REAL, reason="no board: MAIXMEM_BOARD=PORT gives one")
@pytest.mark.parametrize("form", ["mpy4", "py"])
def test_mip_on_the_board_that_is_given(tmp_path: Path, form: str) -> None:
    from maixmem_cli.library import build, modules

    build.build(tmp_path, index=False)
    files = {f"{m}.{'py' if form == 'py' else 'mpy'}" for m in modules.K210}
    clean = (
        "import os\nfor n in os.listdir('/flash'):\n  if n[:7] == 'maixmem': "
        "os.remove('/flash/' + n)"
    )
    mpremote(str(REAL), "exec", clean)
    package = paths.ROOT if form == "py" else tmp_path / form
    mpremote(str(REAL), "mip", "install", "--target", "/flash", str(package / "package.json"))
    said = mpremote(
        str(REAL),
        "exec",
        "import os; print(os.listdir('/flash')); import maixmem; maixmem.report()",
    )
    assert all(name in said for name in files)
    assert "on k210" in said


# --- doctor ---


@fake_only
def test_doctor_finds_a_model_that_can_never_run_and_says_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _built(tmp_path / "m.kmodel")
    large = tmp_path / "large.kmodel"
    large.write_bytes(
        kmodel_build.v3((28, 28, 1), [("conv", 16), ("raw", 12, 1 << 17)]).to_bytes()
    )
    (tmp_path / "v5.kmodel").write_bytes(b"LDMK" + (5).to_bytes(4, "little") + bytes(56))
    flash = {
        0x300000: tmp_path / "v5.kmodel",
        0x400000: large,
        0x410000: model,  # inside the one before
    }
    with FakeBoard(tmp_path / "maix", "maix", flash) as board:
        maixmem("deploy", "--port", board.port)
        told = json.loads(maixmem("doctor", "--port", board.port, "--json", status=1))
        assert "overlap" in maixmem("doctor", "--port", board.port, status=1)
    findings = told["findings"]
    assert any("overlap" in f["cause"] for f in findings)
    assert all(f["step"] for f in findings)
    assert {m["address"] for m in told["models"]} >= {0x400000}
    capsys.readouterr()
    same = [  # what the same visit looks like: another finds other free bytes
        Answer(f["cause"], step=Step(**f["step"]), others=tuple(Step(**s) for s in f["others"]))
        for f in findings
    ]
    cmd_doctor.show(told, same)
    text = capsys.readouterr().out
    for f in findings:
        assert all(
            line in text
            for line in [f["cause"], f["step"]["text"], *(s["text"] for s in f["others"])]
        )


@fake_only
def test_doctor_on_a_bare_board_says_how_to_deploy(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        said = maixmem("doctor", "--port", board.port, status=1)
        assert "no module named 'maixmem'" in said
        assert [line.split()[0] for line in said.splitlines()[2:4]] == ["gc", "heap"], said
        bare = json.loads(maixmem("doctor", "--port", board.port, "--json", status=1))["heaps"]
        assert f"maixmem deploy --port {board.port}" in said
        assert "Next: maixmem deploy" in invoke("top", "--once", "--port", board.port).stderr
        maixmem("deploy", "--port", board.port)
        told = json.loads(invoke("doctor", "--port", board.port, "--json").stdout)["report"]
        rows = {r["name"]: r for r in told["regions"]}
        (_, heap) = bare  # the GC heap has the library by now
        assert heap == {key: rows["heap"][key] for key in heap}, (bare, rows)


@fake_only
def test_no_question_about_files_where_it_would_hang_the_board(tmp_path: Path) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        fill = "import k210_board as b\nwhile b.heap.malloc(8192): 0"
        mpremote(board.port, "resume", "exec", fill)
        for command in (("doctor",), ("deploy",), ("top", "--once")):
            done = invoke(*command, "--port", board.port)
            assert done.exit_code and "takes 16514 and hangs the board" in done.stderr, done.stderr
            assert "Next: reset the board" in done.stderr


@fake_only
def test_doctor_sees_a_gc_heap_that_is_not_active_yet(fake) -> None:
    mpremote(fake.port, "resume", "exec", "from Maix import utils; utils.gc_heap_size(262144)")
    said = json.loads(maixmem("doctor", "--port", fake.port, "--json", status=1))
    mpremote(fake.port, "resume", "exec", "utils.gc_heap_size(524288)")
    assert any("262144 bytes are set" in f["cause"] for f in said["findings"])


@fake_only
def test_the_stored_gc_heap_outlives_a_reset(fake) -> None:
    mpremote(fake.port, "resume", "exec", "from Maix import utils; utils.gc_heap_size(262144)")
    said = mpremote(fake.port, "exec", "from Maix import utils; print(utils.gc_heap_size())")
    mpremote(fake.port, "resume", "exec", "utils.gc_heap_size(524288)")
    assert said.split()[-1] == "262144"


@fake_only
def test_doctor_sees_hidden_and_unfinished_files(fake) -> None:
    hiding, rest = fake.root / "maixmem_pool.py", fake.root / "maixmem_flash.mpy~"
    hiding.write_bytes((paths.LIB / "maixmem_pool.py").read_bytes())
    rest.write_bytes(b"half")
    said = json.loads(maixmem("doctor", "--port", fake.port, "--json", status=1))
    hiding.unlink()
    rest.unlink()
    found = " ".join(f["cause"] for f in said["findings"])
    assert "maixmem_pool.py hides maixmem_pool.mpy" in found
    assert "maixmem_flash.mpy~: a deploy was cut" in found


# --- top ---


@contextlib.contextmanager
def _top(board: FakeBoard, file: Path):
    """maixmem top in a process of its own, after its first samples."""
    command = [
        sys.executable,
        "-m",
        "maixmem_cli",
        "top",
        "--port",
        board.port,
        "--interval",
        "0.05",
        "--csv",
        str(file),
    ]
    with subprocess.Popen(
        command, cwd=paths.TOOLS, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as top:
        try:
            _until(lambda: len(_rows(file)) > 2)
            yield top
        finally:
            top.kill()


def _end(top: subprocess.Popen, number: int) -> None:
    top.send_signal(number)
    _, errors = top.communicate(timeout=20)
    assert (top.returncode, errors) == (0, "")


def _rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines())) if file.is_file() else []


def _until(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@fake_only
def test_top_counts_and_writes_csv(fake, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    out = maixmem(
        "top", "--port", fake.port, "--count", "3", "--interval", "0.05", "--csv", str(file)
    )
    assert len(out.splitlines()) == 3
    assert "\x1b" not in out  # a pipe gets no colours
    rows = _rows(file)
    assert len(rows) == 3
    assert all(int(r["gc_free"]) >= int(r["gc_least_free"]) > 0 for r in rows)


@fake_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_top_leaves_the_board_at_its_prompt(fake, tmp_path: Path, number: int) -> None:
    file = tmp_path / "t.csv"
    with _top(fake, file) as top:
        _end(top, number)
    assert mpremote(fake.port, "resume", "exec", "print(6 * 7)").strip() == "42"


@fake_only
def test_a_port_in_use_is_refused_and_its_user_not_disturbed(fake, tmp_path: Path) -> None:
    with _top(fake, tmp_path / "t.csv") as top:
        for name in ("doctor", "deploy"):
            assert "--port" in invoke(name, "--port", fake.port).stderr
            maixmem(name, "--port", fake.port, status=2)
        _end(top, signal.SIGINT)
    assert {r["event"] for r in _rows(tmp_path / "t.csv")} == {""}


@fake_only
@pytest.mark.parametrize("how", ["reset", "unplugged"])
def test_top_survives(fake, tmp_path: Path, how: str) -> None:
    file = tmp_path / "t.csv"
    with _top(fake, file) as top:
        if how == "reset":
            fake.press_reset()
        else:
            fake.replug_at_once = True
            fake.cut_after = 1
        _until(lambda: "reset" in [r["event"] for r in _rows(file)][:-2])
        _end(top, signal.SIGINT)
    fake.replug_at_once = False
    events = [r["event"] for r in _rows(file)]
    assert events[events.index("reset") - 1] == "away"
    assert all(r["gc_free"] for r in _rows(file) if r["event"] != "away")


@fake_only
def test_json_wants_once(fake) -> None:
    said = maixmem("top", "--json", "--port", fake.port, status=2)
    assert "--json" in json.loads(said)["error"]


@pytest.mark.parametrize("more", [[], ["--once", "--json"]])
def test_a_csv_file_that_cannot_be_written_is_said_before_a_board_is_asked(
    more: list[str],
) -> None:
    done = invoke("top", "--port", "/nowhere/port", "--csv", "/nonexist/x.csv", *more)
    assert done.exit_code == 2
    said = json.loads(done.stdout)["error"] if more else done.stderr
    assert "--csv" in said and "/nonexist/x.csv" in said and "/nowhere/port" not in said


@fake_only
def test_a_csv_file_that_takes_no_more_ends_it(fake) -> None:
    done = invoke("top", "--port", fake.port, "--count", "1", "--csv", "/dev/full")
    assert done.exit_code == 1
    assert "--csv /dev/full" in done.stderr


@pytest.mark.parametrize("name", ["doctor", "top", "deploy"])
def test_no_board_is_status_2_and_json_stays_json(name: str) -> None:
    options = ["--once"] if name == "top" else []
    done = invoke(name, "--port", "/nowhere/port", "--json", *options)
    assert done.exit_code == 2
    assert "--port" in json.loads(done.stdout)["error"]


@fake_only
@pytest.mark.parametrize("name", ["doctor", "top", "deploy"])
def test_a_terminal_that_goes_away_is_a_lost_link(fake, monkeypatch, name: str) -> None:
    def gone(*args: object) -> None:
        raise termios.error(5, "Input/output error")

    monkeypatch.setattr(termios, "tcsetattr", gone)
    done = invoke(name, "--port", fake.port, *(["--wait", "0"] if name == "deploy" else []))
    assert done.exit_code in (1, 2)
    assert fake.port in done.stderr
    assert "Input/output error" in done.stderr


# --- a program that runs ---

_WORKS = "import time\nwhile True:\n print('working')\n time.sleep(0.1)\n"
_GOES_ON = (
    "import time\nwhile True:\n try:\n  print('working')\n  time.sleep(0.1)\n except "
    "KeyboardInterrupt:\n  pass\n"
)


def _start(port: str, program: str) -> None:
    """Leaves a program running on the board, as main.py is after power-on."""
    link = serial.serial_for_url(port, timeout=10)
    link.write(b"\r\x03")
    time.sleep(0.5)
    link.write(b"\r\x01")
    assert link.read_until(b"CTRL-B to exit\r\n>").endswith(b">")
    link.write(program.encode() + b"\x04")
    assert link.read_until(b"working").endswith(b"working")
    link.close()


def _run(*arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which must end in time."""
    command = [sys.executable, "-m", "maixmem_cli", *arguments]
    return subprocess.run(
        command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=seconds, check=False
    )


@fake_only
@pytest.mark.parametrize("name", ["doctor", "top"])
def test_a_program_that_prints_is_interrupted(fake, name: str) -> None:
    _start(fake.port, _WORKS)
    done = _run(name, "--port", fake.port, "--json", *(["--once"] if name == "top" else []))
    assert "error" not in json.loads(done.stdout), done.stdout
    assert done.returncode in (0, 1)


@pytest.mark.skipif(not REAL, reason="no board: MAIXMEM_BOARD=PORT gives one")
@pytest.mark.parametrize("name", ["doctor", "top"])
def test_a_program_that_prints_is_interrupted_on_the_board_that_is_given(name: str) -> None:
    _start(str(REAL), _WORKS)
    done = _run(name, "--port", str(REAL), "--json", *(["--once"] if name == "top" else []))
    assert "error" not in json.loads(done.stdout), done.stdout
    assert done.returncode in (0, 1)


@fake_only
@pytest.mark.parametrize("name", ["doctor", "top"])
def test_a_program_that_goes_on_printing_is_told(tmp_path: Path, name: str) -> None:
    with FakeBoard(tmp_path / "maix", "maix") as board:
        _start(board.port, _GOES_ON)
        done = _run(name, "--port", board.port, *(["--once"] if name == "top" else []))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "--port" in line and "working" in line and "Next: reset it" in line
