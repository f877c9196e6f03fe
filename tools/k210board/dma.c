// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The six DMA channels; a block is moved at once, as far as its source has data.
// Source: dmac.h, dmac.c; Synopsys DW_axi_dmac databook.
#include "board.h"

enum { CHANNELS = 6, ENABLED = 1, INTERRUPTS = 2, BLOCK_AND_TRANSFER_DONE = 3 };
static const u32 SPI_BASE[4] = {0x52000000, 0x53000000, 0x50240000, 0x54000000};

static bool has_data(u64 address) {
    u32 page = (u32)address & 0xffffff00;
    for (int i = 0; i < 4; i++)
        if (page == SPI_BASE[i])
            return board.spi[i].got_n;
    if (page == 0x40800000)
        return board.kpu.fifo_at < board.kpu.fifo_n;
    return !(page == 0x50210000 || page == 0x50220000 || page == 0x50230000); // UARTs receive nothing
}

static void update(int c) {
    const DmaChannel *d = &board.dma[c];
    irq_set(IRQ_DMA0 + c, (u32)(d->status & d->enabled & d->signalled) && board.dma_cfg & INTERRUPTS);
}

static bool move(DmaChannel *d) {
    int in = 1 << (d->ctl >> 8 & 7), out = 1 << (d->ctl >> 11 & 7);
    bool source_moves = !(d->ctl >> 4 & 1), target_moves = !(d->ctl >> 6 & 1), moved = false;
    in = in > 8 ? 8 : in;
    out = out > 8 ? 8 : out;
    for (; d->left && has_data(d->from); d->left--, moved = true) {
        bus_write(NULL, d->to, bus_read(NULL, d->from, in), out);
        d->from += source_moves ? (u64)in : 0;
        d->to += target_moves ? (u64)out : 0;
    }
    return moved;
}

// Moves what can be moved, until nothing can: one channel may feed the next.
void dma_pump(void) {
    static bool pumping;
    if (pumping)
        return;
    pumping = true;
    for (bool again = true; again;) {
        again = false;
        for (int c = 0; c < CHANNELS; c++) {
            DmaChannel *d = &board.dma[c];
            if (!d->active || !(board.dma_cfg & ENABLED))
                continue;
            again |= move(d);
            if (!d->left) {
                d->active = false;
                d->status |= BLOCK_AND_TRANSFER_DONE;
                update(c);
                again = true;
            }
        }
    }
    pumping = false;
    yield_harts();
}

void dma_reset(void) {
    memset(board.dma, 0, sizeof board.dma);
    for (int c = 0; c < CHANNELS; c++)
        board.dma[c].enabled = board.dma[c].signalled = 0xffffffff;
    board.dma_cfg = 0;
}

static u64 bits_of(bool raised) {
    u64 v = 0;
    for (int c = 0; c < CHANNELS; c++)
        v |= (u64)(raised ? (board.dma[c].status & board.dma[c].enabled) != 0 : board.dma[c].active) << c;
    return v;
}

static u64 read_reg(u32 o) {
    switch (o) {
    case 0x08: return 0x3130302a; // version 1.00*
    case 0x10: return board.dma_cfg;
    case 0x18: return bits_of(false);
    case 0x30: return bits_of(true);
    }
    if (o < 0x100 || (o - 0x100) >> 8 >= CHANNELS)
        return 0;
    const DmaChannel *d = &board.dma[(o - 0x100) >> 8];
    switch (o & 0xff) {
    case 0x00: return d->active ? d->from : d->source;
    case 0x08: return d->active ? d->to : d->target;
    case 0x10: return d->block;
    case 0x18: return d->ctl;
    case 0x20: return d->cfg;
    case 0x28: return d->next;
    case 0x30: return d->block + 1 - d->left;
    case 0x80: return d->enabled;
    case 0x88: return d->status & d->enabled;
    case 0x90: return d->signalled;
    }
    return 0;
}

static void start_and_stop(u64 v) {
    for (int c = 0; c < CHANNELS; c++) {
        DmaChannel *d = &board.dma[c];
        if (!(v >> (8 + c) & 1)) // its write enable
            continue;
        if (v >> c & 1 && !d->active) {
            d->from = d->source;
            d->to = d->target;
            d->left = (d->block & 0x3fffff) + 1;
        }
        d->active = v >> c & 1;
    }
    dma_pump();
}

static void write_reg(u32 o, u64 v) {
    if (o == 0x10) {
        board.dma_cfg = v & 3;
        dma_pump();
    } else if (o == 0x18) {
        start_and_stop(v);
    } else if (o == 0x58 && v & 1) {
        dma_reset();
    }
    if (o < 0x100 || (o - 0x100) >> 8 >= CHANNELS)
        return;
    int c = (int)(o - 0x100) >> 8;
    DmaChannel *d = &board.dma[c];
    switch (o & 0xff) {
    case 0x00: d->source = v; break;
    case 0x08: d->target = v; break;
    case 0x10: d->block = v; break;
    case 0x18: d->ctl = v; break;
    case 0x20: d->cfg = v; break;
    case 0x28: d->next = v; break;
    case 0x80: d->enabled = v; update(c); break;
    case 0x90: d->signalled = v; update(c); break;
    case 0x98: d->status &= ~v; update(c); break;
    }
    yield_harts();
}

u64 dma_read(u32 o, int size) {
    u64 v = read_reg(o & ~7u);
    (void)size;
    return o & 4 ? v >> 32 : v;
}

void dma_write(u32 o, u64 v, int size) {
    if (size != 8) { // half of a register; of the one that starts channels, the other half is not meant
        u64 old = (o & ~7u) == 0x18 ? 0 : read_reg(o & ~7u);
        v = o & 4 ? (old & 0xffffffff) | v << 32 : (old & ~0xffffffffull) | (u32)v;
    }
    write_reg(o & ~7u, v);
}
