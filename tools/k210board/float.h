// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Floating point as chapters 11 and 12 of the unprivileged specification want it: NaN boxes,
// canonical NaNs, conversions that saturate. The host's FPU does the arithmetic, rounding to
// nearest; exception flags stay 0.
#pragma once
#include "board.h"
#include <math.h>

#define BOX 0xffffffff00000000ull
#define NAN_S 0x7fc00000u
#define NAN_D 0x7ff8000000000000ull
#define SIGN_S 0x80000000u
#define SIGN_D (1ull << 63)

static inline u32 raw_s(u64 v) { return (v >> 32) == 0xffffffffu ? (u32)v : NAN_S; }
static inline float get_s(u64 v) {
    u32 i = raw_s(v);
    float f;
    memcpy(&f, &i, 4);
    return f;
}
static inline u64 put_s(float f) {
    u32 i;
    memcpy(&i, &f, 4);
    return BOX | (unlikely(f != f) ? NAN_S : i);
}
static inline double get_d(u64 v) {
    double f;
    memcpy(&f, &v, 8);
    return f;
}
static inline u64 put_d(double f) {
    u64 i;
    memcpy(&i, &f, 8);
    return unlikely(f != f) ? NAN_D : i;
}

static inline double to_integer(double v, int rounding) {
    switch (rounding) {
    case 1: return trunc(v);
    case 2: return floor(v);
    case 3: return ceil(v);
    case 4: return round(v);
    }
    return nearbyint(v);
}
static inline u64 to_w(double v) {
    return v != v || v >= 0x1p31 ? 0x7fffffff : v < -0x1p31 ? (u64)INT32_MIN : (u64)(s32)v;
}
static inline u64 to_wu(double v) {
    return v != v || v >= 0x1p32 ? ~0ull : v < 0 ? 0 : (u64)(s32)(u32)v;
}
static inline u64 to_l(double v) {
    return v != v || v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? (u64)INT64_MIN : (u64)(s64)v;
}
static inline u64 to_lu(double v) { return v != v || v >= 0x1p64 ? ~0ull : v < 0 ? 0 : (u64)v; }

// one bit: -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf, signalling NaN, quiet NaN
static inline u64 class_of(bool negative, bool all_ones, bool no_exponent, u64 fraction,
                           bool quiet) {
    if (all_ones) return fraction ? (quiet ? 1 << 9 : 1 << 8) : negative ? 1 : 1 << 7;
    if (no_exponent) return fraction ? (negative ? 1 << 2 : 1 << 5) : negative ? 1 << 3 : 1 << 4;
    return negative ? 1 << 1 : 1 << 6;
}
static inline u64 class_d(u64 b) {
    u64 e = b >> 52 & 0x7ff;
    return class_of(b >> 63, e == 0x7ff, !e, b & 0xfffffffffffffull, b >> 51 & 1);
}
static inline u64 class_s(u32 b) {
    u32 e = b >> 23 & 0xff;
    return class_of(b >> 31, e == 0xff, !e, b & 0x7fffff, b >> 22 & 1);
}

// the smaller or the greater of two; a NaN loses, -0 is less than +0
#define PICK(name, type) \
    static inline type name(type a, type b, bool greater) { \
        if (a != a || b != b) return a != a ? b : a; \
        if (a == b) return !signbit(a) == greater ? a : b; \
        return (a < b) != greater ? a : b; \
    }
PICK(pick_s, float)
PICK(pick_d, double)
