// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Control registers, traps and interrupts of a hart. Source: RISC-V privileged specification 1.9.1
// and 1.10, of which the K210's Rocket cores are a mix: one trap vector, mbadaddr, and M mode is
// all that MaixPy uses. A register without a meaning here keeps what was written.
#include "board.h"

enum { ON = 1 << 3, WAS_ON = 1 << 7, MPP = 3 << 11, FS_DIRTY = 3 << 13 }; // of mstatus

enum { SOFTWARE = 3, TIMER_IRQ = 7, EXTERNAL = 11 };

#define SD (1ull << 63)

void hart_reset(Hart *h, int id) {
    h->id = id;
    h->pc = RAM_CACHED;
    h->csr[MSTATUS] = MPP;
    h->csr[MISA] = 0x800000000014112dull; // RV64 A C D F I M S U
    h->csr[MARCHID] = 1;
    h->csr[MIMPID] = 0x4d41495832303030ull; // read on a board
    h->csr[MHARTID] = (u64)id;
}

// --- floating point: float.h computes, the flags and the rounding are in FCSR ---
static void set_float(Hart *h, u64 mask, u64 value) {
    h->csr[FCSR] = (h->csr[FCSR] & ~mask) | (value & mask);
    if (!host.rounding_used && h->csr[FCSR] >> 5) // until then every instruction rounds to even
        host.rounding_used = true, cpu_forget();
}

// --- control registers ---
static u64 pending(const Hart *h) {
    u64 bits = board.msip[h->id] & 1 ? 1 << SOFTWARE : 0;
    if (now() / CPU_PER_MTIME >= board.mtimecmp[h->id])
        bits |= 1 << TIMER_IRQ;
    return irq_wanted(h->id) ? bits | 1 << EXTERNAL : bits;
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
        set_float(h, 31, value);
        return;
    case FRM:
        set_float(h, 7 << 5, value << 5);
        return;
    case FCSR:
        set_float(h, 255, value);
        return;
    case MSTATUS:
        value &= ~SD;
        h->yield = true;
        break;
    case MIE:
        h->yield = true;
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

// The trap is taken at h->pc.
void hart_trap(Hart *h, u64 cause, u64 value) {
    u64 *c = h->csr, before = c[MSTATUS] & ON ? WAS_ON : 0;
    c[MCAUSE] = cause;
    c[MEPC] = h->pc;
    c[MBADADDR] = value;
    c[MSTATUS] = (c[MSTATUS] & ~(u64)(WAS_ON | ON)) | before | MPP;
    h->pc = c[MTVEC] & ~3ull;
    h->waiting = false;
    h->reserved = 0;
}

// MRET: MIE is what MPIE is.
void hart_return(Hart *h) {
    u64 *status = &h->csr[MSTATUS];
    *status = (*status & ~(u64)ON) | (*status & WAS_ON ? ON : 0) | WAS_ON;
    h->pc = h->csr[MEPC];
    h->reserved = 0;
}

// Takes the most urgent pending interrupt, if one is enabled; a pending one ends WFI in any case.
bool hart_interrupt(Hart *h) {
    u64 found = h->csr[MIE] ? pending(h) & h->csr[MIE] : 0;
    if (!found)
        return false;
    h->waiting = false;
    if (!(h->csr[MSTATUS] & ON))
        return false;
    u64 kind = found & 1 << EXTERNAL ? EXTERNAL : found & 1 << SOFTWARE ? SOFTWARE : TIMER_IRQ;
    hart_trap(h, 1ull << 63 | kind, 0);
    return true;
}
