// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Which device answers at which address. Source: platform.h (base addresses), datasheet section 3.2
// (memory map).
#include "board.h"

typedef struct {
    u32 base, pages; // of 64 KiB
    const char *name;
    u64 (*read)(u32 offset, int size);
    void (*write)(u32 offset, u64 value, int size);
} Device;

// Registers without a model: reads are 0, writes go nowhere, and the user is told.
static u64 absent_read(u32 offset, int size) {
    (void)offset, (void)size;
    return 0;
}
static void absent_write(u32 offset, u64 value, int size) { (void)offset, (void)value, (void)size; }

#define ABSENT absent_read, absent_write
#define MODEL(name) name##_read, name##_write
static const Device DEVICES[] = {
    {0x02000000, 1, "CLINT", MODEL(clint)},   {0x0c000000, 0x400, "PLIC", MODEL(plic)},
    {0x38000000, 1, "UARTHS", MODEL(uarths)}, // and GPIOHS at 0x1000
    {0x40800000, 1, "KPU", MODEL(kpu)},       {0x42000000, 64, "FFT", ABSENT},
    {0x50000000, 1, "DMA", MODEL(dma)},       {0x50200000, 1, "GPIO", MODEL(gpio)},
    {0x50210000, 3, "UART", MODEL(uart)},     {0x50240000, 1, "SPI2", MODEL(spi2)},
    {0x50250000, 3, "I2S", ABSENT},           {0x50280000, 3, "I2C", MODEL(i2c)},
    {0x502b0000, 1, "FPIOA", MODEL(fpioa)},   {0x502c0000, 1, "SHA256", MODEL(sha)},
    {0x502d0000, 3, "TIMER", MODEL(timer)},   {0x50400000, 2, "WDT (watchdog)", ABSENT},
    {0x50420000, 1, "OTP", MODEL(otp)},       {0x50430000, 1, "DVP", MODEL(dvp)},
    {0x50440000, 1, "SYSCTL", MODEL(sysctl)}, {0x50450000, 1, "AES", ABSENT},
    {0x50460000, 1, "RTC", MODEL(rtc)},       {0x52000000, 1, "SPI0", MODEL(spi0)},
    {0x53000000, 1, "SPI1", MODEL(spi1)},     {0x54000000, 1, "SPI3", MODEL(spi3)},
};
enum { DEVICES_N = sizeof DEVICES / sizeof *DEVICES };

static bool told[DEVICES_N];

static const Device *device_at(u64 address) {
    static u8 index[1 << 16]; // 1 + its place in the table, for each 64 KiB of the lower 4 GiB
    if (!index[DEVICES[0].base >> 16])
        for (int i = 0; i < DEVICES_N; i++)
            memset(index + (DEVICES[i].base >> 16), i + 1, DEVICES[i].pages);
    u8 found = address >> 32 ? 0 : index[address >> 16];
    if (!found) return NULL;
    const Device *d = &DEVICES[found - 1];
    if (d->read == absent_read && !told[found - 1]) {
        told[found - 1] = true;
        not_modelled(d->name, address);
    }
    return d;
}

void not_modelled(const char *what, u64 address) {
    fprintf(stderr, "k210board: %s at %#llx is not modelled: reads are 0, writes do nothing\n",
            what, (unsigned long long)address);
}

u8 *bus_memory(u64 address) {
    u64 o = address - RAM_CACHED;
    if (o >= RAM_SIZE) o = address - RAM_UNCACHED;
    return o < RAM_SIZE ? ram + o : NULL;
}

// Bytes of memory that may be read at an address; 0 when it is none.
static bool in_memory(u64 address, int size) {
    return bus_memory(address) && bus_memory(address + (u64)size - 1);
}

// What nobody answers: a fault for a hart. 0 to 0xfff do not fault: the debug module of the Rocket
// core lies there, so a null pointer reads 0 (a guess: the chip's values were not measured).
static void nobody(Hart *h, u64 address, int cause) {
    if (address < 0x1000) return;
    if (h) {
        h->trap = 1 + cause;
        h->trap_value = address;
    }
}

u64 bus_read(Hart *h, u64 address, int size) {
    u64 v = 0;
    if (in_memory(address, size)) {
        memcpy(&v, bus_memory(address), (size_t)size);
        return v;
    }
    const Device *d = device_at(address);
    if (d) return d->read((u32)address - d->base, size);
    nobody(h, address, 5);
    return 0;
}

void bus_write(Hart *h, u64 address, u64 value, int size) {
    if (in_memory(address, size)) {
        memcpy(bus_memory(address), &value, (size_t)size);
        return;
    }
    const Device *d = device_at(address);
    if (d) d->write((u32)address - d->base, value, size);
    else nobody(h, address, 7);
}
