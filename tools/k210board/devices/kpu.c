// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The KPU: convolution layers with batch normalisation, activation and pooling, in the AI RAM or
// out to its FIFO. A layer takes no time. Source: kpu.h (kpu_layer_argument_t); rounding checked
// against V3 models on boards.
#include "devices.h"
#include <stdlib.h>

enum { LAYER_ARGS = 12, ARGUMENT = 0x00, INT_STATUS = 0x08, INT_RAW = 0x10, INT_MASK = 0x18 };

enum { INT_CLEAR = 0x20, FIFO_OUT = 0x30, EIGHT_BIT = 0x40, DONE = 1, ARGUMENTS_TAKEN = 2 };

enum { AI_RAM = 2 << 20, PIECES = 16, MOST_W = 1024, MOST_PIXELS = MOST_W * 512 };

enum { NINE = 9, PAIR = 2 };

#define MOST_WORK (1ull << 32) // products in one round; layers take no time of the board's

// Of an image in the AI RAM: rows of 64 bytes; in one row 1, 2 or 4 channels side by side.
typedef struct {
    size_t at, rows, channel_rows, groups, channels, w, h, pixels;
} Plane;

typedef struct {
    Plane in, out;
    bool interrupt, depthwise, to_fifo;
    size_t kernel, pool, fifo_bytes, inputs; // inputs: channels that one of the output is made of
    int padding, shift_w, shift_x;
    const u8 *weights, *norm, *activation; // in the RAM
    s64 arg_w, arg_x, arg_add;
} Layer;

static Registers registers[1];

static struct {
    u64 layer[LAYER_ARGS]; // the arguments of the next layer
    int layer_n;           // that were given up to now
    u64 layers;            // of this model up to now
    u64 round, work;       // products in the round that began at that cycle
    u32 raised;
    QUEUE(u64, 1 << 17) fifo;
} kpu;

// the sums of products of two output channels; what an output channel sees under the kernel; the
// values of one before pooling
static s64 sum[PAIR][MOST_PIXELS], seen[MOST_PIXELS];
static u8 image[MOST_PIXELS];

static u64 cut(u64 v, int from, int bits) { return v >> from & ((1ull << bits) - 1); }

static s64 cut_signed(u64 v, int from, int n) { return (s64)(v << (64 - n - from)) >> (64 - n); }

static bool refused(const char *what, u64 number) {
    say("KPU layer %d: %s %d\n", kpu.layers, what, number);
    return true;
}

// What is read through a pointer of a layer, all of it; null, and said, when that is no RAM.
// Models name the RAM by its addresses and, V4's, by what is left of them without 0x40000000.
static const u8 *pointer(const char *what, u64 address, size_t size) {
    const u8 *p = ram_at(address < RAM_UNCACHED ? address | RAM_UNCACHED : address, size);
    const char *text = "KPU layer %d: %s at 0x%x, %d bytes, are no RAM\n";
    if (!p)
        say(text, kpu.layers, what, address, (u64)size);
    return p;
}

static size_t weight_bytes(void) { return REG(registers[0], EIGHT_BIT) & 1 ? 1 : 2; }

// One plane's parts of the arguments 1, 2 and 3 (in from bit 0, out from bit 32), and its layout.
static Plane plane(const u64 *a, int from, u64 layout, int groups_at) {
    size_t w = cut(a[3], from, 10) + 1, h = cut(a[3], from + 10, 9) + 1;
    size_t groups = cut(layout, groups_at, 3);
    return (Plane){.at = cut(a[1], from, 15) * 64,
                   .channels = cut(a[2], from, 10) + 1,
                   .w = w,
                   .h = h,
                   .pixels = w * h,
                   .channel_rows = cut(layout, 0, 15),
                   .rows = cut(layout, 16, 4),
                   .groups = groups ? groups : 1};
}

