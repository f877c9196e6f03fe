// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Every instruction of 32 bits, once: name, format (decode.c), the bits that make it, what it does
// (in the words of cpu.c). RV64IMAFDC without supervisor mode: what the K210's two Rocket cores run
// (RISC-V unprivileged specification 2.2, chapter 19; for SFENCE.VM the privileged one, 1.9.1).
#pragma once

// not encoded: not decoded yet; no instruction; the profiler wants to be asked first; a rounding of
// its own, the instruction is the immediate
#define OPS_PSEUDO(X) \
    X(DECODE, NONE, 1, decode(d); GO) X(ILLEGAL, NONE, 1, TRAP(2, d->raw)) \
    X(HOOK, NONE, 1, SYNC; GO_ON(trace_hook(h, d, PC))) \
    X(ROUNDED, NONE, 1, h->pc = PC; step_rounded(h, d); NEXT)

// change nothing but a register and the program counter
#define OPS_PURE(X) \
    X(LB, I, 0x03, LOAD(s8, RD, (s64)v)) X(LH, I, 0x1003, LOAD(s16, RD, (s64)v)) \
    X(LW, I, 0x2003, LOAD(s32, RD, (s64)v)) X(LD, I, 0x3003, LOAD(u64, RD, v)) \
    X(LBU, I, 0x4003, LOAD(u8, RD, v)) X(LHU, I, 0x5003, LOAD(u16, RD, v)) \
    X(LWU, I, 0x6003, LOAD(u32, RD, v)) X(LUI, U, 0x37, SET(IMM)) X(AUIPC, U, 0x17, SET(PC + IMM)) \
    X(JAL, J, 0x6f, RD = PC_NEXT; JUMP_BY(d->imm)) \
    X(JALR, I, 0x67, u64 to = (A + IMM) & ~1ull; RD = PC_NEXT; SET_PC(to); JUMPED) \
    X(BEQ, B, 0x63, BRANCH(A == B)) X(BNE, B, 0x1063, BRANCH(A != B)) \
    X(BLT, B, 0x4063, BRANCH((s64)A < (s64)B)) X(BGE, B, 0x5063, BRANCH((s64)A >= (s64)B)) \
    X(BLTU, B, 0x6063, BRANCH(A < B)) X(BGEU, B, 0x7063, BRANCH(A >= B)) \
    X(ADDI, I, 0x13, SET(A + IMM)) X(SLTI, I, 0x2013, SET((s64)A < (s64)IMM)) \
    X(SLTIU, I, 0x3013, SET(A < IMM)) X(XORI, I, 0x4013, SET(A ^ IMM)) \
    X(ORI, I, 0x6013, SET(A | IMM)) X(ANDI, I, 0x7013, SET(A & IMM)) \
    X(SLLI, SH, 0x1013, SET(A << d->imm)) X(SRLI, SH, 0x5013, SET(A >> d->imm)) \
    X(SRAI, SH, 0x40005013, SET((s64)A >> d->imm)) X(ADD, R, 0x33, SET(A + B)) \
    X(SUB, R, 0x40000033, SET(A - B)) X(SLL, R, 0x1033, SET(A << (B & 63))) \
    X(SLT, R, 0x2033, SET((s64)A < (s64)B)) X(SLTU, R, 0x3033, SET(A < B)) \
    X(XOR, R, 0x4033, SET(A ^ B)) X(SRL, R, 0x5033, SET(A >> (B & 63))) \
    X(SRA, R, 0x40005033, SET((s64)A >> (B & 63))) X(OR, R, 0x6033, SET(A | B)) \
    X(AND, R, 0x7033, SET(A & B)) X(ADDIW, I, 0x1b, SET_W((u32)A + (u32)d->imm)) \
    X(SLLIW, SHW, 0x101b, SET_W((u32)A << d->imm)) X(SRLIW, SHW, 0x501b, SET_W((u32)A >> d->imm)) \
    X(SRAIW, SHW, 0x4000501b, SET_W((s32)A >> d->imm)) X(ADDW, R, 0x3b, SET_W((u32)A + (u32)B)) \
    X(SUBW, R, 0x4000003b, SET_W((u32)A - (u32)B)) X(SLLW, R, 0x103b, SET_W((u32)A << (B & 31))) \
    X(SRLW, R, 0x503b, SET_W((u32)A >> (B & 31))) \
    X(SRAW, R, 0x4000503b, SET_W((s32)A >> (B & 31))) X(MUL, R, 0x2000033, SET(A * B)) \
    X(MULH, R, 0x2001033, SET(((__int128)(s64)A * (s64)B) >> 64)) \
    X(MULHSU, R, 0x2002033, SET(((__int128)(s64)A * (__int128)B) >> 64)) \
    X(MULHU, R, 0x2003033, SET(((unsigned __int128)A * B) >> 64)) \
    X(DIV, R, 0x2004033, SET(B == 0 ? -1 : (s64)B == -1 ? (s64)(0 - A) : (s64)A / (s64)B)) \
    X(DIVU, R, 0x2005033, SET(B == 0 ? ~0ull : A / B)) \
    X(REM, R, 0x2006033, SET(B == 0 ? (s64)A : (s64)B == -1 ? 0 : (s64)A % (s64)B)) \
    X(REMU, R, 0x2007033, SET(B == 0 ? A : A % B)) X(MULW, R, 0x200003b, SET_W((u32)A * (u32)B)) \
    X(DIVW, R, 0x200403b, SET_W((u32)B == 0 ? -1 : (s32)B == -1 ? (s32)(0 - (u32)A) \
                                                                : (s32)A / (s32)B)) \
    X(DIVUW, R, 0x200503b, SET_W((u32)B == 0 ? ~0u : (u32)A / (u32)B)) \
    X(REMW, R, 0x200603b, SET_W((u32)B == 0 ? (s32)A : (s32)B == -1 ? 0 : (s32)A % (s32)B)) \
    X(REMUW, R, 0x200703b, SET_W((u32)B == 0 ? (u32)A : (u32)A % (u32)B)) X(DELAY, NONE, 1, DELAY) \
    X(FENCE, F, 0x0f, NEXT)

