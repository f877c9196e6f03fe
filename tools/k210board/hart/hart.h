// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Two RV64GC harts: their registers, the cache of decoded instructions, traps, and breakpoints for
// the layer above.
#pragma once

#include "../devices/devices.h"

// Control and status registers that have a meaning here.
enum {
    FFLAGS = 0x001,
    FRM = 0x002,
    FCSR = 0x003,
    MSTATUS = 0x300,
    MISA = 0x301,
    MIE = 0x304,
    MTVEC = 0x305,
    MEPC = 0x341,
    MCAUSE = 0x342,
    MBADADDR = 0x343,
    MIP = 0x344,
    MCYCLE = 0xb00,
    MINSTRET = 0xb02,
    CYCLE = 0xc00,
    TIME = 0xc01,
    INSTRET = 0xc02,
    MARCHID = 0xf12,
    MIMPID = 0xf13,
    MHARTID = 0xf14,
};

enum { INTERRUPTS_ON = 1 << 3 }; // of MSTATUS

typedef struct {
    u64 x[33]; // x[32] takes what is written to x0
    u64 f[32];
    u64 pc, instructions;
    u64 reserved;  // 1 + place in RAM that LR reserved
    bool waiting;  // WFI
    bool spinning; // in a loop that changes nothing
    int id;
    u64 csr[4096];
} Hart;

extern Hart harts[HARTS];

// --- decode.c ---
typedef struct {
    u16 op;
    u8 rd, rs1, rs2;
    u8 skip; // bytes of these to the next one
    u8 rs3, rm;
    s32 imm;
    u32 raw;
} Decoded;

enum {
    GUARD = 4096
}; // halfwords beyond each end of the RAM that a branch reaches: not executable

extern Decoded all_decoded[RAM_SIZE / 2 + 2 * GUARD];
#define decoded (all_decoded + GUARD) // one for each halfword of RAM

void decode(Decoded *d);
void hart_forget_code(void); // it may have changed

// Breakpoints: hart_hook is called before an instruction whose byte here is not 0. The byte at an
// address, null where there is no RAM; who sets it decides what it means.
u8 *hart_breakpoint(u64 pc);
extern u8 breakpoint[RAM_SIZE / 2];
extern void (*hart_hook)(const Hart *h, const Decoded *d, u64 pc); // set once, at start

// --- run.c ---
s64 hart_run(Hart *h, s64 count);
bool hart_spins(Hart *h, int most, s64 *used);

// --- csr.c ---
extern bool rounding_used; // other than to even: until then every instruction rounds so
void harts_start(void);    // once
void harts_reset(void);
void hart_trap(Hart *h, u64 cause, u64 value);
void hart_return(Hart *h);
bool hart_interrupt(Hart *h);
u64 csr_read(Hart *h, u32 number);
void csr_write(Hart *h, u32 number, u64 value);
void hart_parts(AddPart *add);
