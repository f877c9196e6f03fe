// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What all layers share: types, queues, the RAM, the clock, and the words to the user.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

// A queue of at most `size` items, a power of two. PUT drops what does not fit; TAKE gives the
// oldest item, 0 where there is none.
#define QUEUE(type, size) \
    struct {              \
        type item[size];  \
        u32 first, n;     \
    }
#define ROOM(q) (sizeof(q).item / sizeof *(q).item)
#define PUT(q, value)                                            \
    do {                                                         \
        if ((q).n < ROOM(q))                                     \
            (q).item[((q).first + (q).n++) % ROOM(q)] = (value); \
    } while (0)
#define TAKE(q)                                       \
    ({                                                \
        __typeof__(*(q).item) taken_ = 0;             \
        if ((q).n) {                                  \
            (q).n--;                                  \
            taken_ = (q).item[(q).first++ % ROOM(q)]; \
        }                                             \
        taken_;                                       \
    })

enum {
    RAM_SIZE = 8 << 20, // 6 MiB for the cores and 2 MiB for the KPU, which the cores reach too
    KPU_RAM = 6 << 20,  // where the KPU's part begins
    HARTS = 2,
    CYCLES_PER_INSTRUCTION = 2, // brings the speed of boot and Python loops close to the chip's
};

#define RAM_CACHED 0x80000000ull   // platform.h: SRAM0_MEM_ADDR
#define RAM_UNCACHED 0x40000000ull // the same bytes, past the caches

extern u8 ram[RAM_SIZE];

// The RAM at that address, by either of its two; null where so many bytes are not all RAM.
static inline u8 *ram_at(u64 address, u64 size) {
    u64 offset = address - RAM_CACHED;
    if (offset >= RAM_SIZE)
        offset = address - RAM_UNCACHED;
    return offset < RAM_SIZE && size <= RAM_SIZE - offset ? ram + offset : NULL;
}

// The clock: the cycle at which this round began, and how many instructions of the quantum have
// been run since. A round is a quantum of each hart.
extern u64 cycles;
extern s64 done_now;

static inline u64 now(void) { return cycles + (u64)done_now * CYCLES_PER_INSTRUCTION; }

static inline u64 scaled(u64 n, u64 by, u64 over) { return (u64)((__uint128_t)n * by / over); }

// Tells the user what the board cannot do. `words` knows %s, and %d and %x of u64.
enum { MOST_SAID = 4096 };

extern struct Said {
    char text[MOST_SAID];
    u32 n; // bytes that the host has not taken
} said;

void say(const char *words, ...);

// Called for each part of a layer's state: all parts together are the state of a board.
typedef void AddPart(void *at, u64 size);
