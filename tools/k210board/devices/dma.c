// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The six DMA channels; a block is moved at once, as far as its source has data. A LONG one takes
// a cycle an item, and of the host as many instructions: a program that starts them for ever ends.
// Source: dmac.h, dmac.c; Synopsys DW_axi_dmac databook.
#include "devices.h"

enum { CHANNELS = 6, BLOCK_AND_TRANSFER_DONE = 3, LONG = 1 << 18 };

enum { VERSION = 0x08, CONFIG = 0x10, RUNNING = 0x18, RAISED = 0x30, RESET = 0x58 }; // of all

enum { ENABLED = 1, INTERRUPTS = 2 }; // CONFIG

enum { CHANNEL_SIZE = 0x100, FIRST = 0x100, END = 0x700 };

enum { SOURCE = 0x00, TARGET = 0x08, BLOCK = 0x10, CONTROL = 0x18, DONE = 0x30 }; // of one

enum { WANTED = 0x80, STATUS = 0x88, SIGNALLED = 0x90, CLEAR = 0x98 };

typedef struct {
    u64 left, from, to, status;
    bool active;
} Channel;

static Registers registers[1];
static Channel channel[CHANNELS];
u64 dma_moved;

#define OF_CHANNEL(c, o) REG(registers[0], FIRST + CHANNEL_SIZE * (c) + (o))

static void update(int c) {
    u64 raised = channel[c].status & OF_CHANNEL(c, WANTED) & OF_CHANNEL(c, SIGNALLED);
    irq_set(IRQ_DMA0 + c, (u32)raised && REG(registers[0], CONFIG) & INTERRUPTS);
}

// Bytes of an item, from the field at `from` of CONTROL.
static int width(u64 control, int from) {
    int bytes = 1 << (control >> from & 7);
    return bytes > 8 ? 8 : bytes;
}

static void move_items(Channel *d, u64 control) {
    int in = width(control, 8), out = width(control, 11);
    u64 from_step = control >> 4 & 1 ? 0 : (u64)in, to_step = control >> 6 & 1 ? 0 : (u64)out;
    for (; d->left && bus_has_data(d->from); d->left--) {
        bus_write(NOBODY, d->to, bus_read(NOBODY, d->from, in), out);
        d->from += from_step;
        d->to += to_step;
    }
}

// Whether anything was moved, or the block is at its end.
static bool move(int c) {
    Channel *d = &channel[c];
    u64 had = d->left;
    if ((d->to ^ DMA_BASE) >> 16 == 0) { // it would start itself, without an end
        say("DMA %d: its target is the DMA at 0x%x\n", (u64)c, d->to);
        d->active = false;
        return true;
    }
    move_items(d, OF_CHANNEL(c, CONTROL));
    if (had - d->left > LONG) {
        dma_moved += had - d->left;
        leave_loop = true;
    }
    if (!d->left) {
        d->active = false;
        d->status |= BLOCK_AND_TRANSFER_DONE;
        update(c);
    }
    return d->left != had || !d->left;
}

// Until nothing can be moved: one channel may feed the next.
void dma_pump(void) {
    static bool pumping;
    if (pumping)
        return;
    pumping = true;
    for (bool again = true; again;) {
        again = false;
        for (int c = 0; c < CHANNELS; c++)
            if (channel[c].active && REG(registers[0], CONFIG) & ENABLED)
                again |= move(c);
    }
    pumping = false;
}

static void reset(bool warm) {
    memset(channel, 0, sizeof channel);
    memset(registers, 0, sizeof registers);
    for (int c = 0; c < CHANNELS; c++) {
        OF_CHANNEL(c, WANTED) = 0xffffffff;
        OF_CHANNEL(c, SIGNALLED) = 0xffffffff;
    }
}

static u64 read_channel(int c, u32 o, u64 stored) {
    const Channel *d = &channel[c];
    switch (o) {
    case SOURCE:
        return d->active ? d->from : stored;
    case TARGET:
        return d->active ? d->to : stored;
    case DONE:
        return OF_CHANNEL(c, BLOCK) + 1 - d->left;
    case STATUS:
        return d->status & OF_CHANNEL(c, WANTED);
    }
    return stored;
}

static u64 read(int unit, u32 o, u64 stored) {
    u64 running = 0, raised = 0;
    if (o >= END)
        return 0;
    if (o >= FIRST)
        return read_channel((int)(o / CHANNEL_SIZE) - 1, o % CHANNEL_SIZE, stored);
    for (int c = 0; c < CHANNELS; c++) {
        running |= (u64)channel[c].active << c;
        raised |= (u64) !!(channel[c].status & OF_CHANNEL(c, WANTED)) << c;
    }
    switch (o) {
    case VERSION:
        return 0x3130302a;
    case RUNNING:
        return running;
    case RAISED:
        return raised;
    }
    return stored;
}

static void start(int c) {
    Channel *d = &channel[c];
    d->from = OF_CHANNEL(c, SOURCE);
    d->to = OF_CHANNEL(c, TARGET);
    d->left = (OF_CHANNEL(c, BLOCK) & 0x3fffff) + 1;
    d->active = true;
}

// Each channel has a bit and a write enable for it.
static void start_and_stop(u64 v) {
    for (int c = 0; c < CHANNELS; c++) {
        bool on = v >> c & 1, meant = v >> (8 + c) & 1;
        if (meant && !on)
            channel[c].active = false;
        if (meant && on && !channel[c].active)
            start(c);
    }
    dma_pump();
}

static void write(int unit, u32 o, u64 v) {
    int c = (int)(o / CHANNEL_SIZE) - 1;
    if (o == CONFIG)
        dma_pump();
    if (o == RUNNING)
        start_and_stop(v);
    if (o == RESET && v & 1)
        reset(true);
    if (c < 0 || c >= CHANNELS)
        return;
    if (o % CHANNEL_SIZE == CLEAR)
        channel[c].status &= ~v;
    update(c);
}

const Device dma_device = {
    .name = "DMA",
    .base = {DMA_BASE},
    .size = 0x10000,
    .width = 8,
    .read = read,
    .write = write,
    .reset = reset,
    .registers = registers,
    .state = channel,
    .state_size = sizeof channel,
};
