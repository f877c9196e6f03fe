# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""sim with a firmware image: what ends a script, what is said about it, what is on the board; and
emu: ports."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import commands
import emulated
import pytest
from click.testing import Result
from emulated import answer, each_image, needs_cc, needs_image
from maixmem_cli.emulator import cores, sd_image, watched
from maixmem_cli.emulator.connect import open_board
from maixmem_cli.flash import image as flash_image

pytestmark = needs_cc


def sim(folder: Path, image: Path, source: str, *options: object, stdin: str = "") -> Result:
    script = folder / "main.py"
    script.write_text(textwrap.dedent(source).lstrip("\n"))
    words = (str(script), "--firmware", str(image), *map(str, options))
    return commands.invoke("sim", *words, input=stdin)


@each_image
def test_prints_and_ends(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "print('a', 1 + 1)\nprint('b')\n")
    assert (done.exit_code, done.stdout) == (0, "a 2\nb\n")


@each_image
def test_raises(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "print('a')\nraise ValueError('no')\n")
    assert done.exit_code == 1 and done.stdout == "a\n"
    assert f'File "{tmp_path / "main.py"}", line 2' in done.stderr
    assert "ValueError: no" in done.stderr


@each_image
def test_an_error_that_is_known_comes_with_advice(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "x = []\nwhile True:\n    x.append(bytearray(10000))\n")
    assert done.exit_code == 1
    cause = "Cause: main.py:3 `x.append(bytearray(10000))` keeps 9.8 KiB more of the GC heap"
    assert f"{cause} each round, until it is full: " in done.stderr
    assert "Do this: " in done.stderr


@each_image
def test_a_camera_that_was_not_given_is_named(image: Path, tmp_path: Path) -> None:
    script = "import sensor\nsensor.reset()\n"
    advice = "Do this: Give this run a camera: --camera pattern"
    assert advice in sim(tmp_path, image, script).stderr
    assert advice not in sim(tmp_path, image, script, "--camera", "pattern").stderr


@each_image
def test_ctrl_c_comes_again_for_a_script_that_swallows_it(image: Path, tmp_path: Path) -> None:
    source = """
        import time
        for i in range(2):
            try:
                while True:
                    time.sleep_ms(10)
            except KeyboardInterrupt:
                print("swallowed")
        while True:
            time.sleep_ms(10)
        """
    done = sim(tmp_path, image, source, "--seconds", 1)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("swallowed") == 2


@each_image
def test_frames_end_an_endless_loop(image: Path, tmp_path: Path) -> None:
    source = """
        import sensor, lcd
        lcd.init()
        sensor.reset()
        sensor.set_pixformat(sensor.RGB565)
        sensor.set_framesize(sensor.QVGA)
        sensor.run(1)
        try:
            while True:
                lcd.display(sensor.snapshot())
        finally:
            print("tidy")
        """
    shown = tmp_path / "lcd"
    done = sim(tmp_path, image, source, "--camera", "pattern", "--frames", 6, "--save-lcd", shown)
    assert done.exit_code == 0, done.output
    assert "tidy" in done.stdout and "GC heap" in done.stdout and "heap_free() = " in done.stdout
    assert list(shown.glob("lcd-*.png"))


