# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random RISC-V programs that write down every register after each instruction, and two machines
to run them on.

Instructions are those that tools/k210board/hart/ops.def names, and compressed ones. Registers x2,
x8 and x28 point into DATA, x29 to x31 belong to the program; f0 to f15 hold singles, f16 to f31
doubles. The first two of each kind are never written: with one of them among the factors or as
the addend, infinity times zero plus a quiet NaN does not occur, for which Unicorn 2.1 does not
set the invalid flag that the specification (11.6) demands.
"""

from __future__ import annotations

import random
import re
import struct
from dataclasses import dataclass, field

import paths
from k210_model.heap import RAM_START
from maixmem_cli.emulator.board import RAM_SIZE, Board
from maixmem_cli.emulator.cores import Core
from maixmem_cli.flash import image as flash_image
from register_programs import until_it_hangs

DATA, LOG, TOP = 0x80080000, 0x80100000, 0x80600000
ENTRY = (
    30 * 8 + 33 * 8
)  # bytes that one instruction leaves in the log: x0 to x29, f0 to f31 and fcsr
_OP = re.compile(r"^X\((\w+), (\w+), (0x[0-9a-f]+),", re.M)
_FREE = [r for r in range(1, 28) if r not in (2, 8)]
_CONTROL = {"FENCEI", "ECALL", "EBREAK", "MRET", "WFI", "SFENCEVMA", "SFENCEVM"}
_CSRS = (0x001, 0x002, 0x003, 0x340, 0x342, 0x343)
_FLOATS32 = [
    int(w, 16)
    for w in """
0 80000000 7f800000 ff800000 7fc00000 7fa00000 1 7fffff 800000 7f7fffff 3f800000 bf800000
4f000000 cf000000
4f800000 5f000000 3f000000 3fc00000 40200000
""".split()
]
_FLOATS64 = [
    int(w, 16)
    for w in """
0 8000000000000000 7ff0000000000000 fff0000000000000 7ff8000000000000 7ff4000000000000 1
fffffffffffff
10000000000000 7fefffffffffffff 3ff0000000000000 41e0000000000000 c1e0000000000000 43e0000000000000
3fe0000000000000 3ff8000000000000
""".split()
]
_KNOWN32, _KNOWN64 = (0x3FC00001, 0xC1234567), (0x3FF8000000000001, 0xC0F123456789ABCD)
_WHOLE = [
    int(w, 16)
    for w in """
0 1 ffffffffffffffff 8000000000000000 7fffffffffffffff 80000000 7fffffff ffffffff80000000 ffffffff
""".split()
]


def instructions() -> list[tuple[str, str, int]]:
    """(name, format, bits) of every instruction that the board's list names."""
    text = (paths.TOOLS / "k210board" / "hart" / "ops.def").read_text()
    found = [(name, form, int(match, 16)) for name, form, match in _OP.findall(text)]
    return [i for i in found if i[0] not in _CONTROL]


def _imm_i(value: int) -> int:
    return (value & 0xFFF) << 20


def _imm_s(value: int) -> int:
    return (value >> 5 & 0x7F) << 25 | (value & 31) << 7


def _li(reg: int, value: int) -> list[int]:
    """lui and addi for an address below 2 GiB, shifted up when it is above."""
    high, low = (value + 0x800) >> 12, value & 0xFFF
    words = [0x37 | reg << 7 | (high & 0xFFFFF) << 12, 0x1B | reg << 7 | reg << 15 | _imm_i(low)]
    return [
        *words,
        0x1013 | reg << 7 | reg << 15 | 32 << 20,
        0x5013 | reg << 7 | reg << 15 | 32 << 20,
    ]


@dataclass
class Program:
    """Code at the start of the RAM, DATA, and what each entry of the log is about."""

    image: bytearray = field(default_factory=bytearray)
    data: bytes = b""
    names: list[str] = field(default_factory=list)


