// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Instructions to (op, registers, immediate), once for each halfword of RAM that is executed.
// Source: RISC-V unprivileged specification 2.2, chapters 2 to 8, 12 (C) and 19 (encodings).
#include "board.h"
#include "ops.h"
#include "trace.h"

Decoded *decoded;

static s32 extend(u32 value, int bits) {
    return (s32)(value << (32 - bits)) >> (32 - bits);
}

static u32 bits(u32 i, int from, int n) {
    return (i >> from) & ((1u << n) - 1);
}

// one bit or more of i, moved to where they belong in the immediate
static u32 put(u32 i, int from, int n, int to) {
    return bits(i, from, n) << to;
}

static const u16 BRANCHES[8] = {OP_BEQ, OP_BNE, OP_ILLEGAL, OP_ILLEGAL,
                                OP_BLT, OP_BGE, OP_BLTU,    OP_BGEU};
static const u16 LOADS[8] = {OP_LB, OP_LH, OP_LW, OP_LD, OP_LBU, OP_LHU, OP_LWU, OP_ILLEGAL};
static const u16 STORES[4] = {OP_SB, OP_SH, OP_SW, OP_SD};
static const u16 ALU[8] = {OP_ADD, OP_SLL, OP_SLT, OP_SLTU, OP_XOR, OP_SRL, OP_OR, OP_AND};
static const u16 MULDIV[8] = {OP_MUL, OP_MULH, OP_MULHSU, OP_MULHU,
                              OP_DIV, OP_DIVU, OP_REM,    OP_REMU};
static const u16 ALU_IMM[8] = {OP_ADDI, OP_ILLEGAL, OP_SLTI, OP_SLTIU,
                               OP_XORI, OP_ILLEGAL, OP_ORI,  OP_ANDI};
static const u16 MULDIV_W[8] = {OP_MULW, OP_ILLEGAL, OP_ILLEGAL, OP_ILLEGAL,
                                OP_DIVW, OP_DIVUW,   OP_REMW,    OP_REMUW};
static const u16 CSRS[8] = {OP_ILLEGAL, OP_CSRRW,  OP_CSRRS,  OP_CSRRC,
                            OP_ILLEGAL, OP_CSRRWI, OP_CSRRSI, OP_CSRRCI};
static const u16 ATOMICS[32][2] = {
    [0] = {OP_AMOADDW, OP_AMOADDD},    [1] = {OP_AMOSWAPW, OP_AMOSWAPD},
    [2] = {OP_LRW, OP_LRD},            [3] = {OP_SCW, OP_SCD},
    [4] = {OP_AMOXORW, OP_AMOXORD},    [8] = {OP_AMOORW, OP_AMOORD},
    [12] = {OP_AMOANDW, OP_AMOANDD},   [16] = {OP_AMOMINW, OP_AMOMIND},
    [20] = {OP_AMOMAXW, OP_AMOMAXD},   [24] = {OP_AMOMINUW, OP_AMOMINUD},
    [28] = {OP_AMOMAXUW, OP_AMOMAXUD},
};

static u16 shift_immediate(Decoded *d, u32 i, u32 f3) {
    d->imm = (s32)bits(i, 20, 6);
    if (f3 == 1)
        return i >> 26 == 0 ? OP_SLLI : OP_ILLEGAL;
    return i >> 26 == 0 ? OP_SRLI : i >> 26 == 0x10 ? OP_SRAI : OP_ILLEGAL;
}

static u16 word_immediate(Decoded *d, u32 f3, u32 f7) {
    if (f3 == 0)
        return OP_ADDIW;
    d->imm = d->rs2;
    if (f3 == 1 && f7 == 0)
        return OP_SLLIW;
    return f3 != 5 ? OP_ILLEGAL : f7 == 0 ? OP_SRLIW : f7 == 0x20 ? OP_SRAIW : OP_ILLEGAL;
}

static u16 registers(u32 f3, u32 f7) {
    if (f7 == 0)
        return ALU[f3];
    if (f7 == 1)
        return MULDIV[f3];
    return f7 != 0x20 ? OP_ILLEGAL : f3 == 0 ? OP_SUB : f3 == 5 ? OP_SRA : OP_ILLEGAL;
}

static u16 word_registers(u32 f3, u32 f7) {
    if (f7 == 1)
        return MULDIV_W[f3] ? MULDIV_W[f3] : OP_ILLEGAL;
    if (f7 == 0)
        return f3 == 0 ? OP_ADDW : f3 == 1 ? OP_SLLW : f3 == 5 ? OP_SRLW : OP_ILLEGAL;
    return f7 != 0x20 ? OP_ILLEGAL : f3 == 0 ? OP_SUBW : f3 == 5 ? OP_SRAW : OP_ILLEGAL;
}

