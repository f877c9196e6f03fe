// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Which device answers at which address. Source: platform.h, datasheet section 3.2 (memory map).
#include "board.h"

enum { PAGE = 12, WHOLE = 0x10000 }; // bits of the smallest piece; size of most devices
typedef struct {
    u32 base, size, units; // so many devices of that size, one after the other
    u32 device, width;     // bytes of a register
    Read *read;            // null: what was written is read
    Write *write;
    const char *absent; // name of a device without a model: reads are 0, writes go nowhere
} Range;

static const Range RANGES[] = {
    {0x02000000, WHOLE, 1, CLINT, 8, clint_read, clint_write, NULL},
    {0x0c000000, 0x4000000, 1, PLIC, 4, plic_read, plic_write, NULL},
    {0x38000000, 0x1000, 1, UARTHS, 4, uarths_read, uarths_write, NULL},
    {0x38001000, 0x1000, 1, GPIOHS, 4, gpiohs_read, NULL, NULL},
    {0x40800000, WHOLE, 1, KPU, 8, kpu_read, kpu_write, NULL},
    {0x42000000, 0x400000, 1, 0, 4, NULL, NULL, "FFT"},
    {0x50000000, WHOLE, 1, DMA, 8, dma_read, dma_write, NULL},
    {0x50200000, WHOLE, 1, GPIO, 4, gpio_read, NULL, NULL},
    {0x50210000, WHOLE, 3, UART, 4, uart_read, NULL, NULL},
    {0x50240000, WHOLE, 1, SPI + 2, 4, spi_read, spi_write, NULL},
    {0x50250000, WHOLE, 3, 0, 4, NULL, NULL, "I2S"},
    {0x50280000, WHOLE, 3, I2C, 4, i2c_read, i2c_write, NULL},
    {0x502b0000, WHOLE, 1, FPIOA, 4, NULL, NULL, NULL},
    {0x502c0000, WHOLE, 1, SHA, 4, sha_read, sha_write, NULL},
    {0x502d0000, WHOLE, 3, TIMER, 4, timer_read, timer_write, NULL},
    {0x50400000, WHOLE, 2, 0, 4, NULL, NULL, "WDT (watchdog)"},
    {0x50420000, WHOLE, 1, OTP, 4, otp_read, NULL, NULL},
    {0x50430000, WHOLE, 1, DVP, 4, dvp_read, dvp_write, NULL},
    {0x50440000, WHOLE, 1, SYSCTL, 4, NULL, sysctl_write, NULL},
    {0x50450000, WHOLE, 1, 0, 4, NULL, NULL, "AES"},
    {0x50460000, WHOLE, 1, RTC, 4, rtc_read, rtc_write, NULL},
    {0x52000000, WHOLE, 1, SPI, 4, spi_read, spi_write, NULL},
    {0x53000000, WHOLE, 1, SPI + 1, 4, spi_read, spi_write, NULL},
    {0x54000000, WHOLE, 1, SPI + 3, 4, spi_read, spi_write, NULL},
};
enum { RANGES_N = sizeof RANGES / sizeof *RANGES };
u8 *bus_memory(u64 address, u64 size) {
    u64 o = address - RAM_CACHED;
    if (o >= RAM_SIZE) o = address - RAM_UNCACHED;
    return o < RAM_SIZE && size <= RAM_SIZE - o ? ram + o : NULL;
}

typedef struct { const Range *range; u32 device, offset, part; } Place; // in a register
// Who answers; no range and a fault of the hart when nobody does. 0 to 0xfff do not fault: the
// debug module of the Rocket core lies there, so a null pointer reads 0 (a guess, not measured).
static inline Place place_of(Hart *h, u64 address, int cause) {
    static u8 index[1 << (32 - PAGE)]; // 1 + place in the table, for each page of the lower 4 GiB
    static bool told[RANGES_N];
    for (int i = 0; i < RANGES_N && !index[RANGES[RANGES_N - 1].base >> PAGE]; i++)
        memset(index + (RANGES[i].base >> PAGE), i + 1, RANGES[i].units * RANGES[i].size >> PAGE);
    int found = address >> 32 ? 0 : index[address >> PAGE];
    if (!found && address >= 0x1000 && h) {
        h->trap = 1 + cause;
        h->trap_value = address;
    }
    if (!found) return (Place){NULL, 0, 0, 0};
    const Range *r = &RANGES[found - 1];
    u32 o = (u32)address - r->base, unit = r->units > 1 ? o / WHOLE : 0, part = o & (r->width - 1);
    if (likely(!r->absent)) return (Place){r, r->device + unit, o - unit * WHOLE - part, part};
    if (!told[found - 1])
        say("k210board: %s at %#llx is not modelled: reads are 0, writes do nothing\n", r->absent,
            (unsigned long long)address);
    told[found - 1] = true;
    return (Place){NULL, 0, 0, 0};
}

static u64 register_value(Place p) {
    u64 stored = REG(p.device, p.offset);
    return p.range->read ? p.range->read((int)p.device, p.offset, stored) : stored;
}

u64 bus_read(Hart *h, u64 address, int size) {
    u64 v = 0;
    const u8 *memory = bus_memory(address, (u64)size);
    if (memory) return memcpy(&v, memory, (size_t)size), v;
    Place p = place_of(h, address, 5);
    return p.range ? register_value(p) >> 8 * p.part : 0;
}

void bus_write(Hart *h, u64 address, u64 value, int size) {
    u8 *memory = bus_memory(address, (u64)size);
    if (memory && h && trace_bytes) trace_store(h, (u64)(memory - ram), value, size);
    if (memory) memcpy(memory, &value, (size_t)size);
    Place p = memory ? (Place){NULL, 0, 0, 0} : place_of(h, address, 7);
    if (!p.range) return;
    u64 meant = (size == 8 ? ~0ull : (1ull << 8 * size) - 1) << 8 * p.part;
    value = value << 8 * p.part & meant;
    if (p.range->width == 8) value |= register_value(p) & ~meant;
    REG(p.device, p.offset) = value = p.range->width == 8 ? value : (u32)value;
    if (p.range->write) p.range->write((int)p.device, p.offset, value);
}
