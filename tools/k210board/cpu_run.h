// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The interpreter's loop, included twice by cpu.c: as RUN it is the plain one, with WATCH 1 it also tells trace.c of
// calls and of stores into the watched range. Threaded code: each op jumps to the next one's label.
// count < 0: exactly one instruction. Otherwise about count: only taken jumps look at what is left.
static s64 RUN(Hart *h, s64 count) {
    static const void *const LABEL[] = {
#define X(name) &&L_##name,
        OPS(X)
#undef X
    };
    bool single = count < 0;
    if (single)
        count = 1;
    s64 left = count;
    u64 *x = h->x, *f = h->f, base = RAM_CACHED;
    Decoded *d = decoded;
    h->yield = false;
    done_now = 0;

#define PC ((u64)(d - decoded) * 2 + base)
#define GO goto *LABEL[d->op]
#define NEXT do { d += d->len >> 1; left--; if (unlikely(single)) goto out; GO; } while (0)
#define NEXT_OR_YIELD \
    do { d += d->len >> 1; left--; if (unlikely(single || h->yield)) goto out; GO; } while (0)
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
#define RD x[d->rd]
#define A x[d->rs1]
#define B x[d->rs2]
#define IMM ((u64)(s64)d->imm)
#define SET(op, value) L_##op: RD = (u64)(value); NEXT;
#define SET_W(op, value) L_##op: RD = (u64)(s64)(s32)(value); NEXT;
#if WATCH
#define CALLED(to) do { if (unlikely(trace_calls) && d->rd == 1) trace_call(h, (to)); } while (0)
#define STORED(o, T, v) \
    if (unlikely((o) - trace_from < trace_bytes)) { \
        T was_; memcpy(&was_, ram + (o), sizeof(T)); \
        memcpy(ram + (o), &v, sizeof(T)); \
        SYNC; trace_store(h, (o), (u64)was_, (u64)v, sizeof(T)); \
    } else memcpy(ram + (o), &v, sizeof(T))
#else
#define CALLED(to) do { } while (0)
#define STORED(o, T, v) memcpy(ram + (o), &v, sizeof(T))
#endif

    SET_PC(h->pc);
    GO;

L_DECODE: decode(d); GO;
L_HOOK: SYNC; goto *LABEL[trace_hook(h, PC)];
L_ILLEGAL: h->pc = PC; hart_trap(h, 2, d->raw); LEAVE(out_of_place);
SET(LUI, IMM)
SET(AUIPC, PC + IMM)
L_JAL: {
    CALLED(PC + IMM);
    RD = PC + d->len;
    d += d->imm >> 1;
    if (unlikely((u64)(d - decoded) >= RAM_SIZE / 2)) { h->pc = PC; goto fetch_fault; }
    JUMPED;
}
L_JALR: {
    u64 to = (A + IMM) & ~1ull, back = PC + d->len;
    CALLED(to);
    RD = back;
    SET_PC(to);
    JUMPED;
}
#define BRANCH(op, c) L_##op: if (c) { d += d->imm >> 1; JUMPED; } else NEXT;
BRANCH(BEQ, A == B)
BRANCH(BNE, A != B)
BRANCH(BLT, (s64)A < (s64)B)
BRANCH(BGE, (s64)A >= (s64)B)
BRANCH(BLTU, A < B)
BRANCH(BGEU, A >= B)

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
        u64 a = A + IMM, o = a - RAM_CACHED; \
        T v = (T)(value); \
        if (likely(o <= RAM_SIZE - sizeof(T))) { STORED(o, T, v); NEXT; } \
        SYNC; \
        bus_write(h, a, (u64)v, sizeof(T)); \
        if (unlikely(h->trap)) goto memory_trap; \
        NEXT_OR_YIELD; \
    }
LOAD(LB, s8, RD, (s64)v)
LOAD(LH, s16, RD, (s64)v)
LOAD(LW, s32, RD, (s64)v)
LOAD(LD, u64, RD, v)
LOAD(LBU, u8, RD, v)
LOAD(LHU, u16, RD, v)
LOAD(LWU, u32, RD, v)
STORE(SB, u8, B)
STORE(SH, u16, B)
STORE(SW, u32, B)
STORE(SD, u64, B)

