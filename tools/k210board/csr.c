// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Control registers, traps and interrupts of a hart. Source: RISC-V privileged specification 1.9.1 and 1.10, of which
// the K210's Rocket cores are a mix: one trap vector, mbadaddr, and M mode is all that MaixPy uses.
#include "board.h"

enum { MIE = 1 << 3, MPIE = 1 << 7, MPP = 3 << 11, FS_DIRTY = 3 << 13 };
enum { SOFTWARE = 3, TIMER = 7, EXTERNAL = 11 };
#define ISA 0x800000000014112dull      // RV64 A C D F I M S U
#define MIMPID 0x4d41495832303030ull   // value read on a board

u64 hart_mip(const Hart *h) {
    u64 pending = 0;
    if (board.msip[h->id] & 1)
        pending |= 1 << SOFTWARE;
    if (now() / CPU_PER_MTIME >= board.mtimecmp[h->id])
        pending |= 1 << TIMER;
    if (irq_wanted(h->id))
        pending |= 1 << EXTERNAL;
    return pending;
}

u64 csr_read(Hart *h, u32 number) {
    switch (number) {
    case 0x001: return h->fcsr & 31;
    case 0x002: return h->fcsr >> 5 & 7;
    case 0x003: return h->fcsr & 255;
    case 0x300: return h->mstatus | ((h->mstatus & FS_DIRTY) == FS_DIRTY ? 1ull << 63 : 0);
    case 0x301: return ISA;
    case 0x302: return h->medeleg;
    case 0x303: return h->mideleg;
    case 0x304: return h->mie;
    case 0x305: return h->mtvec;
    case 0x340: return h->mscratch;
    case 0x341: return h->mepc;
    case 0x342: return h->mcause;
    case 0x343: return h->mbadaddr;
    case 0x344: return hart_mip(h);
    case 0xf11: return 0;
    case 0xf12: return 1;
    case 0xf13: return MIMPID;
    case 0xf14: return (u64)h->id;
    case 0xb00: case 0xc00: return now() + h->csr[0xb00];
    case 0xc01: return now() / CPU_PER_MTIME;
    case 0xb02: case 0xc02: return now() / CYCLES_PER_INSTRUCTION;
    }
    return h->csr[number];
}

void csr_write(Hart *h, u32 number, u64 value) {
    switch (number) {
    case 0x001: h->fcsr = (h->fcsr & ~31ull) | (value & 31); return;
    case 0x002: h->fcsr = (h->fcsr & 31) | (value & 7) << 5; return;
    case 0x003: h->fcsr = value & 255; return;
    case 0x300: h->mstatus = value & ~(1ull << 63); h->yield = true; return;
    case 0x301: return;
    case 0x302: h->medeleg = value; return;
    case 0x303: h->mideleg = value; return;
    case 0x304: h->mie = value; h->yield = true; return;
    case 0x305: h->mtvec = value; return;
    case 0x340: h->mscratch = value; return;
    case 0x341: h->mepc = value & ~1ull; return;
    case 0x342: h->mcause = value; return;
    case 0x343: h->mbadaddr = value; return;
    case 0x344: return;
    case 0xb00: h->csr[0xb00] = value - now(); return;
    }
    h->csr[number] = value;
}

// The trap is taken at h->pc.
void hart_trap(Hart *h, u64 cause, u64 value) {
    h->mcause = cause;
    h->mepc = h->pc;
    h->mbadaddr = value;
    u64 was_enabled = h->mstatus & MIE;
    h->mstatus &= ~(u64)(MPIE | MIE);
    h->mstatus |= (was_enabled ? MPIE : 0) | MPP;
    h->pc = h->mtvec & ~3ull;
    h->waiting = h->has_reserved = false;
}

// Takes the most urgent pending interrupt, if one is enabled; a pending one ends WFI in any case.
bool hart_interrupt(Hart *h) {
    if (!h->mie)
        return false;
    u64 pending = hart_mip(h) & h->mie;
    if (!pending)
        return false;
    h->waiting = false;
    if (!(h->mstatus & MIE))
        return false;
    u64 kind = pending & 1 << EXTERNAL ? EXTERNAL : pending & 1 << SOFTWARE ? SOFTWARE : TIMER;
    hart_trap(h, 1ull << 63 | kind, 0);
    return true;
}
