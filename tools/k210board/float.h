// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Floating point as chapters 11 and 12 of the unprivileged specification want it: NaN boxes,
// canonical NaNs, conversions that saturate. The host's FPU does the arithmetic, the rounding and
// the flags.
#pragma once
#include "board.h"
#include <fenv.h>
#include <math.h>

#define BOX 0xffffffff00000000ull
#define NAN_S 0x7fc00000u
#define NAN_D 0x7ff8000000000000ull
#define SIGN_S 0x80000000u
#define SIGN_D (1ull << 63)
static inline u32 raw_s(u64 v) { return v >= BOX ? (u32)v : NAN_S; }
static inline u64 raw_d(u64 v) { return v; }
static inline u64 box_s(u32 v) { return BOX | v; }
static inline u64 box_d(u64 v) { return v; }
// one line a type: value of a register and back, fused multiplication, the class (one bit for -inf,
// -normal, -subnormal, -0, +0, +subnormal, +normal, +inf, signalling NaN, quiet NaN), the smaller
// or the greater (a quiet NaN loses, a signalling one wins; -0 is less than +0)
#define FLOAT_TYPE(t, type, bits, not_a_number, fused, exponents, fraction) \
    static inline type get_##t(u64 v) { \
        bits i = raw_##t(v); \
        type f; \
        return memcpy(&f, &i, sizeof f), f; \
    } \
    static inline u64 put_##t(type f) { \
        bits i; \
        memcpy(&i, &f, sizeof f); \
        return box_##t(unlikely(f != f) ? not_a_number : i); \
    } \
    static inline type fma_##t(type a, type b, type c) { \
        type r = fused(a, b, c); \
        if (unlikely(c != c) && ((isinf(a) && b == 0) || (a == 0 && isinf(b)))) \
            feraiseexcept(FE_INVALID); \
        return r; \
    } \
    static inline u64 class_##t(bits v) { \
        bool negative = v >> (8 * sizeof v - 1); \
        u64 e = v >> fraction & exponents, rest = v & (((bits)1 << fraction) - 1); \
        if (e == exponents && rest) return rest >> (fraction - 1) ? 1 << 9 : 1 << 8; \
        int size = e == exponents ? 3 : e ? 2 : rest ? 1 : 0; \
        return 1ull << (negative ? 3 - size : 4 + size); \
    } \
    static inline u64 pick_##t(u64 v, u64 w, bool greater) { \
        type a = get_##t(v), b = get_##t(w); \
        if ((class_##t(raw_##t(v)) | class_##t(raw_##t(w))) & 1 << 8) return put_##t(a + b); \
        if (a != a || b != b) return put_##t(a != a ? b : a); \
        return (a == b ? !signbit(a) : a > b) == greater ? put_##t(a) : put_##t(b); \
    }
FLOAT_TYPE(s, float, u32, NAN_S, fmaf, 0xff, 23)
FLOAT_TYPE(d, double, u64, NAN_D, fma, 0x7ff, 52)

static inline void inexact(void) { // feraiseexcept() takes long
    volatile double third = 1;
    third /= 3;
}

static inline double nearest_even(double v) {
    double r = floor(v), rest = v - r;
    return rest > .5 || (rest == .5 && fmod(r, 2)) ? r + 1 : r;
}

// An integer of so many bits, or the end of their range that v is beyond; NaN is above it.
static inline u64 to_int(double v, u64 mode, int bits, bool is_signed) {
    u64 most = ~0ull >> (64 - bits + is_signed), least = is_signed ? ~most : 0;
    double high = 2 * (double)(most / 2 + 1), low = is_signed ? -high : 0;
    double r = mode == 1 ? trunc(v) : mode == 2 ? floor(v) : mode == 3 ? ceil(v)
             : mode == 4 ? round(v) : nearest_even(v);
    if (unlikely(!(r >= low && r < high))) {
        feraiseexcept(FE_INVALID);
        return r < low ? least : most;
    }
    if (r != v) inexact();
    return low < 0 ? (u64)(s64)r : (u64)r;
}
