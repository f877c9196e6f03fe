// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What float.h leaves: the flags that a result raises, and roundings other than to even. Each
// knows the sign of what was lost, exactly: by 2Sum, fma, and for fma itself a sum of four parts.
#include "float.h"

static int sign(double v) { return (v > 0) - (v < 0); }

// The result of an operation that rounded to even and lost something of that sign (0: nothing).
// NaN from numbers is invalid; infinity from numbers overflows, or divided by zero.
#define SETTLE(t, type, smallest)                                                                \
    static type settle_##t(Hart *h, type r, int lost, bool numbers) {                            \
        u64 mode = h->csr[FCSR] >> 5 & 7;                                                        \
        if (r != r || !numbers)                                                                  \
            return r;                                                                            \
        if (isinf(r)) {                                                                          \
            flag(h, OVERFLOW_ | INEXACT);                                                        \
            lost = r > 0 ? -1 : 1;                                                               \
        }                                                                                        \
        if (!lost)                                                                               \
            return r;                                                                            \
        flag(h, INEXACT);                                                                        \
        if (mode == 1 && r != 0 && (r > 0) == (lost < 0))                                        \
            r = (type)(sizeof r == 4 ? nextafterf((float)r, 0) : nextafter(r, 0));               \
        else if (mode == 2 && lost < 0)                                                          \
            r = (type)(sizeof r == 4 ? nextafterf((float)r, -INFINITY)                           \
                                     : nextafter(r, -INFINITY));                                 \
        else if (mode == 3 && lost > 0)                                                          \
            r = (type)(sizeof r == 4 ? nextafterf((float)r, INFINITY) : nextafter(r, INFINITY)); \
        if (fabs(r) < smallest)                                                                  \
            flag(h, UNDERFLOW_);                                                                 \
        if (isinf(r))                                                                            \
            flag(h, OVERFLOW_);                                                                  \
        return r;                                                                                \
    }
SETTLE(s, float, 0x1p-126)
SETTLE(d, double, 0x1p-1022)

static bool signals_d(double a) {
    u64 i;
    return memcpy(&i, &a, 8), a != a && !(i >> 51 & 1);
}

static bool signals_s(float a) {
    u32 i;
    return memcpy(&i, &a, 4), a != a && !(i >> 22 & 1);
}

#define SIGNALS(a) (sizeof(a) == 4 ? signals_s((float)a) : signals_d(a))
// A NaN that came out of numbers, or of one that signals.
#define INVALID_IF(h, r, fine, signals) \
    do {                                \
        if (r != r) {                   \
            if ((fine) || (signals))    \
                flag(h, INVALID);       \
            return r;                   \
        }                               \
    } while (0)
#define FIN(a) (!isnan(a) && !isinf(a))

// Is the zero that a and b add up to a negative one? When rounding down, but where both are zeros.
static bool minus_zero(Hart *h, double a, double b) {
    return h->csr[FCSR] >> 5 == 2 && !(a == 0 && signbit(a) == signbit(b));
}

static int lost_add(double r, double a, double b) {
    double bb = r - a;
    return sign((a - (r - bb)) + (b - bb));
}

static int lost_mul(double r, double a, double b) {
    if (r == 0)
        return sign(a) * sign(b);
    if (fabs(r) < 0x1p-900) {
        if (fabs(a) < fabs(b))
            a *= 0x1p200;
        else
            b *= 0x1p200;
        r *= 0x1p200;
    }
    return sign(fma(a, b, -r));
}

static int lost_div(double r, double a, double b) {
    if (r == 0)
        return sign(a) * sign(b);
    if (fabs(a) < 0x1p-900 && fabs(b) < 0x1p800)
        a *= 0x1p200, b *= 0x1p200;
    return sign(fma(-r, b, a)) * sign(b);
}

double settle_add_d(Hart *h, double r, double a, double b) {
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    if (r == 0 && minus_zero(h, a, b))
        r = -0.0;
    return settle_d(h, r, FIN(r) ? lost_add(r, a, b) : 0, FIN(a) && FIN(b));
}

double settle_sub_d(Hart *h, double r, double a, double b) { return settle_add_d(h, r, a, -b); }

double settle_mul_d(Hart *h, double r, double a, double b) {
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    return settle_d(h, r, FIN(r) ? lost_mul(r, a, b) : 0, FIN(a) && FIN(b));
}

double settle_div_d(Hart *h, double r, double a, double b) {
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    if (b == 0 && FIN(a))
        return flag(h, BY_ZERO), r;
    return settle_d(h, r, FIN(r) ? lost_div(r, a, b) : 0, FIN(a) && FIN(b));
}

double settle_root_d(Hart *h, double r, double a) {
    INVALID_IF(h, r, a == a, SIGNALS(a));
    double tiny = fabs(a) < 0x1p-900 ? 0x1p100 : 1;
    return settle_d(h, r, FIN(r) ? sign(fma(-r * tiny, r * tiny, a * tiny * tiny)) : 0, FIN(a));
}

// The sign of a sum, exactly (Shewchuk's expansions: parts that do not overlap, the largest last).
static int sign_of_sum(const double *term, int n) {
    double part[4];
    for (int k = 0; k < n; k++) {
        double x = term[k];
        for (int i = 0; i < k; i++) {
            double s = x + part[i], back = s - x;
            part[i] = (x - (s - back)) + (part[i] - back);
            x = s;
        }
        part[k] = x;
    }
    while (n && part[n - 1] == 0)
        n--;
    return n ? sign(part[n - 1]) : 0;
}

