// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Every instruction of 32 bits, once: name, format (decode.c), the bits that make it. RV64IMAFDC
// without supervisor mode: what the K210's two Rocket cores run (RISC-V unprivileged specification
// 2.2, chapter 19; for SFENCE.VM the privileged one, 1.9.1).
#pragma once

// not encoded: not decoded yet; no instruction; the profiler wants to be asked first; a rounding of
// its own, the instruction is the immediate
#define OPS_PSEUDO(X) X(DECODE, NONE, 1) X(ILLEGAL, NONE, 1) X(HOOK, NONE, 1) X(ROUNDED, NONE, 1)

// change nothing but a register and the program counter
#define OPS_PURE(X) \
    X(LB, I, 0x03) X(LH, I, 0x1003) X(LW, I, 0x2003) X(LD, I, 0x3003) X(LBU, I, 0x4003) \
    X(LHU, I, 0x5003) X(LWU, I, 0x6003) \
    X(LUI, U, 0x37) X(AUIPC, U, 0x17) X(JAL, J, 0x6f) X(JALR, I, 0x67) \
    X(BEQ, B, 0x63) X(BNE, B, 0x1063) X(BLT, B, 0x4063) X(BGE, B, 0x5063) X(BLTU, B, 0x6063) \
    X(BGEU, B, 0x7063) \
    X(ADDI, I, 0x13) X(SLTI, I, 0x2013) X(SLTIU, I, 0x3013) X(XORI, I, 0x4013) X(ORI, I, 0x6013) \
    X(ANDI, I, 0x7013) X(SLLI, SH, 0x1013) X(SRLI, SH, 0x5013) X(SRAI, SH, 0x40005013) \
    X(ADD, R, 0x33) X(SUB, R, 0x40000033) X(SLL, R, 0x1033) X(SLT, R, 0x2033) X(SLTU, R, 0x3033) \
    X(XOR, R, 0x4033) X(SRL, R, 0x5033) X(SRA, R, 0x40005033) X(OR, R, 0x6033) X(AND, R, 0x7033) \
    X(ADDIW, I, 0x1b) X(SLLIW, SHW, 0x101b) X(SRLIW, SHW, 0x501b) X(SRAIW, SHW, 0x4000501b) \
    X(ADDW, R, 0x3b) X(SUBW, R, 0x4000003b) X(SLLW, R, 0x103b) X(SRLW, R, 0x503b) \
    X(SRAW, R, 0x4000503b) \
    X(MUL, R, 0x2000033) X(MULH, R, 0x2001033) X(MULHSU, R, 0x2002033) X(MULHU, R, 0x2003033) \
    X(DIV, R, 0x2004033) X(DIVU, R, 0x2005033) X(REM, R, 0x2006033) X(REMU, R, 0x2007033) \
    X(MULW, R, 0x200003b) X(DIVW, R, 0x200403b) X(DIVUW, R, 0x200503b) X(REMW, R, 0x200603b) \
    X(REMUW, R, 0x200703b) X(FENCE, F, 0x0f)

#define OPS_SYSTEM(X) \
    X(FENCEI, F, 0x100f) X(ECALL, X, 0x73) X(EBREAK, X, 0x100073) X(MRET, X, 0x30200073) \
    X(WFI, X, 0x10500073) X(SFENCEVMA, V, 0x12000073) X(SFENCEVM, X1, 0x10400073) \
    X(CSRRW, C, 0x1073) X(CSRRS, C, 0x2073) X(CSRRC, C, 0x3073) X(CSRRWI, C, 0x5073) \
    X(CSRRSI, C, 0x6073) X(CSRRCI, C, 0x7073)

#define OPS_STORE(X) \
    X(SB, S, 0x23) X(SH, S, 0x1023) X(SW, S, 0x2023) X(SD, S, 0x3023) X(FSW, S, 0x2027) \
    X(FSD, S, 0x3027)

#define OPS_ATOMIC_OF(X, W, width) \
    X(LR##W, A, 0x1000002f | width) X(SC##W, A, 0x1800002f | width) \
    X(AMOSWAP##W, A, 0x800002f | width) X(AMOADD##W, A, 0x2f | width) \
    X(AMOXOR##W, A, 0x2000002f | width) X(AMOAND##W, A, 0x6000002f | width) \
    X(AMOOR##W, A, 0x4000002f | width) X(AMOMIN##W, A, 0x8000002f | width) \
    X(AMOMAX##W, A, 0xa000002f | width) X(AMOMINU##W, A, 0xc000002f | width) \
    X(AMOMAXU##W, A, 0xe000002f | width)
#define OPS_ATOMIC(X) OPS_ATOMIC_OF(X, W, 0x2000) OPS_ATOMIC_OF(X, D, 0x3000)

// the result of these is a floating-point register
#define OPS_TO_FLOAT_OF(X, T, type) \
    X(FMADD##T, R4, 0x43 | type) X(FMSUB##T, R4, 0x47 | type) X(FNMSUB##T, R4, 0x4b | type) \
    X(FNMADD##T, R4, 0x4f | type) X(FADD##T, RM, 0x53 | type) X(FSUB##T, RM, 0x8000053 | type) \
    X(FMUL##T, RM, 0x10000053 | type) X(FDIV##T, RM, 0x18000053 | type) \
    X(FSQRT##T, RM1, 0x58000053 | type) X(FSGNJ##T, R, 0x20000053 | type) \
    X(FSGNJN##T, R, 0x20001053 | type) X(FSGNJX##T, R, 0x20002053 | type) \
    X(FMIN##T, R, 0x28000053 | type) X(FMAX##T, R, 0x28001053 | type) \
    X(FCVT##T##W, RM1, 0xd0000053 | type) X(FCVT##T##WU, RM1, 0xd0100053 | type) \
    X(FCVT##T##L, RM1, 0xd0200053 | type) X(FCVT##T##LU, RM1, 0xd0300053 | type)
#define OPS_TO_FLOAT(X) \
    X(FLW, I, 0x2007) X(FLD, I, 0x3007) OPS_TO_FLOAT_OF(X, S, 0) OPS_TO_FLOAT_OF(X, D, 1 << 25) \
    X(FCVTSD, RM1, 0x40100053) X(FCVTDS, RM1, 0x42000053) X(FMVWX, X1, 0xf0000053) \
    X(FMVDX, X1, 0xf2000053)

// floating point that compares or converts to an integer register
#define OPS_FROM_FLOAT_OF(X, T, type) \
    X(FLE##T, R, 0xa0000053 | type) X(FLT##T, R, 0xa0001053 | type) \
    X(FEQ##T, R, 0xa0002053 | type) X(FCLASS##T, X1, 0xe0001053 | type) \
    X(FCVTW##T, RM1, 0xc0000053 | type) X(FCVTWU##T, RM1, 0xc0100053 | type) \
    X(FCVTL##T, RM1, 0xc0200053 | type) X(FCVTLU##T, RM1, 0xc0300053 | type)
#define OPS_FROM_FLOAT(X) \
    OPS_FROM_FLOAT_OF(X, S, 0) OPS_FROM_FLOAT_OF(X, D, 1 << 25) \
    X(FMVXW, X1, 0xe0000053) X(FMVXD, X1, 0xe2000053)

#define OPS(X) \
    OPS_PSEUDO(X) OPS_PURE(X) OPS_SYSTEM(X) OPS_STORE(X) OPS_ATOMIC(X) OPS_TO_FLOAT(X) \
    OPS_FROM_FLOAT(X)

enum {
#define X(name, format, match) OP_##name,
    OPS(X)
#undef X
    OP_COUNT
};
