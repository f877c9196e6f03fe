# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem sim: exit status, hangs, errors, the board's heap, the SD card, the trace."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import kmodel_build
import paths
import pytest
import sim_both
from commands import invoke
from maixmem_cli.runs import run_standin, tracing

_LOAD = "import KPU\nnet = KPU.load(0x300000)\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.kmodel"
    path.write_bytes(
        kmodel_build.v3(
            (28, 28, 1), [("conv", 16), ("conv", 10), ("dequantize",), ("softmax",)]
        ).to_bytes()
    )
    return path


@pytest.mark.parametrize(
    ("source", "status"),
    [("print(1)", 0), ("import sys\nsys.exit(7)", 7), ("raise ValueError('x')", 1)],
)
def test_exit_status_is_the_scripts(sim, source: str, status: int) -> None:
    assert sim(source)[0] == status


def test_an_error_ends_in_its_meaning_and_one_clear_line(sim) -> None:
    status, out, err = sim(_LOAD)
    assert status == 1 and "maixmem: Cause: " in err and "maixmem: Do this: " in err
    lines = out.splitlines()
    assert lines[0].startswith("Traceback")
    assert 'script.py", line 2' in out
    assert "k210_sim.py" not in out
    assert "script.py failed: ValueError: [MAIXPY]kpu: load error:2002" in lines[-1]


def test_an_empty_flash_is_cured_by_flash_first(sim) -> None:
    err = sim(_LOAD)[2]
    assert "Do this: Put the model into the flash of this run: --flash MODEL@" in err
    assert "--flash" not in sim("raise OSError(12)")[2]


def test_a_syntax_error_is_the_scripts(sim) -> None:
    for options in ([], ["--trace"]):
        status, out, _ = sim("x = (\n", *options)
        assert status == 1
        assert "script.py failed: SyntaxError" in out.splitlines()[-1]


def test_a_hang_is_status_3_with_cause_and_cure(sim) -> None:
    source = "import image\nimage.Image(size=(64, 64)).copy().pix_to_ai()\n"
    status, out, err = sim(source)
    assert (status, out) == (3, "")
    said, at, cause, meant, cure, *_ = err.splitlines()[1:]
    assert said == "maixmem: the board hangs: only a reset helps, as a real one would"
    assert at == f"maixmem: at script.py:2: {source.splitlines()[1]}"
    assert cause.startswith("maixmem: pix_to_ai() on an image that copy()")
    assert meant.startswith("maixmem: Cause: The board hangs at script.py:2 `image.Image(")
    assert cure.startswith("maixmem: Do this: Use .cut() instead of .copy()")


def test_a_lock_that_nobody_gives_back_is_a_hang(sim) -> None:
    source = "import _thread\nl = _thread.allocate_lock()\nprint(l.acquire(), l.acquire(0))\n"
    status, out, err = sim(source + "l.acquire()\n")
    assert (status, out) == (3, "True False\n")
    assert "maixmem: at script.py:4: l.acquire()\nmaixmem: the lock is taken" in err


def test_the_firmware_asks_a_network_chip_for_some_time(sim) -> None:
    """21,401 ms on the full build; with wires that have no pins it stops in an assertion."""
    pins = "from fpioa_manager import fm\nfor n in (24, 25, 26): fm.register(n - 16, n)"
    ask = """
import network, time
began = time.ticks_ms()
try:
    network.ESP32_SPI(cs=24, rst=25, rdy=26, spi=1)
except OSError as e:
    print(e, (time.ticks_ms() - began) // 100)
"""
    assert sim(pins + ask)[:2] == (0, "Get version fail 214\n")
    status, _, said = sim(ask)
    assert status == 3 and "no pin is registered for cs" in said


def test_board_heap_is_what_the_board_is_set_to(sim) -> None:
    source = (
        "from Maix import utils\nimport gc\nprint(utils.gc_heap_size(), utils.heap_free(), "
        "gc.mem_free() + gc.mem_alloc())"
    )
    small, large = (
        [int(n) for n in sim(source, "--board-heap", size)[1].split()] for size in ("256K", "1M")
    )
    assert (small[0], large[0]) == (262144, 1048576)
    assert small[1] - large[1] == large[0] - small[0]
    assert large[2] > small[2]


