// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Instructions to (op, registers, immediate), once for each halfword of RAM that is executed.
// Source: RISC-V unprivileged specification 2.2, chapters 2 to 8, 12 (C) and 19 (encodings).
#include "hart.h"
#include "ops.h"

Decoded all_decoded[RAM_SIZE / 2 + 2 * GUARD];
u8 breakpoint[RAM_SIZE / 2];
void (*hart_hook)(const Hart *h, const Decoded *d, u64 pc);
static u32 decoded_end; // none is decoded from there on

// The specification's formats; SH and SHW shift by an immediate, C names a control register, A is
// atomic, RM rounds, the 1 has one operand, V two and no result, F fences, X is one instruction.
// The mask: what of an instruction says which it is. The immediate: 's' or 'u' (signed or not),
// then the place in it (in base 32) of each bit of the instruction, the highest first.
enum { NONE, R, R4, RM, RM1, X1, I, S, B, U, J, SH, SHW, C, A, F, V, X };

static const struct {
    u32 mask;
    const char *imm;
} FORMATS[] = {
    [NONE] = {0, "u"},
    [X] = {~0u, "u"},
    [R] = {0xfe00707f, "u"},
    [R4] = {0x0600007f, "u"},
    [RM] = {0xfe00007f, "u"},
    [RM1] = {0xfff0007f, "u"},
    [X1] = {0xfff0707f, "u"},
    [A] = {0xf800707f, "u"},
    [F] = {0x707f, "u"},
    [V] = {0xfe007fff, "u"},
    [I] = {0x707f, "sba9876543210"},
    [C] = {0x707f, "uba9876543210"},
    [SH] = {0xfc00707f, "u------543210"},
    [SHW] = {0xfe00707f, "u------543210"},
    [S] = {0x707f, "sba98765-------------43210"},
    [B] = {0x707f, "sca98765-------------4321b"},
    [U] = {0x7f, "svutsrqponmlkjihgfedc"},
    [J] = {0x7f, "ska987654321bjihgfedc"},
};

static const struct {
    u32 match;
    u8 format;
} WHOLE[] = {

#define X(name, format, match, ...) {match, format},
#include "ops.def"
#undef X
};

static u32 bits(u32 i, int from, int n) { return (i >> from) & ((1u << n) - 1); }

// `top`: the bit of the instruction that comes first.
static s32 immediate(u32 i, int top, const char *spec) {
    int sign = 0;
    u32 v = 0;
    for (const char *c = spec + 1; *c; c++, top--) {
        int to = *c <= '9' ? *c - '0' : *c - 'a' + 10;
        if (*c == '-')
            continue;
        v |= bits(i, top, 1) << to;
        sign = to > sign ? to : sign;
    }
    return *spec == 's' ? (s32)(v << (31 - sign)) >> (31 - sign) : (s32)v;
}

static void decode_32(Decoded *d, u32 i) {
    int op = OP_ILLEGAL + 1;
    while (op < OP_COUNT && (i & FORMATS[WHOLE[op].format].mask) != WHOLE[op].match)
        op++;
    if (op == OP_COUNT)
        op = OP_ILLEGAL;
    int format = WHOLE[op].format;
    *d = (Decoded){.rd = (u8)bits(i, 7, 5),
                   .rs1 = (u8)bits(i, 15, 5),
                   .rs2 = (u8)bits(i, 20, 5),
                   .rs3 = (u8)(i >> 27),
                   .rm = (u8)bits(i, 12, 3),
                   .skip = 2 * sizeof *d,
                   .raw = i,
                   .op = (u16)op,
                   .imm = immediate(i, 31, FORMATS[format].imm)};
    if (format != R4 && format != RM && format != RM1)
        return;
    if (d->rm == 5 || d->rm == 6)
        d->op = OP_ILLEGAL;
    if (d->rm < 5 && op < OP_FLES && (d->rm || rounding_used)) { // not dynamic, and computes
        d->op = OP_ROUNDED;
        d->imm = op;
    }
}

