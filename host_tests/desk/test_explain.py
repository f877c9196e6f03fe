# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem explain`: messages, logs and core dumps, and what is no text at all."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import paths
import pytest
from click.testing import CliRunner
from maixmem_cli.cli import main
from maixmem_cli.errors import dump, files, log, made, table, words
from maixmem_cli.library import places
from maixmem_cli.runs import dump_image

_ROWS = table.rows()
_A_ROW = next(r for r in _ROWS if r.on == table.expand(["all"]) and not r.also and not r.unless)
_CASES = [(row, text) for row in _ROWS for text, _ in row.cases]
_THREADS = [
    line.split("\t")
    for line in (paths.KITS / "threads.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
# as sipeed/MaixPy-v1#275 has it, registers left out
DUMP = """\
init i2c2
[MAIXPY]: find ov2640
core dump: fault load
Cause 0x0000000000000005, EPC 0x000000008000116e
reg[00](zero ) = 0x0000000000000000, reg[01](ra   ) = 0x000000008000023e
reg[02](sp   ) = 0x00000000803206e8, reg[03](gp   ) = 0x0000000080232120
reg[08](s0/fp) = 0x000000008011f8a4, reg[09](s1   ) = 0xbe2177b81307656b
reg[10](a0   ) = 0x0000000000000000, reg[11](a1   ) = 0xffffffffbf689a62
"""
# what v0.6.2_84 full prints for img.copy(), then pix_to_ai(); registers left out
COPIED = """\
core dump: fault fetch
Cause 0x0000000000000001, EPC 0x0000000000000000
reg[00](zero ) = 0x00000000802fa758, reg[01](ra   ) = 0x0000000000000000
reg[02](sp   ) = 0x00000000802fa378, reg[03](gp   ) = 0x0000000080204930
reg[08](s0/fp) = 0x0000000000000000, reg[09](s1   ) = 0x0000000000000000
reg[10](a0   ) = 0x00000000801eb518, reg[11](a1   ) = 0x000000000000c400
"""


def explain(*arguments: str, given: str | bytes | None = None):
    return CliRunner().invoke(main, ["explain", *arguments], input=given)


def run(data: bytes | int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, with these bytes or descriptor as its input."""
    given = {"stdin": data} if isinstance(data, int) else {"input": data}
    command = [sys.executable, "-m", "maixmem_cli", "explain", *arguments]
    return subprocess.run(
        command, capture_output=True, cwd=paths.TOOLS, timeout=60, check=False, **given
    )


@pytest.mark.parametrize(("row", "text"), _CASES, ids=lambda v: getattr(v, "id", "")[:20])
def test_every_row_is_found_by_its_own_cases(row: table.Row, text: str) -> None:
    for board in sorted(row.on):
        found = [r.id for r in table.find(text, board)]
        assert found == [row.id], (board, found)


def test_rows_are_told_apart_and_whole() -> None:
    names = [row.id for row in _ROWS]
    assert len(set(names)) == len(names)
    for row in _ROWS:
        assert row.sure in table.SURE and row.cases and row.match, row.id
        assert row.kind == "fine" or any(row.steps_on(b) for b in row.on), row.id
        for board in row.on:
            assert row.kind == "fine" or row.steps_on(board), (row.id, board)
        for name in row.steps:
            assert " " in name or name in table.steps(), (row.id, name)


#: what a step names: a call of a module, a command, a setting
_NAMED = re.compile(r"\b[a-zA-Z_]\w*\.\w+\(|`[^`]+`|\b[A-Z]+_[A-Z_]{3,}\w*")


def test_a_step_for_several_boards_names_what_each_of_them_has() -> None:
    """names.toml says where a call, a command or a setting exists; one that is not listed would
    be given to each board of its row."""
    known = table.steps()
    for row in _ROWS:
        for step in row.steps:
            on = row.on & known[step]["on"] if step in known else row.on
            text = known[step]["desk"] if step in known else step
            if len(on) > 1:
                for name in _NAMED.findall(text):
                    assert table.is_named(name), (row.id, name)


def test_what_numbers_tell_has_a_step_on_each_board_that_it_is_for() -> None:
    for one in files.read("numbers")["finding"]:
        names = list(map(files.english, one.get("steps", ())))
        for row in (row for row in _ROWS if row.id in one["rows"] and one.get("only")):
            on = table.expand(one["on"]) & row.on if "on" in one else row.on
            for board in on:
                wanted = row.wanted(board)
                assert table.steps_for(names, wanted), (one["means"], board)


def test_a_step_that_only_python_has_is_not_said_of_a_program_in_c() -> None:
    line = "E (5) SYSCALL: Out of memory\n"
    given = [log.explain((line + more).encode(), "k210") for more in ("", "#include <kpu.h>\n")]
    python, in_c = ({step for a in found.errors for step in a.steps} for found in given)
    assert table.steps()["deinit"]["desk"] in python and not [s for s in in_c if "kpu." in s]
    assert given[1].in_c and "maixmem" not in table.find_out("esp32", in_c=True)


@pytest.mark.parametrize(
    ("chip", "named"), [("RK3588", True), ("RV1126", False), ("RV1106", False), ("RV1126B", True)]
)
def test_a_chip_is_given_the_toolkit_and_runtime_that_it_has(chip: str, named: bool) -> None:
    steps = log.explain(f"{chip}\nE RKNN: load model file error!\n".encode()).errors[0].steps
    assert steps and bool([s for s in steps if "librknnrt" in s]) is named


def test_words_of_one_board_say_nothing_where_others_are_possible() -> None:
    (one,) = log.explain(b'File "<stdin>", line 1\nValueError: invalid pin').errors
    assert one.row.on >= table.expand(["all"])
    (one,) = log.explain(b'File "<stdin>", line 1\nValueError: GP14 in use').errors
    assert one.only == ["circuitpython"]
    assert "If this is on circuitpython:" in explain("ValueError: GP14 in use").output


_LOAD = "main.py: no settings, going on  [Errno 2] ENOENT\n"


def test_what_a_program_went_on_from_is_no_cause_of_what_nobody_knows() -> None:
    assert [a.row.id for a in log.explain(_LOAD.encode(), "esp32").errors] == ["ENOENT"]
    found = log.explain(f"{_LOAD}OSError: -911\n".encode(), "esp32")
    assert not found.shown and found.unknown == ["OSError: -911"]
    assert explain("--board", "esp32", given=f"{_LOAD}OSError: -911\n").exit_code == 1


def test_an_exception_that_python_ignored_at_its_end_is_no_cause() -> None:
    ended = "Exception ignored in: <function X.__del__>\nAttributeError: 'X' has no attribute\n"
    first = "IndexError: list index out of range\n"
    found = log.explain(f"{first}{ended}MemoryError: \n".encode(), "linux")
    assert {a.row.id for a in found.answers} == {"python", "memory-error"}


def test_what_a_program_handles_or_raises_in_its_own_text_did_not_come() -> None:
    """Code that is pasted names the exceptions that it knows."""
    for line in (
        "except {}:",
        "except ({}, OSError) as e:",
        "raise {}",
        "throw {};",
        "}} catch ({} e) {{",
    ):
        for row, text in _CASES:
            found = log.explain(line.format(text.partition(": ")[0]).encode())
            assert not found.answers, (row.id, line)
    assert log.explain(b"except MemoryError:\nMemoryError: ").errors[0].row.id == "memory-error"


def test_what_is_said_in_own_words_is_no_likely_cause() -> None:
    """A cause that is likely has a message of a program."""
    said = "RK3588: the memory grows with each run"
    again = "after an hour all RAM is eaten: a leak"
    grows = "E RKNN: failed to allocate handle, ret: -1"
    assert log.explain(said.encode()).errors[0].sure == "possible"
    assert log.explain(f"{said}\n{again}".encode()).errors[0].sure == "possible"
    assert log.explain(f"{said}\n{grows}".encode()).errors[0].sure == "likely"


@pytest.mark.parametrize(
    "title", ("# MemoryError issue", "# it runs out of memory with a model", "# 内存不够")
)
def test_a_title_is_no_message(title: str) -> None:
    found = log.explain(f"ESP32, MicroPython\n{title}".encode()).errors[0]
    assert found.sure == "possible" and not found.printed
    message = "MemoryError: memory allocation failed, allocating 2048 bytes"
    printed = log.explain(f"ESP32, MicroPython\n{title}\n{message}".encode()).errors[0]
    assert printed.sure == "certain" and printed.printed and printed.row.id == "gc-heap"


@pytest.mark.parametrize(
    ("line", "printed"),
    (
        ("Brownout detector was triggered", True),
        ("# Brownout detector was triggered", True),
        ("we think that the Brownout detector was triggered when Wi-Fi starts", False),
        ("Guru Meditation Error: Core  1 panic'ed (LoadProhibited).", True),
    ),
)
def test_a_line_with_little_but_a_message_is_one(line: str, printed: bool) -> None:
    assert log.explain(f"ESP32\n{line}".encode()).errors[0].printed is printed


def test_the_name_of_a_function_in_a_sentence_is_no_message() -> None:
    said = "OpenMV\nI would like to reserve a minimum for fb_alloc and use the rest"
    found = log.explain(said.encode()).errors[0]
    assert (found.row.id, found.sure, found.printed) == ("openmv-fb", "possible", False)
    printed = log.explain(b"OpenMV\nfb_alloc: collision").errors[0]
    assert (printed.row.id, printed.sure) == ("openmv-fb", "certain")


def test_words_of_persons_that_are_a_whole_title_are_no_message() -> None:
    found = log.explain(b"# The memory usage keeps increasing in the loop").errors[0]
    assert (found.row.id, found.sure) == ("growth", "possible")


@pytest.mark.parametrize("mark", ["# ", "> ", "> > ", ""])
def test_a_message_is_one_where_it_is_a_title_or_quoted(mark: str) -> None:
    raised = "MemoryError: memory allocation failed, allocating 932 bytes"
    text = f"Raspberry Pi Pico, MicroPython\n{mark}{raised}"
    found = log.explain(text.encode()).errors[0]
    assert (found.row.id, found.sure) == ("gc-heap", "certain")
    assert found.printed


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        (
            "ESP8266, ESPHome\nMemory allocation of 152 bytes failed at 40223D4F",
            "own-firmware-heap",
            "Read the free heap",
        ),
        (
            "ESP32\nassert failed: host_recv_pkt_cb hci_hal_h4.c:579 (0)",
            "bluedroid-memory",
            "Print heap_caps",
        ),
        (
            "ESP32\nW (4928) wifi: alloc eb len=24 type=3 fail, heap:3060324\nwifi: m f null",
            "esp-alloc",
            "Print heap_caps",
        ),
        (
            "Orange Pi 5\nmpp_buffer: Assertion p->allocator failed at get_group:936",
            "mpp-allocator",
            "Run `ls -l",
        ),
        (
            "Raspberry Pi\nCoral: transfer on tag 0 failed. USB transfer error 2",
            "edgetpu-usb",
            "Run `dmesg",
        ),
        ("ESP32\nCamera Init failed with error 0x105", "camera-init", "Switch the power off"),
        ("ESP32-CAM camera init failed with 0x105", "camera-init", "Switch the power off"),
    ],
)
def test_the_first_step_finds_out_or_harms_nothing(text: str, row: str, step: str) -> None:
    found = log.explain(text.encode()).errors[0]
    assert found.row.id == row and found.steps[0].startswith(step)


def test_a_size_that_no_computer_has_is_a_fault_of_the_program() -> None:
    line = "Raspberry Pi\nggml_aligned_malloc: insufficient memory (attempted to allocate {n} MB)"
    absurd = log.explain(line.format(n="655521.35").encode()).errors[0]
    assert "more RAM is of no use" in absurd.steps[0]
    large = log.explain(line.format(n="6555.35").encode()).errors[0]
    assert all("more RAM is of no use" not in step for step in large.steps)


def test_what_a_person_says_of_growth_is_measured_first() -> None:
    """The first step has both outcomes; the change is what follows where it is so."""
    said = "CircuitPython: each new label.Label leaks, the free memory is getting less and less"
    first = log.explain(said.encode()).errors[0].steps[0]
    assert first.startswith("Print gc.mem_free() in each round") and "stays level" in first
    assert "falls on and on: Make them once" in first
    chinese = log.explain(said.encode(), language="zh").errors[0].steps[0]
    assert "{then}" not in chinese and "一直减少" in chinese
    measured = "".join(f"gc.mem_free() {n}\n" for n in (90000, 80000, 70000, 60000))
    steps = log.explain(f"{said}\n{measured}".encode()).errors[0].steps
    assert not any("stays level" in step for step in steps)


def test_marks_of_markdown_are_no_part_of_a_message() -> None:
    for text in ("Killed", "`Killed`", "**Killed**", "Killed**", "```Killed```"):
        assert log.explain(f"Linux\n{text}".encode()).errors[0].row.id == "oom-killer", text
    assert log.explain(b"*** PANIC ***\n\nOut of memory").board == "rp2040"


def test_what_is_possible_in_python_alone_is_not_said_of_a_program_in_c() -> None:
    asks = "my esp32 web server stops responding"
    in_c = log.explain(f"{asks}\n#include <WiFi.h>\nvoid setup() {{".encode())
    python = log.explain(f"{asks}\nimport network, socket\ns.accept()".encode())
    assert python.errors[0].row.id == "server-stops" and not in_c.errors
    for found in (in_c, python):
        said = [step for answer in found.answers for step in answer.steps]
        assert any("v1.2" in step for step in said) is (found is python)


def test_a_number_that_is_given_without_a_colon_is_a_code_too() -> None:
    for text in ("OSError 28", "OSError: 28", "OSError(28,)", "[Errno 28]"):
        assert table.codes(text) == {"errno:28"}, text


@pytest.mark.parametrize(
    ("text", "grows"),
    [
        ("the free memory drops with each picture", True),
        ("if the free memory drops below 30kb it becomes unstable", False),
    ],
)
def test_a_limit_is_no_growth(text: str, grows: bool) -> None:
    assert table.says(text, "growth") is grows


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("the same code works fine up to and including 3.3.11", True),
        ("it never happens with version 2.17", True),
        ("I have this only when I update it", True),
        ("it works fine with 3.3 V and a resistor", False),
        ("it worked before", False),
        ("When I run CircuitPython 9.0.0 with this board", False),
        ("I want to run it on 1.20.0", False),
    ],
)
def test_another_version_that_ran_comes_first(text: str, is_so: bool) -> None:
    assert table.says(text, "worked") is is_so
    log_of = f"{text}\nE (2756) cam_hal: cam_dma_config(509): frame buffer malloc failed\n"
    first = log.explain(log_of.encode()).errors[0].steps[0]
    assert first.startswith("Use the version that ran") is is_so


def test_a_build_that_fails_asks_for_no_python_on_the_board() -> None:
    text = "$ python3 build.py\nRP2040\nCMake Error at CMakeLists.txt:34 (message):\n"
    assert log.explain(text.encode()).in_c and "maixmem" not in explain(given=text).output


def sections(page: Path) -> dict[str, str]:
    """The text of each section of a page by its anchor, with the sections in it."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    for i, line in enumerate(lines):
        head = re.fullmatch(r"(#+) (.+)", line)
        if head:
            end = re.compile(rf"#{{1,{len(head[1])}}} ")
            rest = (n for n in range(i + 1, len(lines)) if end.match(lines[n]))
            anchor = re.sub(r"[^\w\- ]", "", head[2].lower()).strip().replace(" ", "-")
            found[anchor] = "\n".join(lines[i : next(rest, len(lines))])
    return found


@pytest.mark.parametrize("row", [row for row in _ROWS if row.page], ids=lambda row: row.id)
def test_more_leads_to_a_section_that_says_it(row: table.Row) -> None:
    page, _, anchor = row.page.partition("#")
    section = sections(paths.ROOT / "docs" / page)[anchor].lower()
    words = [row.topic] if row.topic else [made.shown(key) for key in row.match]
    assert [word for word in words if word.lower() in section], (row.page, words)


@pytest.mark.parametrize(("thread", "board", "text", "row", "seen", "judged"), _THREADS)
def test_threads_of_users(
    thread: str, board: str, text: str, row: str, seen: str, judged: str
) -> None:
    """`judged`: whether what is printed solves what the thread was about, by reading both. `seen`:
    the thread has this text (exact), shows no message at all (none: what happened, or what that
    program prints there), or "unseen: " and how it was looked for."""
    assert seen in ("exact", "none") or seen.startswith("unseen: "), thread
    assert judged in ("solved", "partly", "no", "misleading"), thread
    found = [r.id for r in table.find(text, table.rows_of(board))]
    assert found == ([] if row == "-" else [row]), thread
    done = explain(text, "--board", board)
    assert done.exit_code == (1 if row == "-" else 0)
    if row == "-":
        assert "not known" in done.output and "maixmem sim" in done.output
    if board not in ("k210", "m5stickv"):
        for call in ("kpu.", "set_gc_heap", "ImagePool", "sensor.reset", "minimum"):
            assert call not in done.output, (thread, call)


_LOGS = [
    (line + "\t").split("\t")[:4]
    for line in (paths.KITS / "explain_logs.tsv").read_text(encoding="utf-8").splitlines()[1:]
]


@pytest.mark.parametrize(("board", "row", "text", "step"), _LOGS)
def test_logs_in_the_words_of_their_vendors(board: str, row: str, text: str, step: str) -> None:
    """The board is right or left open, and the first answer of the row that was judged right. Its
    first step has the words that tell which it is; without words it is the row's own first."""
    found = log.explain(text.replace("\\n", "\n").encode())
    assert board in found.possible or not found.possible
    first = found.errors[0]
    own = first.row.steps_on(frozenset(map(table.rows_of, found.possible)))
    assert first.row.id == row and (step or own[0]) in first.steps[0]
    assert found.board is None or table.rows_of(found.board) in first.row.on


def test_one_message_has_its_numbers() -> None:
    said = "[MAIXPY]kpu: img w=320,h=240, but model w=224,h=224"
    answer = log.of_line(said)
    assert answer and answer.steps[0].startswith("Call sensor.set_windowing((224, 224))")
    assert log.of_line("the moon is full") is None


@pytest.mark.parametrize(
    ("free", "said"),
    [
        ((8100, 8200, 8150, 8100, 8000), "free memory fell in each of the last 3 prints"),
        ((8200, 7000, 8000, 8200), "free memory was 8200 at the first of 4 prints"),
        ((8200, 7000, 8000, 7900), ""),
    ],
)
def test_a_number_that_is_printed_each_round_tells_whether_it_falls(
    free: tuple[int, ...], said: str
) -> None:
    lines = "".join(f"free RAM: {n}\n" for n in free)
    (answer,) = log.explain(f"ESP32: memory leak?\n{lines}".encode()).errors
    assert answer.row.id == "growth" and [n[: len(said)] for n in answer.numbers] == (
        [said] if said else []
    )


_NASTY = ["    while True:\n", " " * 40 + "x\n", "while (1):\n \t \n", "free: 9 "]


@pytest.mark.parametrize("line", _NASTY)
def test_no_number_is_looked_for_without_an_end(line: str) -> None:
    start = time.monotonic()
    log.explain((line * 3000).encode(), "k210")
    assert time.monotonic() - start < 5


def test_a_number_that_a_row_needs() -> None:
    text = "K210\nmodel_at_0x300000.kfpkg\nkpu.load(0x{}00000)\n"
    found = [[a.row.id for a in log.explain(text.format(n).encode()).answers] for n in "32"]
    assert found == [[], ["kpu-address"]]


def test_a_firmware_built_with_a_newer_nncase_is_no_model_of_it() -> None:
    log_of = "K210: {}the loader of nncase 1.8 fails to load it\n"
    found = [log.explain(log_of.format(n).encode()).answers for n in ("", "build firmware with ")]
    assert [[a.row.id for a in answers] for answers in found] == [["kmodel-v5"], []]


def test_a_question_beside_what_is_known_is_no_error_of_its_own() -> None:
    text = "I get an error, why?\nMemoryError: \nE (7) wifi: some failure\n"
    assert log.explain(text.encode(), "esp32").unknown == ["E (7) wifi: some failure"]
    assert log.explain(b"I get an error, why?", "esp32").unknown == ["I get an error, why?"]


def test_the_computer_of_the_one_who_asks_is_no_board() -> None:
    for line in ("- OS: Linux", "**Host OS:** [Linux]", "操作系统\uff1aLinux"):
        assert log.explain(f"{line}\nOSError: 12\n".encode()).possible == []


def test_names_of_boards_however_they_are_written() -> None:
    for text, board in (("RASPBERRY PI PICO W", "rp2040"), ("a Maixcam", "maixcam")):
        assert log.explain(text.encode()).possible == [board]


def test_the_line_before_the_exception_is_the_first_cause() -> None:
    done = explain(
        given="[MAIXPY]kpu: img w=320,h=240, but model w=224,h=224\n"
        'Traceback (most recent call last):\n  File "main.py", line 9, in <module>\n'
        "ValueError: [MAIXPY]kpu: check img format err!\n"
    )
    assert done.exit_code == 0 and "sensor.set_windowing" in done.output.split("Do this: ")[1]
    assert done.output.index("img w=320") < done.output.index("check img format")
    data = json.loads(
        explain(
            "--json", given="E (5) SYSCALL: Out of memory\nOSError: [Errno 12] ENOMEM\n"
        ).output
    )
    assert [a["id"] for a in data["answers"]] == ["syscall-memory", "ENOMEM"]
    assert data["board"] == "k210" and data["answers"][1]["line"] == 2


def test_a_board_that_is_not_told_gets_no_call_of_another() -> None:
    done = explain("MemoryError: memory allocation failed, allocating 88332 bytes")
    assert "--board" in done.output and "set_gc_heap" not in done.output
    assert "gc.collect()" in done.output


@pytest.mark.parametrize("board", [None, *table.boards()])
def test_what_is_tried_next_can_be_done_on_that_board(board: str | None) -> None:
    k210 = board is not None and table.rows_of(board) == "k210"
    given = ["--board", board] if board else []
    done = CliRunner().invoke(main, ["explain", "SomeError: 2006 of no table", *given])
    assert done.exit_code == 1 and ("maixmem sim" in done.output) is k210, done.output
    assert "Try to find out: " in done.output and ("--board" in done.output) is (not board)


def test_nothing_that_was_raised_is_no_error() -> None:
    fine = [(row, text) for row, text in _CASES if row.kind == "fine"]
    assert len(fine) >= 3
    for row, text in fine:
        board = "k210" if "k210" in row.on else min(row.on)
        assert [row for row in table.find(text, board) if row.kind == "fine"], text
        assert not [row for row in table.find(f"ValueError: {text}") if row.kind == "fine"], text


def test_a_whole_line_is_not_a_part_of_one() -> None:
    assert [row.id for row in table.find("Killed", "linux")] == ["oom-killer"]
    assert table.find("Killed by the test", "linux") == []


def test_a_dump_in_words() -> None:
    done = explain(given=DUMP)
    for part in (
        "board: k210",
        "a read from where no memory is",
        "0x8000116e, in main RAM",
        "the system heap ran out",
        "maixmem sim SCRIPT.py --firmware IMAGE",
    ):
        assert part in done.output, (part, done.output)
    (told,) = json.loads(explain("--json", given=DUMP).output)["dumps"]
    assert told["epc"] == 0x8000116E and told["registers"]["sp"] == 0x803206E8


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("80320", "40320", "a stack that ran over"),
        ("EPC 0x000000008000116e", "EPC 0x0000001000000000", "a jump through an object"),
        ("0xbe2177b81307656b", "0x6c6c6f20646c726f", "holds other data now"),
    ],
)
def test_which_cause_fits_a_dump(old: str, new: str, word: str) -> None:
    text = DUMP.replace(old, new)
    text = text.replace("0x00000000403206e8", "0x00000000903206e8")
    (one,) = dump.read(text)
    assert [fit for fit in one.fits() if word in fit], one.fits()
    assert not [fit for fit in dump.read(DUMP)[0].fits() if word in fit]


def test_the_cause_that_fits_a_dump_gives_the_first_step() -> None:
    said = explain(given=COPIED).output.splitlines()
    (cause,) = dump.read(COPIED)[0].fits()
    assert f"Cause: the board hangs: {cause} (likely)" in said
    (first,) = [line for line in said if line.startswith("Do this: ")]
    assert first.startswith("Do this: Use img.cut(")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("00072783", "lw a5, 0(a4): False a4 0 4"),
        ("ff843503", "ld a0, -8(s0): False s0/fp -8 8"),
        ("00b53c23", "sd a1, 24(a0): True a0 24 8"),
        ("00c5a427", "fsw fa2, 8(a1): True a1 8 4"),
        ("4398", "c.lw a4, 0(a5): False a5 0 4"),
        ("e10c", "c.sd a1, 0(a0): True a0 0 8"),
        ("6582", "c.ldsp a1, 0(sp): False sp 0 8"),
        ("f406", "c.sdsp ra, 40(sp): True sp 40 8"),
    ],
)
def test_which_access_an_instruction_makes(code: str, said: str) -> None:
    did = dump_image.access(bytes.fromhex(code)[::-1] + bytes(2))
    assert did and f"{did.store} {did.register} {did.offset} {did.nbytes}" == said.split(": ")[1]


