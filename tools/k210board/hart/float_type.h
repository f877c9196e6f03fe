// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Floating point of one type; float.h includes this once for each. It says before what the type
// is:
//   F(name)   the name of a function for this type: name_s or name_d
//   REAL, BITS            the type, and the integer of its size
//   NOT_A_NUMBER          the canonical NaN
//   EXPONENTS, FRACTION   the greatest exponent, and how many bits are below it
//   FUSED, SQUARE_ROOT    functions of math.h

// The value of a register and back.
static inline REAL F(get)(u64 v) {
    BITS i = F(raw)(v);
    REAL f;
    memcpy(&f, &i, sizeof f);
    return f;
}

static inline BITS F(bits)(REAL f) {
    BITS i;
    memcpy(&i, &f, sizeof i);
    return i;
}

static inline u64 F(put)(REAL f) { return F(box)(unlikely(f != f) ? NOT_A_NUMBER : F(bits)(f)); }

// Neither zero nor subnormal, nor the smallest or greatest exponent, nor infinity, nor NaN.
static inline bool F(plain)(REAL f) {
    return ((F(bits)(f) >> FRACTION) & EXPONENTS) - 2 < EXPONENTS - 2 - 0u;
}

// One bit for -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf, signalling NaN, quiet
// NaN.
static inline u64 F(class)(BITS v) {
    bool negative = v >> (8 * sizeof v - 1);
    u64 e = v >> FRACTION & EXPONENTS, rest = v & (((BITS)1 << FRACTION) - 1);
    if (e == EXPONENTS && rest)
        return rest >> (FRACTION - 1) ? QUIET_NAN : SIGNALLING_NAN;
    int size = e == EXPONENTS ? 3 : e ? 2 : rest ? 1 : 0;
    return 1ull << (negative ? 3 - size : 4 + size);
}

static inline bool F(signalling)(u64 v, u64 w) {
    return (F(class)(F(raw)(v)) | F(class)(F(raw)(w))) & SIGNALLING_NAN;
}

// The smaller or the greater: a quiet NaN loses, a signalling one wins; -0 is less than +0.
static inline u64 F(pick)(Hart *h, u64 v, u64 w, bool greater) {
    REAL a = F(get)(v), b = F(get)(w);
    if (a == a && b == b) {
        bool a_greater = a == b ? !signbit(a) : a > b;
        return F(put)(a_greater == greater ? a : b);
    }
    if (F(signalling)(v, w)) {
        flag(h, INVALID);
        return F(put)(a + b);
    }
    return F(put)(a != a ? b : a);
}

// Whether neither is a NaN.
static inline bool F(ordered)(Hart *h, u64 v, u64 w, bool quiet_too) {
    REAL a = F(get)(v), b = F(get)(w);
    if (likely(a == a && b == b))
        return true;
    if (quiet_too || F(signalling)(v, w))
        flag(h, INVALID);
    return false;
}

// Whether a result needs no more work: it is a plain number, rounded to even, and INEXACT is set.
static inline bool F(settled)(const Hart *h, REAL r) {
    return likely((h->csr[FCSR] & (ROUNDING | INEXACT)) == INEXACT && F(plain)(r));
}

// What is left to do for other results: flags, other roundings.
REAL F(settle_add)(Hart *h, REAL r, REAL a, REAL b);
REAL F(settle_sub)(Hart *h, REAL r, REAL a, REAL b);
REAL F(settle_mul)(Hart *h, REAL r, REAL a, REAL b);
REAL F(settle_div)(Hart *h, REAL r, REAL a, REAL b);
REAL F(settle_root)(Hart *h, REAL r, REAL a);
REAL F(settle_fma)(Hart *h, REAL r, REAL a, REAL b, REAL c);

static inline REAL F(add)(Hart *h, REAL a, REAL b) {
    REAL r = a + b;
    return F(settled)(h, r) ? r : F(settle_add)(h, r, a, b);
}

static inline REAL F(sub)(Hart *h, REAL a, REAL b) {
    REAL r = a - b;
    return F(settled)(h, r) ? r : F(settle_sub)(h, r, a, b);
}

static inline REAL F(mul)(Hart *h, REAL a, REAL b) {
    REAL r = a * b;
    return F(settled)(h, r) ? r : F(settle_mul)(h, r, a, b);
}

static inline REAL F(div)(Hart *h, REAL a, REAL b) {
    REAL r = a / b;
    return F(settled)(h, r) ? r : F(settle_div)(h, r, a, b);
}

static inline REAL F(root)(Hart *h, REAL a) {
    REAL r = SQUARE_ROOT(a);
    return F(settled)(h, r) ? r : F(settle_root)(h, r, a);
}

static inline REAL F(fma)(Hart *h, REAL a, REAL b, REAL c) {
    REAL r = FUSED(a, b, c);
    return F(settled)(h, r) ? r : F(settle_fma)(h, r, a, b, c);
}

// A register from an integer.
u64 F(from)(Hart *h, s64 v);
u64 F(fromu)(Hart *h, u64 v);