def test_sd_folder_is_the_card(sim, tmp_path: Path, model: Path) -> None:
    card = tmp_path / "card"
    (card / "models").mkdir(parents=True)
    (card / "models" / "m.kmodel").write_bytes(model.read_bytes())
    status, out, _ = sim(
        'import KPU\nKPU.load("/sd/models/m.kmodel")\nprint("loaded")', "--sd", str(card)
    )
    assert (status, out) == (0, "loaded\n")


# an expression -> what the firmware (v0.6.2_84) gives for this card: a value, or the number of the
# OSError
_CARD = [
    ("os.getcwd()", "/sd"),
    ("os.uname()[3]", "v0.6.2-84-g8fcd84a58 on 2022-08-26"),
    ("os.listdir('/')", ["flash", "sd"]),
    ("os.listdir('/sd')", ["labels.txt", "main.py", "models"]),
    ("os.listdir('models')", ["m.bin"]),
    ("os.listdir('/sd/none')", 2),
    ("os.listdir('/nope')", 19),
    ("os.stat('/sd/labels.txt')[6]", 11),
    ("os.stat('/sd')[0]", 0x4000),
    ("os.stat('/sd/none')", 2),
    ("list(os.ilistdir('/sd'))[0]", ("labels.txt", 0x8000, 0, 11)),
    ("open('/sd/none')", 2),
    ("open('/flash/none', 'rb')", 2),
    ("open('/sd')", 22),
    ("open('/tmp/x', 'w')", 19),
    ("open('labels.txt').read()", "cat\ndog\n\xe9\n"),
    ("open('/sd/labels.txt').read(10)", "cat\ndog\n\xe9\n"),
    ("open('/sd/labels.txt', 'rb').readline()", b"cat\n"),
    ("open('/sd/labels.txt').readlines()", ["cat\n", "dog\n", "\xe9\n"]),
    ("[line for line in open('/sd/labels.txt')]", ["cat\n", "dog\n", "\xe9\n"]),
    ("open('/flash/x.txt', 'w').write('h\xe9')", 3),
    ("open('/flash/x.txt').read()", "h\xe9"),
    ("open('/sd/labels.txt').write('no')", 13),
    ("os.listdir('/flash')", ["freq.conf", "x.txt"]),
    ("os.mkdir('/sd/d')", None),
    ("os.mkdir('/sd/d')", 17),
    ("open('/sd/d/y', 'w').write('hi')", 2),
    ("open('/sd/nod/y', 'w')", 2),
    ("os.rename('/sd/d/y', '/sd/y')", None),
    ("os.rmdir('/sd/d')", None),
    ("open('/sd/y', 'a').write(' more')", 5),
    ("open('/sd/y', 'r+').write('HI')", 2),
    ("open('/sd/y').read()", "HI more"),
    ("os.remove('/sd/y')", None),
    ("os.remove('/sd/y')", 2),
    ("os.listdir()", ["labels.txt", "main.py", "models"]),
]
_ASK = """
import os
def ask(text):
    try:
        return eval(text)
    except OSError as e:
        return e.args[0]
for text in {!r}:
    print(repr(ask(text)))
"""
_ON_CPYTHON = """
import sys
from maixmem_cli.library import places
from maixmem_cli.cli import main
places.micropython = lambda: None
main([*sys.argv[1:], "--unsafe"])
"""