def test_an_image_tells_the_access_and_one_of_another_build_says_so() -> None:
    code = bytearray(0x2000)
    code[0x116E:0x1172] = bytes.fromhex("00072783")[::-1]  # lw a5, 0(a4)
    (one,) = dump.read(DUMP + "reg[14](a4   ) = 0x0000000000001000\n")
    dump_image.tell(one, bytes(code))
    assert [x for x in one.meaning() if x.startswith("it read 4 bytes at a4 + 0: 0x1000, null")]
    assert one.fits()[0].endswith("the system heap ran out")
    (other,) = dump.read(DUMP)
    dump_image.tell(other, bytes(0x2000))
    said = "the instruction at EPC in this image does not do that: another build"
    assert said in other.meaning()


def test_a_dump_that_is_cut_says_what_it_has() -> None:
    for n in range(len("init i2c2\n[MAIXPY]: find ov2640\ncore dump: f"), len(DUMP), 7):
        done = explain(given=DUMP[:n])
        assert done.exit_code == 0 and "the dump:" in done.output, DUMP[:n]


def test_a_file_a_pipe_and_words(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("OSError: [Errno 19] ENODEV\nkendryte-k210\n")
    said = explain(str(path)).output
    assert "no SD card" in said and said == explain("-", given=path.read_text()).output
    assert (
        said.splitlines()[1:]
        == explain("OSError:", "[Errno", "19]", "ENODEV", "--board", "k210").output.splitlines()[
            1:
        ]
    )
    assert explain("the moon is full").exit_code == 1


@pytest.mark.parametrize(
    "data",
    [b"", b" \n", bytes(random.Random(1).choices(range(256), k=4096)), b"\0" * 5000],
    ids=["nothing", "blank", "noise", "zeros"],
)
def test_what_is_no_text_gets_one_line(data: bytes) -> None:
    done = run(data)
    assert done.returncode == 1 and done.stdout.count(b"\n") == 1, done
    assert b"Next: " in done.stdout


def test_input_without_an_end() -> None:
    with subprocess.Popen(["yes", "a line"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout
        done = run(endless.stdout.fileno())
        endless.kill()
    assert done.returncode == 1 and done.stdout.count(b"\n") == 1, done
    assert b"the first 16 MiB were examined" in done.stdout


def test_escapes_never_reach_the_terminal() -> None:
    done = run(
        b"\x1b]0;title\x07\x1b[31mMAIXPY OSError: [Errno 19] ENODEV\x1b[0m \x9b31m \x1b\x08x\n"
    )
    assert b"no SD card" in done.stdout
    assert not [b for b in done.stdout if b < 0x20 and b != 10], done.stdout


def test_a_log_of_ten_megabytes_is_looked_at_whole() -> None:
    line = "[{0}] frame {0} took {1} ms\n"
    text = "".join(line.format(i * 977, i % 90) for i in range(300_000))
    found = log.explain((text + "OSError: [Errno 19] ENODEV\n" * 2).encode(), "k210")
    assert [(a.row.id, a.line, a.times) for a in found.answers] == [("ENODEV", 300_001, 2)]


def test_what_sim_says_of_a_hang_is_no_cause_of_its_own() -> None:
    said = "maixmem: the board hangs: only a reset helps, as a real one would\n"
    said += "maixmem: Free now: the system heap is damaged: the chunk at 0x802fabf0 says 0x0\n"
    found = json.loads(explain("--json", given="core dump: fault fetch\n" + said).output)
    kinds = {a["id"]: a["kind"] for a in found["answers"]}
    assert kinds == {"core-dump": "error", "sim-hangs": "fine", "heap-damaged": "error"}


def test_the_free_cure_comes_before_those_that_cost() -> None:
    for text in ("OSError: [Errno 12] ENOMEM", "E (5) SYSCALL: Out of memory"):
        steps = " ".join(table.find(text, "k210")[0].steps_on("k210"))
        order = steps.index("Load models before or after the camera")
        assert order < steps.index("maller frame") and order < steps.index("minimum leaves")


def read(text: str) -> dict:
    """What explain says of a log, as JSON."""
    return json.loads(explain("--json", given=text).output)


#: a log, the boards that it may be of, words that are said, words that are not
_WEIGHED = [
    (
        (
            "python3 invoked oom-killer: gfp_mask=0xcc0\nHardware name: Canaan CanMV-K230 (DT)\n"
            "Out of memory: Killed process 219 (yolo)\n"
        ),
        ["k230"],
        "Linux had no memory left",
        "not known",
    ),
    ("main: ESP_ERR_NO_MEM\n", ["circuitpython", "esp32"], "largest free block", "kpu|Connect"),
    ("E (99) main: ESP_ERR_NO_MEM\n", ["esp32"], "largest free block", "kpu|Connect first"),
    ("Host OS Platform (e.g. Linux): Ubuntu\nESP32: no memory\n", ["esp32"], "board", "dmesg"),
    ("OSError: [Errno 12] Cannot allocate memory", "linux", "ulimit -v", "sensor.reset|k210|kpu"),
    ("OSError: [Errno 12] ENOMEM", "micropython", "Close what is open", "sensor.reset|kpu.deinit"),
    ("OSError: [Errno 19] ENODEV", "micropython", "mounted at that path", "Put the SD card in"),
    (
        (
            "MicroPython v1.22.1 on 2024-01-05; Raspberry Pi Pico W with RP2040\n"
            '  File "code.py", line 3, in <module>\nMemoryError: memory allocation failed\n'
        ),
        ["rp2040"],
        "no block of that size",
        "circuitpython",
    ),
    (
        (
            "Adafruit CircuitPython 9.0.0 on 2024-03-19; Raspberry Pi Pico W with rp2040\n"
            "MemoryError: memory allocation failed, allocating 9 bytes\n"
        ),
        ["circuitpython"],
        "no block of that size",
        "set_gc_heap",
    ),
    (
        "MicroPython v1.22.1 on 2024-01-05\nMemoryError: memory allocation failed\n",
        "esp32",
        "no block of that size",
        "set_gc_heap|PSRAM",
    ),
    (
        "E RKNN: This rknn model is for RK3588, but current platform is RK3576, please use\n",
        ["rknn"],
        "another chip",
        "newer toolkit",
    ),
    ("aclrtMallocHost failed, ret 207001", ["ascend"], "of the computer (host)", "npu-smi info"),
    ("OpenMV N6\nRuntimeError: Failed to load network", ["openmv"], "/rom", "smaller model"),
    ('E (5) SYSCALL: Out of memory\n  File "/sd/main.py"\n', ["k210"], "ran out", "dmesg"),
]


@pytest.mark.parametrize(("text", "boards", "said", "unsaid"), _WEIGHED)
def test_the_board_is_weighed(text: str, boards: list[str] | str, said: str, unsaid: str) -> None:
    """`boards`: all that stay possible, or one of several."""
    found, shown = read(text), explain(given=text).output
    if isinstance(boards, str):
        assert boards in found["possible"] and found["board"] is None
    else:
        assert found["possible"] == boards
    assert said in shown, shown
    assert not [word for word in unsaid.split("|") if word in " ".join(found_steps(found)) + shown]


def found_steps(found: dict) -> list[str]:
    return [step for answer in found["answers"] for step in answer["steps"]]


def test_a_name_is_a_whole_word() -> None:
    assert [r.id for r in table.find("E ESP_ERR_NO_MEM")] == ["idf-heap"]
    assert "2006" in [r.id for r in table.find("load error:2006, ERR_NO_MEM: x", "k210")]
    for text, key, whole in (
        ("ESP_ERR_NO_MEM", "ERR_NO_MEM", False),
        ("ESP_ERR_NO_MEM", "*ERR_NO_MEM", True),
        ("a=ERR_NO_MEM.", "ERR_NO_MEM", True),
        ("RK3588S", "RK35", False),
        ("RK3588S", "RK35*", True),
        ("设备内存不足了", "内存不足", True),
    ):
        assert words.has(text, key) is whole, (text, key)


_INFO = (
    "GC: total: {}, used: 9, free: {}{}\n No. of 1-blocks: 17, max blk sz: 23, max free sz: {}\n"
)
_FAILED = "MemoryError: memory allocation failed, allocating {} bytes\n"
_PICTURE = "[MAIXPY]kpu: img w={},h={}, but model w={},h={}\n"
#: a log, what its numbers tell, its first step
_CALCULATED = [
    (
        _INFO.format(64000, 61824, ", max new split: 8257536", 3800),
        ["61824 bytes are free, 60800 of them in one piece", "grow by a piece of 8257536"],
        "Compare 60800",
    ),
    (_INFO.format(64000, 12768, "", 266), ["12768 bytes are free, 4256 in one piece"], "Call gc."),
    (
        _INFO.format(64000, 12768, "", 266) + _FAILED.format(8192),
        ["8192 bytes were requested, 12768 are free, but no more than 4256 in one piece"],
        "Call gc.collect()",
    ),
    (
        "kendryte-k210\n" + _INFO.format(64000, 12768, "", 266),
        ["12768 bytes are free, 8512 of them in one piece"],  # blocks of 32 bytes
        "Compare 8512",
    ),
    (
        _INFO.format(64000, 12768, "", 266) + _FAILED.format(50000),
        ["50000 bytes were requested and 12768 are free in all: the heap is full"],
        "Free what",
    ),
    (
        _INFO.format(64000, 12768, "", 266) + _FAILED.format(99999),
        ["99999 bytes were requested and the whole heap has 64000"],
        "Use a smaller buffer",
    ),
    (
        ">>> gc.mem_free()\n137000\n" + _FAILED.format(19200),
        ["19200 bytes were requested and 137000 were free"],
        "",
    ),
    (
        _PICTURE.format(320, 240, 224, 224),
        ["is 320x240, the model's is 224x224"],
        "Call sensor.set_w",
    ),
    (
        _PICTURE.format(320, 240, 320, 256),
        ["320x256, is higher than this one"],
        "Call img.resize(320, ",
    ),
    (
        _PICTURE.format(224, 224, 320, 224),
        ["320x224, is wider than this one"],
        "Call img.resize(320, ",
    ),
    (
        "OSError: buffer_init, vb config failed(-1610317806)",
        ["-1610317806 is 0xa0048012: VB, error 0x12"],
        "In the program: try",
    ),
    (
        "MicroPython v1.19.1; Generic ESP32 module with ESP32\n" + _FAILED.format(247500),
        ["247500 bytes in one piece; this firmware uses no PSRAM"],
        "Check whether the board has PSRAM",
    ),
    (
        "E RKNN: failed to malloc npu memory, size: 4022861824, flags: 0x2",
        ["4022861824 bytes in one piece, of the 4 GiB"],
        "Use another domain",
    ),
    (
        "cma: cma_alloc: alloc failed, req-size: 3934 pages, ret: -12\nCmaFree:  441276 kB",
        ["16113664 bytes were requested in one piece, 451866624 of CMA are free: it is in pieces"],
        "Reboot",
    ),
    (
        "AllocateTensors() failed! Requested: 5000, available 1200, missing: 3800",
        ["5000 bytes were requested of the arena, 1200 were left"],
        "Use a larger arena",
    ),
]


@pytest.mark.parametrize(("text", "numbers", "step"), _CALCULATED)
def test_the_numbers_of_a_log_are_calculated_with(
    text: str, numbers: list[str], step: str
) -> None:
    found, shown = read(text), explain(given=text).output
    reported = [n for answer in found["answers"] for n in answer["numbers"]]
    for number in numbers:
        assert [n for n in reported if number in n], reported
        assert number in shown
    with_numbers = [a for a in found["answers"] if a["numbers"]]
    assert with_numbers[-1]["steps"][0].startswith(step), with_numbers


# --- Chinese ---

_TEXTS = sorted({pair for name in (*files.ROWS, *files.OTHERS) for pair in files.texts(name)})
#: words that a translation leaves as they are: names, numbers, options, commands, {values}
_WORD = re.compile(
    r"\{\w+\}|(?<![A-Za-z0-9])--?[a-z]\w*|/[a-z]\w+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(?|\d+(?:\.\d+)*",
    re.ASCII,
)
_SENTENCE = re.compile(r" (?:the|and|of|is|that) ")
_KEPT = re.compile(r"\d|[_{]|\($|[A-Z].*[A-Z]|^[-/]|[a-z]\.[a-z]")


def kept(text: str) -> set[str]:
    """What has to be the same in each language."""
    commands = {
        f"maixmem {name}" for name in main.list_commands(None) if f"maixmem {name}" in text
    }
    return commands | {word for word in _WORD.findall(text) if _KEPT.search(word)}


def test_every_text_has_a_chinese_one_with_the_same_names_and_numbers() -> None:
    assert len(_TEXTS) > 500
    for english, chinese in _TEXTS:
        assert re.search("[一-鿿]", chinese), english
        assert kept(english) == kept(chinese), (english, chinese)
        assert "固件" not in chinese or "firmware image" not in english or "固件镜像" in chinese


def test_nothing_of_the_table_is_without_chinese() -> None:
    known = {english for english, _ in _TEXTS}
    for row in _ROWS:
        assert row.means in known, row.id
        for step in row.steps:
            assert step in known or step in table.steps(), (row.id, step)
    code = "".join(p.read_text(encoding="utf-8") for p in sorted(paths.TOOLS.rglob("*.py")))
    for sentence in files.read("words"):  # the others are never asked for
        assert f'"{sentence}"' in code, sentence


@pytest.mark.parametrize("board", table.boards())
def test_an_answer_in_chinese_has_no_english_sentence(board: str) -> None:
    """Of each row: what is left of ASCII are names, numbers and words of the message."""
    for row, text in _CASES:
        if table.rows_of(board) not in row.on:
            continue
        found = log.explain(f"{text}\n".encode(), board, "zh")
        for answer in found.answers:
            own = table.with_own(text, [])
            for said in (answer.means, *answer.numbers, *answer.steps):
                assert said in own or re.search("[一-鿿]", said), (row.id, said)


def test_the_command_speaks_the_language_of_the_locale() -> None:
    english = explain("load error:2006").output
    assert "Cause: the system heap" in english
    given = CliRunner(env={"LC_ALL": "zh_CN.UTF-8"})
    for done in (
        given.invoke(main, ["explain", "load error:2006"]),
        explain("load error:2006", "--lang", "zh"),
    ):
        assert "系统堆放不下这个模型" in done.output and "请这样做" in done.output
        assert not _SENTENCE.search(done.output), done.output
    assert given.invoke(main, ["explain", "load error:2006", "--lang", "en"]).output == english


def test_a_dump_in_chinese() -> None:
    shown = explain("--lang", "zh", given=COPIED).output
    assert not _SENTENCE.search(shown), shown
    assert "开发板卡死" in shown and "栈被改写" in shown


def test_without_numbers_nothing_is_calculated() -> None:
    for text in (_FAILED.format(88332), "max free sz: 266", "-1610317806x", "Errno -12"):
        assert not [n for answer in read(text)["answers"] for n in answer["numbers"]], text


def test_findings_name_rows_and_numbers_that_there_are() -> None:
    listed = files.read("numbers")
    names = {n for one in listed["number"] for n in re.compile(one["match"]).groupindex}
    names |= {one["name"] for one in [*listed["product"], *listed["difference"]]} | {"block"}
    names |= {"picture_w", "picture_h", "picture_bytes", "caps_internal", "caps_spiram", "frames"}
    names |= {"frames_again"}
    series = ("first", "last", "count", "falls", "drop")
    names |= {f"{name}_{key}" for name in listed["series"] for key in series}
    for row in _ROWS:
        assert set(re.findall(r"[a-z]\w+", " ".join(row.when))) <= names, row.id
    for one in listed["finding"]:
        assert set(one["rows"]) <= {row.id for row in _ROWS}, one
        used = set(re.findall(r"[a-z]\w+", " ".join(one["when"])))
        steps = " ".join(map(files.english, one.get("steps", ())))
        used |= set(re.findall(r"\{(\w+)[:}]", one.get("means", "") + steps))
        assert used | set(one.get("unknown", ())) <= names, one


#: a log, the row of its first answer, words of its first step
_PEOPLE_ASK = [
    ("NameError: name 'board_info' isn't defined", "board-info", "from board import"),
    ("RKNN\n内存不足", "memory-error", "Run `free -m` while"),
    ("RK3588 提示内存溢出", "memory-error", "Run `free -m` while"),
    ("RV1126\nRKNN init failed. error code: RKNN_ERR_MALLOC_FAIL", "rknn-memory", "Free a model"),
    (
        "a.py:84: UserWarning: No module named 'torchvision'\nSegmentation fault (core dumped)",
        "segfault",
        "Check for a line before",
    ),
    ("段错误 (核心已转储)", "segfault", "Check for a line before"),
    ("已杀死", "oom-killer", "Use fewer and smaller"),
    ("RK3588 推理时内存一直增长", "rknn-growth", "gc.collect() every few"),
    (
        "W rknn-toolkit2 version: 2.3.2\n--> Building model\nKilled\n",
        "converter-killed",
        "free -m",
    ),
    ("*** PANIC ***\n\nOut of memory\n", "pico-panic", "PICO_DEBUG_MALLOC=1"),
    ("E RKNN: rknn_query, info_len(372) < sizeof(x)(376)!", "rknn-headers", "strings librknnrt"),
    ("Axera AX650\nAX_ENGINE_CreateHandle failed", "ax-engine", "Run `ps`, and end other"),
    ("OSError: [Errno 105] ENOBUFS", "ENOBUFS", "Close each socket"),
]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("the RAM grows with each picture", True),
        ("跑一会儿以后剩余内存越来越少", True),
        ("each minute I lose some free memory", True),
        ("8 GB of memory. The number of pictures grows.", False),
        ("I increased the memory of the board", False),
        ("can a picture be read without filling up the ram?", False),
    ],
)
def test_growth_is_one_sentence_of_memory(text: str, says: bool) -> None:
    assert ("says:growth" in table.codes(text)) is says


def test_words_that_every_program_says_are_of_a_board_only_where_the_log_shows_one() -> None:
    for row in table.rows():
        assert set(row.everyday) <= set(row.match), row.id
        for key in row.everyday:
            text = f"my own program: {key.strip('*= ')}"
            assert row not in table.find(text), (row.id, key)
    assert read("it crashes")["answer"] is None
    for text in (
        "SDIO driver open failed.",
        "mlx5_core 0000:01:00.0: swiotlb buffer is full (sz: 8388608 bytes)",
        "NVIDIA driver version is too low",
    ):
        assert read(text)["answer"] is None
        assert read(f"RKNN: {text}")["answer"]["key"].startswith("rknn")


@pytest.mark.parametrize(("text", "row", "step"), _PEOPLE_ASK)
def test_what_people_ask_today(text: str, row: str, step: str) -> None:
    found = read(text)
    assert found["answer"]["key"] == row, found
    assert found["answer"]["step"]["text"].startswith(step) or step in " ".join(found_steps(found))
    assert not found["unknown"]


def test_an_unknown_board_without_a_common_step_is_asked_for() -> None:
    assert {step[:7] for step in found_steps(read("ENOENT"))} == {"--board"}


@pytest.mark.parametrize(
    "text",
    [
        "W rknn-toolkit2 version: 2.3.0\nE RKNN: Invalid RKNN model version 6\n",
        "--> Building model\nE RKNN: Invalid RKNN model version 6\nFailed to load model\n",
    ],
)
def test_a_runtime_weighs_more_than_the_toolkit_of_the_pc(text: str) -> None:
    assert read(text)["board"] == "rknn"


PROJECT = paths.ROOT / "pyproject.toml"
_MAIX = "MicroPython v0.6.2-84-g8fcd84a58; Sipeed_M1 with kendryte-k210"
_PICO = "MicroPython v1.22.2 on 2024-02-22; Raspberry Pi Pico W with RP2040"


@pytest.mark.parametrize(
    ("text", "board", "wanted", "other"),
    [
        (
            f"i2c.readfrom_mem(0x68, 0x75, 1)\nOSError: [Errno 5] EIO\n{_MAIX}",
            "k210",
            "scan",
            "sen",
        ),
        (f'File "ssd1306.py", line 42\nOSError: [Errno 5] EIO\n{_PICO}', "rp2040", "scan", "list"),
        (f"sensor.snapshot()\nOSError: [Errno 5] EIO\n{_MAIX}", "k210", "sensor.reset()", "scan"),
        (
            "failed to access /dev/ttyACM0 (it may be in use by another program)",
            None,
            "IDE",
            "disp",
        ),
        ("ValueError: GP15 in use\nCircuitPython 9", "circuitpython", "release_displays", "IDE"),
        ("task_wdt: Task watchdog got triggered.", "esp32", "sleep_ms", "supply"),
        ("rknn_init fail! ret=-6", "rknn", "Toolkit", "Free a model"),
        (
            (
                "E RKNN: failed to malloc npu memory!, size: 59187712, flags: 0x2\n"
                "RKNPU fde40000.npu: rknpu iommu is disabled, using non-iommu mode"
            ),
            "rknn",
            "IOMMU on",
            "outside the loop",
        ),
        ("I rknn building ...\nKilled", "pc", "swap", "ModelManager"),
        (
            (
                "kpu: load error:2006, ERR_NO_MEM: memory not enough\nmodel 3336 KB\n"
                f"###free sys heap memory: 2052 KB\n{_MAIX}"
            ),
            "k210",
            "minimum leaves",
            "kpu.deinit",
        ),
        (
            "core dump: misaligned load, after img.copy() and pix_to_ai()",
            "k210",
            "cut(x, y, w, h)",
            "get_statistics",
        ),
        (
            (
                "after about 40 minutes\n"
                f"MemoryError: memory allocation failed, allocating 41472 bytes\n{_MAIX}"
            ),
            "k210",
            "maixmem profile",
            "gc.collect",
        ),
    ],
)
def test_the_first_step_is_of_this_case(
    text: str, board: str | None, wanted: str, other: str
) -> None:
    found = log.explain(text.encode())
    first = found.errors[0].steps[0]
    assert found.board == board and wanted in first and other not in first, first


def test_the_manual_has_an_address_where_the_package_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert places.manual("hang.md#what") == "docs/hang.md#what"
    monkeypatch.setattr(places, "_INSTALLED", True)
    (address,) = re.findall('^Repository = "(.+)"$', PROJECT.read_text(), re.MULTILINE)
    assert places.manual("hang.md#what") == f"{address}/blob/HEAD/docs/hang.md#what"


def test_more_than_was_free_is_not_in_pieces() -> None:
    text = "gc.mem_free() -> 61888\nMemoryError: memory allocation failed, allocating 153600 bytes"
    (only,) = log.explain(text.encode(), "esp32").errors
    assert "more than there was" in only.numbers[0]


def _first(text: str) -> log.Answer:
    return log.explain(text.encode()).errors[0]


def test_a_number_that_is_no_size_asks_for_no_more_memory() -> None:
    told = _first(
        "Arena size is too small for all buffers. Needed 4294960256 but only 30992 was available."
    )
    assert told.sure == "computed" and "below zero" in told.means
    assert not [step for step in told.steps if "larger arena" in step.lower()]


def test_memory_that_was_left_is_not_the_cause() -> None:
    told = _first("init 0 axmodel ok,devid(0) remain_cmm(4983 MB)\nAX_ENGINE_CreateHandle")
    assert "4983 MB" in told.means and "not the cause" in told.means
    told = _first("remain_cmm(3 MB)\nAX_ENGINE_CreateHandle")
    assert "CMM is full" in told.means


def test_the_heap_of_python_is_not_blamed_for_the_system_s() -> None:
    text = "ESP32 module with ESP32\nGC: total: 111168, used: 31904, free: 79264\n"
    found = log.explain(f"{text} max free sz: 3712\nOSError: [Errno 12] ENOMEM".encode())
    assert [answer.row.id for answer in found.errors] == ["ENOMEM-else"]
    assert any("the system's own heap" in told for told in found.errors[0].numbers)


def test_a_step_that_the_log_speaks_against_is_not_said() -> None:
    text = "ESP-IDF\nCouldn't allocate memory of 900000 bytes"
    psram = table.steps()["psram"]["desk"]
    assert psram in _first(text).steps
    assert (
        psram not in _first(f"spiram: Adding pool of 4095K of external SPI memory\n{text}").steps
    )


def test_a_step_that_somebody_has_done_does_not_come_first() -> None:
    text = "MicroPython v1.20 on a Pico\nos.listdir('/sd')\nOSError: [Errno 19] ENODEV"
    assert _first(text).steps[0].startswith("Format the card")
    after = _first(f"{text}\nReformatting the card did not help.")
    assert not after.steps[0].startswith("Format the card")
    assert sorted(after.steps) == sorted(_first(text).steps)


@pytest.mark.parametrize(
    ("text", "done", "step"),
    [
        (
            "OSError: [Errno 12] ENOMEM\nurequests.py",
            "It fails after closing.",
            "Close each response",
        ),
        (
            "ESP32-CAM: Camera probe failed with error 0x105",
            "I reseated it.",
            "Power off, seat the",
        ),
    ],
)
def test_what_somebody_has_tried_is_no_first_step(text: str, done: str, step: str) -> None:
    first = _first(f"ESP32, MicroPython v1.20\n{text}\n{done}").steps[0]
    assert not first.startswith(step)


def test_what_a_program_printed_says_more_than_a_title() -> None:
    text = (
        "# malloc fail of a task on my ESP32\nPanic reason: Mem alloc fail. size 0x6a0 caps 0x1800"
    )
    first = _first(text)
    assert first.numbers or "MALLOC_CAP_INTERNAL" in first.means
    assert "MALLOC_CAP_INTERNAL" in first.steps[0]


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("RuntimeError: err.Err.ERR_NO_MEM", "maixcam"),
        ("overflow in task 'CYW43 Worker'", "rp2040"),
    ],
)
def test_a_name_that_one_runtime_gives_names_its_board(text: str, board: str) -> None:
    assert log.explain(f"{text}\n".encode()).board == board


