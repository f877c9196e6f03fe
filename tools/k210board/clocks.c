// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// SYSCTL (sysctl.h), the three timers (timer.h; Synopsys DW_apb_timers) and the RTC (rtc.h).
// In integers: the host's floating-point flags are the harts'.
#include "board.h"
#include <time.h>

enum { PLL0 = 0x08, SELECT = 0x20, SOFT_RESET = 0x30, THRESHOLD = 0x40 };
enum { RESET_STATUS = 0x60, CRYSTAL = 26000000, LOCKED = 0x30303 }; // LOCKED: all PLLs

static u64 pll0(void) {
    u32 s = REG(SYSCTL, PLL0);
    return (u64)CRYSTAL * ((s >> 4 & 63) + 1) / (((s & 15) + 1) * ((s >> 10 & 15) + 1));
}

u64 cpu_hertz(void) {
    u32 s = REG(SYSCTL, SELECT);
    return s & 1 ? pll0() / (2u << (s >> 1 & 3)) : CRYSTAL;
}

static u64 timer_hertz(int t) {
    u64 source = REG(SYSCTL, SELECT) >> (13 + t) & 1 ? pll0() / 2 : CRYSTAL;
    return source / (((REG(SYSCTL, THRESHOLD) >> 8 * t & 0xff) + 1) * 2);
}

void sysctl_write(int device, u32 o, u64 v) {
    if (o == SOFT_RESET && v & 1) {
        host.reset_wanted = true;
        yield_harts();
    }
    if (o == RESET_STATUS && v & 1) REG(SYSCTL, o) = 0; // cleared
}

// As the boot ROM leaves them: PLL0 near 793 MHz, the CPU at half of it.
void clocks_reset(bool warm) {
    static const u32 FIRST[] = {0xa5a5a5a5, CRYSTAL, 60 << 4 | 1 << 10, 59 << 4 | 3 << 10,
                                59 << 4 | 3 << 10, 0, LOCKED, 0, 1, 0, 0x3f, 0x3fffffff};
    for (u32 i = 0; i < sizeof FIRST / 4; i++) REG(SYSCTL, 4 * i) = FIRST[i];
    REG(SYSCTL, RESET_STATUS) = warm ? 8 : 0;
    board.rtc_second = 946684800; // 2000-01-01
}

// --- timers ---
enum { LOAD = 0x00, VALUE = 0x04, CONTROL = 0x08, END = 0x0c, STATUS = 0x10, EACH = 0x14 };
enum { ALL_STATUS = 0xa0, ALL_END = 0xa4, ON = 1, FROM_LOAD = 2, MASKED = 4, SHORTEST = 200 };
static u32 control(int t, int c) { return REG(TIMER + t, EACH * c + CONTROL); }

// A bit for each channel that asks for an interrupt.
static u32 asking(int t) {
    u32 all = 0;
    for (int c = 0; c < 4; c++) all |= (board.timer[t][c].raised && !(control(t, c) & MASKED)) << c;
    return all;
}

static void timer_irq(int t) {
    irq_set(IRQ_TIMER0 + 2 * t, asking(t) & 3);
    irq_set(IRQ_TIMER0 + 2 * t + 1, asking(t) & 12);
}

static u32 span(int t, int c) {
    return control(t, c) & FROM_LOAD ? REG(TIMER + t, EACH * c + LOAD) : 0xffffffffu;
}

static void timer_start(int t, int c) {
    TimerChannel *k = &board.timer[t][c];
    k->period = scaled(span(t, c), cpu_hertz(), timer_hertz(t));
    if (k->period < SHORTEST) k->period = SHORTEST;
    k->next = now() + k->period;
}

void timer_tick(void) {
    for (TimerChannel *k = board.timer[0]; k < board.timer[3]; k++) {
        if (!k->on || board.cycles < k->next) continue;
        k->raised = true;
        k->next += k->period;
        if (k->next < board.cycles) k->next = board.cycles + k->period;
        timer_irq((int)(k - board.timer[0]) / 4);
    }
}

// The cycle of the next event, or the one given when that comes first.
u64 timer_next(u64 before) {
    for (const TimerChannel *k = board.timer[0]; k < board.timer[0] + 12; k++)
        if (k->on && k->next < before) before = k->next;
    return before;
}

static u32 timer_value(int t, int c) {
    if (!board.timer[t][c].on) return 0;
    u64 next = board.timer[t][c].next, left = next > now() ? next - now() : 0;
    return (u32)scaled(left, timer_hertz(t), cpu_hertz());
}

static u64 timer_clear(int t, int from, int to) {
    for (int c = from; c < to; c++) board.timer[t][c].raised = false;
    timer_irq(t);
    return 0;
}

u64 timer_read(int device, u32 o, u64 stored) {
    int t = device - TIMER, c = (int)(o / EACH);
    if (o == ALL_END) return timer_clear(t, 0, 4);
    if (o == ALL_STATUS) return asking(t);
    if (c > 3) return 0;
    switch (o % EACH) {
    case VALUE: return timer_value(t, c);
    case END: return timer_clear(t, c, c + 1);
    case STATUS: return asking(t) >> c & 1;
    }
    return stored;
}

void timer_write(int device, u32 o, u64 v) {
    int t = device - TIMER, c = (int)(o / EACH);
    if (c > 3) return;
    TimerChannel *k = &board.timer[t][c];
    bool was_on = k->on;
    if (o % EACH == CONTROL) {
        k->on = v & ON;
        k->raised &= k->on;
        timer_irq(t);
    }
    if (k->on && (o % EACH == LOAD || !was_on)) timer_start(t, c);
}

// --- RTC ---
enum { RTC_DATE = 0, RTC_TIME = 4, RTC_CENTURY = 0x28 };

u64 rtc_read(int device, u32 o, u64 stored) {
    time_t second = board.rtc_second + (s64)((now() - board.rtc_cycle) / cpu_hertz());
    struct tm tm;
    gmtime_r(&second, &tm);
    int year = tm.tm_year + 1900, month = tm.tm_mon + 1;
    if (o == RTC_DATE) stored = tm.tm_wday | tm.tm_mday << 8 | month << 16 | year % 100 << 20;
    if (o == RTC_TIME) stored = tm.tm_sec << 10 | tm.tm_min << 16 | tm.tm_hour << 24;
    return o == RTC_CENTURY ? (u64)year / 100 : stored;
}

void rtc_write(int device, u32 o, u64 v) {
    if (o != RTC_DATE && o != RTC_TIME && o != RTC_CENTURY) return;
    u32 date = REG(RTC, RTC_DATE), time = REG(RTC, RTC_TIME), century = REG(RTC, RTC_CENTURY) & 31;
    struct tm tm = {.tm_mday = date >> 8 & 31, .tm_mon = (int)(date >> 16 & 15) - 1,
                    .tm_year = (int)(century * 100 + (date >> 20 & 0xfff)) - 1900,
                    .tm_sec = time >> 10 & 63, .tm_min = time >> 16 & 63,
                    .tm_hour = time >> 24 & 31};
    board.rtc_second = timegm(&tm);
    board.rtc_cycle = now();
}
