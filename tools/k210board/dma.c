// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The six DMA channels; a block is moved at once, as far as its source has data. A LONG one takes
// a cycle an item, and of the host as many instructions: a program that starts them for ever ends.
// Source: dmac.h, dmac.c; Synopsys DW_axi_dmac databook.
#include "board.h"

enum { CHANNELS = 6, BLOCK_AND_TRANSFER_DONE = 3, LONG = 1 << 18 };

enum { VERSION = 0x08, CONFIG = 0x10, RUNNING = 0x18, RAISED = 0x30, RESET = 0x58 }; // of all

enum { ENABLED = 1, INTERRUPTS = 2 }; // CONFIG

enum { SOURCE = 0x00, TARGET = 0x08, BLOCK = 0x10, CONTROL = 0x18, DONE = 0x30 }; // of one

enum { WANTED = 0x80, STATUS = 0x88, SIGNALLED = 0x90, CLEAR = 0x98 };

#define CHANNEL(c, o) REG(DMA, 0x100 * ((c) + 1) + (o))

static void update(int c) {
    u64 raised = board.dma[c].status & CHANNEL(c, WANTED) & CHANNEL(c, SIGNALLED);
    irq_set(IRQ_DMA0 + c, (u32)raised && REG(DMA, CONFIG) & INTERRUPTS);
}

static bool move(int c) {
    DmaChannel *d = &board.dma[c];
    u64 control = CHANNEL(c, CONTROL), had = d->left;
    int in = 1 << (control >> 8 & 7), out = 1 << (control >> 11 & 7);
    in = in > 8 ? 8 : in, out = out > 8 ? 8 : out;
    if ((d->to ^ DMA_BASE) >> 16 == 0) { // it would start itself, without an end
        say("DMA %d: its target is the DMA at 0x%x\n", (u64)c, d->to);
        d->active = false;
        return true;
    }
    for (; d->left && bus_has_data(d->from); d->left--) {
        bus_write(NULL, d->to, bus_read(NULL, d->from, in), out);
        d->from += control >> 4 & 1 ? 0 : (u64)in;
        d->to += control >> 6 & 1 ? 0 : (u64)out;
    }
    if (had - d->left > LONG)
        host.moved += had - d->left, yield_harts();
    if (!d->left)
        d->active = false, d->status |= BLOCK_AND_TRANSFER_DONE, update(c);
    return d->left != had || !d->left;
}

// Moves what can be moved, until nothing can: one channel may feed the next.
void dma_pump(void) {
    static bool pumping;
    if (pumping)
        return;
    pumping = true;
    for (bool again = true; again;) {
        again = false;
        for (int c = 0; c < CHANNELS; c++)
            if (board.dma[c].active && REG(DMA, CONFIG) & ENABLED)
                again |= move(c);
    }
    pumping = false;
}

void dma_reset(bool warm) {
    memset(board.dma, 0, sizeof board.dma);
    memset(&board.regs[DMA], 0, sizeof board.regs[DMA]);
    for (int c = 0; c < CHANNELS; c++)
        CHANNEL(c, WANTED) = CHANNEL(c, SIGNALLED) = 0xffffffff;
}

static u64 read_channel(int c, u32 o, u64 stored) {
    const DmaChannel *d = &board.dma[c];
    switch (o) {
    case SOURCE:
        return d->active ? d->from : stored;
    case TARGET:
        return d->active ? d->to : stored;
    case DONE:
        return CHANNEL(c, BLOCK) + 1 - d->left;
    case STATUS:
        return d->status & CHANNEL(c, WANTED);
    }
    return stored;
}

u64 dma_read(int device, u32 o, u64 stored) {
    u64 running = 0, raised = 0;
    if (o >= 0x100)
        return o < 0x700 ? read_channel((int)(o / 0x100) - 1, o & 0xff, stored) : 0;
    for (int c = 0; c < CHANNELS; c++) {
        running |= (u64)board.dma[c].active << c;
        raised |= (u64) !!(board.dma[c].status & CHANNEL(c, WANTED)) << c;
    }
    return o == VERSION ? 0x3130302a : o == RUNNING ? running : o == RAISED ? raised : stored;
}

// Each channel has a bit and a write enable for it.
static void start_and_stop(u64 v) {
    for (int c = 0; c < CHANNELS; c++) {
        DmaChannel *d = &board.dma[c];
        if (!(v >> (8 + c) & 1))
            continue;
        if (v >> c & 1 && !d->active) {
            d->from = CHANNEL(c, SOURCE);
            d->to = CHANNEL(c, TARGET);
            d->left = (CHANNEL(c, BLOCK) & 0x3fffff) + 1;
        }
        d->active = v >> c & 1;
    }
    dma_pump();
}

void dma_write(int device, u32 o, u64 v) {
    int c = (int)(o / 0x100) - 1;
    if (o == CONFIG)
        dma_pump();
    if (o == RUNNING)
        start_and_stop(v);
    if (o == RESET && v & 1)
        dma_reset(true);
    if (c < 0 || c >= CHANNELS)
        return;
    if ((o & 0xff) == CLEAR)
        board.dma[c].status &= ~v;
    update(c);
}