def test_the_bare_name_of_an_exception_in_a_sentence_asks_for_the_board() -> None:
    asks = table.find_out(None)
    assert _first("MemoryError in my web view when it has many rows").steps[0] == asks
    assert _first("MemoryError").steps[0] != asks
    assert _first("MemoryError in my loop on an ESP32, MicroPython").steps[0] != asks


def test_what_follows_from_another_line_is_no_cause() -> None:
    text = (
        "E RKNN: failed to convert handle(1021) to fd, ret: -1, errno: 24, errstr: Too many\n"
        "E RKNN: failed to malloc npu memory, size: 80, flags: 0xa"
    )
    assert [answer.row.id for answer in log.explain(text.encode()).errors] == ["rknn-files"]


def test_a_message_of_memory_is_no_other_fault_of_python() -> None:
    assert not log.explain(b"AssertionError: tile alloc without enough space").errors


@pytest.mark.parametrize("row", [r for r in _ROWS if r.kind == "error"], ids=lambda r: r.id)
def test_a_word_or_two_in_what_somebody_writes_make_no_cause_likely(row: table.Row) -> None:
    for key in row.match:
        word = words.bare_of(key)
        if row.also or row.when or not re.fullmatch(r"[A-Za-z][a-z]*(?: [A-Za-z][a-z]*)?", word):
            continue
        text = f"Since yesterday I see something like {word} with it, does anyone of you know why?"
        for board in row.on:
            for answer in log.explain(text.encode(), board).errors:
                if answer.row.id == row.id and not answer.numbers:
                    assert answer.sure == "possible", (word, board)


