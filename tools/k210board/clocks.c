// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// SYSCTL (sysctl.h), the three timers (timer.h; Synopsys DW_apb_timers) and the RTC (rtc.h).
#include "board.h"
#include <time.h>

enum { PLL0 = 2, CLOCK_SELECT = 8, TIMER_THRESHOLD = 16, RESET_STATUS = 24 };
static const double CRYSTAL = 26e6;

static double pll0(void) {
    u32 s = board.sysctl[PLL0];
    return CRYSTAL / ((s & 15) + 1) * ((s >> 4 & 63) + 1) / ((s >> 10 & 15) + 1);
}

double cpu_hertz(void) {
    u32 s = board.sysctl[CLOCK_SELECT];
    return s & 1 ? pll0() / (2 << (s >> 1 & 3)) : CRYSTAL;
}

static double timer_hertz(u32 t) {
    double source = board.sysctl[CLOCK_SELECT] >> (13 + t) & 1 ? pll0() / 2 : CRYSTAL;
    return source / (((board.sysctl[TIMER_THRESHOLD] >> 8 * t & 0xff) + 1) * 2);
}

u64 sysctl_read(u32 o, int size) {
    (void)size;
    o &= 0xff;
    return o == 0x18 ? 3 | 1 << 8 | 3 << 8 | 3 << 16
                     : board.sysctl[o / 4]; // 0x18: all PLLs are locked
}

void sysctl_write(u32 o, u64 v, int size) {
    (void)size;
    o &= 0xff;
    board.sysctl[o / 4] = (u32)v;
    if (o == 0x30 && v & 1) { // soft_reset
        reset_wanted = true;
        yield_harts();
    }
    if (o == 0x60 && v & 1) // reset_status is cleared
        board.sysctl[o / 4] = 0;
}

// As the boot ROM leaves them: PLL0 near 793 MHz, the CPU at half of it.
void clocks_reset(bool warm) {
    board.sysctl[0] = 0xa5a5a5a5;
    board.sysctl[1] = 26000000;
    board.sysctl[PLL0] = 60 << 4 | 1 << 10;
    board.sysctl[3] = board.sysctl[4] = 59 << 4 | 3 << 10;
    board.sysctl[CLOCK_SELECT] = 1;
    board.sysctl[10] = 0x3f;
    board.sysctl[11] = 0x3fffffff;
    if (warm) board.sysctl[RESET_STATUS] = 8;
    board.rtc_second = 946684800; // 2000-01-01
}

// --- timers ---

enum { ON = 1, FROM_LOAD = 2, MASKED = 4 };

static bool asks(const TimerChannel *c) { return c->raised && !(c->ctrl & MASKED); }

static void timer_irq(u32 t) {
    for (u32 pair = 0; pair < 2; pair++) {
        TimerChannel *c = &board.timer[t][2 * pair];
        irq_set((int)(IRQ_TIMER0 + 2 * t + pair), asks(c) || asks(c + 1));
    }
}

static u64 span(const TimerChannel *c) { return c->ctrl & FROM_LOAD ? c->load : 0xffffffffu; }

static void timer_start(u32 t, TimerChannel *c) {
    double cycles = cpu_hertz() / timer_hertz(t);
    c->period = (u64)((double)span(c) * cycles);
    if (c->period < 200) c->period = 200;
    c->start = now();
    c->next = c->start + c->period;
}

void timer_tick(void) {
    for (u32 t = 0; t < 3; t++)
        for (TimerChannel *c = board.timer[t]; c < board.timer[t] + 4; c++)
            if (c->ctrl & ON && board.cycles >= c->next) {
                c->raised = true;
                c->start = c->next;
                c->next += c->period;
                if (c->next < board.cycles) c->next = board.cycles + c->period;
                timer_irq(t);
            }
}

// The cycle of the next event, or the one given when that comes first.
u64 timer_next(u64 before) {
    for (u32 t = 0; t < 3; t++)
        for (u32 c = 0; c < 4; c++)
            if (board.timer[t][c].ctrl & ON && board.timer[t][c].next < before)
                before = board.timer[t][c].next;
    return before;
}