static Layer unpack(const u64 *a) {
    Layer l = {.in = plane(a, 0, a[7], 28),
               .out = plane(a, 32, a[8], 20),
               .interrupt = a[0] & 1,
               .depthwise = cut(a[0], 3, 1),
               .to_fifo = a[11] & 1,
               .kernel = cut(a[4], 0, 3) ? 3 : 1,
               .pool = cut(a[4], 4, 4),
               .padding = (int)cut(a[4], 24, 8),
               .shift_w = (int)cut(a[9], 0, 4),
               .shift_x = (int)cut(a[9], 4, 4),
               .arg_w = cut_signed(a[9], 8, 24),
               .arg_x = cut_signed(a[9], 32, 24),
               .arg_add = cut_signed(a[10], 0, 40),
               .fifo_bytes = (a[11] >> 32) + 1};
    l.inputs = l.depthwise ? 1 : l.in.channels;
    size_t weights = l.out.channels * l.inputs * l.kernel * l.kernel;
    l.norm = pointer("batch normalisation factors", a[4] >> 32, 8 * l.out.channels);
    l.weights = pointer("weights", a[5] >> 32, weights * weight_bytes());
    l.activation = pointer("activation pieces", a[7] >> 32, PIECES * 9);
    return l;
}

// The products of this round with those of the layer.
static u64 work_with(const Layer *l) {
    u64 factors = l->inputs * l->kernel * l->kernel + PIECES;
    if (kpu.round != cycles) {
        kpu.round = cycles;
        kpu.work = 0;
    }
    kpu.work += (u64)l->in.pixels * l->out.channels * factors;
    return kpu.work;
}

// Whether the chip could not do it either, or it would take too long here; the user is told.
static bool impossible(const Layer *l) {
    size_t in = l->in.pixels * l->in.channels, out = l->out.pixels * l->out.channels;
    size_t most = l->to_fifo ? RAM_SIZE : AI_RAM;
    u64 work = work_with(l);
    if (!l->norm || !l->weights || !l->activation)
        return true;
    if (in > AI_RAM)
        return refused("input is larger than the AI RAM:", in);
    if (out > most)
        return refused("output is larger than the RAM for it:", out);
    if (work > MOST_WORK)
        return refused("products are too many:", work);
    if (l->depthwise && l->out.channels > l->in.channels)
        return refused("depthwise has more outputs than inputs:", l->out.channels);
    return false;
}

// v / 2^s, halves away from zero for positive numbers and to the even one below zero
static s64 shift_round(s64 v, int s) {
    if (s <= 0)
        return v;
    v >>= s - 1;
    return (v >> 1) + (v & 1 && (v >= 0 || v >> 1 & 1));
}

static u8 *row(const Plane *p, size_t channel, size_t y) {
    static u8 outside[MOST_W]; // what lies past the AI RAM is nobody's
    size_t first = channel / p->groups * p->channel_rows + y * p->rows;
    size_t at = (p->at + first * 64 + channel % p->groups * (64 / p->groups)) % AI_RAM;
    return at + p->w <= AI_RAM ? ram + KPU_RAM + at : outside;
}

// Without memory on this machine the board ends here.
static u8 *allocate(size_t size, int value) {
    u8 *p = malloc(size);
    if (!p)
        abort();
    memset(p, value, size);
    return p;
}

static size_t framed_size(const Layer *l) { return (l->in.w + 2) * (l->in.h + 2); }

// The input with a border of one pixel, all channels.
static u8 *framed(const Layer *l) {
    size_t w = l->in.w + 2;
    u8 *all = allocate(framed_size(l) * l->in.channels, l->padding);
    u8 *to = all + w + 1;
    for (size_t c = 0; c < l->in.channels; c++) {
        for (size_t y = 0; y < l->in.h; y++) {
            memcpy(to, row(&l->in, c, y), l->in.w);
            to += w;
        }
        to += 2 * w;
    }
    return all;
}

static u64 weight(const Layer *l, size_t i) {
    u16 v;
    if (weight_bytes() == 1)
        return l->weights[i];
    memcpy(&v, l->weights + 2 * i, 2);
    return v;
}

// Adds nine pixels times their factors to the sums of two output channels: each half of a factor
// is of one of them. Nine products, which have no sign, fit in a half.
static void convolve(const Layer *l, const u8 *const *from, const u64 *factor) {
    s64 *one = sum[0], *other = sum[1];
    for (size_t y = 0; y < l->in.h; y++, one += l->in.w, other += l->in.w) {
        const u8 *in[NINE];
        for (size_t i = 0; i < NINE; i++)
            in[i] = from[i] + y * (l->in.w + 2);
        for (size_t x = 0; x < l->in.w; x++) {
            u64 both = factor[0] * in[0][x] + factor[1] * in[1][x] + factor[2] * in[2][x] +
                       factor[3] * in[3][x] + factor[4] * in[4][x] + factor[5] * in[5][x] +
                       factor[6] * in[6][x] + factor[7] * in[7][x] + factor[8] * in[8][x];
            one[x] += (u32)both;
            other[x] += (s64)(both >> 32);
        }
    }
}