@pytest.mark.parametrize(
    "typed",
    [
        "$ ../ncc compile a.tflite b.kmodel -t k210 --inference-type uint8",
        "C:\\nncase>ncc -i x",
        "_webrepl          lodepng           struct            ure",
    ],
)
def test_a_command_that_somebody_typed_is_no_message(typed: str) -> None:
    assert table.is_typed(typed)
    assert not log.explain(typed.encode(), "pc").answers


def test_a_path_of_a_computer_is_of_no_board_without_an_operating_system() -> None:
    text = "OpenMV H7\nCould not open /home/me/a.bin: No such file or directory"
    found = log.explain(text.encode())
    assert found.board == "openmv" and found.errors[0].row.on <= {"pc", *table.expand(["linux"])}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("free memory drops, it leaks memory.", True),
        ("It should free the memory and not leak it.", False),
        ("The compression should free the memory, it must not leak memory.", False),
    ],
)
def test_what_should_be_has_not_been_seen(text: str, said: bool) -> None:
    assert table.says(text, "growth") is said


def test_what_ran_with_another_release_comes_before_words_that_tell_less() -> None:
    text = "OpenMV H7. If I downgrade the firmware to 3.2, all runs as expected; 3.3 crashes."
    answer = log.explain(text.encode()).errors[0]
    assert answer.row.id == "other-release" and answer.steps[0].startswith("Flash the release")


