// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The three timers, of four channels each (timer.h; Synopsys DW_apb_timers).
#include "devices.h"

enum { TIMERS = 3, CHANNELS = 4 };

enum { LOAD = 0x00, VALUE = 0x04, CONTROL = 0x08, END = 0x0c, STATUS = 0x10, CHANNEL_SIZE = 0x14 };

enum { ALL_STATUS = 0xa0, ALL_END = 0xa4 };

enum { ON = 1, FROM_LOAD = 2, MASKED = 4 }; // CONTROL

enum { SHORTEST = 200 };

typedef struct {
    u64 period, next;
    bool on, raised;
} Channel;

static Registers registers[TIMERS];
static Channel channel[TIMERS][CHANNELS];

static u32 channel_register(int t, int c, u32 o) {
    return REG(registers[t], CHANNEL_SIZE * c + o);
}

static u32 control(int t, int c) { return channel_register(t, c, CONTROL); }

// A bit for each channel that raises an interrupt.
static u32 raised(int t) {
    u32 all = 0;
    for (int c = 0; c < CHANNELS; c++)
        all |= (channel[t][c].raised && !(control(t, c) & MASKED)) << c;
    return all;
}

static void update(int t) {
    irq_set(IRQ_TIMER0 + 2 * t, raised(t) & 3);
    irq_set(IRQ_TIMER0 + 2 * t + 1, raised(t) & 12);
}

static void start(int t, int c) {
    Channel *k = &channel[t][c];
    u32 span = control(t, c) & FROM_LOAD ? channel_register(t, c, LOAD) : 0xffffffffu;
    k->period = scaled(span, cpu_hertz(), timer_hertz(t));
    if (k->period < SHORTEST)
        k->period = SHORTEST;
    k->next = now() + k->period;
}

static void tick(void) {
    for (int t = 0; t < TIMERS; t++)
        for (Channel *k = channel[t]; k < channel[t] + CHANNELS; k++) {
            if (!k->on || cycles < k->next)
                continue;
            k->raised = true;
            k->next += k->period;
            if (k->next < cycles)
                k->next = cycles + k->period;
            update(t);
        }
}

static u64 next(u64 before) {
    for (int t = 0; t < TIMERS; t++)
        for (const Channel *k = channel[t]; k < channel[t] + CHANNELS; k++)
            if (k->on && k->next < before)
                before = k->next;
    return before;
}

static u32 value(int t, int c) {
    const Channel *k = &channel[t][c];
    if (!k->on)
        return 0;
    u64 left = k->next > now() ? k->next - now() : 0;
    return (u32)scaled(left, timer_hertz(t), cpu_hertz());
}

static u64 clear(int t, int from, int to) {
    for (int c = from; c < to; c++)
        channel[t][c].raised = false;
    update(t);
    return 0;
}

static u64 read(int t, u32 o, u64 stored) {
    int c = (int)(o / CHANNEL_SIZE);
    if (o == ALL_END)
        return clear(t, 0, CHANNELS);
    if (o == ALL_STATUS)
        return raised(t);
    if (c >= CHANNELS)
        return 0;
    switch (o % CHANNEL_SIZE) {
    case VALUE:
        return value(t, c);
    case END:
        return clear(t, c, c + 1);
    case STATUS:
        return raised(t) >> c & 1;
    }
    return stored;
}

static void write(int t, u32 o, u64 v) {
    int c = (int)(o / CHANNEL_SIZE);
    if (c >= CHANNELS)
        return;
    Channel *k = &channel[t][c];
    bool was_on = k->on;
    if (o % CHANNEL_SIZE == CONTROL) {
        k->on = v & ON;
        k->raised &= k->on;
        update(t);
    }
    if (k->on && (o % CHANNEL_SIZE == LOAD || !was_on))
        start(t, c);
}

const Device timer_device = {
    .name = "TIMER",
    .base = {0x502d0000, 0x502e0000, 0x502f0000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .write = write,
    .tick = tick,
    .next = next,
    .registers = registers,
    .state = channel,
    .state_size = sizeof channel,
};