// The sums of so many output channels from `o` on; with 0: of the pixels under the kernel.
static void add_up(const Layer *l, const u8 *in, size_t o, size_t channels) {
    size_t k = l->kernel, products = l->inputs * k * k, stride = l->in.w + 2;
    for (size_t i = 0; i < PAIR; i++)
        memset(sum[i], 0, l->in.pixels * sizeof **sum);
    for (size_t first = 0; first < products; first += NINE) {
        const u8 *from[NINE];
        u64 factor[NINE];
        for (size_t j = 0; j < NINE; j++) {
            size_t n = first + j, place = k == 1 ? NINE / 2 : n % NINE;
            bool past = n >= products;
            from[j] =
                past ? in : in + n / (k * k) * framed_size(l) + place / 3 * stride + place % 3;
            factor[j] = !past && !channels;
            for (size_t i = 0; i < channels && !past; i++)
                factor[j] |= weight(l, (o + i) * products + n) << 32 * i;
        }
        convolve(l, from, factor);
    }
}

// What an output channel sees, as far as it has a part in each value.
static void look(const Layer *l, const u8 *in) {
    add_up(l, in, 0, 0);
    for (size_t i = 0; i < l->in.pixels; i++)
        seen[i] = shift_round(l->arg_x * sum[0][i], l->shift_x);
}

// The activation's pieces, each of the values above `from`.
typedef struct {
    s64 from, slope;
    int shift;
    u8 bias;
} Piece;

static void pieces_of(const Layer *l, Piece *to) {
    for (int i = 0; i < PIECES; i++) {
        u64 v;
        memcpy(&v, l->activation + 8 * i, 8);
        to[i] = (Piece){.from = cut_signed(v, 24, 36),
                        .slope = cut_signed(v, 8, 16),
                        .shift = (int)cut(v, 0, 8),
                        .bias = l->activation[PIECES * 8 + i]};
    }
}

// A normalised value by the piece in whose range it lies.
static u8 activate(const Piece *pieces, s64 v) {
    const Piece *p = pieces + PIECES - 1;
    while (p > pieces && v <= p->from)
        p--;
    s64 r = shift_round((v - p->from) * p->slope, p->shift) + p->bias;
    return r < 0 ? 0 : r > 255 ? 255 : (u8)r;
}

// What the output has of the pixels in the window; RIGHT: the pixel to the right.
enum { ITSELF, MOST, AVERAGE, RIGHT };

typedef struct {
    size_t stride, window;
    int what;
} Pool;

// One pixel of the output, from the pixels of `image` under its window.
static u8 pooled(const Layer *l, size_t x, size_t y) {
    static const Pool POOLS[16] = {
        {1, 1, MOST}, {2, 2, MOST},  {2, 2, AVERAGE}, {4, 4, MOST},    {4, 4, AVERAGE},
        {2, 1, MOST}, {2, 2, RIGHT}, {4, 1, MOST},    {1, 2, AVERAGE}, {1, 2, MOST},
    }; // kpu.h, kpu_pool_type_t
    Pool pool = POOLS[l->pool];
    size_t n = pool.window, pixels = pool.what == RIGHT ? 2 : n * n;
    int total = 0, most = 0, v = image[y * l->in.w + x];
    for (size_t i = 0; i < pixels; i++) {
        size_t px = x * pool.stride + i % n, py = y * pool.stride + i / n;
        px = px < l->in.w ? px : l->in.w - 1;
        py = py < l->in.h ? py : l->in.h - 1;
        v = image[py * l->in.w + px];
        total += v;
        most = v > most ? v : most;
    }
    switch (pool.what) {
    case MOST:
        return (u8)most;
    case AVERAGE:
        return (u8)(total / (int)pixels);
    default:
        return (u8)v;
    }
}