@pytest.mark.parametrize(("version", "old"), [("3.5.0", True), ("4.5.8", True), ("4.8.1", False)])
def test_an_old_firmware_is_a_possible_cause_where_nothing_else_is_known(
    version: str, old: bool
) -> None:
    text = f"OpenMV: some pictures are bad\nFirmware version: {version}"
    assert [a.row.id for a in log.explain(text.encode()).errors] == ["old-firmware"] * old


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("It hangs, but I haven't received any core dump.", False),
        ("It hangs without any core dump.", False),
        ("It hangs; the core dump is below.", True),
        ("Once not any core dump, now a core dump each time.", True),
    ],
)
def test_what_was_not_seen_is_no_message(text: str, seen: bool) -> None:
    row = dataclasses.replace(_A_ROW, match=("core dump",), without=("sd card",))
    assert row.is_said(text, set(), frozenset(), text) is seen
    assert not row.is_said(text, set(), frozenset(), f"{text} An sd card is in.")


@pytest.mark.parametrize("row", [row for row in table.rows() if row.faint], ids=lambda row: row.id)
def test_what_is_said_of_many_comes_after_each_other_possible_cause(row: table.Row) -> None:
    assert row.vague
    known = next(r for r in table.rows() if r.id == "safe-mode" and r.vague)
    found = log.Explained(None, answers=[_answer_of(row), _answer_of(known)])
    assert [a.row for a in found.errors] == [known, row]