static u16 system(Decoded *d, u32 i, u32 f3) {
    d->imm = (s32)bits(i, 20, 12);
    if (f3)
        return CSRS[f3];
    switch (i) {
    case 0x00000073: return OP_ECALL;
    case 0x00100073: return OP_EBREAK;
    case 0x30200073: return OP_MRET;
    case 0x10500073: return OP_WFI;
    }
    // SFENCE.VMA, and SFENCE.VM of the privileged specification 1.9 that the Rocket core has
    return i >> 25 == 9 || i >> 20 == 0x104 ? OP_FENCE : OP_ILLEGAL;
}

static u16 convert(u32 f7, u32 kind) {
    static const u16 TO_INT[2][4] = {{OP_FCVTWS, OP_FCVTWUS, OP_FCVTLS, OP_FCVTLUS},
                                     {OP_FCVTWD, OP_FCVTWUD, OP_FCVTLD, OP_FCVTLUD}};
    static const u16 FROM_INT[2][4] = {{OP_FCVTSW, OP_FCVTSWU, OP_FCVTSL, OP_FCVTSLU},
                                       {OP_FCVTDW, OP_FCVTDWU, OP_FCVTDL, OP_FCVTDLU}};
    if (kind > 3)
        return OP_ILLEGAL;
    return (f7 & 8 ? FROM_INT : TO_INT)[f7 & 1][kind];
}

static u16 floats(u32 f7, u32 f3, u32 rs2) {
    static const u16 SIGN[2][3] = {{OP_FSGNJS, OP_FSGNJNS, OP_FSGNJXS},
                                   {OP_FSGNJD, OP_FSGNJND, OP_FSGNJXD}};
    static const u16 COMPARE[2][3] = {{OP_FLES, OP_FLTS, OP_FEQS}, {OP_FLED, OP_FLTD, OP_FEQD}};
    u32 d = f7 & 1;
    switch (f7 & 0x7e) {
    case 0x00: return d ? OP_FADDD : OP_FADDS;
    case 0x04: return d ? OP_FSUBD : OP_FSUBS;
    case 0x08: return d ? OP_FMULD : OP_FMULS;
    case 0x0c: return d ? OP_FDIVD : OP_FDIVS;
    case 0x2c: return d ? OP_FSQRTD : OP_FSQRTS;
    case 0x10: return f3 < 3 ? SIGN[d][f3] : OP_ILLEGAL;
    case 0x14: return f3 == 0 ? (d ? OP_FMIND : OP_FMINS)
                    : f3 == 1 ? (d ? OP_FMAXD : OP_FMAXS) : OP_ILLEGAL;
    case 0x20: return !d && rs2 == 1 ? OP_FCVTSD : d && rs2 == 0 ? OP_FCVTDS : OP_ILLEGAL;
    case 0x50: return f3 < 3 ? COMPARE[d][f3] : OP_ILLEGAL;
    case 0x60: case 0x68: return convert(f7, rs2);
    case 0x70: return f3 == 0 ? (d ? OP_FMVXD : OP_FMVXW)
                    : f3 == 1 ? (d ? OP_FCLASSD : OP_FCLASSS) : OP_ILLEGAL;
    case 0x78: return d ? OP_FMVDX : OP_FMVWX;
    }
    return OP_ILLEGAL;
}

static u16 fused(u32 opcode, u32 f7) {
    static const u16 OPS_[4][2] = {{OP_FMADDS, OP_FMADDD}, {OP_FMSUBS, OP_FMSUBD},
                                   {OP_FNMSUBS, OP_FNMSUBD}, {OP_FNMADDS, OP_FNMADDD}};
    return (f7 & 3) < 2 ? OPS_[bits(opcode, 2, 2)][f7 & 3] : OP_ILLEGAL;
}

static s32 branch_offset(u32 i) {
    return extend(put(i, 31, 1, 12) | put(i, 7, 1, 11) | put(i, 25, 6, 5) | put(i, 8, 4, 1), 13);
}

static s32 jump_offset(u32 i) {
    return extend(put(i, 31, 1, 20) | put(i, 12, 8, 12) | put(i, 20, 1, 11) | put(i, 21, 10, 1),
                  21);
}

static u16 atomic(u32 i, u32 f3) {
    u16 op = f3 == 2 || f3 == 3 ? ATOMICS[i >> 27][f3 == 3] : 0;
    return op ? op : OP_ILLEGAL;
}

