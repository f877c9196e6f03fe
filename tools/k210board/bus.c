// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Which device answers at which address. Source: platform.h, datasheet section 3.2 (memory map).
#include "board.h"

// Here, before all else that is large: a module's first 32 MiB are read without a test (wasmtime).
u8 ram[RAM_SIZE];

enum { PAGE = 12, WHOLE = 0x10000 }; // bits of the smallest piece; size of most devices

typedef struct {
    u32 base, size, more; // so many more of that size follow
    u32 device, width;    // bytes of a register
    const char *absent;   // name of a device without a model: reads are 0, writes go nowhere
    Read *read;           // null: what was written is read
    Write *write;
    Reset *reset; // null: all of it is 0
    Tick *tick;
    Next *next;
    HasData *has_data; // null: always
} Range;

static const Range RANGES[] = {
    {0x02000000, WHOLE, 0, CLINT, 8, .read = clint_read, .write = clint_write,
     .reset = clint_reset, .next = clint_next},
    {0x0c000000, 0x4000000, 0, PLIC, 4, .read = plic_read, .write = plic_write},
    {0x38000000, 0x1000, 0, UARTHS, 4, .read = uarths_read, .write = uarths_write,
     .tick = uarths_tick, .next = uarths_next},
    {0x38001000, 0x1000, 0, GPIOHS, 4, .read = gpiohs_read},
    {0x40800000, WHOLE, 0, KPU, 8, .read = kpu_read, .write = kpu_write, .has_data = kpu_has_data},
    {0x42000000, 0x400000, 0, 0, 4, .absent = "FFT"},
    {DMA_BASE, WHOLE, 0, DMA, 8, .read = dma_read, .write = dma_write, .reset = dma_reset},
    {0x50200000, WHOLE, 0, GPIO, 4, .read = gpio_read},
    {0x50210000, WHOLE, 2, UART, 4, .read = uart_read, .has_data = uart_has_data},
    {0x50240000, WHOLE, 0, SPI + 2, 4, .read = spi_read, .write = spi_write,
     .has_data = spi_has_data},
    {0x50250000, WHOLE, 2, 0, 4, .absent = "I2S"},
    {0x50280000, WHOLE, 2, I2C, 4, .read = i2c_read, .write = i2c_write},
    {0x502b0000, WHOLE, 0, FPIOA, 4, .read = NULL},
    {0x502c0000, WHOLE, 0, SHA, 4, .read = sha_read, .write = sha_write},
    {0x502d0000, WHOLE, 2, TIMER, 4, .read = timer_read, .write = timer_write, .tick = timer_tick,
     .next = timer_next},
    {0x50400000, WHOLE, 1, 0, 4, .absent = "WDT (watchdog)"},
    {0x50420000, WHOLE, 0, OTP, 4, .read = otp_read},
    {0x50430000, WHOLE, 0, DVP, 4, .read = dvp_read, .write = dvp_write, .reset = camera_reset,
     .tick = camera_tick, .next = camera_next},
    {0x50440000, WHOLE, 0, SYSCTL, 4, .write = sysctl_write, .reset = clocks_reset},
    {0x50450000, WHOLE, 0, 0, 4, .absent = "AES"},
    {0x50460000, WHOLE, 0, RTC, 4, .read = rtc_read, .write = rtc_write},
    {0x52000000, WHOLE, 0, SPI, 4, .read = spi_read, .write = spi_write, .has_data = spi_has_data},
    {0x53000000, WHOLE, 0, SPI + 1, 4, .read = spi_read, .write = spi_write,
     .has_data = spi_has_data},
    {0x54000000, WHOLE, 0, SPI + 3, 4, .read = spi_read, .write = spi_write,
     .has_data = spi_has_data},
};

enum { RANGES_N = sizeof RANGES / sizeof *RANGES };

#define EACH(r) for (const Range *r = RANGES; r < RANGES + RANGES_N; r++)

void bus_reset(bool warm) { EACH(r) if (r->reset) r->reset(warm); }

void bus_tick(void) { EACH(r) if (r->tick) r->tick(); }

u64 bus_next(u64 before) {
    EACH(r) before = r->next ? r->next(before) : before;
    return before;
}

u8 *bus_memory(u64 address, u64 size) {
    u64 o = address - RAM_CACHED;
    if (o >= RAM_SIZE)
        o = address - RAM_UNCACHED;
    return o < RAM_SIZE && size <= RAM_SIZE - o ? ram + o : NULL;
}

typedef struct {
    const Range *range;
    u32 device, offset, part;
} Place; // in a register

// Who answers; no range and a fault of the hart when nobody does. 0 to 0xfff do not fault: the
// debug module of the Rocket core lies there, so a null pointer reads 0 (a guess, not measured).
static inline Place place_of(Hart *h, u64 address, int cause) {
    static u8 index[1 << (32 - PAGE)]; // 1 + place in the table, for each page of the lower 4 GiB
    static bool told[RANGES_N];
    for (int i = 0; i < RANGES_N && !index[RANGES[RANGES_N - 1].base >> PAGE]; i++)
        memset(index + (RANGES[i].base >> PAGE), i + 1,
               (RANGES[i].more + 1) * RANGES[i].size >> PAGE);
    int found = address >> 32 ? 0 : index[address >> PAGE];
    if (!found && address >= 0x1000 && h)
        h->trap = 1 + cause, h->trap_value = address;
    if (!found)
        return (Place){NULL, 0, 0, 0};
    const Range *r = &RANGES[found - 1];
    u32 o = (u32)address - r->base, unit = r->more ? o / WHOLE : 0, part = o & (r->width - 1);
    if (likely(!r->absent))
        return (Place){r, r->device + unit, o - unit * WHOLE - part, part};
    if (!told[found - 1])
        say("%s at 0x%x is not modelled: reads are 0, writes do nothing\n", r->absent, address);
    told[found - 1] = true;
    return (Place){NULL, 0, 0, 0};
}

bool bus_has_data(u64 address) {
    Place p = bus_memory(address, 1) ? (Place){NULL, 0, 0, 0} : place_of(NULL, address, 0);
    return !p.range || !p.range->has_data || p.range->has_data((int)p.device);
}

static u64 register_value(Place p) {
    u64 stored = REG(p.device, p.offset);
    return p.range->read ? p.range->read((int)p.device, p.offset, stored) : stored;
}

u64 bus_read(Hart *h, u64 address, int size) {
    u64 v = 0;
    const u8 *memory = bus_memory(address, (u64)size);
    if (memory)
        return memcpy(&v, memory, (size_t)size), v;
    Place p = place_of(h, address, 5);
    return p.range ? register_value(p) >> 8 * p.part : 0;
}

void bus_write(Hart *h, u64 address, u64 value, int size) {
    u8 *memory = bus_memory(address, (u64)size);
    if (memory && h && host.watched_bytes)
        trace_store(h, (u64)(memory - ram), value, size);
    if (memory && host.guarded)
        guard_store(h, (u64)(memory - ram), value, size);
    if (memory)
        memcpy(memory, &value, (size_t)size);
    Place p = memory ? (Place){NULL, 0, 0, 0} : place_of(h, address, 7);
    if (!p.range)
        return;
    u64 meant = (size == 8 ? ~0ull : (1ull << 8 * size) - 1) << 8 * p.part;
    value = value << 8 * p.part & meant;
    if (p.range->width == 8)
        value |= register_value(p) & ~meant;
    REG(p.device, p.offset) = value = p.range->width == 8 ? value : (u32)value;
    if (p.range->write)
        p.range->write((int)p.device, p.offset, value);
}