def _answer_of(row: table.Row) -> log.Answer:
    return log.Answer(row, ["a line"], 1, row.means, "possible", firm=True)


def test_a_preview_that_hangs_is_tried_as_a_release() -> None:
    text = "Pico W\nMicroPython v1.24.0-preview.3\nmachine.Pin hangs\n"
    assert [a.row.id for a in log.explain(text.encode()).errors] == ["preview-build"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("my free heap drops about 20kb at the moment I call mqtt.connect()", False),
        ("my free heap drops with each call of mqtt.publish()", True),
    ],
)
def test_memory_that_falls_once_does_not_grow(text: str, said: bool) -> None:
    assert table.says(text, "growth") is said


@pytest.mark.parametrize(
    "ran",
    ["If I roll back to 3.0.6 this error disappears.", "It came with v5, but not on tag v4.2.3."],
)
def test_a_build_that_does_not_fit_is_tried_with_the_version_that_did(ran: str) -> None:
    text = f"ESP32, idf.py build\nregion `iram0_0_seg' overflowed by 1040 bytes\n{ran}\n"
    answer = log.explain(text.encode()).errors[0]
    assert answer.row.id == "iram-full" and answer.steps[0].startswith("Use the version")
    assert log.explain(text.replace(ran, "").encode()).errors[0].steps[0].startswith("Build for")


@pytest.mark.parametrize("board", ["ESP32-S3 WROOM", "XIAO ESP32S3 Sense"])
def test_a_camera_that_does_not_answer_has_the_pins_of_its_board(board: str) -> None:
    text = f"{board}\nE (12590) camera: Camera probe failed with error 0x105(ESP_ERR_NOT_FOUND)\n"
    assert log.explain(text.encode()).errors[0].steps[0].startswith("Set the pins")


def test_where_memory_is_said_to_be_exhausted_python_s_own_refusal_is_no_cause() -> None:
    text = "ESP8266, MicroPython\n{}\nValueError: generator already executing\n"
    for said, row in (("It is the exhausted heap.", "memory-words"), ("It stops.", "python")):
        assert [a.row.id for a in log.explain(text.format(said).encode()).errors] == [row]


def test_what_mem_info_printed_comes_after_the_error() -> None:
    info = " No. of 1-blocks: 49, 2-blocks: 12, max blk sz: 263, max free sz: 1088\n"
    text = f"MicroPython on ESP8266\n{info}>>> import usched\nMemoryError: \n"
    assert [a.row.id for a in log.explain(text.encode()).errors][-1] == "mem-info"


def test_an_exception_of_cpython_is_of_no_micropython() -> None:
    text = "PermissionError: [Errno 13] Permission denied: '/opt/ncc'\n"
    for answer in log.explain(text.encode()).errors:
        assert answer.row.on & {"linux", "pc"} and "k210" not in answer.only
    assert table.boards_of_line(text, frozenset({"k210", "linux"})) == {"linux"}
    assert table.boards_of_line(text, frozenset({"k210"})) == {"pc"}


def test_the_file_cache_of_linux_is_no_leak() -> None:
    text = "Raspberry Pi: the Buff/Cache memory keeps increasing until the maximum\n"
    assert [a.row.id for a in log.explain(text.encode()).errors] == ["page-cache"]


def test_a_camera_that_each_round_makes_is_made_once() -> None:
    text = (
        "Raspberry Pi: [Errno 12] Cannot allocate memory after some iterations\n"
        "for i in range(20):\n    camera = Picamera2()\n    camera.close()\n"
    )
    assert log.explain(text.encode()).errors[0].steps[0].startswith("Make and configure Picamera2")


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("K210\nFatal: Invalid dataset, should contain one file at least", "nncase-dataset-none"),
        ("nncase: it takes ages\n4.2. Run calibration...", "nncase-calibration"),
        ("nncase\n[(allocate)] buffer = nullptr (gsl::byte*)", "nncase-buffer"),
        ("[0] carveout heap size:0 bytes, used:0 bytes\nion allocated len=0x1000", "ion-none"),
    ],
)
def test_a_line_of_a_tool_or_driver_is_known_by_its_words(text: str, row: str) -> None:
    assert [a.row.id for a in log.explain(text.encode()).errors] == [row]


def test_errors_of_a_flash_memory_are_no_lack_of_ram() -> None:
    text = "OpenMV Cam H7 Plus: it hangs, maybe by {}memory errors\n"
    for flash, rows in (("", ["memory-words"]), ("flash-", [])):
        errors = log.explain(text.format(flash).encode()).errors
        assert [a.row.id for a in errors] == rows


def test_a_prompt_in_place_of_the_reason_is_an_old_build_s() -> None:
    text = 'K210\ntask = kpu.load("/sd/yolo.kmodel")\nValueError: $>>> init i2c2\n'
    first = log.explain(text.encode()).errors[0]
    assert first.row.id == "lost-text" and first.steps[0].startswith("Update to MaixPy")


def test_a_board_that_does_not_boot_is_no_k230_where_nothing_tells_so() -> None:
    text = "After some time the board resets itself and doesn't boot until I press reset\n"
    assert not log.explain(text.encode()).errors
    assert log.explain(f"K230: {text}".encode()).errors[0].row.id == "k230-no-boot"


def test_words_with_an_apostrophe_are_plain_words() -> None:
    row = dataclasses.replace(_A_ROW, match=("doesn't start",), raised=False, when=())
    assert not row.is_firm("we tried each of its examples, and one of them doesn't start on it")
    assert row.is_firm("It doesn't start")


def test_the_ram_of_an_openmv_is_explained_to_who_reads_its_heap() -> None:
    text = "OpenMV N6: the NPU may use 16 MB of 64 MB, {}\n"
    assert not log.explain(text.format("and its memory is larger").encode()).errors
    asked = log.explain(text.format("and gc.mem_free() prints 8480384").encode())
    assert [a.row.id for a in asked.errors] == ["openmv-ram"]
    left = "OpenMV N6: stedgeai\ntotal bytes left unallocated=9674752\n"
    assert [a.row.id for a in log.explain(left.encode()).errors] == ["openmv-mpool"]


def test_a_pin_that_board_info_lacks_is_no_name_that_is_missing() -> None:
    lacks = log.explain(b"AttributeError: type object 'board_info' has no attribute 'WIFI_RX'")
    assert lacks.errors[0].row.id == "board-pins"
    assert lacks.errors[0].steps[0].startswith("Run the config_....py")
    absent = log.explain(b"NameError: name 'board_info' isn't defined").errors[0]
    assert absent.row.id == "board-info" and absent.steps[0].startswith("Begin the script")


def test_a_line_is_left_out_where_it_corrects_a_picture_alone() -> None:
    text = "K210\nAttributeError: 'Image' object has no attribute '{}'\n"
    for name, step in (
        ("rotation_corr", "Leave the line out"),
        ("get_histogram", "Use openmv_v4"),
    ):
        first = log.explain(text.format(name).encode()).errors[0]
        assert first.row.id == "no-openmv" and first.steps[0].startswith(step)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("OpenMV RT1062\nRuntimeError: Frame capture has timed out.", "openmv-capture-timeout"),
        ("NanoKVM: the system hangs while Tailscale runs", "nanokvm-tailscale"),
    ],
)
def test_what_people_write_of_these_boards_has_its_own_row(text: str, row: str) -> None:
    assert [a.row.id for a in log.explain(text.encode()).errors] == [row]


def test_a_link_names_no_board_beside_words_that_do() -> None:
    link = "see https://github.com/openmv/openmv/blob/master/ml/cascade.xml\n"
    k210 = "MicroPython v0.4.0-82 on 2019-10-25; Sipeed_M1 with kendryte-k210\n"
    assert table.possible_boards(link + k210) == {"k210"}
    assert table.possible_boards(link) == {"openmv"}
    assert table.possible_boards(link + "sensor.set_framesize(sensor.QVGA)\n") == {"openmv"}


