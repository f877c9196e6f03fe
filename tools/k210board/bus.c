// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Which device answers at which address. Source: platform.h (base addresses), datasheet section 3.2
// (memory map).
#include "board.h"

enum { PAGE = 12, WHOLE = 0x10000 }; // bits of the smallest piece; size of most devices
typedef struct {
    u32 base, size;
    const char *absent; // name of a device without a model: reads are 0, writes go nowhere
    int device, width;  // bytes of a register
    Read *read;         // null: what was written is read
    Write *write;
} Range;

static const Range RANGES[] = {
    {0x02000000, WHOLE, NULL, CLINT, 8, clint_read, clint_write},
    {0x0c000000, 0x4000000, NULL, PLIC, 4, plic_read, plic_write},
    {0x38000000, 0x1000, NULL, UARTHS, 4, uarths_read, uarths_write},
    {0x38001000, 0x1000, NULL, GPIOHS, 4, gpiohs_read, NULL},
    {0x40800000, WHOLE, NULL, KPU, 8, kpu_read, kpu_write},
    {0x42000000, 0x400000, "FFT", 0, 4, NULL, NULL},
    {0x50000000, WHOLE, NULL, DMA, 8, dma_read, dma_write},
    {0x50200000, WHOLE, NULL, GPIO, 4, gpio_read, NULL},
    {0x50210000, WHOLE, NULL, UART, 4, uart_read, NULL},
    {0x50220000, WHOLE, NULL, UART + 1, 4, uart_read, NULL},
    {0x50230000, WHOLE, NULL, UART + 2, 4, uart_read, NULL},
    {0x50240000, WHOLE, NULL, SPI + 2, 4, spi_read, spi_write},
    {0x50250000, 3 * WHOLE, "I2S", 0, 4, NULL, NULL},
    {0x50280000, WHOLE, NULL, I2C, 4, i2c_read, i2c_write},
    {0x50290000, WHOLE, NULL, I2C + 1, 4, i2c_read, i2c_write},
    {0x502a0000, WHOLE, NULL, I2C + 2, 4, i2c_read, i2c_write},
    {0x502b0000, WHOLE, NULL, FPIOA, 4, NULL, NULL},
    {0x502c0000, WHOLE, NULL, SHA, 4, sha_read, sha_write},
    {0x502d0000, WHOLE, NULL, TIMER, 4, timer_read, timer_write},
    {0x502e0000, WHOLE, NULL, TIMER + 1, 4, timer_read, timer_write},
    {0x502f0000, WHOLE, NULL, TIMER + 2, 4, timer_read, timer_write},
    {0x50400000, 2 * WHOLE, "WDT (watchdog)", 0, 4, NULL, NULL},
    {0x50420000, WHOLE, NULL, OTP, 4, otp_read, NULL},
    {0x50430000, WHOLE, NULL, DVP, 4, dvp_read, dvp_write},
    {0x50440000, WHOLE, NULL, SYSCTL, 4, NULL, sysctl_write},
    {0x50450000, WHOLE, "AES", 0, 4, NULL, NULL},
    {0x50460000, WHOLE, NULL, RTC, 4, rtc_read, rtc_write},
    {0x52000000, WHOLE, NULL, SPI, 4, spi_read, spi_write},
    {0x53000000, WHOLE, NULL, SPI + 1, 4, spi_read, spi_write},
    {0x54000000, WHOLE, NULL, SPI + 3, 4, spi_read, spi_write},
};
enum { RANGES_N = sizeof RANGES / sizeof *RANGES };

u8 *bus_memory(u64 address, u64 size) {
    u64 o = address - RAM_CACHED;
    if (o >= RAM_SIZE) o = address - RAM_UNCACHED;
    return o < RAM_SIZE && size <= RAM_SIZE - o ? ram + o : NULL;
}

// Who answers; null and a fault of the hart when nobody does. 0 to 0xfff do not fault: the debug
// module of the Rocket core lies there, so a null pointer reads 0 (a guess, not measured).
static const Range *range_at(Hart *h, u64 address, int cause) {
    static u8 index[1 << (32 - PAGE)]; // 1 + place in the table, for each page of the lower 4 GiB
    static bool told[RANGES_N];
    if (!index[RANGES[0].base >> PAGE])
        for (int i = 0; i < RANGES_N; i++)
            memset(index + (RANGES[i].base >> PAGE), i + 1, RANGES[i].size >> PAGE);
    int found = address >> 32 ? 0 : index[address >> PAGE];
    if (!found) {
        if (address < 0x1000 || !h) return NULL;
        h->trap = 1 + cause;
        h->trap_value = address;
        return NULL;
    }
    const Range *r = &RANGES[found - 1];
    if (!r->absent) return r;
    if (!told[found - 1])
        fprintf(stderr, "k210board: %s at %#llx is not modelled: reads are 0, writes do nothing\n",
                r->absent, (unsigned long long)address);
    told[found - 1] = true;
    return NULL;
}

static u64 register_value(const Range *r, u32 o) {
    u64 stored = REG(r->device, o);
    return r->read ? r->read(r->device, o, stored) : stored;
}

u64 bus_read(Hart *h, u64 address, int size) {
    u64 v = 0;
    const u8 *memory = bus_memory(address, (u64)size);
    if (memory) return memcpy(&v, memory, (size_t)size), v;
    const Range *r = range_at(h, address, 5);
    if (!r) return 0;
    u32 o = (u32)address - r->base, part = o & (u32)(r->width - 1);
    return register_value(r, o - part) >> 8 * part;
}

void bus_write(Hart *h, u64 address, u64 value, int size) {
    u8 *memory = bus_memory(address, (u64)size);
    if (memory && h && trace_bytes) trace_store(h, (u64)(memory - ram), value, size);
    if (memory) memcpy(memory, &value, (size_t)size);
    const Range *r = memory ? NULL : range_at(h, address, 7);
    if (!r) return;
    u32 o = (u32)address - r->base, part = o & (u32)(r->width - 1);
    u64 meant = (size == 8 ? ~0ull : (1ull << 8 * size) - 1) << 8 * part;
    o -= part;
    value = value << 8 * part & meant;
    if (r->width == 8) value |= register_value(r, o) & ~meant;
    REG(r->device, o) = value = r->width == 8 ? value : (u32)value;
    if (r->write) r->write(r->device, o, value);
}