static void decode_32(Decoded *d, u32 i) {
    u32 f3 = bits(i, 12, 3), f7 = i >> 25;
    s32 load_offset = (s32)i >> 20, store_offset = extend(f7 << 5 | bits(i, 7, 5), 12);
    *d = (Decoded){.rd = (u8)bits(i, 7, 5), .rs1 = (u8)bits(i, 15, 5), .rs2 = (u8)bits(i, 20, 5),
                   .rs3 = (u8)(i >> 27), .rm = (u8)f3, .len = 4, .raw = i, .op = OP_ILLEGAL};
    switch (i & 0x7f) {
    case 0x37: d->op = OP_LUI; d->imm = (s32)(i & 0xfffff000); break;
    case 0x17: d->op = OP_AUIPC; d->imm = (s32)(i & 0xfffff000); break;
    case 0x6f: d->op = OP_JAL; d->imm = jump_offset(i); break;
    case 0x67: d->op = f3 == 0 ? OP_JALR : OP_ILLEGAL; d->imm = load_offset; break;
    case 0x63: d->op = BRANCHES[f3]; d->imm = branch_offset(i); break;
    case 0x03: d->op = LOADS[f3]; d->imm = load_offset; break;
    case 0x23: d->op = f3 < 4 ? STORES[f3] : OP_ILLEGAL; d->imm = store_offset; break;
    case 0x13:
        d->imm = load_offset;
        d->op = f3 == 1 || f3 == 5 ? shift_immediate(d, i, f3) : ALU_IMM[f3];
        break;
    case 0x1b: d->imm = load_offset; d->op = word_immediate(d, f3, f7); break;
    case 0x33: d->op = registers(f3, f7); break;
    case 0x3b: d->op = word_registers(f3, f7); break;
    case 0x0f: d->op = f3 == 1 ? OP_FENCEI : OP_FENCE; break;
    case 0x73: d->op = system(d, i, f3); break;
    case 0x2f: d->op = atomic(i, f3); break;
    case 0x07: d->op = f3 == 2 ? OP_FLW : f3 == 3 ? OP_FLD : OP_ILLEGAL; d->imm = load_offset; break;
    case 0x27: d->op = f3 == 2 ? OP_FSW : f3 == 3 ? OP_FSD : OP_ILLEGAL; d->imm = store_offset; break;
    case 0x43: case 0x47: case 0x4b: case 0x4f: d->op = fused(i, f7); break;
    case 0x53: d->op = floats(f7, f3, d->rs2); break;
    }
}

// --- 16 bits ---

static void is(Decoded *d, u16 op, u32 rd, u32 rs1, u32 rs2, u32 imm) {
    d->op = op;
    d->rd = (u8)rd;
    d->rs1 = (u8)rs1;
    d->rs2 = (u8)rs2;
    d->imm = (s32)imm;
}

static void quadrant_0(Decoded *d, u32 i) {
    u32 reg = 8 + bits(i, 2, 3), base = 8 + bits(i, 7, 3);
    u32 word = put(i, 6, 1, 2) | put(i, 10, 3, 3) | put(i, 5, 1, 6);
    u32 dword = put(i, 10, 3, 3) | put(i, 5, 2, 6);
    u32 wide = put(i, 6, 1, 2) | put(i, 5, 1, 3) | put(i, 11, 2, 4) | put(i, 7, 4, 6);
    switch (i >> 13) {
    case 0: if (wide) is(d, OP_ADDI, reg, 2, 0, wide); break;
    case 1: is(d, OP_FLD, reg, base, 0, dword); break;
    case 2: is(d, OP_LW, reg, base, 0, word); break;
    case 3: is(d, OP_LD, reg, base, 0, dword); break;
    case 5: is(d, OP_FSD, 0, base, reg, dword); break;
    case 6: is(d, OP_SW, 0, base, reg, word); break;
    case 7: is(d, OP_SD, 0, base, reg, dword); break;
    }
}

static void compressed_alu(Decoded *d, u32 i, u32 imm) {
    static const u16 PLAIN[4] = {OP_SUB, OP_XOR, OP_OR, OP_AND};
    u32 reg = 8 + bits(i, 7, 3), other = 8 + bits(i, 2, 3), kind = bits(i, 5, 2);
    switch (bits(i, 10, 2)) {
    case 0: is(d, OP_SRLI, reg, reg, 0, imm & 63); break;
    case 1: is(d, OP_SRAI, reg, reg, 0, imm & 63); break;
    case 2: is(d, OP_ANDI, reg, reg, 0, imm); break;
    case 3:
        if (!bits(i, 12, 1))
            is(d, PLAIN[kind], reg, reg, other, 0);
        else if (kind < 2)
            is(d, kind ? OP_ADDW : OP_SUBW, reg, reg, other, 0);
    }
}