@needs_image
def test_what_was_said_before_the_board_became_idle_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of a board at its prompt runs ahead of a busy computer's: by seconds before it is
    looked at."""
    look = watched.Watched.look

    def late(self: watched.Watched) -> bool:
        end = time.monotonic() + 10
        while self.board.state()["idle_microseconds"] < 6e6:
            if time.monotonic() > end:
                pytest.skip("this firmware is never idle at its prompt")
            self.board.run()
        return look(self)

    monkeypatch.setattr(watched.Watched, "look", late)
    done = sim(tmp_path, emulated.images()[0], "print('a')\n")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "a\n", "")


@each_image
def test_seconds_end_a_script(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "n = 0\nwhile True:\n  n += 1\n", "--seconds", 1)
    assert done.exit_code == 0 and "system heap" in done.stdout


@each_image
def test_input_without_anybody_ends(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "print('before')\ninput('name? ')\n")
    assert done.exit_code == 1 and done.stdout.startswith("before\nname? ")
    assert "EOFError" in done.stderr and "line 2" in done.stderr


@each_image
def test_input_takes_lines(image: Path, tmp_path: Path) -> None:
    done = sim(tmp_path, image, "a = input('name? ')\nprint(a + input())\n", stdin="bob\nby\n")
    assert done.exit_code == 0 and done.stdout.endswith("bobby\n")


@each_image
@pytest.mark.parametrize(
    ("code", "status", "said"),
    [
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit('no ' + 'way')", 1, "no way\n"),
        ("sys.exit('print')", 1, "print\n"),
        ("raise SystemExit(7)", 7, ""),
        ("try:\n  sys.exit(4)\nexcept SystemExit:\n  pass", 0, ""),
    ],
)
def test_exit_status(image: Path, tmp_path: Path, code: str, status: int, said: str) -> None:
    done = sim(tmp_path, image, f"import sys\nprint('a')\n{code}\n")
    assert (done.exit_code, done.stdout, done.stderr) == (status, "a\n", said)


@each_image
def test_a_reset_starts_the_script_again(image: Path, tmp_path: Path) -> None:
    source = """
        import machine, os
        if 'mark' in os.listdir('/flash'):
            print('second')
        else:
            open('/flash/mark', 'w').close()
            machine.reset()
        """
    done = sim(tmp_path, image, source)
    assert done.exit_code == 0 and "restarts" in done.stdout and "second" in done.stdout


@each_image
@pytest.mark.parametrize("nbytes", [8192, 1000])
def test_a_gc_heap_that_is_too_small_to_boot_is_a_hang(
    image: Path, tmp_path: Path, nbytes: int
) -> None:
    """It ended in a traceback of this program."""
    source = "from Maix import utils\nimport machine\n"
    source += f"utils.gc_heap_size({nbytes})\nmachine.reset()\n"
    done = sim(tmp_path, image, source)
    if "AttributeError" in done.stderr or "ImportError" in done.stderr:
        pytest.skip(f"{image.name} stores no GC heap")
    assert done.exit_code == 3, done.output
    assert "does not start again after the reset" in done.stderr
    assert "Do this: Erase /flash" in done.stderr


@each_image
def test_modules_beside_the_script_and_the_card(image: Path, tmp_path: Path) -> None:
    card = tmp_path / "card"
    card.mkdir()
    (card / "data.txt").write_text("from the card")
    (tmp_path / "mine.py").write_text("import deeper\nx = deeper.y + 1\n")
    (tmp_path / "deeper.py").write_text("y = 41\n")
    done = sim(
        tmp_path, image, "import mine\nprint(mine.x, open('/sd/data.txt').read())\n", "--sd", card
    )
    assert (done.exit_code, done.stdout) == (0, "42 from the card\n"), done.output


@needs_image
def test_a_hang_is_explained(tmp_path: Path) -> None:
    """A model whose file fits while the buffer that reads it from flash does not."""
    image = next(iter(emulated.modern()), None)
    if image is None:
        pytest.skip("NOT RUN: no image has utils.heap_free(), which says what is left")
    model, small = emulated.model("v4_mnist_cnn.kmodel"), emulated.model("v3_mask_maixpy.kmodel")
    source = """
        import KPU as kpu
        from Maix import utils
        def load():
            return kpu.load(0x300000)
        first = kpu.load(0x600000)
        print(utils.heap_free())
        second = load()
        """
    done = sim(
        tmp_path,
        image,
        source,
        "--flash",
        f"{model}@0x300000",
        "--flash",
        f"{small}@0x600000",
    )
    free = int(done.stdout.split()[-1]) if done.exit_code in (0, 1) else 0
    if free:
        pytest.skip(f"{image.stem}: {free} bytes are free after the first model: no hang here")
    assert done.exit_code == 3, done.output
    assert "return kpu.load(0x300000)" in done.stderr and "called by main.py" in done.stderr
    assert "malloc(262274) of the system heap got nothing" in done.stderr


@needs_image
def test_emulated_port_keeps_its_flash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    port = f"emu:{emulated.IMAGES[0]}"
    with open_board(port) as board:
        board.write_file("/flash/kept", b"x" * 500)
    with open_board(port) as board:
        assert answer(board, "import os\nprint(os.stat('/flash/kept')[6])") == 500
    with open_board(port + ",new") as board:
        assert "kept" not in answer(board, "import os\nprint(os.listdir('/flash'))")


# --- without firmware ---


def test_what_is_no_firmware(tmp_path: Path) -> None:
    bad = tmp_path / "bad.bin"
    bad.write_bytes(bytes(4))
    done = sim(tmp_path, bad, "pass\n")
    assert done.exit_code == 2 and "no firmware" in done.stderr and "Next:" in done.stderr
    bad.write_bytes(bytes(range(256)) * 40)
    done = sim(tmp_path, bad, "pass\n")
    assert done.exit_code == 2 and "no MicroPython" in done.stderr
    bad.write_bytes(bytes(range(256)) * 40 + b"raw REPL; CTRL-B")
    done = sim(tmp_path, bad, "pass\n")
    assert done.exit_code == 2 and "prompt" in done.stderr


def test_nothing_to_run_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(cores.importlib.util, "find_spec", lambda name: None)
    image = tmp_path / "f.bin"
    image.write_bytes(bytes(100))
    done = sim(tmp_path, image, "pass\n")
    assert done.exit_code == 2 and 'Next: pip install "maixmem[board]"' in done.stderr


def test_flash_image(tmp_path: Path) -> None:
    firmware, model = tmp_path / "fw.bin", tmp_path / "m"
    code = b"raw REPL; CTRL-B".ljust(1000, b"\x13")  # what every MicroPython says
    firmware.write_bytes(code)
    model.write_bytes(b"model")
    chip = flash_image.build(firmware, [(0x300000, model)])
    assert chip[:5] == b"\0" + (1000).to_bytes(4, "little") and chip[5:1005] == code
    assert chip[0x300000:0x300006] == b"model\xff"
    assert flash_image.boot_image(code) == bytes(chip[:1037])
    with pytest.raises(flash_image.ImageError, match=r"0x000400 lies .* ends at 0x00040d.*higher"):
        flash_image.build(firmware, [(0x400, model)])
    with pytest.raises(flash_image.ImageError, match="lower address"):
        flash_image.build(firmware, [(flash_image.FLASH_SIZE - 2, model)])


def test_card_too_full_for_its_top(tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"{i}.txt").touch()
    with pytest.raises(sd_image.CardError, match="subfolders"):
        sd_image.build(tmp_path)


@each_image
def test_a_boards_pins(image: Path, tmp_path: Path) -> None:
    script = tmp_path / "pins.py"
    script.write_text("import Maix\nfrom board import board_info\nprint(board_info.LED_R)\n")
    if commands.invoke("sim", str(script), "--firmware", str(image)).exit_code == 0:
        pytest.skip(f"{image.name} is of one board, and knows its pins")
    done = commands.invoke("sim", str(script), "--firmware", str(image), "--board", "go")
    assert done.exit_code == 0 and done.stdout == "14\n", done.stderr


_ASSERTS = "from machine import I2C\nprint('a')\nI2C(9)\n"


@each_image
@pytest.mark.parametrize("options", [(), ("--camera", "pattern", "--frames", 5)])
def test_a_failed_assert_of_the_sdk_is_a_hang(
    image: Path, tmp_path: Path, options: tuple[object, ...]
) -> None:
    """With a camera it waited for ever, with its interrupts."""
    done = sim(tmp_path, image, _ASSERTS, *options)
    if "kendryte_sdk/" not in done.stdout:
        pytest.skip(f"{image.name} refuses I2C(9)")
    assert done.exit_code == 3 and "at main.py:3: I2C(9)" in done.stderr
    assert "A check of the driver failed" in done.stderr
    assert "Do this: Check the numbers of bus, pin and mode" in done.stderr


@each_image
def test_the_camera_answers_on_its_own_pins_alone(image: Path, tmp_path: Path) -> None:
    source = """
        from machine import I2C
        for bus, clock, data in ((I2C.I2C0, 28, 29), (I2C.I2C1, 30, 31), (I2C.I2C0, 41, 40)):
            print(I2C(bus, freq=100000, scl=clock, sda=data).scan())
        """
    done = sim(tmp_path, image, source, "--camera", "pattern")
    assert done.stdout.splitlines()[-3:] == ["[]", "[]", "[33]"], done.output