static u32 timer_value(u32 t, const TimerChannel *c) {
    if (!(c->ctrl & ON)) return 0;
    u64 gone = (u64)((double)(now() - c->start) * (timer_hertz(t) / cpu_hertz()));
    return span(c) > gone ? (u32)(span(c) - gone) : 0;
}

static u32 timer_all(u32 t, bool masked_too) {
    u32 bits = 0;
    for (u32 c = 0; c < 4; c++)
        bits |= (masked_too ? board.timer[t][c].raised : asks(&board.timer[t][c])) << c;
    return bits;
}

static void timer_clear(u32 t, u32 from, u32 to) {
    for (u32 c = from; c < to; c++) board.timer[t][c].raised = false;
    timer_irq(t);
}

u64 timer_read(u32 o, int size) {
    u32 t = o >> 16, r = o & 0xff;
    (void)size;
    if (r < 0x50) {
        TimerChannel *c = &board.timer[t][r / 0x14];
        switch (r % 0x14) {
        case 0x00: return c->load;
        case 0x04: return timer_value(t, c);
        case 0x08: return c->ctrl;
        case 0x0c: timer_clear(t, r / 0x14, r / 0x14 + 1); return 0;
        case 0x10: return asks(c);
        }
    }
    switch (r) {
    case 0xa0: return timer_all(t, false);
    case 0xa4: timer_clear(t, 0, 4); return 0;
    case 0xa8: return timer_all(t, true);
    }
    return 0;
}

void timer_write(u32 o, u64 v, int size) {
    u32 t = o >> 16, r = o & 0xff;
    (void)size;
    if (r >= 0x50) return;
    TimerChannel *c = &board.timer[t][r / 0x14];
    if (r % 0x14 == 0) {
        c->load = (u32)v;
        if (c->ctrl & ON) timer_start(t, c);
    } else if (r % 0x14 == 8) {
        bool was_on = c->ctrl & ON;
        c->ctrl = v & 15;
        if (v & ON && !was_on) timer_start(t, c);
        if (!(v & ON)) c->raised = false;
        timer_irq(t);
    }
}

// --- RTC ---

enum { RTC_DATE = 0, RTC_TIME = 4, RTC_CENTURY = 0x28 };

static struct tm rtc_now(void) {
    time_t second = board.rtc_second + (s64)((double)(now() - board.rtc_cycle) / cpu_hertz());
    struct tm tm;
    gmtime_r(&second, &tm);
    return tm;
}

u64 rtc_read(u32 o, int size) {
    struct tm tm = rtc_now();
    u32 year = (u32)tm.tm_year + 1900;
    (void)size;
    switch (o & 0xff) {
    case RTC_DATE:
        return (u32)tm.tm_wday | (u32)tm.tm_mday << 8 | (u32)(tm.tm_mon + 1) << 16 |
               year % 100 << 20;
    case RTC_TIME: return (u32)tm.tm_sec << 10 | (u32)tm.tm_min << 16 | (u32)tm.tm_hour << 24;
    case RTC_CENTURY: return year / 100;
    }
    return board.rtc[(o & 0xff) / 4];
}

void rtc_write(u32 o, u64 v, int size) {
    o &= 0xff;
    (void)size;
    board.rtc[o / 4] = (u32)v;
    if (o != RTC_DATE && o != RTC_TIME && o != RTC_CENTURY) return;
    u32 date = board.rtc[RTC_DATE / 4], time = board.rtc[RTC_TIME / 4];
    u32 century = board.rtc[RTC_CENTURY / 4];
    struct tm tm = {.tm_mday = date >> 8 & 31,
                    .tm_mon = (int)(date >> 16 & 15) - 1,
                    .tm_year = (int)((century & 31) * 100 + (date >> 20 & 0xfff)) - 1900,
                    .tm_sec = time >> 10 & 63,
                    .tm_min = time >> 16 & 63,
                    .tm_hour = time >> 24 & 31};
    board.rtc_second = timegm(&tm);
    board.rtc_cycle = now();
}