def test_the_module_of_a_camera_is_on_no_computer() -> None:
    text = "I run face_eye_detector.py and it says no module named sensor\n"
    first = log.explain(text.encode()).errors[0]
    assert first.row.id == "no-module" and first.steps[0].startswith(
        "Run the script on the camera"
    )


def test_the_ram_in_a_k230d_is_small_for_debian() -> None:
    text = "BPI-CanMV-K230D-Zero, Debian\n[ 7.8] systemd invoked oom-killer: gfp_mask=0x40cc0\n"
    first = log.explain(text.encode()).errors[0]
    assert first.row.id == "oom-killer" and first.steps[0].startswith("Use the buildroot image")


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (
            "nncase\nFatal: Not supported ONNX opcode: Shape",
            "Give the network fixed shapes",
        ),
        ("K230\nNot Supported Onnx op: Loop", "Cut the network before that operator"),
        ("nncase\nFatal: Shape and data size don't match", "Give the network fixed shapes"),
        ("nncase\nFatal: Not supported ONNX opcode: Erf", "Use a newer nncase"),
    ],
)
def test_what_nncase_refuses_of_an_onnx_has_its_own_step(text: str, step: str) -> None:
    assert log.explain(text.encode()).errors[0].steps[0].startswith(step)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("K210\nactive_addr % 256 == 0 = false (bool)\nerror: Invalid argument", ["nncase-align"]),
        ("my kmodel: I always get the same values, no matter of the image", ["output-constant"]),
        ("the output does not change when I type", []),
    ],
)
def test_what_a_program_in_c_gives_the_kpu(text: str, rows: list[str]) -> None:
    assert [a.row.id for a in log.explain(text.encode()).errors] == rows


def test_chinese_words_of_one_board_are_plain_words() -> None:
    row = dataclasses.replace(_A_ROW, match=("启动不了*",), on=frozenset({"k230"}))
    text = "我的板子昨天还好好的 今天更新了系统之后就启动不了"
    assert not row.is_said(text, set(), frozenset(), text)
    assert row.is_said(text, set(), frozenset({"k230"}), text)


def test_a_response_that_is_not_closed_is_named_first() -> None:
    text = "Pico W, MicroPython: it leaks memory\nrequests.post(url)\n"
    assert "falls on and on: Close each response" in log.explain(text.encode()).errors[0].steps[0]
    closed = log.explain((text + "r.close()\n").encode()).errors[0]
    assert "Close each response" not in closed.steps[0]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("RK3588\nOSError: /usr/lib/librknnrt.so: invalid ELF header", "elf-header"),
        ("Pico\nlittlefs/lfs.c:561:error: No more free space 0", "littlefs-size"),
        ("RK3588\nE rkllm: matmul(w8a8) run failed", "rkllm-run"),
        ("Raspberry Pi\nERROR RPI: Camera frontend has timed out!", "pi-camera-timeout"),
        ("MicroPython\nDevice is busy or does not respond. Your options:", "thonny-busy"),
    ],
)
def test_what_is_no_question_of_memory_has_its_own_row(text: str, row: str) -> None:
    assert [a.row.id for a in log.explain(text.encode()).errors] == [row]


def test_a_bus_of_the_camera_that_is_disturbed_is_no_lack_of_memory() -> None:
    text = "ESP32-CAM\n[E][camera.c:1270] esp_camera_init(): Camera init failed with error 0x20002"
    assert log.explain(text.encode()).errors[0].steps[0].startswith("Switch the power")


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        ("maixbit 加载6M的kmodel 报 memory not enough", "2006", "Run `maixmem kmodel"),
        ("K210 改成 VGA 之后 snapshot 就 out of memory", "memory-words", "Use sensor.QVGA"),
        ("K210 运行一段时间自动重启", "went-dark", "Keep what its serial port"),
        ("maixcam 256M内存为什么 free 只显示 120 多 M", "maixcam-reserved", "Call maixmem"),
        ("MaixCAM 报错 my.mud not found", "mud-missing", "Run `ls -l`"),
        ("MaixCAM2 跑 Qwen 提示 CMM 内存不足", "cmm", "Run `maixmem cmm`"),
        ("给 MaixCAM 转换 model_deploy 到一半 Killed", "oom-killer", "Add swap on the computer"),
        ("K230 第二次运行报 vb init failed", "k230-vb", "Reset the board"),
        ("K230 画面卡死 没有报错", "k230-dark", "Read the serial console"),
        # messages of C
        ("E (50) wifi:rxa_eb mem fail tid=1", "esp-alloc", "Print heap_caps"),
        ("ESP32: changeBuffer(): realloc failed!", "idf-largest", "Print heap_caps"),
        ("W (6634) cam_hal: NO-SOI", "camera-garbled", "Try xclk_freq_hz"),
        ("ESP32 PIXFORMAT_RGB565 cam_hal: FB-OVF", "camera-jpeg", "Set fb_count = 1"),
        ("Pico W: pool MEMP_SYS_TIMEOUT is empty", "lwip-entries", "Enlarge that pool"),
        ("Pico: stack overflow with PICO_STACK_SIZE 12288", "pico-stack", "Set PICO_STACK_SIZE"),
        ("CircuitPython PyCamera: Repeated socket failures", "request-fails", "Call deinit()"),
        ("the RK3588 freezes while it runs the demo", "linux-stops", "Keep `dmesg -w`"),
    ],
)
def test_a_line_of_a_forum_has_its_first_step(text: str, row: str, step: str) -> None:
    first = log.explain(f"{text}\n".encode()).errors[0]
    assert (first.row.id, first.steps[0][: len(step)]) == (row, step)


def test_one_message_of_several_boards_asks_which_it_is() -> None:
    """A firmware of each of them prints these words, for a cause of its own."""
    first = log.explain(b"*** \nOut of memory\n").errors[0]
    assert len(first.only) < len(table.boards())
    assert first.steps[0].startswith("--board ") and "openmv" in first.steps[0]
    assert "rp2040" in first.steps[0]


def test_words_of_every_board_are_not_those_of_one_that_is_only_possible() -> None:
    found = log.explain(b"Cannot allocate memory: a memory leak in each round\n")
    assert found.possible == ["ascend", "linux", "maixcam", "rknn"]
    assert found.errors[0].row.id == "growth" and "rknn" not in found.errors[0].only


@pytest.mark.parametrize(
    "text",
    [
        "Redis: cURL error 28: Connection timed out",
        "CUDA: allocated memory is set to avoid fragmentation",
        "HTTP Exception (28) in pvPortMalloc",
    ],
)
def test_words_of_another_program_are_no_message_of_a_board(text: str) -> None:
    assert not {"ENOSPC", "pieces-words", "pico-freertos"} & {
        a.row.id for a in log.explain(f"{text}\n".encode()).answers
    }


def test_a_server_without_memory_gets_no_step_of_a_board_or_a_converter() -> None:
    found = log.explain(b"[ERROR] InnoDB: Cannot allocate memory for the buffer pool\n")
    assert found.board == "pc"
    assert found.errors[0].steps[0].startswith("Add swap")


def test_a_thread_without_a_context_is_no_lack_of_memory() -> None:
    text = "torch_npu NPU error, error code is 107002\n[Error]: The context is empty.\n"
    assert [a.row.id for a in log.explain(text.encode()).errors] == ["acl-context"]


@pytest.mark.parametrize("code", ["-0x10", "-0x5180", "-0x6180", "-0x2880", "-0x4d80"])
def test_what_a_module_of_mbedtls_could_not_allocate_is_memory(code: str) -> None:
    for text, row in ((code, "tls-in-c"), (code + "f", "network")):
        line = f"E (7795) esp-tls: mbedtls_ssl_handshake returned {text}\n"
        assert [a.row.id for a in log.explain(line.encode()).errors] == [row]


def test_a_line_that_ends_a_block_of_code_is_read_without_its_mark() -> None:
    text = "Raspberry Pi Pico\n*** PANIC ***\n\nOut of memory`\n"
    assert log.explain(text.encode()).errors[0].row.id == "pico-panic"


def test_a_program_in_c_gets_a_step_of_c_before_another_board() -> None:
    text = "pico_w with the pico-sdk: realloc() of a reply runs out of memory\n"
    steps = log.explain(text.encode()).errors[0].steps
    assert [step.split()[0] for step in steps] == ["Print", "In", "Use"]
    text = "Raspberry Pi Pico, MicroPython: it runs out of memory\n"
    assert not any(s.startswith("In C") for s in log.explain(text.encode()).errors[0].steps)


def test_psram_that_the_firmware_does_not_use_is_found_in_a_person_s_words() -> None:
    text = "Adafruit CircuitPython 8.1 with ESP32S3: the PSRAM does not show\n"
    text += "the PSRAM is not recognized\n"
    answer = log.explain(text.encode()).errors[0]
    assert answer.row.id == "no-psram-words" and "octal" in answer.steps[0]
    esphome = log.explain(b"ESPHome, esp32: psram not recognized since 2025.10\n").errors[0]
    assert "psram:" in esphome.steps[0]


def test_a_path_in_an_assertion_is_that_of_the_firmware_s_source() -> None:
    line = 'assertion "free() target pointer is outside heap areas" failed: file "/home/me/heap.c"'
    found = log.explain(f"ESP32\n{line}\n".encode())
    assert [a.row.id for a in found.errors] == ["idf-damage"]
    assert table.boards_of_line("/home/me/heap.c:1: error", frozenset({"esp32"})) == {"pc"}


def test_a_model_that_fills_the_device_while_it_is_loaded_has_too_many_weights() -> None:
    text = (
        "RuntimeError: NPU out of memory. Tried to allocate 30.00 MiB (NPU 5; 60.96 GiB total"
        " capacity; {} GiB already allocated; 60.34 GiB current active; 15.87 MiB free)\n"
        "  worker.py, line 207, in load_model; vllm\n"
    )
    step = log.explain(text.format("60.34").encode()).errors[0].steps[0]
    assert step.startswith("Use another NPU")
    assert (
        not log.explain(text.format("40.34").encode())
        .errors[0]
        .steps[0]
        .startswith("Use another NPU")
    )


def test_a_socket_that_cannot_be_opened_is_not_a_reply_too_large() -> None:
    text = 'CircuitPython\n  File "code.py", line 2, in <module>\nr = requests.get(url)\n'
    text += "{}MemoryError: \n"
    inside = '  File "/lib/adafruit_requests.py", line 520, in {}\n'
    first = {
        name: log.explain(text.format(inside.format(name)).encode()).errors[0].steps[0]
        for name in ("_get_socket", "text")
    }
    assert first["_get_socket"].startswith("Close each") and first["text"].startswith("Get less")