// The values of an output channel, from its sums.
static void normalise(const Layer *l, size_t o, const s64 *sums, const Piece *pieces) {
    size_t n = l->inputs * l->kernel * l->kernel;
    s64 weights = 0;
    u64 norm;
    memcpy(&norm, l->norm + 8 * o, 8);
    s64 times = cut_signed(norm, 0, 24), add = cut_signed(norm, 24, 32);
    for (size_t i = 0; i < n; i++)
        weights += (s64)weight(l, o * n + i);
    weights = shift_round(l->arg_w * weights, l->shift_w) + l->arg_add * (s64)l->inputs;
    for (size_t i = 0; i < l->in.pixels; i++) {
        s64 v = sums[i] + seen[i] + weights;
        image[i] = activate(pieces, (v * times >> cut(norm, 56, 4)) + add);
    }
}

static void to_fifo(const u8 *result, size_t size, size_t wanted) {
    kpu.fifo.n = 0;
    for (size_t at = 0; at < wanted + 8; at += 8) { // a word more, for readers
        u64 v = 0;
        if (kpu.fifo.n == ROOM(kpu.fifo))
            dma_pump();
        if (kpu.fifo.n == ROOM(kpu.fifo)) {
            refused("nobody takes from its FIFO more than", at);
            return;
        }
        if (at < size)
            memcpy(&v, result + at, size - at > 8 ? 8 : size - at);
        PUT(kpu.fifo, v);
    }
}

static void to_ram(const Plane *out, const u8 *result) {
    for (size_t c = 0; c < out->channels; c++)
        for (size_t y = 0; y < out->h; y++) {
            memcpy(row(out, c, y), result, out->w);
            result += out->w;
        }
}

static void run_layer(const Layer *l) {
    size_t size = l->out.pixels * l->out.channels;
    u8 *in = framed(l), *result = allocate(size, 0), *to = result;
    Piece pieces[PIECES];
    pieces_of(l, pieces);
    size_t channels = l->out.channels, at_once = l->depthwise ? 1 : PAIR;
    for (size_t o = 0; o < channels; o++) {
        const u8 *its = in + (l->depthwise ? o * framed_size(l) : 0);
        if (l->depthwise || !o)
            look(l, its);
        if (o % at_once == 0)
            add_up(l, its, o, channels - o < at_once ? channels - o : at_once);
        normalise(l, o, sum[o % at_once], pieces);
        for (size_t y = 0; y < l->out.h; y++)
            for (size_t x = 0; x < l->out.w; x++)
                *to++ = pooled(l, x, y);
    }
    if (l->to_fifo)
        to_fifo(result, size, l->fifo_bytes);
    else
        to_ram(&l->out, result);
    free(in);
    free(result);
}

static void take_argument(u64 v) {
    kpu.layer[kpu.layer_n++] = v;
    if (kpu.layer_n < LAYER_ARGS)
        return;
    kpu.layer_n = 0;
    kpu.layers++;
    Layer l = unpack(kpu.layer);
    kpu.raised |= ARGUMENTS_TAKEN;
    if (!impossible(&l)) { // else it never ends
        run_layer(&l);
        kpu.raised |= l.interrupt ? DONE : 0;
    }
    dma_pump();
}

static bool has_data(int unit) { return kpu.fifo.n; }

static u64 read(int unit, u32 o, u64 stored) {
    switch (o) {
    case FIFO_OUT:
        return TAKE(kpu.fifo);
    case INT_RAW:
        return kpu.raised;
    case INT_STATUS:
        return kpu.raised & ~REG(registers[0], INT_MASK);
    }
    return stored;
}

static void write(int unit, u32 o, u64 v) {
    if (o == ARGUMENT)
        take_argument(v);
    if (o == EIGHT_BIT)
        kpu.layers = 0; // a model begins
    if (o == INT_CLEAR)
        kpu.raised &= ~(u32)v;
    irq_set(IRQ_KPU, kpu.raised & ~REG(registers[0], INT_MASK) & 7);
}

const Device kpu_device = {
    .name = "KPU",
    .base = {0x40800000},
    .size = 0x10000,
    .width = 8,
    .read = read,
    .write = write,
    .has_data = has_data,
    .registers = registers,
    .state = &kpu,
    .state_size = sizeof kpu,
};