SET(ADDI, A + IMM)
SET(SLTI, (s64)A < (s64)IMM)
SET(SLTIU, A < IMM)
SET(XORI, A ^ IMM)
SET(ORI, A | IMM)
SET(ANDI, A & IMM)
SET(SLLI, A << d->imm)
SET(SRLI, A >> d->imm)
SET(SRAI, (s64)A >> d->imm)
SET(ADD, A + B)
SET(SUB, A - B)
SET(SLL, A << (B & 63))
SET(SLT, (s64)A < (s64)B)
SET(SLTU, A < B)
SET(XOR, A ^ B)
SET(SRL, A >> (B & 63))
SET(SRA, (s64)A >> (B & 63))
SET(OR, A | B)
SET(AND, A & B)
SET_W(ADDIW, (u32)A + (u32)d->imm)
SET_W(SLLIW, (u32)A << d->imm)
SET_W(SRLIW, (u32)A >> d->imm)
SET_W(SRAIW, (s32)A >> d->imm)
SET_W(ADDW, (u32)A + (u32)B)
SET_W(SUBW, (u32)A - (u32)B)
SET_W(SLLW, (u32)A << (B & 31))
SET_W(SRLW, (u32)A >> (B & 31))
SET_W(SRAW, (s32)A >> (B & 31))

#define BY_ZERO(b) ((b) == 0)
SET(MUL, A * B)
SET(MULH, ((__int128)(s64)A * (s64)B) >> 64)
SET(MULHSU, ((__int128)(s64)A * (__int128)B) >> 64)
SET(MULHU, ((unsigned __int128)A * B) >> 64)
SET(DIV, BY_ZERO(B) ? -1 : (s64)B == -1 ? (s64)(0 - A) : (s64)A / (s64)B)
SET(DIVU, BY_ZERO(B) ? ~0ull : A / B)
SET(REM, BY_ZERO(B) ? (s64)A : (s64)B == -1 ? 0 : (s64)A % (s64)B)
SET(REMU, BY_ZERO(B) ? A : A % B)
SET_W(MULW, (u32)A * (u32)B)
SET_W(DIVW, BY_ZERO((s32)B) ? -1 : (s32)B == -1 ? (s32)(0 - (u32)A) : (s32)A / (s32)B)
SET_W(DIVUW, BY_ZERO((u32)B) ? ~0u : (u32)A / (u32)B)
SET_W(REMW, BY_ZERO((s32)B) ? (s32)A : (s32)B == -1 ? 0 : (s32)A % (s32)B)
SET_W(REMUW, BY_ZERO((u32)B) ? (u32)A : (u32)A % (u32)B)

L_FENCE: NEXT;
L_FENCEI: { u64 next = PC + 4; cpu_forget(); SET_PC(next); LEAVE(out); }
L_ECALL: h->pc = PC; hart_trap(h, 11, 0); LEAVE(out_of_place);
L_EBREAK: h->pc = PC; hart_trap(h, 3, 0); LEAVE(out_of_place);
L_MRET: {
    u64 enabled = h->mstatus >> 7 & 1;
    h->mstatus = (h->mstatus & ~(1ull << 3)) | enabled << 3 | 1ull << 7;
    h->pc = h->mepc;
    h->has_reserved = false;
    LEAVE(out_of_place);
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
CSR(CSRRW, A, true)
CSR(CSRRS, old | A, d->rs1)
CSR(CSRRC, old & ~A, d->rs1)
CSR(CSRRWI, (u64)d->rs1, true)
CSR(CSRRSI, old | d->rs1, d->rs1)
CSR(CSRRCI, old & ~(u64)d->rs1, d->rs1)

#define ATOMIC_AT(T) \
    u64 a = A, o = a - RAM_CACHED; \
    T v; \
    if (unlikely(o > RAM_SIZE - sizeof(T))) { \
        o = a - RAM_UNCACHED; \
        if (o > RAM_SIZE - sizeof(T)) { \
            h->pc = PC; h->trap = 1 + 7; h->trap_value = a; goto memory_trap; \
        } \
    }
#define RESERVE(op, T) \
    L_##op: { \
        ATOMIC_AT(T) \
        memcpy(&v, ram + o, sizeof(T)); \
        h->reserved = o; \
        h->has_reserved = true; \
        RD = (u64)(s64)v; \
        NEXT; \
    }
