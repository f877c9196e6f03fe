// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The bus: every access to memory goes to the RAM or to a device. What a device is, and who may
// watch the stores into the RAM.
#pragma once

#include "ram.h"

enum { UNITS = 4, REGISTERS = 512 };

typedef u64 Registers[REGISTERS]; // what was written to each register last
#define REG(registers, offset) (registers)[(offset) / 4 % REGISTERS]

// A device, of which there may be several units. Offsets are those of a whole register. What is
// not given needs nothing: a device without `read` gives what was written, and so on.
typedef struct {
    const char *name;
    u32 base[UNITS]; // the address of each unit, 0 for no more; none: it hangs on another device
    u32 size;        // bytes of addresses of one unit
    u32 width;       // bytes of a register
    bool absent;     // there is no model of it: reads are 0, writes go nowhere
    u64 (*read)(int unit, u32 offset, u64 stored);
    void (*write)(int unit, u32 offset, u64 value); // after it was stored in `registers`
    void (*reset)(bool warm);                       // after all of it is 0; warm: by the program
    void (*tick)(void);                             // once a round
    u64 (*next)(u64 before);    // cycle of its next event, when that comes before
    bool (*has_data)(int unit); // whether DMA can read it now; not given: always
    Registers *registers;       // of each unit; all that have a base and are not absent
    void *state, *kept;         // what a reset clears; what only a new board does
    u32 state_size, kept_size;
} Device;

// A new board with these devices; the table stays the caller's.
void bus_start(const Device *const *table, u32 n);
void bus_reset(bool warm);
void bus_tick(void);
u64 bus_next(u64 before);
void bus_parts(AddPart *add);

// By whom: the number of a hart, or
enum { NOBODY = -1 }; // DMA, or somebody who only looks

// A hart that reaches nothing has a fault here, and takes it away: 1 + cause of the trap.
extern struct Fault {
    int trap;
    u64 address;
} bus_fault;

u64 bus_read(int by, u64 address, int size);
void bus_write(int by, u64 address, u64 value, int size);
bool bus_has_data(u64 address);

static inline u64 bus_word(u64 address) { return bus_read(NOBODY, address, 8); }

// What the watcher wants to see before it is stored: all stores by harts into a part of the RAM
// (and it may be shown others), or all stores into the RAM.
extern struct Watched {
    u64 from, bytes; // offset in the RAM
    bool all;
} watched;

extern void (*bus_watcher)(int by, u64 offset, u64 value, int size); // set once, at start

// Interrupts may have changed: the hart that runs leaves its loop.
extern bool leave_loop;