// Compressed instructions, the first that fits; registers by number or by field.
enum { RD = 32, RS2, RD_, RS2_ }; // bits 11-7, 6-2; 9-7 and 4-2, of x8 to x15

static const char NO[] = "u", SIX[] = "s5-----43210", SHIFT[] = "u5-----43210";
static const char STORED_W[] = "u543---26", STORED_D[] = "u543---76", TO_BRANCH[] = "s843---76215";
static const char STACK_D[] = "u543876", STACK_LD[] = "u5-----43876";

static const struct {
    u16 mask, match, op;
    u8 rd, rs1, rs2;
    const char *imm;
} HALF[] = {
    {0xffe3, 0x0000, OP_ILLEGAL, 0, 0, 0, NO},
    {0xe003, 0x0000, OP_ADDI, RS2_, 2, 0, "u54987623"},
    {0xe003, 0x2000, OP_FLD, RS2_, RD_, 0, STORED_D},
    {0xe003, 0x4000, OP_LW, RS2_, RD_, 0, STORED_W},
    {0xe003, 0x6000, OP_LD, RS2_, RD_, 0, STORED_D},
    {0xe003, 0xa000, OP_FSD, 0, RD_, RS2_, STORED_D},
    {0xe003, 0xc000, OP_SW, 0, RD_, RS2_, STORED_W},
    {0xe003, 0xe000, OP_SD, 0, RD_, RS2_, STORED_D},
    {0xe003, 0x0001, OP_ADDI, RD, RD, 0, SIX},
    {0xef83, 0x2001, OP_ILLEGAL, 0, 0, 0, NO},
    {0xe003, 0x2001, OP_ADDIW, RD, RD, 0, SIX},
    {0xe003, 0x4001, OP_ADDI, RD, 0, 0, SIX},
    {0xf07f, 0x6001, OP_ILLEGAL, 0, 0, 0, NO},
    {0xef83, 0x6101, OP_ADDI, 2, 2, 0, "s9-----46875"},
    {0xe003, 0x6001, OP_LUI, RD, 0, 0, "sh-----gfedc"},
    {0xec03, 0x8001, OP_SRLI, RD_, RD_, 0, SHIFT},
    {0xec03, 0x8401, OP_SRAI, RD_, RD_, 0, SHIFT},
    {0xec03, 0x8801, OP_ANDI, RD_, RD_, 0, SIX},
    {0xfc63, 0x8c01, OP_SUB, RD_, RD_, RS2_, NO},
    {0xfc63, 0x8c21, OP_XOR, RD_, RD_, RS2_, NO},
    {0xfc63, 0x8c41, OP_OR, RD_, RD_, RS2_, NO},
    {0xfc63, 0x8c61, OP_AND, RD_, RD_, RS2_, NO},
    {0xfc63, 0x9c01, OP_SUBW, RD_, RD_, RS2_, NO},
    {0xfc63, 0x9c21, OP_ADDW, RD_, RD_, RS2_, NO},
    {0xe003, 0xa001, OP_JAL, 0, 0, 0, "sb498a673215"},
    {0xe003, 0xc001, OP_BEQ, 0, RD_, 0, TO_BRANCH},
    {0xe003, 0xe001, OP_BNE, 0, RD_, 0, TO_BRANCH},
    {0xe003, 0x0002, OP_SLLI, RD, RD, 0, SHIFT},
    {0xe003, 0x2002, OP_FLD, RD, 2, 0, STACK_LD},
    {0xef83, 0x4002, OP_ILLEGAL, 0, 0, 0, NO},
    {0xe003, 0x4002, OP_LW, RD, 2, 0, "u5-----43276"},
    {0xef83, 0x6002, OP_ILLEGAL, 0, 0, 0, NO},
    {0xe003, 0x6002, OP_LD, RD, 2, 0, STACK_LD},
    {0xffff, 0x8002, OP_ILLEGAL, 0, 0, 0, NO},
    {0xf07f, 0x8002, OP_JALR, 0, RD, 0, NO},
    {0xf003, 0x8002, OP_ADD, RD, 0, RS2, NO},
    {0xffff, 0x9002, OP_EBREAK, 0, 0, 0, NO},
    {0xf07f, 0x9002, OP_JALR, 1, RD, 0, NO},
    {0xf003, 0x9002, OP_ADD, RD, RD, RS2, NO},
    {0xe003, 0xa002, OP_FSD, 0, 2, RS2, STACK_D},
    {0xe003, 0xc002, OP_SW, 0, 2, RS2, "u543276"},
    {0xe003, 0xe002, OP_SD, 0, 2, RS2, STACK_D},
    {0x0000, 0x0000, OP_ILLEGAL, 0, 0, 0, NO},
};