#define CONDITIONAL(op, T) \
    L_##op: { \
        ATOMIC_AT(T) \
        bool fine = h->has_reserved && h->reserved == o; \
        v = (T)B; \
        if (fine) memcpy(ram + o, &v, sizeof(T)); \
        RD = !fine; \
        h->has_reserved = false; \
        NEXT; \
    }
#define AMO(op, T, value) \
    L_AMO##op: { \
        ATOMIC_AT(T) \
        memcpy(&v, ram + o, sizeof(T)); \
        T b = (T)B, r = (T)(value); \
        memcpy(ram + o, &r, sizeof(T)); \
        RD = (u64)(s64)v; \
        NEXT; \
    }
#define AMOS(W, T, U) \
    RESERVE(LR##W, T) CONDITIONAL(SC##W, T) AMO(SWAP##W, T, b) AMO(ADD##W, T, (U)v + (U)b) \
    AMO(XOR##W, T, v ^ b) AMO(AND##W, T, v & b) AMO(OR##W, T, v | b) \
    AMO(MIN##W, T, v < b ? v : b) AMO(MAX##W, T, v > b ? v : b) \
    AMO(MINU##W, T, (U)v < (U)b ? v : b) AMO(MAXU##W, T, (U)v > (U)b ? v : b)
AMOS(W, s32, u32)
AMOS(D, s64, u64)

#define S(r) get_s(f[d->r])
#define D(r) get_d(f[d->r])
#define ROUNDING (d->rm == 7 ? (int)(h->fcsr >> 5 & 7) : d->rm)
#define TO_F(op, value) L_##op: f[d->rd] = (value); NEXT;
LOAD(FLW, u32, f[d->rd], BOX | v)
LOAD(FLD, u64, f[d->rd], v)
STORE(FSW, u32, f[d->rs2])
STORE(FSD, u64, f[d->rs2])
TO_F(FMADDS, put_s(fmaf(S(rs1), S(rs2), S(rs3))))
TO_F(FMSUBS, put_s(fmaf(S(rs1), S(rs2), -S(rs3))))
TO_F(FNMSUBS, put_s(fmaf(-S(rs1), S(rs2), S(rs3))))
TO_F(FNMADDS, put_s(fmaf(-S(rs1), S(rs2), -S(rs3))))
TO_F(FADDS, put_s(S(rs1) + S(rs2)))
TO_F(FSUBS, put_s(S(rs1) - S(rs2)))
TO_F(FMULS, put_s(S(rs1) * S(rs2)))
TO_F(FDIVS, put_s(S(rs1) / S(rs2)))
TO_F(FSQRTS, put_s(sqrtf(S(rs1))))
TO_F(FSGNJS, BOX | (raw_s(f[d->rs1]) & ~SIGN_S) | (raw_s(f[d->rs2]) & SIGN_S))
TO_F(FSGNJNS, BOX | (raw_s(f[d->rs1]) & ~SIGN_S) | (~raw_s(f[d->rs2]) & SIGN_S))
TO_F(FSGNJXS, BOX | (raw_s(f[d->rs1]) ^ (raw_s(f[d->rs2]) & SIGN_S)))
TO_F(FMINS, put_s(pick_s(S(rs1), S(rs2), false)))
TO_F(FMAXS, put_s(pick_s(S(rs1), S(rs2), true)))
TO_F(FCVTSW, put_s((float)(s32)A))
TO_F(FCVTSWU, put_s((float)(u32)A))
TO_F(FCVTSL, put_s((float)(s64)A))
TO_F(FCVTSLU, put_s((float)A))
TO_F(FMVWX, BOX | (u32)A)
TO_F(FMADDD, put_d(fma(D(rs1), D(rs2), D(rs3))))
TO_F(FMSUBD, put_d(fma(D(rs1), D(rs2), -D(rs3))))
TO_F(FNMSUBD, put_d(fma(-D(rs1), D(rs2), D(rs3))))
TO_F(FNMADDD, put_d(fma(-D(rs1), D(rs2), -D(rs3))))
TO_F(FADDD, put_d(D(rs1) + D(rs2)))
TO_F(FSUBD, put_d(D(rs1) - D(rs2)))
TO_F(FMULD, put_d(D(rs1) * D(rs2)))
TO_F(FDIVD, put_d(D(rs1) / D(rs2)))
TO_F(FSQRTD, put_d(sqrt(D(rs1))))
TO_F(FSGNJD, (f[d->rs1] & ~SIGN_D) | (f[d->rs2] & SIGN_D))
TO_F(FSGNJND, (f[d->rs1] & ~SIGN_D) | (~f[d->rs2] & SIGN_D))
TO_F(FSGNJXD, f[d->rs1] ^ (f[d->rs2] & SIGN_D))
TO_F(FMIND, put_d(pick_d(D(rs1), D(rs2), false)))
TO_F(FMAXD, put_d(pick_d(D(rs1), D(rs2), true)))
TO_F(FCVTSD, put_s((float)D(rs1)))
TO_F(FCVTDS, put_d((double)S(rs1)))
TO_F(FCVTDW, put_d((double)(s32)A))
TO_F(FCVTDWU, put_d((double)(u32)A))
TO_F(FCVTDL, put_d((double)(s64)A))
TO_F(FCVTDLU, put_d((double)A))
TO_F(FMVDX, A)
SET(FCVTWS, to_w(to_integer(S(rs1), ROUNDING)))
SET(FCVTWUS, to_wu(to_integer(S(rs1), ROUNDING)))
SET(FCVTLS, to_l(to_integer(S(rs1), ROUNDING)))
SET(FCVTLUS, to_lu(to_integer(S(rs1), ROUNDING)))
SET(FMVXW, (s64)(s32)f[d->rs1])
SET(FEQS, S(rs1) == S(rs2))
SET(FLTS, S(rs1) < S(rs2))
SET(FLES, S(rs1) <= S(rs2))
SET(FCLASSS, class_s(raw_s(f[d->rs1])))
SET(FEQD, D(rs1) == D(rs2))
SET(FLTD, D(rs1) < D(rs2))
SET(FLED, D(rs1) <= D(rs2))
SET(FCLASSD, class_d(f[d->rs1]))
SET(FCVTWD, to_w(to_integer(D(rs1), ROUNDING)))
SET(FCVTWUD, to_wu(to_integer(D(rs1), ROUNDING)))
SET(FCVTLD, to_l(to_integer(D(rs1), ROUNDING)))
SET(FCVTLUD, to_lu(to_integer(D(rs1), ROUNDING)))
SET(FMVXD, f[d->rs1])

memory_trap: {
    int cause = h->trap - 1;
    h->trap = 0;
    hart_trap(h, (u64)cause, h->trap_value);
    LEAVE(out_of_place);
}
fetch_fault:
    hart_trap(h, 1, h->pc);
    if (h->pc - RAM_CACHED >= RAM_SIZE)
        h->pc = RAM_CACHED, h->waiting = true, h->mie = 0; // no trap vector yet: this hart is lost
    LEAVE(out_of_place);
out:
    h->pc = PC;
out_of_place:
    h->instructions += (u64)(count - left);
    done_now = 0;
    return count - left;
}
#undef PC
#undef GO
#undef NEXT
#undef NEXT_OR_YIELD
#undef JUMPED
#undef SET_PC
#undef LEAVE
#undef SYNC
#undef RD
#undef A
#undef B
#undef IMM
#undef SET
#undef SET_W
#undef CALLED
#undef STORED
#undef BRANCH
#undef LOAD
#undef STORE
#undef BY_ZERO
#undef CSR
#undef ATOMIC_AT
#undef RESERVE
#undef CONDITIONAL
#undef AMO
#undef AMOS
#undef S
#undef D
#undef ROUNDING
#undef TO_F