class Writer:
    """Writes one program of so many instructions."""

    def __init__(self, seed: int, count: int) -> None:
        self.random = random.Random(seed)
        self.program = Program()
        self.ops = instructions()
        self._start()
        for _ in range(count):
            self._one()
        self._word(0x6F)  # j .

    def _word(self, word: int) -> None:
        self.program.image += word.to_bytes(4, "little")

    def _half(self, half: int) -> None:
        self.program.image += half.to_bytes(2, "little")

    def _start(self) -> None:
        self._word(0xF14022F3)  # csrr t0, mhartid
        self._word(0x00028463)  # beqz t0, +8
        self._word(0x0000006F)  # j .: the second hart
        for word in [*_li(29, 0x6000), 0x300EA073]:  # csrs mstatus, FS
            self._word(word)
        for reg, value in ((28, DATA + 2048), (31, LOG)):
            for word in _li(reg, value):
                self._word(word)
        skip = len(self.program.image)
        self._word(0)
        self.dump = len(self.program.image)
        self._dump_routine()
        here = len(self.program.image)
        self.program.image[skip : skip + 4] = self._jal(0, here - skip).to_bytes(4, "little")
        for reg in range(1, 28):
            self._word(0x3003 | reg << 7 | 28 << 15 | _imm_i(8 * reg))
        for reg in range(32):
            width = 0x2007 if reg < 16 else 0x3007
            self._word(width | reg << 7 | 28 << 15 | _imm_i(256 + 8 * reg))
        for reg in (2, 8):
            self._word(0x13 | reg << 7 | 28 << 15)
        pick = self.random.choice
        whole = [pick((*_WHOLE, self.random.getrandbits(64))) for _ in range(32)]
        singles = [pick((*_FLOATS32, self.random.getrandbits(32))) for _ in range(16)]
        doubles = [pick((*_FLOATS64, self.random.getrandbits(64))) for _ in range(16)]
        singles[:2], doubles[:2] = _KNOWN32, _KNOWN64
        data = struct.pack("<64Q", *whole, *singles, *doubles)
        self.program.data = bytes(2048) + data.ljust(2048, b"\x5a")

    @staticmethod
    def _jal(rd: int, offset: int) -> int:
        bits = (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20
        return 0x6F | rd << 7 | bits | (offset >> 12 & 0xFF) << 12

    def _dump_routine(self) -> None:
        for reg in range(29):
            self._word(0x3023 | 31 << 15 | reg << 20 | _imm_s(8 * reg))
        for reg in range(32):
            width = 0x2027 if reg < 16 else 0x3027
            self._word(width | 31 << 15 | reg << 20 | _imm_s(240 + 8 * reg))
        self._word(0x00302EF3)  # csrr x29, fcsr
        self._word(0x3023 | 31 << 15 | 29 << 20 | _imm_s(240 + 256))
        self._word(0x13 | 31 << 7 | 31 << 15 | _imm_i(ENTRY))
        self._word(0x67 | 30 << 15)

    def _one(self) -> None:
        if self.random.random() < 0.25:
            name = self._compressed()
        else:
            name = self._whole(*self.random.choice(self.ops))
        if len(self.program.image) % 4:
            self._half(1)  # c.nop
        self._word(self._jal(30, self.dump - len(self.program.image)))
        self.program.names.append(name)

    def _compressed(self) -> str:
        while True:
            half = self.random.getrandbits(16)
            top, quadrant, rd, low = half >> 13, half & 3, half >> 7 & 31, half >> 2 & 31
            if quadrant == 0 and half != 0:
                fine = top == 0 and half >> 5 & 0xFF and half >> 2 & 7 != 0
                if top in (2, 3, 6, 7):
                    half = half & ~0x380  # base x8
                    fine = half >> 2 & 7 != 0 or top >= 6
                elif top in (1, 5):
                    fine = False  # doubles in f8 to f15
            elif quadrant == 1:
                fine = (top in (0, 1, 2) and rd in _FREE) or (
                    top == 3 and rd in _FREE and half & 0x107C
                )
                if top == 4:
                    fine = rd & 7 != 0 and not (half & 0x1C00 == 0x1C00 and half & 0x40)
            elif quadrant == 2:
                fine = rd in _FREE and (top in (0, 2, 3) or (top == 4 and low != 0))
                fine = fine or top in (6, 7) or (top == 1 and rd > 17)
            else:
                fine = False
            if fine:
                self._half(half)
                return f"compressed {half:#06x}"

    def _whole(self, name: str, form: str, match: int) -> str:
        pick = self.random.choice
        rd, rs1, rs2 = pick([0, *_FREE]), pick(range(29)), pick(range(29))
        rs3, imm, word = 0, self.random.getrandbits(12), match
        if name.startswith("F") and name != "FENCE":
            rd, rs1, rs2, rs3 = self._float_registers(name, rd, rs1)
        if name in ("LB", "LH", "LW", "LD", "LBU", "LHU", "LWU", "FLW", "FLD") or form == "S":
            size = {"B": 1, "H": 2, "W": 4, "D": 8}[name.replace("U", "").replace("F", "")[1]]
            rs1, imm = 28, imm & ~(size - 1)
        if form in ("RM", "RM1", "R4"):
            to_integer = name.startswith("FCVTW") or name.startswith("FCVTL")
            word |= pick((7, 7, 0, 1, 2, 3, 4) if to_integer else (7, 7, 7, 0, 1, 2, 3)) << 12
        if form == "A":
            rs1 = 28
        word |= rd << 7 if form not in ("S", "B") else 0
        word |= rs1 << 15 if form not in ("U", "J") else 0
        if form in ("R", "R4", "RM", "S", "B", "A"):
            word |= (rs2 if not name.startswith("LR") else 0) << 20
        if form == "R4":
            word |= rs3 << 27
        if form == "C":
            word |= pick(_CSRS) << 20
            if word >> 20 in (2, 3):  # by an immediate: rounding modes that exist
                modes = 4 if word >> 20 == 2 else 1
                word = word & ~(31 << 15) | 0x4000 | self.random.randrange(modes) << 15
        numbers = {"I": _imm_i(imm), "S": _imm_s(imm), "SH": (imm & 63) << 20}
        numbers.update({"SHW": (imm & 31) << 20, "U": self.random.getrandbits(20) << 12})
        return self._written(name, form, word | numbers.get(form, 0), rd)

    def _written(self, name: str, form: str, word: int, rd: int) -> str:
        if form == "F":
            word = 0x0FF0000F
            self._word(word)
        elif form == "B":
            self._word(word | 8 << 7)  # over the next
            self._word(0x13 | 5 << 7 | 5 << 15 | _imm_i(1))
        elif form == "J":
            self._word(word | self._jal(rd, 8))
            self._word(0x13 | 6 << 7 | 6 << 15 | _imm_i(1))
        elif name.startswith("LR"):  # a reservation lasts only as long as no jump is between
            self._word(word)
            conditional = word & ~(31 << 7) | 0x08000000 | 9 << 7
            self._word(conditional | self.random.randrange(29) << 20)
        elif name == "JALR":
            self._word(0x17 | 7 << 7)  # auipc x7
            self._word(0x67 | rd << 7 | 7 << 15 | _imm_i(13))  # the lowest bit is dropped
            self._word(0x13 | 6 << 7 | 6 << 15 | _imm_i(1))
        else:
            self._word(word)
        return f"{name} {word:#010x}"

    def _float_registers(self, name: str, rd: int, rs1: int) -> tuple[int, int, int, int]:
        """Registers of the kind that the instruction means."""
        single, double = range(2, 16), range(18, 32)
        pick = self.random.choice
        if name in ("FCVTSD", "FCVTDS"):
            kinds = (single, double) if name == "FCVTSD" else (double, single)
            return pick(kinds[0]), pick(kinds[1]), 0, 0
        last = name.rstrip("WXLU") or name
        double_kind = last.endswith("D") or name in ("FLD", "FSD", "FMVDX", "FMVXD")
        double_kind = double_kind or name.startswith(("FCVTD",))
        kind = double if double_kind else single
        if name.startswith(("FLE", "FLT", "FEQ", "FCLASS", "FCVTW", "FCVTL", "FMVX")):
            return rd, pick(kind), pick(kind), 0
        if (
            name.startswith(("FMVW", "FMVD"))
            or name in ("FLW", "FLD")
            or re.fullmatch(r"FCVT[SD][WL]U?", name)
        ):
            return pick(kind), rs1, 0, 0
        known = pick((kind[0] - 1, kind[0] - 2))
        if self.random.random() < 0.5:
            return pick(kind), pick(kind), pick(kind), known
        return pick(kind), known, pick(kind), pick(kind)


def write(seed: int, count: int) -> Program:
    return Writer(seed, count).program


def on_board(program: Program, core: Core | None = None) -> bytes:
    """The RAM after the program, on our board."""
    chip = bytearray(b"\xff" * flash_image.FLASH_SIZE)
    image = program.image.ljust(DATA - RAM_START, b"\0") + program.data
    boot = flash_image.boot_image(bytes(image))
    chip[: len(boot)] = boot
    with Board(chip, core=core) as board:
        until_it_hangs(board)
        return bytes(board.ram)


def on_unicorn(program: Program) -> bytes:
    """The RAM after the program, on Unicorn."""
    import unicorn

    machine = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV64)
    machine.mem_map(RAM_START, RAM_SIZE)
    machine.mem_write(RAM_START, bytes(program.image))
    machine.mem_write(DATA, program.data)
    machine.emu_start(RAM_START, RAM_START + len(program.image) - 4)
    return bytes(machine.mem_read(RAM_START, RAM_SIZE))


def differences(program: Program, a: bytes, b: bytes) -> list[str]:
    """What differs first after each instruction, in words; the first few."""
    found = []
    for i, name in enumerate(program.names):
        at = LOG - RAM_START + i * ENTRY
        one, two = (struct.unpack_from(f"<{ENTRY // 8}Q", m, at) for m in (a, b))
        if one != two:
            before = struct.unpack_from(f"<{ENTRY // 8}Q", a, at - ENTRY if i else at)
            named = [f"x{k}" for k in range(30)] + [f"f{k}" for k in range(32)] + ["fcsr"]
            said = [
                f"{named[k]} {one[k]:#x} {two[k]:#x} (was {before[k]:#x})"
                for k in range(len(one))
                if one[k] != two[k]
            ]
            found.append(f"{i}: {name}: " + ", ".join(said))
            break  # what follows is a consequence
    lo, hi = DATA - RAM_START, DATA - RAM_START + 4096
    if not found and a[lo:hi] != b[lo:hi]:
        found.append("the data differ")
    return found
