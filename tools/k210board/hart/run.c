// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The loop that runs instructions, and the test whether a hart only spins.
#include "float.h"
#include "ops.h"

// An instruction that does not round as the hart does.
static void step_rounded(Hart *h, Decoded *d) {
    u64 before = h->csr[FCSR] & ~31ull;
    d->op = (u16)d->imm;
    h->csr[FCSR] = (h->csr[FCSR] & 31) | (u64)d->rm << 5;
    hart_run(h, -1);
    h->csr[FCSR] = (h->csr[FCSR] & 31) | before;
    d->op = OP_ROUNDED;
    h->instructions--; // it is counted by the loop that it came from
}

// Runs about `count` instructions, or exactly one where count is negative; returns how many. Only
// taken jumps compare the count with what is left.
//
// This is the one dispatch loop, as threaded code: ops.def says for each instruction what it does,
// here each becomes a label with that code behind it, and the code ends with a jump to the label
// of the next instruction. WebAssembly has no jump to an address: there it ends with a jump to the
// switch at `next`. So control flow is in the macros below, and only in these.
//
// A macro that ends an instruction; one of them is the last thing that each instruction does:
//   GO_ON(op)        runs that op for the instruction at d
//   NEXT             goes on behind this instruction
//   NEXT_OR_YIELD    the same, unless the access may have raised an interrupt: then to `out`
//   JUMPED, JUMP_BY  goes on where d is now, or so many bytes further, while instructions are left
//   LEAVE(label)     out of the loop: at `out` the program goes on at d, at `left_pc` at h->pc
//   TRAP             a trap at this instruction
//   SET, TO_F, BRANCH, LOAD, STORE, AMO ...: what many instructions do, with NEXT or JUMPED inside
// A macro that may go to a fault: SET_PC, JUMP_BY (no RAM to run), LOAD, STORE, ATOMIC (nothing at
// the address). The rest are operands: A and B are the registers rs1 and rs2, IMM the immediate,
// S(rs1) and D(rs1) floating-point registers. SYNC comes before calls that read the program
// counter or the clock.
s64 hart_run(Hart *h, s64 count) {
    bool single = count < 0;
    s64 left = count = single ? 1 : count;
    u64 *x = h->x, *f = h->f;
    u64 base = RAM_CACHED; // by which of its two addresses the RAM is executed
    Decoded *d = decoded;  // the instruction
    // Where a store goes on without a question: all RAM; what follows the watched part and, with a
    // second question, what is below it; or no more than the last word where all is watched.
    u64 free_from = watched.bytes ? watched.from + watched.bytes : 0;
    u64 below = free_from && !watched.all ? watched.from - 7 : 0;
    if (watched.all)
        free_from = RAM_SIZE - 8;
    u64 plain = RAM_CACHED + free_from, plain_most = RAM_SIZE - 8 - free_from;
    u8 *plain_ram = ram + free_from;
    leave_loop = false;
    done_now = 0;

#ifdef __wasm__
    u32 op;
#define GO_ON(which)  \
    do {              \
        op = (which); \
        goto next;    \
    } while (0)
#else
    static const void *const LABEL[] = {
#define X(name, ...) &&L_##name,
#include "ops.def"
#undef X
    };
#define GO_ON(which) goto *LABEL[which]
#endif

// where the program is
#define PC ((u64)(d - decoded) * 2 + base)
#define PC_NEXT (PC + d->skip / (sizeof *d / 2))
#define SYNC                     \
    do {                         \
        h->pc = PC;              \
        done_now = count - left; \
    } while (0)
#define SET_PC(to)                             \
    do {                                       \
        u64 to_ = (to), o_ = to_ - RAM_CACHED; \
        base = RAM_CACHED;                     \
        if (unlikely(o_ >= RAM_SIZE)) {        \
            o_ = to_ - RAM_UNCACHED;           \
            base = RAM_UNCACHED;               \
            if (o_ >= RAM_SIZE) {              \
                h->pc = to_;                   \
                goto fetch_fault;              \
            }                                  \
        }                                      \
        d = &decoded[o_ >> 1];                 \
    } while (0)

// ends of an instruction
#define NEXT_IF(goes_on)                 \
    do {                                 \
        d = (void *)((u8 *)d + d->skip); \
        left--;                          \
        if (unlikely(!(goes_on)))        \
            goto out;                    \
        GO_ON(d->op);                    \
    } while (0)
#define NEXT NEXT_IF(!single)
#define NEXT_OR_YIELD NEXT_IF(!single && !leave_loop)
#define JUMPED                   \
    do {                         \
        left--;                  \
        if (unlikely(left <= 0)) \
            goto out;            \
        GO_ON(d->op);            \
    } while (0)
#define JUMP_BY(bytes)                                      \
    do {                                                    \
        d += (bytes) >> 1;                                  \
        if (unlikely((u64)(d - decoded) >= RAM_SIZE / 2)) { \
            h->pc = PC;                                     \
            goto fetch_fault;                               \
        }                                                   \
        JUMPED;                                             \
    } while (0)
#define LEAVE(label) \
    do {             \
        left--;      \
        goto label;  \
    } while (0)
#define TRAP(cause, value)          \
    do {                            \
        h->pc = PC;                 \
        hart_trap(h, cause, value); \
        LEAVE(left_pc);             \
    } while (0)

// operands
#define RD x[d->rd]
#define A x[d->rs1]
#define B x[d->rs2]
#define IMM ((u64)(s64)d->imm)
#define S(r) get_s(f[d->r])
#define D(r) get_d(f[d->r])
#define RAW(t, r) raw_##t(f[d->r])
#define SIGNED(t, SIGN, by) box_##t((RAW(t, rs1) & ~SIGN) | ((by) & SIGN))
#define ORDERED(t, quiet) ordered_##t(h, f[d->rs1], f[d->rs2], quiet)
#define TO_INT(v, ...) to_int(h, v, d->rm == 7 ? h->csr[FCSR] >> 5 : d->rm, __VA_ARGS__)

// instructions of many kinds
#define SET(value)     \
    RD = (u64)(value); \
    NEXT
#define SET_W(value)             \
    RD = (u64)(s64)(s32)(value); \
    NEXT
#define TO_F(value)     \
    f[d->rd] = (value); \
    NEXT
#define BRANCH(taken)     \
    if (taken) {          \
        d += d->imm >> 1; \
        JUMPED;           \
    }                     \
    NEXT
#define JUMP_AND_LINK \
    RD = PC_NEXT;     \
    JUMP_BY(d->imm)
#define JUMP_TO_REGISTER        \
    u64 to = (A + IMM) & ~1ull; \
    RD = PC_NEXT;               \
    SET_PC(to);                 \
    JUMPED

// memory
#define LOAD(T, to, value)                   \
    u64 a = A + IMM, o = a - RAM_CACHED;     \
    T v;                                     \
    if (likely(o <= RAM_SIZE - sizeof(T))) { \
        memcpy(&v, ram + o, sizeof(T));      \
        to = (u64)(value);                   \
        NEXT;                                \
    }                                        \
    SYNC;                                    \
    v = (T)bus_read(h->id, a, sizeof(T));    \
    if (unlikely(bus_fault.trap))            \
        goto memory_trap;                    \
    to = (u64)(value);                       \
    NEXT_OR_YIELD
#define STORE(T, value)                                \
    u64 a = A + IMM, o = a - plain;                    \
    T v = (T)(value);                                  \
    if (likely(o <= plain_most)) {                     \
        memcpy(plain_ram + o, &v, sizeof(T));          \
        NEXT;                                          \
    }                                                  \
    if (a - RAM_CACHED < below) {                      \
        memcpy(ram + (a - RAM_CACHED), &v, sizeof(T)); \
        NEXT;                                          \
    }                                                  \
    SYNC;                                              \
    bus_write(h->id, a, (u64)v, sizeof(T));            \
    if (unlikely(bus_fault.trap))                      \
        goto memory_trap;                              \
    NEXT_OR_YIELD
// the start of every atomic one: v from memory, b from the register
#define ATOMIC(T)                             \
    T v, b = (T)B;                            \
    u8 *at = ram_at(A, sizeof(T));            \
    if (unlikely(!at)) {                      \
        bus_fault = (struct Fault){1 + 7, A}; \
        goto memory_trap;                     \
    }                                         \
    memcpy(&v, at, sizeof(T))
#define AMO(T, to)                          \
    ATOMIC(T);                              \
    b = (T)(to);                            \
    SYNC;                                   \
    bus_write(h->id, A, (u64)b, sizeof(T)); \
    SET((s64)v)
#define LOAD_RESERVED(T)               \
    ATOMIC(T);                         \
    h->reserved = 1 + (u64)(at - ram); \
    (void)b;                           \
    SET((s64)v)
#define STORE_CONDITIONAL(T)                        \
    ATOMIC(T);                                      \
    bool fine = h->reserved == 1 + (u64)(at - ram); \
    if (fine) {                                     \
        SYNC;                                       \
        bus_write(h->id, A, (u64)b, sizeof(T));     \
    }                                               \
    h->reserved = 0;                                \
    SET(!fine)

// single instructions
#define DECODE_AND_GO \
    decode(d);        \
    GO_ON(d->op)
#define CALL_HOOK        \
    SYNC;                \
    hart_hook(h, d, PC); \
    GO_ON(d->raw)
#define STEP_ROUNDED    \
    h->pc = PC;         \
    step_rounded(h, d); \
    NEXT
// BNE whose rounds only count: all but the last for which there is time, at once
#define SKIP_ROUNDS                                                                 \
    s64 step = (s32)d->raw, way = (s64)(s32)B - (s32)A, most = (left - 2) / d->rs3; \
    if (A == B)                                                                     \
        NEXT;                                                                       \
    most = most < way / step ? most : way / step - 1;                               \
    if (most > 0 && way % step == 0 && A == (u64)(s32)A && B == (u64)(s32)B) {      \
        A += (u64)(most * step);                                                    \
        left -= most * d->rs3;                                                      \
    }                                                                               \
    JUMP_BY(d->imm)
// what is written may forget all code, this instruction too
#define CSR(value, written)                            \
    SYNC;                                              \
    Decoded kept = *d;                                 \
    u64 old = csr_read(h, (u32)d->imm), new = (value); \
    if (written) {                                     \
        csr_write(h, (u32)d->imm, new);                \
        *d = kept;                                     \
    }                                                  \
    if (d->rd)                                         \
        RD = old;                                      \
    NEXT_OR_YIELD
#define FORGET_CODE     \
    u64 next = PC + 4;  \
    hart_forget_code(); \
    SET_PC(next);       \
    LEAVE(out)
#define RETURN_FROM_TRAP \
    hart_return(h);      \
    LEAVE(left_pc)
#define WAIT_FOR_INTERRUPT \
    h->waiting = true;     \
    d += 2;                \
    LEAVE(out)

    SET_PC(h->pc);
    GO_ON(d->op);
#ifdef __wasm__
next:
    switch (op) {
#define X(name, ...) \
    case OP_##name:  \
        goto L_##name;
#include "ops.def"
#undef X
    }
#endif

#define X(name, format, match, ...) \
    L_##name : { __VA_ARGS__; }
#include "ops.def"
#undef X

memory_trap:
    h->pc = PC;
    hart_trap(h, (u64)bus_fault.trap - 1, bus_fault.address);
    bus_fault.trap = 0;
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

// Runs at most `most` instructions; true when the hart is back where it was with the same
// registers and has stored nothing: then only an interrupt or the other hart can change its
// course.
bool hart_spins(Hart *h, int most, s64 *used) {
    u64 pc = h->pc, x[32];
    memcpy(x, h->x, sizeof x);
    for (*used = 0; *used < most;) {
        u64 offset = h->pc - RAM_CACHED;
        if (offset >= RAM_SIZE)
            return false;
        Decoded *d = &decoded[offset >> 1];
        if (d->op == OP_DECODE)
            decode(d);
        if (d->op < OP_LB || d->op > OP_FENCE)
            return false;
        if (d->op <= OP_LWU && !ram_at(h->x[d->rs1] + (u64)(s64)d->imm, 1))
            return false;
        hart_run(h, -1);
        (*used)++;
        if (h->pc == pc && !memcmp(x, h->x, sizeof x))
            return true;
    }
    return false;
}