#define OPS_SYSTEM(X) \
    X(FENCEI, F, 0x100f, u64 next = PC + 4; cpu_forget(); SET_PC(next); LEAVE(out)) \
    X(ECALL, X, 0x73, TRAP(11, 0)) X(EBREAK, X, 0x100073, TRAP(3, 0)) \
    X(MRET, X, 0x30200073, hart_return(h); LEAVE(left_pc)) \
    X(WFI, X, 0x10500073, h->waiting = true; d += 2; LEAVE(out)) \
    X(SFENCEVMA, V, 0x12000073, NEXT) X(SFENCEVM, X1, 0x10400073, NEXT) \
    X(CSRRW, C, 0x1073, CSR(A, true)) X(CSRRS, C, 0x2073, CSR(old | A, d->rs1)) \
    X(CSRRC, C, 0x3073, CSR(old & ~A, d->rs1)) X(CSRRWI, C, 0x5073, CSR((u64)d->rs1, true)) \
    X(CSRRSI, C, 0x6073, CSR(old | d->rs1, d->rs1)) \
    X(CSRRCI, C, 0x7073, CSR(old & ~(u64)d->rs1, d->rs1))

#define OPS_STORE(X) \
    X(SB, S, 0x23, STORE(u8, B)) X(SH, S, 0x1023, STORE(u16, B)) X(SW, S, 0x2023, STORE(u32, B)) \
    X(SD, S, 0x3023, STORE(u64, B)) X(FSW, S, 0x2027, STORE(u32, f[d->rs2])) \
    X(FSD, S, 0x3027, STORE(u64, f[d->rs2]))

