// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What float.h leaves: the flags that a result raises, and roundings other than to even. Each
// knows the sign of what was lost, exactly: by 2Sum, fma, and for fma itself a sum of four parts.
#include "float.h"

static int sign(double v) { return (v > 0) - (v < 0); }

static bool finite_d(double v) { return !isnan(v) && !isinf(v); }

static bool finite_s(float v) { return finite_d((double)v); }

static bool signals_d(double a) { return class_d(bits_d(a)) & SIGNALLING_NAN; }

static bool signals_s(float a) { return class_s(bits_s(a)) & SIGNALLING_NAN; }

// --- settling ---
// Which way a result goes by one step that was rounded to even and lost something of that sign,
// when the rounding is `mode`: 1 up, -1 down, 0 it stays.
static int step_of(u64 mode, double r, int lost) {
    if (mode == TO_ZERO && r != 0 && (r > 0) == (lost < 0))
        return r > 0 ? -1 : 1;
    if (mode == DOWN && lost < 0)
        return -1;
    if (mode == UP && lost > 0)
        return 1;
    return 0;
}

// What an operation on numbers lost: infinity from numbers overflows.
static int lost_or_overflow(Hart *h, double r, int lost) {
    if (!isinf(r))
        return lost;
    flag(h, OVERFLOW_ | INEXACT);
    return r > 0 ? -1 : 1;
}

// `smallest`: of the normal numbers.
static void flag_inexact(Hart *h, double r, double smallest) {
    flag(h, INEXACT);
    if (fabs(r) < smallest)
        flag(h, UNDERFLOW_);
    if (isinf(r))
        flag(h, OVERFLOW_);
}

// The result of an operation that rounded to even and lost something of that sign (0: nothing);
// `numbers`: its operands are neither infinite nor NaN.
static float settle_s(Hart *h, float r, int lost, bool numbers) {
    if (r != r || !numbers)
        return r;
    lost = lost_or_overflow(h, (double)r, lost);
    if (!lost)
        return r;
    int step = step_of(rounding(h), (double)r, lost);
    if (step)
        r = nextafterf(r, step < 0 ? -INFINITY : INFINITY);
    flag_inexact(h, (double)r, 0x1p-126);
    return r;
}

static double settle_d(Hart *h, double r, int lost, bool numbers) {
    if (r != r || !numbers)
        return r;
    lost = lost_or_overflow(h, r, lost);
    if (!lost)
        return r;
    int step = step_of(rounding(h), r, lost);
    if (step)
        r = nextafter(r, step < 0 ? -INFINITY : INFINITY);
    flag_inexact(h, r, 0x1p-1022);
    return r;
}

// A NaN came out: it is invalid when it came out of numbers, or of a NaN that signals.
static void flag_nan(Hart *h, bool from_numbers, bool signals) {
    if (from_numbers || signals)
        flag(h, INVALID);
}

// Is the zero that a and b add up to a negative one? When rounding down, but where both are zeros.
static bool minus_zero(const Hart *h, double a, double b) {
    return rounding(h) == DOWN && !(a == 0 && signbit(a) == signbit(b));
}

// --- the sign of what was lost ---
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
    if (fabs(a) < 0x1p-900 && fabs(b) < 0x1p800) {
        a *= 0x1p200;
        b *= 0x1p200;
    }
    return sign(fma(-r, b, a)) * sign(b);
}

static int lost_root(double r, double a) {
    double tiny = fabs(a) < 0x1p-900 ? 0x1p100 : 1;
    return sign(fma(-r * tiny, r * tiny, a * tiny * tiny));
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

// A single's operations are exact, or nearly, in a double; `below`: what the double lost.
static int lost_s(float r, double exact, int below) {
    return exact != r ? sign(exact - r) : below;
}

// --- doubles ---
double settle_add_d(Hart *h, double r, double a, double b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_d(a) || signals_d(b));
        return r;
    }
    if (r == 0 && minus_zero(h, a, b))
        r = -0.0;
    return settle_d(h, r, finite_d(r) ? lost_add(r, a, b) : 0, finite_d(a) && finite_d(b));
}

double settle_sub_d(Hart *h, double r, double a, double b) { return settle_add_d(h, r, a, -b); }

double settle_mul_d(Hart *h, double r, double a, double b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_d(a) || signals_d(b));
        return r;
    }
    return settle_d(h, r, finite_d(r) ? lost_mul(r, a, b) : 0, finite_d(a) && finite_d(b));
}

double settle_div_d(Hart *h, double r, double a, double b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_d(a) || signals_d(b));
        return r;
    }
    if (b == 0 && finite_d(a)) {
        flag(h, BY_ZERO);
        return r;
    }
    return settle_d(h, r, finite_d(r) ? lost_div(r, a, b) : 0, finite_d(a) && finite_d(b));
}

double settle_root_d(Hart *h, double r, double a) {
    if (r != r) {
        flag_nan(h, a == a, signals_d(a));
        return r;
    }
    return settle_d(h, r, finite_d(r) ? lost_root(r, a) : 0, finite_d(a));
}

