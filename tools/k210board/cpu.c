// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Two RV64GC harts: the cache of decoded instructions, the loop that runs them, and the test
// whether a hart only spins.
#include "board.h"
#include "float.h"
#include "ops.h"
#include <stdlib.h>

enum { GUARD = 4096 }; // halfwords beyond each end of the RAM that a branch reaches: not executable

s64 done_now;

void cpu_start(void) {
    Decoded *all = calloc(RAM_SIZE / 2 + 2 * GUARD, sizeof(Decoded));
    if (!all) abort();
    decoded = all + GUARD;
    for (int i = 0; i < GUARD; i++) all[i].op = all[RAM_SIZE / 2 + GUARD + i].op = OP_ILLEGAL;
}

void cpu_forget(void) { memset(decoded, 0, RAM_SIZE / 2 * sizeof(Decoded)); }

static s64 execute(Hart *h, s64 count);

// An instruction that does not round as the hart does.
static void step_rounded(Hart *h, Decoded *d) {
    u64 before = csr_read(h, FRM);
    d->op = (u16)d->imm;
    csr_write(h, FRM, d->rm);
    execute(h, -1);
    csr_write(h, FRM, before);
    d->op = OP_ROUNDED;
    h->instructions--; // it is counted by the loop that it came from
}

// Threaded code: each op jumps to the next one's label. count < 0: exactly one instruction.
// Otherwise about count: only taken jumps look at what is left.
static s64 execute(Hart *h, s64 count) {
    static const void *const LABEL[] = {
#define X(name, format, match) &&L_##name,
        OPS(X)
#undef X
    };
    bool single = count < 0;
    if (single) count = 1;
    s64 left = count;
    u64 *x = h->x, *f = h->f, base = RAM_CACHED;
    // what a store reaches without asking: all RAM, or what follows the table that is watched
    u64 watched = trace_bytes ? trace_from + trace_bytes : 0;
    u64 plain = RAM_CACHED + watched, plain_most = RAM_SIZE - 8 - watched;
    u8 *plain_ram = ram + watched;
    Decoded *d = decoded;
    h->yield = false;
    done_now = 0;

#define PC ((u64)(d - decoded) * 2 + base)
#define GO goto *LABEL[d->op]
#define NEXT_IF(c) do { d += d->len >> 1; left--; if (unlikely(!(c))) goto out; GO; } while (0)
#define NEXT NEXT_IF(!single)
#define NEXT_OR_YIELD NEXT_IF(!single && !h->yield)
#define JUMPED do { left--; if (unlikely(left <= 0)) goto out; GO; } while (0)
#define SET_PC(to) \
    do { \
        u64 to_ = (to), o_ = to_ - RAM_CACHED; \
        base = RAM_CACHED; \
        if (unlikely(o_ >= RAM_SIZE)) { \
            o_ = to_ - RAM_UNCACHED; \
            base = RAM_UNCACHED; \
            if (o_ >= RAM_SIZE) { h->pc = to_; goto fetch_fault; } \
        } \
        d = &decoded[o_ >> 1]; \
    } while (0)
#define LEAVE(label) do { left--; goto label; } while (0)
#define SYNC do { h->pc = PC; done_now = count - left; } while (0)
#define TRAP(cause, value) do { h->pc = PC; hart_trap(h, cause, value); LEAVE(left_pc); } while (0)
#define RD x[d->rd]
#define A x[d->rs1]
#define B x[d->rs2]
#define IMM ((u64)(s64)d->imm)
#define SET(op, value) L_##op: RD = (u64)(value); NEXT;
#define SET_W(op, value) L_##op: RD = (u64)(s64)(s32)(value); NEXT;

    SET_PC(h->pc);
    GO;

L_DECODE: decode(d); GO;
L_HOOK: SYNC; goto *LABEL[trace_hook(h, d, PC)];
L_ROUNDED: h->pc = PC; step_rounded(h, d); NEXT;
L_ILLEGAL: TRAP(2, d->raw);
SET(LUI, IMM) SET(AUIPC, PC + IMM)
L_JAL:
    RD = PC + d->len;
    d += d->imm >> 1;
    if (unlikely((u64)(d - decoded) >= RAM_SIZE / 2)) { h->pc = PC; goto fetch_fault; }
    JUMPED;
L_JALR: {
    u64 to = (A + IMM) & ~1ull, back = PC + d->len;
    RD = back;
    SET_PC(to);
    JUMPED;
}
#define BRANCH(op, c) L_##op: if (c) { d += d->imm >> 1; JUMPED; } else NEXT;
BRANCH(BEQ, A == B) BRANCH(BNE, A != B)
BRANCH(BLT, (s64)A < (s64)B) BRANCH(BGE, (s64)A >= (s64)B)
BRANCH(BLTU, A < B) BRANCH(BGEU, A >= B)

#define LOAD(op, T, to, value) \
    L_##op: { \
        u64 a = A + IMM, o = a - RAM_CACHED; \
        T v; \
        if (likely(o <= RAM_SIZE - sizeof(T))) { \
            memcpy(&v, ram + o, sizeof(T)); \
            to = (u64)(value); \
            NEXT; \
        } \
        SYNC; \
        v = (T)bus_read(h, a, sizeof(T)); \
        if (unlikely(h->trap)) goto memory_trap; \
        to = (u64)(value); \
        NEXT_OR_YIELD; \
    }
