// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// RTC (rtc.h): a calendar that runs with the board's clock.
#include "devices.h"
#include <time.h>

enum { DATE = 0x00, TIME = 0x04, CENTURY = 0x28, YEAR_2000 = 946684800 };

static Registers registers[1];

static struct {
    u64 cycle;  // at which it was set
    s64 second; // to which; since 1970
} rtc;

static void reset(bool warm) { rtc.second = YEAR_2000; }

static u64 read(int unit, u32 o, u64 stored) {
    time_t second = rtc.second + (s64)((now() - rtc.cycle) / cpu_hertz());
    struct tm tm;
    gmtime_r(&second, &tm);
    int year = tm.tm_year + 1900, month = tm.tm_mon + 1;
    switch (o) {
    case DATE:
        return (u64)(tm.tm_wday | tm.tm_mday << 8 | month << 16 | year % 100 << 20);
    case TIME:
        return (u64)(tm.tm_sec << 10 | tm.tm_min << 16 | tm.tm_hour << 24);
    case CENTURY:
        return (u64)year / 100;
    }
    return stored;
}

static void write(int unit, u32 o, u64 v) {
    if (o != DATE && o != TIME && o != CENTURY)
        return;
    u32 date = REG(registers[0], DATE), time = REG(registers[0], TIME);
    u32 century = REG(registers[0], CENTURY) & 31;
    struct tm tm = {
        .tm_mday = date >> 8 & 31,
        .tm_mon = (int)(date >> 16 & 15) - 1,
        .tm_year = (int)(century * 100 + (date >> 20 & 0xfff)) - 1900,
        .tm_sec = time >> 10 & 63,
        .tm_min = time >> 16 & 63,
        .tm_hour = time >> 24 & 31,
    };
    rtc.second = timegm(&tm);
    rtc.cycle = now();
}

const Device rtc_device = {
    .name = "RTC",
    .base = {0x50460000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .write = write,
    .reset = reset,
    .registers = registers,
    .state = &rtc,
    .state_size = sizeof rtc,
};