@pytest.mark.parametrize(
    "program", [["-m", "maixmem_cli"], ["-c", _ON_CPYTHON]], ids=["mp", "cpython"]
)
def test_a_script_sees_the_files_of_the_board_and_no_others(
    tmp_path: Path, program: list[str]
) -> None:
    card = tmp_path / "card"
    (card / "models").mkdir(parents=True)
    (card / "labels.txt").write_bytes(b"cat\ndog\n\xc3\xa9\n")
    (card / "models" / "m.bin").write_bytes(b"abc")
    before = sorted(tmp_path.rglob("*"))
    script = tmp_path / "ask.py"
    script.write_text(_ASK.format([text for text, _ in _CARD]), encoding="utf-8")
    command = [sys.executable, *program, "sim", str(script), "--sd", str(card)]
    done = subprocess.run(
        command, cwd=paths.TOOLS, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    assert dict(enumerate(told)) == dict(enumerate(answer for _, answer in _CARD))
    assert sorted(tmp_path.rglob("*")) == sorted([*before, script])


_OPEN = """
import gc, json, sys
def opens(n):
    for i in range(n):
        open("/flash/a.txt")
with open("/flash/a.txt", "w") as f:
    print("a", 5, file=f)
    json.dump([1, {}], f)
opens(2)
try:
    opens(1)
except OSError as e:
    print(e.args)
gc.collect()
opens(2)
gc.collect()
for i in range(20):
    with open("/flash/a.txt") as f:
        text = f.read()
print(repr(text))
"""


def test_the_flash_has_two_files_open_at_a_time(sim) -> None:
    """As the firmware; print() and json.dump() write to them."""
    assert sim(_OPEN)[:2] == (0, "(2,)\n'a 5\\n[1, {}]'\n")


def test_without_a_card_there_is_no_sd(sim) -> None:
    status, out, _ = sim("import os\nprint(os.getcwd(), os.listdir('/'))\nopen('/sd/x')")
    assert status == 1
    assert out.splitlines()[0] == "/flash ['flash']"
    assert "OSError: [Errno 19]" in out.splitlines()[-1]


def test_what_is_written_to_the_card_is_not_on_the_heap(sim, tmp_path: Path) -> None:
    """The firmware (v0.6.2_84) writes and reads it alike; its heap has 512 KiB."""
    source = """
import gc, os
gc.collect()
before = gc.mem_free()
f = open("/sd/log.csv", "w")
n = 0
for i in range(20000):
    n += f.write("%d,%d,%d,0.25,0.5,some value,and more\\n" % (i, i * 3, i * 7))
f.close()
gc.collect()
print(n, os.stat("/sd/log.csv")[6], before - gc.mem_free() < 8192)
f = open("/sd/log.csv")
f.seek(n - 48)
print(f.readline() + f.readline())
try:
    while True:
        f = open("/sd/more%d" % n, "w")
        n += f.write("x" * 65536)
except OSError as e:
    print(e.args[0])
os.remove("/sd/log.csv")
print(open("/sd/again", "w").write("x" * 60000))
"""
    status, out, _ = sim(source, "--sd", str(tmp_path))
    last = "19999,59997,139993,0.25,0.5,some value,and more"
    assert status == 0, out
    assert out.splitlines()[0] == "929309 929309 True"
    assert out.splitlines()[1:] == [last, "", "28", "60000"]


def test_what_is_written_to_the_flash_is_not_on_the_heap(sim) -> None:
    """The firmware (v0.6.2_84) keeps 32 bytes for a file that is open."""
    source = """
import gc
piece = bytes(2000)
gc.collect()
before = gc.mem_free()
f = open("/flash/video", "wb")
for i in range(400):
    f.write(piece)
gc.collect()
print(before - gc.mem_free() < 512)
f.close()
with open("/flash/video", "rb") as f:
    print(f.seek(799000), f.read() == piece[:1000])
"""
    assert sim(source)[:2] == (0, "True\n799000 True\n")


@pytest.mark.parametrize(
    ("text", "files", "room"),
    [
        ("import sensor", {}, False),  # writer.py lies there, and is never run
        ("import first", {}, True),  # which imports it
        ("import sensor", {"/sd/main.py": "writer.py"}, True),
        ("import sensor", {"/flash/helper.py": "writer.py"}, False),
        ("import helper", {"/flash/helper.py": "writer.py"}, True),
    ],
)
def test_room_for_files_is_there_where_what_runs_may_write_some(
    text: str, files: dict[str, str], room: bool, tmp_path: Path
) -> None:
    (tmp_path / "writer.py").write_text("open('log.csv', 'w')")
    (tmp_path / "first.py").write_text("import writer")
    given = {name: str(tmp_path / file) for name, file in files.items()}
    job = run_standin.Job(tmp_path / "app.py", text, files=given)
    assert bool(job.files_room) == room


@pytest.mark.parametrize("options", [(), ("--sd", "web")], ids=["flash", "card"])
def test_files_that_are_written_here_and_there(sim, options: tuple[str, ...]) -> None:
    source = """
import random
random.seed(3)
name = ("/sd/" if "/sd" in __import__("os").getcwd() else "/flash/") + "mixed"
want = bytearray()
open(name, "wb").close()
for i in range(150):
    mode = random.choice(("r+b", "ab", "rb"))
    with open(name, mode) as f:
        at = len(want) if mode == "ab" else random.randint(0, len(want))
        f.seek(at)
        if mode == "rb":
            n = random.randint(0, 20000)
            assert f.read(n) == bytes(want[at:at + n]), (i, at, n)
        else:
            data = bytes((i + k & 255 for k in range(random.choice((1, 50, 1000)))))
            f.write(data)
            want[at:at + len(data)] = data
print(len(want) > 10000, open(name, "rb").read() == bytes(want))
"""
    assert sim(source, *options)[:2] == (0, "True True\n")


def test_modules_are_found_on_the_card(sim, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "helper.py").write_text("answer = 42\n")
    assert sim("import helper\nprint(helper.answer)", "--sd", str(card))[:2] == (0, "42\n")


def test_modules_are_found_in_a_folder_that_the_script_puts_into_the_path(
    sim, tmp_path: Path
) -> None:
    card = tmp_path / "card"
    (card / "lib").mkdir(parents=True)
    (card / "lib" / "helper.py").write_text("answer = 42\n")
    source = "import sys\ntry:\n import helper\nexcept ImportError as e:\n print(e)\n"
    source += "sys.path.append('/sd/lib')\nimport helper\nprint(helper.answer)"
    told = "no module named 'helper'\n42\n"
    assert sim(source, "--sd", str(card))[:2] == (0, told)


def test_a_picture_that_is_packed_in_place_has_the_bytes_of_its_jpeg(sim) -> None:
    source = "import image, gc\ni = image.Image(size=(160, 120)).compress(quality=40)\n"
    source += "gc.collect()\nfree = gc.mem_free()\nkept = bytes(i.to_bytes())\n"
    source += "print(len(kept) == i.size(), free - gc.mem_free() < 2000)"
    assert sim(source)[:2] == (0, "True True\n")


def test_a_module_put_under_the_name_of_the_firmwares_is_imported(sim) -> None:
    """As maixmem_auto does."""
    source = "import maixmem_auto\nimport KPU, sensor\nprint(KPU.__name__, sensor.__name__)\n"
    status, out, err = sim(source)
    assert (status, out.split()) == (0, ["maixmem_kpu", "maixmem_auto_sensor"]), err


def test_a_folder_that_is_no_card_is_refused(sim, tmp_path: Path) -> None:
    for i in range(501):
        (tmp_path / f"{i}.txt").touch()
    status, _, err = sim("print(1)", "--sd", str(tmp_path))
    assert status == 2
    assert "--sd" in err.splitlines()[-1]


def test_trace_names_the_line_of_each_allocation(sim, model: Path) -> None:
    flash = f"0x300000={model}"
    status, out, told = sim(_LOAD + "KPU.deinit(net)\nprint('end')\n", "--flash", flash, "--trace")
    assert (status, out) == (0, "end\n")
    rows = [line.split() for line in told.splitlines()]
    taken = [r for r in rows if r[0] == "+" and r[3] == "heap"]
    given = [r for r in rows if r[0] == "-" and r[3] == "heap"]
    nbytes = model.stat().st_size + 256
    assert [r[7] for r in taken if r[1] == str(nbytes)] == ["2"]  # the model, taken by line 2
    assert [r[7] for r in given if r[1] == str(nbytes)] == ["3"]  # and given back by line 3
    assert sum(int(r[1]) for r in taken) == sum(int(r[1]) for r in given)


@pytest.mark.parametrize("more", [[], ["--trace"]])
def test_a_script_that_is_not_utf_8_is_one_line(tmp_path: Path, more: list[str]) -> None:
    script = tmp_path / "latin.py"
    script.write_bytes(b"print('caf\xe9')\n")
    done = invoke("sim", str(script), *more)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert str(script) in line and "byte 10 is 0xe9" in line and "Next: save" in line


def test_a_zero_byte_is_the_scripts(sim) -> None:
    for options in ([], ["--trace"]):
        status, _, err = sim("print(1)\0\n", *options)
        assert status == 1 and "maixmem_cli" not in err


def test_flash_addresses_are_written_as_sizes_are(sim, model: Path) -> None:
    for address in ("3M", "0x300000", "3072K"):
        status, out, _ = sim(_LOAD + "print('loaded')\n", "--flash", f"{address}={model}")
        assert (status, out) == (0, "loaded\n")


def test_marks_do_not_change_what_a_script_does() -> None:
    source = '''"""doc"""
def f(n):
    """text"""
    if n: return n
    elif not (n
              or 0): pass
    for i in [1,
              2]: n += i
    while n > 2: n -= 1
    with open("/dev/null") as a, open("/dev/null") as b: pass
    try: x = {k: k for k in (1, 2)}
    finally: y = """two
lines"""; z = 2
    return (n, x, y, z, f.__doc__)
é = f(0); result = (f(1), é)
'''
    plain, marked, lines, rounds = {}, {}, [], []
    exec(source, plain)
    marked[tracing.CALL] = lambda line, *over: lines.append(line)
    marked[tracing.ROUND] = rounds.append
    exec(tracing.marked(source), marked)
    assert marked["result"] == plain["result"]
    assert marked["__doc__"] == "doc"
    assert tracing.marked(source).count("\n") == source.count("\n")
    assert {4, 5, 7, 9, 10, 11, 12, 14, 15} <= set(lines)
    assert set(rounds) == {7, 9}


@pytest.mark.parametrize(
    "options",
    [
        ["--firmware", "none"],
        ["--heap", "5x"],
        ["--board-heap", "16K"],
        ["--board-heap", "2850K"],
        ["--flash", "0x300000=/nowhere"],
        ["--flash", "1.3K=/nowhere"],
        ["--sd", "/nowhere"],
    ],
)
def test_wrong_use_is_status_2_and_names_the_option(sim, options: list[str]) -> None:
    status, out, err = sim("print(1)", *options)
    assert (status, out) == (2, "")
    assert options[0] in err.splitlines()[-1]


_NAMES = """\
import gc, os
gc.threshold(30000)
def made(name, most):
    for n in range(most):
        try:
            open(name % n, "w").close()
        except OSError as e:
            return n, e
    return most, "all"
os.mkdir("/sd/sub")
for name in ("/sd/a_long_name_here%d.txt", "/sd/Mixed%d.txt", "/sd/a.b%d.txt"):
    n, e = made(name, 100)
    print(n, e)
    for i in range(n):
        os.remove(name % i)
print(*made("/sd/%d.txt", 100))
print(*made("/sd/sub/%d.txt", 30))
for mode in ("w", "r"):
    try:
        open("/sd/sub", mode)
    except OSError as e:
        print(mode, e)
"""


def _on_card(folder: Path, source: str, files: int = 0) -> str:
    """What main.py prints beside a card with so many files."""
    (folder / "card").mkdir()
    for n in range(files):
        (folder / "card" / f"event{n}.txt").write_text("1")
    (folder / "main.py").write_text(source)
    return invoke("sim", str(folder / "main.py"), "--sd", str(folder / "card")).stdout


@sim_both.needs_unix_port
def test_the_top_folder_of_a_card_has_places_for_512_names(tmp_path: Path) -> None:
    """As on the firmware; main.py and a folder have two of them."""
    said = _on_card(tmp_path, _NAMES, 490)
    full = ["6 [Errno 13] EACCES", *["10 [Errno 13] EACCES"] * 2]
    below = ["30 all", "w [Errno 13] EACCES", "r [Errno 2] ENOENT"]
    assert said.split("\n")[:7] == [*full, "20 [Errno 13] EACCES", *below]


_KEPT = """\
import gc
files = []
before = gc.collect() or gc.mem_free()
for n in range(300):
    f = open("/sd/event%d.txt" % n, "w")
    f.write("%d" % n)
    files.append(f)
gc.collect()
print((before - gc.mem_free()) // 300)
"""


@sim_both.needs_unix_port
def test_an_open_file_keeps_what_it_keeps_on_the_board(tmp_path: Path) -> None:
    """77 bytes each on v0.6.2_84 full: what the card has of it lies in no heap."""
    said = _on_card(tmp_path, _KEPT)
    assert abs(int(said) - 77) <= 16
