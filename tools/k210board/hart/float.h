// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Floating point as chapters 11 and 12 of the unprivileged specification want it: NaN boxes,
// canonical NaNs, conversions that saturate. The machine below rounds to the nearest, ties to
// even; flags and the other roundings are computed here, so that they are the same everywhere.
#pragma once

#include "hart.h"
#include <math.h>

// FCSR
enum { INEXACT = 1, UNDERFLOW_ = 2, OVERFLOW_ = 4, BY_ZERO = 8, INVALID = 16, ROUNDING = 7 << 5 };

enum { TO_EVEN, TO_ZERO, DOWN, UP, AWAY }; // roundings

enum { SIGNALLING_NAN = 1 << 8, QUIET_NAN = 1 << 9 }; // classes

#define BOX 0xffffffff00000000ull
#define NAN_S 0x7fc00000u
#define NAN_D 0x7ff8000000000000ull
#define SIGN_S 0x80000000u
#define SIGN_D (1ull << 63)

static inline u64 rounding(const Hart *h) { return h->csr[FCSR] >> 5 & 7; }

static inline void flag(Hart *h, u64 what) { h->csr[FCSR] |= what; }

// The bits of a value in a register, and back. A single that is not in a box is a NaN.
static inline u32 raw_s(u64 v) { return v >= BOX ? (u32)v : NAN_S; }

static inline u64 raw_d(u64 v) { return v; }

static inline u64 box_s(u32 v) { return BOX | v; }

static inline u64 box_d(u64 v) { return v; }

#define F(name) name##_s
#define REAL float
#define BITS u32
#define NOT_A_NUMBER NAN_S
#define EXPONENTS 0xff
#define FRACTION 23
#define FUSED fmaf
#define SQUARE_ROOT sqrtf
#include "float_type.h"
#undef F
#undef REAL
#undef BITS
#undef NOT_A_NUMBER
#undef EXPONENTS
#undef FRACTION
#undef FUSED
#undef SQUARE_ROOT

#define F(name) name##_d
#define REAL double
#define BITS u64
#define NOT_A_NUMBER NAN_D
#define EXPONENTS 0x7ff
#define FRACTION 52
#define FUSED fma
#define SQUARE_ROOT sqrt
#include "float_type.h"
#undef F
#undef REAL
#undef BITS
#undef NOT_A_NUMBER
#undef EXPONENTS
#undef FRACTION
#undef FUSED
#undef SQUARE_ROOT

float narrow(Hart *h, double v);
u64 widen(Hart *h, u64 v);

// An integer of so many bits, or the end of their range that v is beyond; NaN is above it.
u64 to_int(Hart *h, double v, u64 mode, int bits, bool is_signed);