#define OPS_ATOMIC_OF(X, W, T, U, width) \
    X(LR##W, A, 0x1000002f | width, LOAD_RESERVED(T)) \
    X(SC##W, A, 0x1800002f | width, STORE_CONDITIONAL(T)) \
    X(AMOSWAP##W, A, 0x800002f | width, AMO(T, b)) \
    X(AMOADD##W, A, 0x2f | width, AMO(T, (U)v + (U)b)) \
    X(AMOXOR##W, A, 0x2000002f | width, AMO(T, v ^ b)) \
    X(AMOAND##W, A, 0x6000002f | width, AMO(T, v & b)) \
    X(AMOOR##W, A, 0x4000002f | width, AMO(T, v | b)) \
    X(AMOMIN##W, A, 0x8000002f | width, AMO(T, v < b ? v : b)) \
    X(AMOMAX##W, A, 0xa000002f | width, AMO(T, v > b ? v : b)) \
    X(AMOMINU##W, A, 0xc000002f | width, AMO(T, (U)v < (U)b ? v : b)) \
    X(AMOMAXU##W, A, 0xe000002f | width, AMO(T, (U)v > (U)b ? v : b))
#define OPS_ATOMIC(X) OPS_ATOMIC_OF(X, W, s32, u32, 0x2000) OPS_ATOMIC_OF(X, D, s64, u64, 0x3000)
// the result of these is a floating-point register
#define OPS_TO_FLOAT_OF(X, T, t, root, SIGN, type) \
    X(FMADD##T, R4, 0x43 | type, TO_F(put_##t(fma_##t(h, T(rs1), T(rs2), T(rs3))))) \
    X(FMSUB##T, R4, 0x47 | type, TO_F(put_##t(fma_##t(h, T(rs1), T(rs2), -T(rs3))))) \
    X(FNMSUB##T, R4, 0x4b | type, TO_F(put_##t(fma_##t(h, -T(rs1), T(rs2), T(rs3))))) \
    X(FNMADD##T, R4, 0x4f | type, TO_F(put_##t(fma_##t(h, -T(rs1), T(rs2), -T(rs3))))) \
    X(FADD##T, RM, 0x53 | type, TO_F(put_##t(add_##t(h, T(rs1), T(rs2))))) \
    X(FSUB##T, RM, 0x8000053 | type, TO_F(put_##t(sub_##t(h, T(rs1), T(rs2))))) \
    X(FMUL##T, RM, 0x10000053 | type, TO_F(put_##t(mul_##t(h, T(rs1), T(rs2))))) \
    X(FDIV##T, RM, 0x18000053 | type, TO_F(put_##t(div_##t(h, T(rs1), T(rs2))))) \
    X(FSQRT##T, RM1, 0x58000053 | type, TO_F(put_##t(root_##t(h, T(rs1))))) \
    X(FSGNJ##T, R, 0x20000053 | type, TO_F(SIGNED(t, SIGN, RAW(t, rs2)))) \
    X(FSGNJN##T, R, 0x20001053 | type, TO_F(SIGNED(t, SIGN, ~RAW(t, rs2)))) \
    X(FSGNJX##T, R, 0x20002053 | type, TO_F(SIGNED(t, SIGN, RAW(t, rs1) ^ RAW(t, rs2)))) \
    X(FMIN##T, R, 0x28000053 | type, TO_F(pick_##t(h, f[d->rs1], f[d->rs2], false))) \
    X(FMAX##T, R, 0x28001053 | type, TO_F(pick_##t(h, f[d->rs1], f[d->rs2], true))) \
    X(FCVT##T##W, RM1, 0xd0000053 | type, TO_F(from_##t(h, (s32)A))) \
    X(FCVT##T##WU, RM1, 0xd0100053 | type, TO_F(from_##t(h, (s64)(u32)A))) \
    X(FCVT##T##L, RM1, 0xd0200053 | type, TO_F(from_##t(h, (s64)A))) \
    X(FCVT##T##LU, RM1, 0xd0300053 | type, TO_F(fromu_##t(h, A)))
#define OPS_TO_FLOAT(X) \
    X(FLW, I, 0x2007, LOAD(u32, f[d->rd], BOX | v)) X(FLD, I, 0x3007, LOAD(u64, f[d->rd], v)) \
    OPS_TO_FLOAT_OF(X, S, s, sqrtf, SIGN_S, 0) OPS_TO_FLOAT_OF(X, D, d, sqrt, SIGN_D, 1 << 25) \
    X(FCVTSD, RM1, 0x40100053, TO_F(put_s(narrow(h, D(rs1))))) \
    X(FCVTDS, RM1, 0x42000053, TO_F(widen(h, f[d->rs1]))) \
    X(FMVWX, X1, 0xf0000053, TO_F(BOX | (u32)A)) X(FMVDX, X1, 0xf2000053, TO_F(A))

// floating point that compares or converts to an integer register
#define ORDERED(t, quiet) ordered_##t(h, f[d->rs1], f[d->rs2], quiet)
#define OPS_FROM_FLOAT_OF(X, T, t, type) \
    X(FLE##T, R, 0xa0000053 | type, SET(ORDERED(t, true) && T(rs1) <= T(rs2))) \
    X(FLT##T, R, 0xa0001053 | type, SET(ORDERED(t, true) && T(rs1) < T(rs2))) \
    X(FEQ##T, R, 0xa0002053 | type, SET(ORDERED(t, false) && T(rs1) == T(rs2))) \
    X(FCLASS##T, X1, 0xe0001053 | type, SET(class_##t(RAW(t, rs1)))) \
    X(FCVTW##T, RM1, 0xc0000053 | type, SET(TO_INT(T(rs1), 32, true))) \
    X(FCVTWU##T, RM1, 0xc0100053 | type, SET_W(TO_INT(T(rs1), 32, false))) \
    X(FCVTL##T, RM1, 0xc0200053 | type, SET(TO_INT(T(rs1), 64, true))) \
    X(FCVTLU##T, RM1, 0xc0300053 | type, SET(TO_INT(T(rs1), 64, false)))
#define OPS_FROM_FLOAT(X) \
    OPS_FROM_FLOAT_OF(X, S, s, 0) OPS_FROM_FLOAT_OF(X, D, d, 1 << 25) \
    X(FMVXW, X1, 0xe0000053, SET((s64)(s32)f[d->rs1])) X(FMVXD, X1, 0xe2000053, SET(f[d->rs1]))

#define OPS(X) \
    OPS_PSEUDO(X) OPS_PURE(X) OPS_SYSTEM(X) OPS_STORE(X) OPS_ATOMIC(X) OPS_TO_FLOAT(X) \
    OPS_FROM_FLOAT(X)

#define X(name, ...) OP_##name,
enum { OPS(X) OP_COUNT };
#undef X