static u8 reg(u32 i, u8 field) {
    switch (field) {
    case RD:
        return (u8)bits(i, 7, 5);
    case RS2:
        return (u8)bits(i, 2, 5);
    case RD_:
        return (u8)(8 + bits(i, 7, 3));
    case RS2_:
        return (u8)(8 + bits(i, 2, 3));
    }
    return field;
}

static void decode_16(Decoded *d, u32 i) {
    int k = 0;
    while ((i & HALF[k].mask) != HALF[k].match)
        k++;
    *d = (Decoded){.op = HALF[k].op,
                   .skip = sizeof *d,
                   .raw = i,
                   .rm = 7,
                   .rd = reg(i, HALF[k].rd),
                   .rs1 = reg(i, HALF[k].rs1),
                   .rs2 = reg(i, HALF[k].rs2),
                   .imm = immediate(i, 12, HALF[k].imm)};
}

// A branch back over nothing but nops and one sum, as a delay ends: raw is what a round adds, rs3
// how many instructions it has.
static void find_delay(Decoded *d) {
    const Decoded *sum = NULL;
    u8 n = 1;
    for (const Decoded *at = d + d->imm / 2; at < d; at += at->skip / sizeof *d) {
        bool adds = at->op == OP_ADDI || at->op == OP_ADDIW, nop = at->rd == 32;
        bool counts = !sum && at->rd == d->rs1 && at->rs1 == d->rs1;
        if (!adds || n == 255 || !(nop || counts))
            return;
        if (!nop)
            sum = at;
        n++;
    }
    if (!sum || !sum->imm || d->rs1 == d->rs2)
        return;
    d->op = OP_DELAY;
    d->raw = (u32)sum->imm;
    d->rs3 = n;
}

void decode(Decoded *d) {
    u32 number = (u32)(d - decoded), offset = 2 * number, i = 0;
    if (decoded_end <= number)
        decoded_end = number + 1;
    memcpy(&i, ram + offset, offset + 4 <= RAM_SIZE ? 4 : 2);
    if ((i & 3) == 3)
        decode_32(d, i);
    else
        decode_16(d, i & 0xffff);
    // x[32] takes what is written to x0; the others have no such result, or mean 0
    bool integer = (d->op >= OP_LB && d->op < OP_CSRRW) || (d->op >= OP_SB && d->op < OP_FLW);
    if (d->rd == 0 && (integer || d->op >= OP_FLES))
        d->rd = 32;
    if (breakpoint[number]) {
        d->raw = d->op;
        d->op = OP_HOOK;
    } else if (d->op == OP_BNE) {
        find_delay(d);
    }
}

void hart_forget_code(void) {
    memset(decoded, 0, decoded_end * sizeof(Decoded));
    decoded_end = 0;
}

u8 *hart_breakpoint(u64 pc) {
    u64 i = (pc - RAM_CACHED) / 2;
    if (i >= RAM_SIZE / 2)
        return NULL;
    if (decoded[i].op != OP_HOOK)
        decoded[i].op = OP_DECODE;
    return &breakpoint[i];
}

void harts_start(void) {
    for (int i = 0; i < GUARD; i++) {
        all_decoded[i].op = OP_ILLEGAL;
        all_decoded[RAM_SIZE / 2 + GUARD + i].op = OP_ILLEGAL;
    }
    rounding_used = false;
}