#define STORE(op, T, value) \
    L_##op: { \
        u64 a = A + IMM, o = a - plain; \
        T v = (T)(value); \
        if (likely(o <= plain_most)) { \
            memcpy(plain_ram + o, &v, sizeof(T)); \
            NEXT; \
        } \
        SYNC; \
        bus_write(h, a, (u64)v, sizeof(T)); \
        if (unlikely(h->trap)) goto memory_trap; \
        NEXT_OR_YIELD; \
    }
LOAD(LB, s8, RD, (s64)v) LOAD(LH, s16, RD, (s64)v) LOAD(LW, s32, RD, (s64)v) LOAD(LD, u64, RD, v)
LOAD(LBU, u8, RD, v) LOAD(LHU, u16, RD, v) LOAD(LWU, u32, RD, v)
STORE(SB, u8, B) STORE(SH, u16, B) STORE(SW, u32, B) STORE(SD, u64, B)
LOAD(FLW, u32, f[d->rd], BOX | v) LOAD(FLD, u64, f[d->rd], v)
STORE(FSW, u32, f[d->rs2]) STORE(FSD, u64, f[d->rs2])

SET(ADDI, A + IMM) SET(SLTI, (s64)A < (s64)IMM)
SET(SLTIU, A < IMM) SET(XORI, A ^ IMM)
SET(ORI, A | IMM) SET(ANDI, A & IMM)
SET(SLLI, A << d->imm) SET(SRLI, A >> d->imm)
SET(SRAI, (s64)A >> d->imm) SET(ADD, A + B)
SET(SUB, A - B) SET(SLL, A << (B & 63))
SET(SLT, (s64)A < (s64)B) SET(SLTU, A < B)
SET(XOR, A ^ B) SET(SRL, A >> (B & 63))
SET(SRA, (s64)A >> (B & 63)) SET(OR, A | B)
SET(AND, A & B) SET_W(ADDIW, (u32)A + (u32)d->imm)
SET_W(SLLIW, (u32)A << d->imm) SET_W(SRLIW, (u32)A >> d->imm)
SET_W(SRAIW, (s32)A >> d->imm) SET_W(ADDW, (u32)A + (u32)B)
SET_W(SUBW, (u32)A - (u32)B) SET_W(SLLW, (u32)A << (B & 31))
SET_W(SRLW, (u32)A >> (B & 31)) SET_W(SRAW, (s32)A >> (B & 31))
SET(MUL, A * B) SET(MULH, ((__int128)(s64)A * (s64)B) >> 64)
SET(MULHSU, ((__int128)(s64)A * (__int128)B) >> 64) SET(MULHU, ((unsigned __int128)A * B) >> 64)
SET(DIV, B == 0 ? -1 : (s64)B == -1 ? (s64)(0 - A) : (s64)A / (s64)B)
SET(DIVU, B == 0 ? ~0ull : A / B) SET(REM, B == 0 ? (s64)A : (s64)B == -1 ? 0 : (s64)A % (s64)B)
SET(REMU, B == 0 ? A : A % B) SET_W(MULW, (u32)A * (u32)B)
SET_W(DIVW, (u32)B == 0 ? -1 : (s32)B == -1 ? (s32)(0 - (u32)A) : (s32)A / (s32)B)
SET_W(DIVUW, (u32)B == 0 ? ~0u : (u32)A / (u32)B)
SET_W(REMW, (u32)B == 0 ? (s32)A : (s32)B == -1 ? 0 : (s32)A % (s32)B)
SET_W(REMUW, (u32)B == 0 ? (u32)A : (u32)A % (u32)B)