double settle_fma_d(Hart *h, double r, double a, double b, double c) {
    if ((isinf(a) && b == 0) || (a == 0 && isinf(b))) {
        flag(h, INVALID);
        return r;
    }
    if (r != r) {
        flag_nan(h, a == a && b == b && c == c, signals_d(a) || signals_d(b) || signals_d(c));
        return r;
    }
    bool numbers = finite_d(a) && finite_d(b) && finite_d(c);
    int lost = numbers && finite_d(r) ? lost_fma(r, a, b, c) : 0;
    if (r == 0 && !lost && minus_zero(h, c, a * b))
        r = -0.0;
    return settle_d(h, r, lost, numbers);
}

// --- singles ---
float settle_add_s(Hart *h, float r, float a, float b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_s(a) || signals_s(b));
        return r;
    }
    double s = (double)a + b;
    if (r == 0 && minus_zero(h, a, b))
        r = -0.f;
    int lost = finite_s(r) ? lost_s(r, s, lost_add(s, a, b)) : 0;
    return settle_s(h, r, lost, finite_s(a) && finite_s(b));
}

float settle_sub_s(Hart *h, float r, float a, float b) { return settle_add_s(h, r, a, -b); }

float settle_mul_s(Hart *h, float r, float a, float b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_s(a) || signals_s(b));
        return r;
    }
    int lost = finite_s(r) ? lost_s(r, (double)a * b, 0) : 0;
    return settle_s(h, r, lost, finite_s(a) && finite_s(b));
}

float settle_div_s(Hart *h, float r, float a, float b) {
    if (r != r) {
        flag_nan(h, a == a && b == b, signals_s(a) || signals_s(b));
        return r;
    }
    if (b == 0 && finite_s(a)) {
        flag(h, BY_ZERO);
        return r;
    }
    int lost = finite_s(r) && finite_s(b) ? sign((double)a - (double)r * b) * sign(b) : 0;
    return settle_s(h, r, lost, finite_s(a) && finite_s(b));
}

float settle_root_s(Hart *h, float r, float a) {
    if (r != r) {
        flag_nan(h, a == a, signals_s(a));
        return r;
    }
    return settle_s(h, r, finite_s(r) ? sign((double)a - (double)r * r) : 0, finite_s(a));
}

float settle_fma_s(Hart *h, float r, float a, float b, float c) {
    if ((isinf(a) && b == 0) || (a == 0 && isinf(b))) {
        flag(h, INVALID);
        return r;
    }
    if (r != r) {
        flag_nan(h, a == a && b == b && c == c, signals_s(a) || signals_s(b) || signals_s(c));
        return r;
    }
    double p = (double)a * b, s = p + c;
    if (s == 0 && minus_zero(h, c, p))
        r = -0.f;
    int lost = finite_s(r) ? lost_s(r, s, lost_add(s, p, c)) : 0;
    return settle_s(h, r, lost, finite_s(a) && finite_s(b) && finite_s(c));
}

// --- conversions ---
// What an integer lost as a floating-point number r; `end`: of the integer's range.
#define LOST_INT(v, r, type, end) ((r) >= (end) ? -1 : sign((double)(s64)((v) - (type)(r))))

u64 from_s(Hart *h, s64 v) {
    float r = (float)v;
    return put_s(settle_s(h, r, LOST_INT(v, r, s64, 0x1p63f), true));
}

u64 fromu_s(Hart *h, u64 v) {
    float r = (float)v;
    return put_s(settle_s(h, r, LOST_INT(v, r, u64, 0x1p64f), true));
}

u64 from_d(Hart *h, s64 v) {
    double r = (double)v;
    return put_d(settle_d(h, r, LOST_INT(v, r, s64, 0x1p63), true));
}

u64 fromu_d(Hart *h, u64 v) {
    double r = (double)v;
    return put_d(settle_d(h, r, LOST_INT(v, r, u64, 0x1p64), true));
}

float narrow(Hart *h, double v) {
    float r = (float)v;
    if (v != v) {
        flag_nan(h, false, signals_d(v));
        return r;
    }
    return settle_s(h, r, finite_s(r) ? sign(v - r) : 0, finite_d(v));
}

u64 widen(Hart *h, u64 v) {
    flag_nan(h, false, class_s(raw_s(v)) & SIGNALLING_NAN);
    return put_d((double)get_s(v));
}

static double rounded(double v, u64 mode) {
    switch (mode) {
    case TO_ZERO:
        return trunc(v);
    case DOWN:
        return floor(v);
    case UP:
        return ceil(v);
    case AWAY:
        return round(v);
    }
    return rint(v);
}

u64 to_int(Hart *h, double v, u64 mode, int bits, bool is_signed) {
    u64 most = ~0ull >> (64 - bits + is_signed), least = is_signed ? ~most : 0;
    double high = 2 * (double)(most / 2 + 1), low = is_signed ? -high : 0;
    double r = rounded(v, mode);
    if (unlikely(!(r >= low && r < high))) {
        flag(h, INVALID);
        return r < low ? least : most;
    }
    if (r != v)
        flag(h, INEXACT);
    return low < 0 ? (u64)(s64)r : (u64)r;
}