static void quadrant_1(Decoded *d, u32 i) {
    u32 rd = bits(i, 7, 5), imm = (u32)extend(put(i, 12, 1, 5) | bits(i, 2, 5), 6);
    u32 stack = (u32)extend(put(i, 12, 1, 9) | put(i, 6, 1, 4) | put(i, 5, 1, 6) |
                            put(i, 3, 2, 7) | put(i, 2, 1, 5), 10);
    u32 jump = (u32)extend(put(i, 12, 1, 11) | put(i, 11, 1, 4) | put(i, 9, 2, 8) |
                           put(i, 8, 1, 10) | put(i, 7, 1, 6) | put(i, 6, 1, 7) |
                           put(i, 3, 3, 1) | put(i, 2, 1, 5), 12);
    u32 branch = (u32)extend(put(i, 12, 1, 8) | put(i, 10, 2, 3) | put(i, 5, 2, 6) |
                             put(i, 3, 2, 1) | put(i, 2, 1, 5), 9);
    switch (i >> 13) {
    case 0: is(d, OP_ADDI, rd, rd, 0, imm); break;
    case 1: if (rd) is(d, OP_ADDIW, rd, rd, 0, imm); break;
    case 2: is(d, OP_ADDI, rd, 0, 0, imm); break;
    case 3:
        if (rd != 2)
            is(d, OP_LUI, rd, 0, 0, imm << 12);
        else if (stack)
            is(d, OP_ADDI, 2, 2, 0, stack);
        break;
    case 4: compressed_alu(d, i, imm); break;
    case 5: is(d, OP_JAL, 0, 0, 0, jump); break;
    case 6: is(d, OP_BEQ, 0, 8 + bits(i, 7, 3), 0, branch); break;
    case 7: is(d, OP_BNE, 0, 8 + bits(i, 7, 3), 0, branch); break;
    }
}

static void quadrant_2(Decoded *d, u32 i) {
    u32 rd = bits(i, 7, 5), rs2 = bits(i, 2, 5), high = put(i, 12, 1, 5);
    u32 load_d = high | put(i, 5, 2, 3) | put(i, 2, 3, 6);
    u32 store_d = put(i, 10, 3, 3) | put(i, 7, 3, 6);
    switch (i >> 13) {
    case 0: is(d, OP_SLLI, rd, rd, 0, high | rs2); break;
    case 1: is(d, OP_FLD, rd, 2, 0, load_d); break;
    case 2: if (rd) is(d, OP_LW, rd, 2, 0, high | put(i, 4, 3, 2) | put(i, 2, 2, 6)); break;
    case 3: if (rd) is(d, OP_LD, rd, 2, 0, load_d); break;
    case 4:
        if (rs2)
            is(d, OP_ADD, rd, high ? rd : 0, rs2, 0);
        else if (rd)
            is(d, OP_JALR, high ? 1 : 0, rd, 0, 0);
        else if (high)
            is(d, OP_EBREAK, 0, 0, 0, 0);
        break;
    case 5: is(d, OP_FSD, 0, 2, rs2, store_d); break;
    case 6: is(d, OP_SW, 0, 2, rs2, put(i, 9, 4, 2) | put(i, 7, 2, 6)); break;
    case 7: is(d, OP_SD, 0, 2, rs2, store_d); break;
    }
}

// What is written to x0 goes to x[32]. Not for the others: their rd is not an integer register, or is 0 on purpose.
static bool writes_integer(u16 op) {
    return !(op >= OP_FLW && op <= OP_FMVDX) && !(op >= OP_CSRRW && op <= OP_CSRRCI);
}

void decode(Decoded *d) {
    u32 offset = (u32)(d - decoded) * 2, i = 0;
    memcpy(&i, ram + offset, offset + 4 <= RAM_SIZE ? 4 : 2);
    if ((i & 3) == 3) {
        decode_32(d, i);
    } else {
        i &= 0xffff;
        *d = (Decoded){.op = OP_ILLEGAL, .len = 2, .raw = i, .rm = 7};
        (i & 3) == 0 ? quadrant_0(d, i) : (i & 3) == 1 ? quadrant_1(d, i) : quadrant_2(d, i);
    }
    if (d->rd == 0 && writes_integer(d->op))
        d->rd = 32;
    if (trace_hooked(RAM_CACHED + offset))
        d->op = OP_HOOK;
}