L_FENCE: L_SFENCEVMA: L_SFENCEVM: NEXT;
L_FENCEI: { u64 next = PC + 4; cpu_forget(); SET_PC(next); LEAVE(out); }
L_ECALL: TRAP(11, 0);
L_EBREAK: TRAP(3, 0);
L_MRET: {
    u64 *status = &h->csr[MSTATUS]; // MIE is what MPIE is
    *status = (*status & ~(1ull << 3)) | (*status >> 7 & 1) << 3 | 1ull << 7;
    h->pc = h->csr[MEPC];
    h->has_reserved = false;
    LEAVE(left_pc);
}
L_WFI: h->waiting = true; d += 2; LEAVE(out);
#define CSR(op, value, written) \
    L_##op: { \
        SYNC; \
        u64 old = csr_read(h, (u32)d->imm), new = (value); \
        if (written) csr_write(h, (u32)d->imm, new); \
        if (d->rd) RD = old; \
        NEXT_OR_YIELD; \
    }
CSR(CSRRW, A, true) CSR(CSRRS, old | A, d->rs1)
CSR(CSRRC, old & ~A, d->rs1) CSR(CSRRWI, (u64)d->rs1, true)
CSR(CSRRSI, old | d->rs1, d->rs1) CSR(CSRRCI, old & ~(u64)d->rs1, d->rs1)

#define ATOMIC(op, T, ...) \
    L_##op: { \
        u64 a = A, o = a - RAM_CACHED; \
        if (unlikely(o > RAM_SIZE - sizeof(T))) o = a - RAM_UNCACHED; \
        if (unlikely(o > RAM_SIZE - sizeof(T))) { \
            h->trap = 1 + 7; h->trap_value = a; goto memory_trap; \
        } \
        T v, b = (T)B; \
        memcpy(&v, ram + o, sizeof(T)); \
        __VA_ARGS__ \
        NEXT; \
    }
