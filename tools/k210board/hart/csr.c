// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Control registers, traps and interrupts of a hart. Source: RISC-V privileged specification 1.9.1
// and 1.10, of which the K210's Rocket cores are a mix: one trap vector, mbadaddr, and M mode is
// all that MaixPy uses. A register without a meaning here keeps what was written.
#include "hart.h"

enum { INTERRUPTS_WERE_ON = 1 << 7, MPP = 3 << 11, FS_DIRTY = 3 << 13 }; // of MSTATUS

enum { SOFTWARE = 3, TIMER = 7, EXTERNAL = 11 }; // of MIE and MIP

#define SD (1ull << 63)

Hart harts[HARTS];
bool rounding_used;

static void reset(Hart *h, int id) {
    h->id = id;
    h->pc = RAM_CACHED;
    h->csr[MSTATUS] = MPP;
    h->csr[MISA] = 0x800000000014112dull; // RV64 A C D F I M S U
    h->csr[MARCHID] = 1;
    h->csr[MIMPID] = 0x4d41495832303030ull; // read on a board
    h->csr[MHARTID] = (u64)id;
}

void harts_reset(void) {
    memset(harts, 0, sizeof harts);
    hart_forget_code();
    for (int i = 0; i < HARTS; i++)
        reset(&harts[i], i);
}

void hart_parts(AddPart *add) {
    add(harts, sizeof harts);
    add(breakpoint, sizeof breakpoint);
    add(&rounding_used, sizeof rounding_used);
}

// --- control registers ---
// The flags and the rounding of floating point.
static void set_fcsr(Hart *h, u64 mask, u64 value) {
    h->csr[FCSR] = (h->csr[FCSR] & ~mask) | (value & mask);
    if (!rounding_used && h->csr[FCSR] >> 5) {
        rounding_used = true;
        hart_forget_code();
    }
}

// Not inlined: csr_read, which programs call to see the time, needs no stack then.
static __attribute__((noinline)) u64 pending(const Hart *h) {
    u64 bits = clint_software(h->id) ? 1 << SOFTWARE : 0;
    if (clint_timer(h->id))
        bits |= 1 << TIMER;
    if (irq_wanted(h->id))
        bits |= 1 << EXTERNAL;
    return bits;
}

u64 csr_read(Hart *h, u32 number) {
    switch (number) {
    case FFLAGS:
        return h->csr[FCSR] & 31;
    case FRM:
        return h->csr[FCSR] >> 5;
    case FCSR:
        return h->csr[FCSR];
    case MSTATUS:
        return h->csr[MSTATUS] | ((h->csr[MSTATUS] & FS_DIRTY) == FS_DIRTY ? SD : 0);
    case MIP:
        return pending(h);
    case MCYCLE:
    case CYCLE:
        return now() + h->csr[MCYCLE];
    case TIME:
        return now() / CPU_PER_MTIME;
    case MINSTRET:
    case INSTRET:
        return now() / CYCLES_PER_INSTRUCTION;
    }
    return h->csr[number];
}

void csr_write(Hart *h, u32 number, u64 value) {
    if (number == MISA || number == MIP || number >> 10 == 3)
        return; // read only
    switch (number) {
    case FFLAGS:
        set_fcsr(h, 31, value);
        return;
    case FRM:
        set_fcsr(h, 7 << 5, value << 5);
        return;
    case FCSR:
        set_fcsr(h, 255, value);
        return;
    case MSTATUS:
        value &= ~SD;
        leave_loop = true;
        break;
    case MIE:
        leave_loop = true;
        break;
    case MEPC:
        value &= ~1ull;
        break;
    case MCYCLE:
        value -= now();
        break;
    }
    h->csr[number] = value;
}

// --- traps ---
// The trap is taken at h->pc.
void hart_trap(Hart *h, u64 cause, u64 value) {
    u64 *status = &h->csr[MSTATUS];
    u64 before = *status & INTERRUPTS_ON ? INTERRUPTS_WERE_ON : 0;
    *status = (*status & ~(u64)(INTERRUPTS_WERE_ON | INTERRUPTS_ON)) | before | MPP;
    h->csr[MCAUSE] = cause;
    h->csr[MEPC] = h->pc;
    h->csr[MBADADDR] = value;
    h->pc = h->csr[MTVEC] & ~3ull;
    h->waiting = false;
    h->reserved = 0;
}

// MRET
void hart_return(Hart *h) {
    u64 *status = &h->csr[MSTATUS];
    u64 on = *status & INTERRUPTS_WERE_ON ? INTERRUPTS_ON : 0;
    *status = (*status & ~(u64)INTERRUPTS_ON) | on | INTERRUPTS_WERE_ON;
    h->pc = h->csr[MEPC];
    h->reserved = 0;
}

static u64 most_urgent(u64 bits) {
    if (bits & 1 << EXTERNAL)
        return EXTERNAL;
    return bits & 1 << SOFTWARE ? SOFTWARE : TIMER;
}

// Takes the most urgent pending interrupt, if one is enabled; a pending one ends WFI in any case.
bool hart_interrupt(Hart *h) {
    u64 bits = h->csr[MIE] ? pending(h) & h->csr[MIE] : 0;
    if (!bits)
        return false;
    h->waiting = false;
    if (!(h->csr[MSTATUS] & INTERRUPTS_ON))
        return false;
    hart_trap(h, 1ull << 63 | most_urgent(bits), 0);
    return true;
}