// a * b + c - r with all exponents such that a * b is between 1/4 and 1.
static int lost_fma(double r, double a, double b, double c) {
    enum { FAR = 200 }; // so many bits apart, only the sign of the smaller counts

    int ea, eb, ec;
    double ma = frexp(a, &ea), mb = frexp(b, &eb), mc = frexp(c, &ec), p = ma * mb;
    if (p == 0)
        return 0;
    ec -= ea + eb;
    if (mc != 0 && ec > FAR)
        return sign(p);
    double cc = ldexp(mc, ec < -FAR ? -FAR : ec);
    return sign_of_sum((double[]){p, fma(ma, mb, -p), cc, -ldexp(r, -ea - eb)}, 4);
}

double settle_fma_d(Hart *h, double r, double a, double b, double c) {
    if ((isinf(a) && b == 0) || (a == 0 && isinf(b)))
        return flag(h, INVALID), r;
    INVALID_IF(h, r, a == a && b == b && c == c, SIGNALS(a) || SIGNALS(b) || SIGNALS(c));
    bool numbers = FIN(a) && FIN(b) && FIN(c);
    int lost = numbers && FIN(r) ? lost_fma(r, a, b, c) : 0;
    if (r == 0 && !lost && minus_zero(h, c, a * b))
        r = -0.0;
    return settle_d(h, r, lost, numbers);
}

// a float's operations are exact, or nearly, in a double
static int lost_s(float r, double exact, int below) {
    return exact != r ? sign(exact - r) : below;
}

float settle_add_s(Hart *h, float r, float a, float b) {
    double s = (double)a + b;
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    if (r == 0 && minus_zero(h, a, b))
        r = -0.f;
    return settle_s(h, r, FIN(r) ? lost_s(r, s, lost_add(s, a, b)) : 0, FIN(a) && FIN(b));
}

float settle_sub_s(Hart *h, float r, float a, float b) { return settle_add_s(h, r, a, -b); }

float settle_mul_s(Hart *h, float r, float a, float b) {
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    return settle_s(h, r, FIN(r) ? lost_s(r, (double)a * b, 0) : 0, FIN(a) && FIN(b));
}

float settle_div_s(Hart *h, float r, float a, float b) {
    INVALID_IF(h, r, a == a && b == b, SIGNALS(a) || SIGNALS(b));
    if (b == 0 && FIN(a))
        return flag(h, BY_ZERO), r;
    int lost = FIN(r) && FIN(b) ? sign((double)a - (double)r * b) * sign(b) : 0;
    return settle_s(h, r, lost, FIN(a) && FIN(b));
}

float settle_root_s(Hart *h, float r, float a) {
    INVALID_IF(h, r, a == a, SIGNALS(a));
    return settle_s(h, r, FIN(r) ? sign((double)a - (double)r * r) : 0, FIN(a));
}

float settle_fma_s(Hart *h, float r, float a, float b, float c) {
    double p = (double)a * b, s = p + c;
    if ((isinf(a) && b == 0) || (a == 0 && isinf(b)))
        return flag(h, INVALID), r;
    INVALID_IF(h, r, a == a && b == b && c == c, SIGNALS(a) || SIGNALS(b) || SIGNALS(c));
    if (s == 0 && minus_zero(h, c, p))
        r = -0.f;
    return settle_s(h, r, FIN(r) ? lost_s(r, s, lost_add(s, p, c)) : 0,
                    FIN(a) && FIN(b) && FIN(c));
}

// --- conversions ---
#define FROM_INT(name, t, type, of, end)                                                        \
    u64 name##t(Hart *h, of v) {                                                                \
        type r = (type)v;                                                                       \
        return put_##t(settle_##t(h, r, r >= end ? -1 : sign((double)(s64)(v - (of)r)), true)); \
    }

FROM_INT(from_, s, float, s64, 0x1p63)

FROM_INT(fromu_, s, float, u64, 0x1p64)

FROM_INT(from_, d, double, s64, 0x1p63)

FROM_INT(fromu_, d, double, u64, 0x1p64)

float narrow(Hart *h, double v) {
    u64 i;
    memcpy(&i, &v, 8);
    float r = (float)v;
    if (v != v)
        return (class_d(i) & 1 << 8 ? flag(h, INVALID) : (void)0), r;
    return settle_s(h, r, FIN(r) ? sign(v - r) : 0, FIN(v));
}

u64 widen(Hart *h, u64 v) {
    if (class_s(raw_s(v)) & 1 << 8)
        flag(h, INVALID);
    return put_d((double)get_s(v));
}

u64 to_int(Hart *h, double v, u64 mode, int bits, bool is_signed) {
    u64 most = ~0ull >> (64 - bits + is_signed), least = is_signed ? ~most : 0;
    double high = 2 * (double)(most / 2 + 1), low = is_signed ? -high : 0;
    double r = mode == 1   ? trunc(v)
               : mode == 2 ? floor(v)
               : mode == 3 ? ceil(v)
               : mode == 4 ? round(v)
                           : rint(v);
    if (unlikely(!(r >= low && r < high))) {
        flag(h, INVALID);
        return r < low ? least : most;
    }
    if (r != v)
        flag(h, INEXACT);
    return low < 0 ? (u64)(s64)r : (u64)r;
}