#define AMO(op, T, value) \
    ATOMIC(AMO##op, T, b = (T)(value); memcpy(ram + o, &b, sizeof(T)); RD = (u64)(s64)v;)
#define ATOMICS(W, T, U) \
    ATOMIC(LR##W, T, h->reserved = o; h->has_reserved = true; RD = (u64)(s64)v; (void)b;) \
    ATOMIC(SC##W, T, bool fine = h->has_reserved && h->reserved == o; \
           if (fine) memcpy(ram + o, &b, sizeof(T)); \
           RD = !fine; h->has_reserved = false;) \
    AMO(SWAP##W, T, b) AMO(ADD##W, T, (U)v + (U)b) AMO(XOR##W, T, v ^ b) AMO(AND##W, T, v & b) \
    AMO(OR##W, T, v | b) AMO(MIN##W, T, v < b ? v : b) AMO(MAX##W, T, v > b ? v : b) \
    AMO(MINU##W, T, (U)v < (U)b ? v : b) AMO(MAXU##W, T, (U)v > (U)b ? v : b)
ATOMICS(W, s32, u32)
ATOMICS(D, s64, u64)

#define TO_F(op, value) L_##op: f[d->rd] = (value); NEXT;
#define ROUNDING (d->rm == 7 ? h->csr[FCSR] >> 5 : d->rm)
#define TO_INT(op, v, low, high, least, most) \
    SET(op, to_int(v, ROUNDING, low, high, (u64)least, (u64)most))
#define S(r) get_s(f[d->r])
#define D(r) get_d(f[d->r])
#define FLOATS(T, t, root, SIGN) \
    TO_F(FMADD##T, put_##t(fma_##t(T(rs1), T(rs2), T(rs3)))) \
    TO_F(FMSUB##T, put_##t(fma_##t(T(rs1), T(rs2), -T(rs3)))) \
    TO_F(FNMSUB##T, put_##t(fma_##t(-T(rs1), T(rs2), T(rs3)))) \
    TO_F(FNMADD##T, put_##t(fma_##t(-T(rs1), T(rs2), -T(rs3)))) \
    TO_F(FADD##T, put_##t(T(rs1) + T(rs2))) \
    TO_F(FSUB##T, put_##t(T(rs1) - T(rs2))) \
    TO_F(FMUL##T, put_##t(T(rs1) * T(rs2))) \
    TO_F(FDIV##T, put_##t(T(rs1) / T(rs2))) \
    TO_F(FSQRT##T, put_##t(root(T(rs1)))) \
    TO_F(FSGNJ##T, box_##t((raw_##t(f[d->rs1]) & ~SIGN) | (raw_##t(f[d->rs2]) & SIGN))) \
    TO_F(FSGNJN##T, box_##t((raw_##t(f[d->rs1]) & ~SIGN) | (~raw_##t(f[d->rs2]) & SIGN))) \
    TO_F(FSGNJX##T, box_##t(raw_##t(f[d->rs1]) ^ (raw_##t(f[d->rs2]) & SIGN))) \
    TO_F(FMIN##T, pick_##t(f[d->rs1], f[d->rs2], false)) \
    TO_F(FMAX##T, pick_##t(f[d->rs1], f[d->rs2], true)) \
    TO_F(FCVT##T##W, put_##t((s32)A)) TO_F(FCVT##T##WU, put_##t((u32)A)) \
    TO_F(FCVT##T##L, put_##t((s64)A)) TO_F(FCVT##T##LU, put_##t(A)) \
    TO_INT(FCVTW##T, T(rs1), -0x1p31, 0x1p31, INT32_MIN, INT32_MAX) \
    SET_W(FCVTWU##T, to_int(T(rs1), ROUNDING, 0, 0x1p32, 0, UINT32_MAX)) \
    TO_INT(FCVTL##T, T(rs1), -0x1p63, 0x1p63, INT64_MIN, INT64_MAX) \
    TO_INT(FCVTLU##T, T(rs1), 0, 0x1p64, 0, UINT64_MAX) \
    SET(FEQ##T, T(rs1) == T(rs2)) SET(FLT##T, T(rs1) < T(rs2)) SET(FLE##T, T(rs1) <= T(rs2)) \
    SET(FCLASS##T, class_##t(raw_##t(f[d->rs1])))
FLOATS(S, s, sqrtf, SIGN_S)
FLOATS(D, d, sqrt, SIGN_D)
TO_F(FCVTSD, put_s((float)D(rs1)))
TO_F(FCVTDS, put_d((double)S(rs1)))
TO_F(FMVWX, BOX | (u32)A)
TO_F(FMVDX, A)
SET(FMVXW, (s64)(s32)f[d->rs1]) SET(FMVXD, f[d->rs1])

memory_trap:
    h->pc = PC;
    hart_trap(h, (u64)h->trap - 1, h->trap_value);
    h->trap = 0;
    LEAVE(left_pc);
fetch_fault:
    hart_trap(h, 1, h->pc);
    if (h->pc - RAM_CACHED >= RAM_SIZE) { // no trap vector yet: this hart is lost
        h->pc = RAM_CACHED;
        h->waiting = true;
        h->csr[MIE] = 0;
    }
    LEAVE(left_pc);
out:
    h->pc = PC;
left_pc:
    h->instructions += (u64)(count - left);
    done_now = 0;
    return count - left;
}

s64 hart_run(Hart *h, s64 count) {
    float_own(h);
    return execute(h, count);
}

// Runs at most `most` instructions; true when the hart is back where it was with the same registers
// and has stored nothing: then only an interrupt or the other hart can change its course.
bool hart_spins(Hart *h, int most, s64 *used) {
    u64 pc = h->pc, x[32];
    memcpy(x, h->x, sizeof x);
    for (*used = 0; *used < most;) {
        u64 offset = h->pc - RAM_CACHED;
        if (offset >= RAM_SIZE) return false;
        Decoded *d = &decoded[offset >> 1];
        if (d->op == OP_DECODE) decode(d);
        if (d->op < OP_LB || d->op > OP_FENCE) return false;
        if (d->op <= OP_LWU && !bus_memory(h->x[d->rs1] + (u64)(s64)d->imm, 1)) return false;
        execute(h, -1);
        ++*used;
        if (h->pc == pc && !memcmp(x, h->x, sizeof x)) return true;
    }
    return false;
}
