// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Which device answers at which address. Source: platform.h, datasheet section 3.2 (memory map).
#include "bus.h"

enum { PAGE = 12, MOST_PLACES = 255 }; // bits of the smallest piece; units of all devices

typedef struct {
    const Device *device;
    int unit;
    bool said; // that it is absent
} Place;

static const Device *const *devices;
static u32 devices_n;
static Place places[MOST_PLACES];
static u8 place_at[1 << (32 - PAGE)]; // 1 + place, for each page of the lower 4 GiB

struct Fault bus_fault;
struct Watched watched;
void (*bus_watcher)(int by, u64 offset, u64 value, int size);
bool leave_loop;

// --- all devices ---
void bus_start(const Device *const *table, u32 n) {
    devices = table;
    devices_n = n;
    memset(&watched, 0, sizeof watched);
    memset(place_at, 0, sizeof place_at);
    int found = 0;
    for (u32 i = 0; i < n; i++) {
        if (table[i]->kept)
            memset(table[i]->kept, 0, table[i]->kept_size);
        for (int unit = 0; unit < UNITS && table[i]->base[unit]; unit++) {
            places[found++] = (Place){table[i], unit, false};
            memset(place_at + (table[i]->base[unit] >> PAGE), found, table[i]->size >> PAGE);
        }
    }
}

static int units(const Device *device) {
    int n = 0;
    while (n < UNITS && device->base[n])
        n++;
    return n;
}

static u64 registers_size(const Device *device) {
    return device->registers ? (u64)units(device) * sizeof(Registers) : 0;
}

void bus_reset(bool warm) {
    for (u32 i = 0; i < devices_n; i++) {
        if (devices[i]->registers)
            memset(devices[i]->registers, 0, registers_size(devices[i]));
        if (devices[i]->state)
            memset(devices[i]->state, 0, devices[i]->state_size);
    }
    for (u32 i = 0; i < devices_n; i++)
        if (devices[i]->reset)
            devices[i]->reset(warm);
}

void bus_parts(AddPart *add) {
    add(&watched, sizeof watched);
    for (u32 i = 0; i < devices_n; i++) {
        add(devices[i]->registers, registers_size(devices[i]));
        add(devices[i]->state, devices[i]->state_size);
        add(devices[i]->kept, devices[i]->kept_size);
    }
}

void bus_tick(void) {
    for (u32 i = 0; i < devices_n; i++)
        if (devices[i]->tick)
            devices[i]->tick();
}

u64 bus_next(u64 before) {
    for (u32 i = 0; i < devices_n; i++)
        if (devices[i]->next)
            before = devices[i]->next(before);
    return before;
}

// --- one access ---
// A register of a device, or of none; `part`: where in the register the access begins.
typedef struct {
    const Device *device;
    int unit;
    u32 offset, part;
} Target;

static const Target NONE = {0};

// Who answers; none and a fault of the hart when nobody does. 0 to 0xfff do not fault: the debug
// module of the Rocket core lies there, so a null pointer reads 0 (a guess, not measured).
static Target target_of(int by, u64 address, int cause) {
    int found = address >> 32 ? 0 : place_at[address >> PAGE];
    if (!found) {
        if (address >= 0x1000 && by != NOBODY)
            bus_fault = (struct Fault){1 + cause, address};
        return NONE;
    }
    Place *place = &places[found - 1];
    const Device *device = place->device;
    if (unlikely(device->absent)) {
        if (!place->said)
            say("%s at 0x%x is not modelled: reads are 0, writes do nothing\n", device->name,
                address);
        place->said = true;
        return NONE;
    }
    u32 offset = (u32)address - device->base[place->unit], part = offset & (device->width - 1);
    return (Target){device, place->unit, offset - part, part};
}

static u64 register_value(Target t) {
    u64 stored = REG(t.device->registers[t.unit], t.offset);
    return t.device->read ? t.device->read(t.unit, t.offset, stored) : stored;
}

bool bus_has_data(u64 address) {
    if (ram_at(address, 1))
        return true;
    Target t = target_of(NOBODY, address, 0);
    return !t.device || !t.device->has_data || t.device->has_data(t.unit);
}

u64 bus_read(int by, u64 address, int size) {
    const u8 *memory = ram_at(address, (u64)size);
    if (memory) {
        u64 value = 0;
        memcpy(&value, memory, (size_t)size);
        return value;
    }
    Target t = target_of(by, address, 5);
    return t.device ? register_value(t) >> 8 * t.part : 0;
}

static void write_register(Target t, u64 value, int size) {
    u64 meant = (size == 8 ? ~0ull : (1ull << 8 * size) - 1) << 8 * t.part;
    value = value << 8 * t.part & meant;
    if (t.device->width == 8)
        value |= register_value(t) & ~meant;
    else
        value = (u32)value;
    REG(t.device->registers[t.unit], t.offset) = value;
    if (t.device->write)
        t.device->write(t.unit, t.offset, value);
}

void bus_write(int by, u64 address, u64 value, int size) {
    u8 *memory = ram_at(address, (u64)size);
    if (memory) {
        if (watched.all || (watched.bytes && by != NOBODY))
            bus_watcher(by, (u64)(memory - ram), value, size);
        memcpy(memory, &value, (size_t)size);
        return;
    }
    Target t = target_of(by, address, 7);
    if (t.device)
        write_register(t, value, size);
}