def test_a_crash_of_an_esp8266_without_tls_gets_no_step_about_tls() -> None:
    text = "ESP8266\nException (9):\nepc1=0x40105a11\n"
    steps = log.explain(text.encode()).errors[0].steps
    assert not any("TLS" in step for step in steps)
    assert "TLS" in log.explain(("WiFiClientSecure\n" + text).encode()).errors[0].steps[0]


@pytest.mark.parametrize(
    "name", ["raspberry pi 3 b", "Raspberry pi 4B", "RPi 5", "raspberry pi zero"]
)
def test_a_raspberry_pi_with_its_model_is_a_linux(name: str) -> None:
    assert log.explain(f"MemoryError on my {name}\n".encode()).possible == ["linux"]
    assert log.explain(b"MemoryError on my raspberry pi pico w\n").possible == ["rp2040"]


def test_words_of_a_web_address_are_no_message_but_the_name_of_its_file_is() -> None:
    text = "Raspberry Pi Pico\nsee https://example.org/is-there-a-memory leak\n"
    assert not log.explain(text.replace(" leak", "-leak/1234").encode()).errors
    file = "MaixPy: http://example.org/memory/face_at_0x300000.kfpkg and kpu.load(0x200000)\n"
    found = log.explain(file.encode()).errors
    assert [a.row.id for a in found] == ["kpu-address"]


def test_a_line_of_meminfo_is_no_message() -> None:
    text = "libcamera-raw: a memory leak\nMemFree: 3461032 kB\nCmaFree:          215248 kB\n"
    assert [a.row.id for a in log.explain(text.encode()).errors] == ["growth"]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("RK3588\ngst-launch-1.0 videotestsrc ! fakesink: it leaks memory", "Run the pipeline"),
        ("DeepStream on Jetson: it leaks memory, nvinfer", "Compare its frames"),
        ("RK3588, the rknn model: it leaks memory", "Run `watch -n 10 grep VmRSS"),
        ("RV1106, the ISP streams\nE RKNN: failed to submit!, op id: 1", "Switch the camera"),
        ("RK3588\nRKNPU_SUBMIT returned -1\nRKNPU: job timeout, flags", "Run it on the chip"),
        ("rknn_lite on RK3588\nE RKNN: failed to submit!, op id: 1", "Try one model"),
        ("rp2: a memory error with _thread.start_new_thread(f)", "Flash the newest firmware"),
        ("LoPy, ESP32 MicroPython\nMemoryError: can't create lock", "Make each lock once"),
        ("rkllm on RK3588: out of memory, the old model is not unloaded", "Release the first"),
    ],
)
def test_the_first_step_is_that_of_what_fails(text: str, step: str) -> None:
    assert log.explain(f"{text}\n".encode()).errors[0].steps[0].startswith(step)


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        ("E (1) esp_adapter: wifi_malloc: no memory", "wifi-no-memory", "Connect first"),
        ("ESP32\nOSError: Wifi Internal Error", "wifi-busy", "Call wlan.active(False)"),
        ("ESP32\nmalloc((x), MALLOC_CAP_SPIRAM | MALLOC_CAP_DMA)", "dma-in-psram", "Allocate"),
        ("TFT_eSPI, ESP32: pushImageDMA: ESP_ERR_NO_MEM", "idf-heap", "Use a display buffer"),
        ("E (1) spi_master: Failed to allocate priv TX buffer", "esp-alloc", "Use a display"),
        ("torch_npu: capture failed, error code is 207005", "acl-resources", "Let it capture"),
        ("[E][DNN][hb_dnn.cpp:1] packed dnn handle is invalid", "bpu-memory", "Enlarge the ION"),
        ("the kernel: memory cgroup not supported", "cgroup-off", "Write cgroup_enable=memory"),
        ("Memory cgroup stats for /docker-1:", "oom-killer", "Run `docker stats`"),
        ("Ascend 910B, Qwen3: 第四个实例显存不够", "memory-words", "Run `npu-smi info`"),
    ],
)
def test_memory_that_is_not_the_program_s_heap_has_its_own_step(
    text: str, row: str, step: str
) -> None:
    answer = log.explain(f"{text}\n".encode()).errors[0]
    assert (answer.row.id, answer.steps[0].startswith(step)) == (row, True), answer.steps


def test_a_log_of_no_language_gets_no_step_of_python_first() -> None:
    text = "an ESP32 runs out of memory after the second picture{}\n"
    for said, step in (("", "Print the free heap"), (", MicroPython", "Check what that line")):
        answer = log.explain(text.format(said).encode()).errors[0]
        assert (answer.row.id, answer.steps[0].startswith(step)) == ("memory-words", True)
    fails, at = "an ESP32 fails with fragmentation{}\n", "Print the free heap"
    for said, first in (("", True), (", MicroPython", False), (": ussl.wrap_socket()", False)):
        answer = log.explain(fails.format(said).encode()).errors[0]
        assert answer.steps[0].startswith(at) is first, said


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        (
            "Raspberry Pi: vmalloc: allocation failure: 2214858752 bytes",
            "vmalloc",
            "Check the number",
        ),
        ("a Pico W leaks memory: print(gc.mem_free())", "growth", "Call gc.collect() in the"),
        ("BLEClient memory leak: createClient() in loop()", "growth", "Print ESP.getFreeHeap()"),
        (
            "rknn.config(RV1126): Devices connected: RKNN_ERR_DEVICE_UNAVAILABLE",
            "",
            "Run adb shell",
        ),
    ],
)
def test_a_cause_that_a_call_or_a_number_names_comes_first(text: str, row: str, step: str) -> None:
    answer = log.explain(f"{text}\n".encode()).errors[0]
    assert answer.row.id == (row or "RKNN_ERR_DEVICE_UNAVAILABLE")
    assert answer.steps[0].startswith(step), answer.steps
    collected = log.explain(f"{text}\ngc.collect()\n".encode()).errors[0]
    assert not collected.steps[0].startswith("Call gc.collect() in the")


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        ("RK3588: RgaBlit(1513) RGA_BLIT fail: Device or resource busy", "rga-busy", "Run `dmesg"),
        ("Pico 2: region `PSRAM' overflowed by 1048576 bytes", "flash-text", "Check whether"),
        (
            "CircuitPython\nMemoryError: Failed to allocate Wifi memory",
            "wifi-not-freed",
            "Call micro",
        ),
    ],
)
def test_a_message_that_names_its_part_is_no_general_one(text: str, row: str, step: str) -> None:
    answers = log.explain(f"{text}\n".encode()).errors
    assert [a.row.id for a in answers] == [row]
    assert answers[0].steps[0].startswith(step)


@pytest.mark.parametrize(
    ("text", "board"),
    [
        ("Hardware: WEMOS d1 Mini ESP32, a sprite of 240x240", "esp32"),
        ("an ESP32 D1 mini", "esp32"),
        ("a Wemos D1 mini", "esp8266"),
        ("not enough memory to allocate mp3decoder buffers", "esp32"),
        ("picam2 = Picamera2(camera_num=0)", "linux"),
    ],
)
def test_the_chip_behind_the_name_of_a_shape_is_the_board(text: str, board: str) -> None:
    assert log.explain(f"{text}\n".encode()).board == board


def test_gigabytes_of_ram_and_language_models_are_of_linux_or_a_computer() -> None:
    for text in ("Qwen2.5-VL 显示内存不足", "它有 8G内存", "16 GB of RAM"):
        possible = set(log.explain(f"{text}\n".encode()).possible)
        assert {"linux", "rknn", "pc"} <= possible and "esp32" not in possible, text


@pytest.mark.parametrize(
    ("text", "row", "step"),
    [
        ("killed on Jetson nano\nthe phase every time is Killed", "killed-words", "End the"),
        (
            "TensorFlow: the caller indicates that this is not a failure\nthen it shut down",
            "tf-dies",
            "Set TF_FORCE_GPU_ALLOW_GROWTH",
        ),
        ("Third sprite not showing up (esp32)", "sprite", "Call setColorDepth(8)"),
        (
            "ESP8266: the free heap drops about 20 KB when I call connect()\nWiFiClientSecure c;",
            "tls-cost",
            "Keep one secure client",
        ),
        ("ESP8266\nESP.getFreeHeap()<5000=4112 Bytes", "heap-low", "Answer with less"),
        ("ESP32\nmbedtls_ssl_handshake error: -2880", "tls-hex", "Check whether it fails"),
        (
            "ESP32, MicroPython: OSError: [Errno 12] ENOMEM: so two ssl sockets can't live",
            "ENOMEM-else",
            "Keep one TLS connection",
        ),
        ("ESP32\nJSON Parsing failed! (err=NoMemory)", "json-in-c", "Print doc.capacity()"),
        ("ESP32: Max. DynamicJsonDocument doc size?", "json-in-c", "Print ESP.getMaxAllocHeap()"),
        (
            "ESP32\nJsonObject doc;\nError: NoMemory. Size: 117",
            "json-in-c",
            "Create the document",
        ),
        ("ESP32: Why does BLE prevent the MQTT connection?", "radio-memory", "In C and Arduino"),
        ("ESP32: Increased heap consumption after version 2.3.3", "release-memory", "Keep the"),
        ("RK3588: Qwen2.5-3B.rkllm\nKilled", "oom-killer", "Compare the size of its files"),
        ("RK3588: Qwen2-VL-2B, 内存不足", "memory-error", "Set param.extend_param"),
        (
            "Raspberry Pi\ndata = np.zeros((n, m), dtype=np.int16)\nMemoryError",
            "memory-error",
            "Print the shape",
        ),
        (
            "# in interrupt handler: MemoryError\n No. of 1-blocks: 3, max free sz: 4550",
            "interrupt",
            "Set only a flag",
        ),
    ],
)
def test_what_was_open_has_the_step_of_its_kind(text: str, row: str, step: str) -> None:
    first = log.explain(f"{text}\n".encode()).errors[0]
    assert (first.row.id, first.steps[0][: len(step)]) == (row, step)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("memory grows\nprediction = model.predict(sample)", "If it grows on and on: Call the"),
        ("memory grows\n total used\nMem: 3862616 1 2 3 4 2725084", "Run `free -m -s 60`"),
        (
            "memory usage gradually increases\n'videoconvert ! ' 'appsink'",
            "Write appsink drop=true",
        ),
        ("memory grows on my desktop after hours", "Print the free memory once"),
        ("memory grows with my camera after hours", "Run it with one picture"),
    ],
)
def test_growth_on_linux_is_tried_with_what_the_program_does(text: str, step: str) -> None:
    first = log.explain(f"Raspberry Pi: {text}\n".encode()).errors[0]
    assert first.row.id == "growth" and step in first.steps[0], first.steps
