// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The KPU: convolution layers with batch normalisation, activation and pooling, in the AI RAM or out to its FIFO.
// A layer takes no time. Source: kpu.h (kpu_layer_argument_t); rounding checked against V3 models on boards.
#include "board.h"
#include <stdlib.h>

enum { LAYER_ARGS = 12, INT_STATUS = 0x08, INT_RAW = 0x10, INT_MASK = 0x18, INT_CLEAR = 0x20 };
enum { FIFO_OUT = 0x30, EIGHT_BIT = 0x40, DONE = 1, ARGUMENTS_TAKEN = 2 };
enum { AI_MASK = (2 << 20) - 1, PIECES = 16 };

typedef struct { // of an image in the AI RAM: 64-byte rows, in which 1, 2 or 4 channels stand side by side
    u32 at, rows, channel_rows, groups;
    int channels, w, h;
} Plane;

typedef struct {
    Plane in, out;
    bool interrupt, depthwise, to_fifo;
    int kernel, pool;
    u8 padding;
    const u8 *weights, *norm, *activation;
    int shift_w, shift_x;
    s64 arg_w, arg_x, arg_add;
    u64 fifo_bytes;
} Layer;

static u64 cut(u64 v, int from, int bits) {
    return v >> from & ((1ull << bits) - 1);
}

static s64 cut_signed(u64 v, int from, int bits) {
    return (s64)(v << (64 - bits - from)) >> (64 - bits);
}

static u8 *pointer(u64 address) {
    u32 a = (u32)address;
    return bus_memory(a < RAM_UNCACHED ? a | RAM_UNCACHED : a);
}

static Layer unpack(const u64 *a) {
    Layer l = {0};
    l.interrupt = a[0] & 1;
    l.depthwise = cut(a[0], 3, 1);
    l.in.at = (u32)cut(a[1], 0, 15) * 64;
    l.out.at = (u32)cut(a[1], 32, 15) * 64;
    l.in.channels = (int)cut(a[2], 0, 10) + 1;
    l.out.channels = (int)cut(a[2], 32, 10) + 1;
    l.in.w = (int)cut(a[3], 0, 10) + 1;
    l.in.h = (int)cut(a[3], 10, 9) + 1;
    l.out.w = (int)cut(a[3], 32, 10) + 1;
    l.out.h = (int)cut(a[3], 42, 9) + 1;
    l.kernel = cut(a[4], 0, 3) ? 3 : 1;
    l.pool = (int)cut(a[4], 4, 4);
    l.padding = (u8)(a[4] >> 24);
    l.norm = pointer(a[4] >> 32);
    l.weights = pointer(a[5] >> 32);
    l.in.channel_rows = (u32)cut(a[7], 0, 15);
    l.in.rows = (u32)cut(a[7], 16, 4);
    l.in.groups = cut(a[7], 28, 3) ? (u32)cut(a[7], 28, 3) : 1;
    l.activation = pointer(a[7] >> 32);
    l.out.channel_rows = (u32)cut(a[8], 0, 15);
    l.out.rows = (u32)cut(a[8], 16, 4);
    l.out.groups = cut(a[8], 20, 3) ? (u32)cut(a[8], 20, 3) : 1;
    l.shift_w = (int)cut(a[9], 0, 4);
    l.shift_x = (int)cut(a[9], 4, 4);
    l.arg_w = cut_signed(a[9], 8, 24);
    l.arg_x = cut_signed(a[9], 32, 24);
    l.arg_add = cut_signed(a[10], 0, 40);
    l.to_fifo = a[11] & 1;
    l.fifo_bytes = (a[11] >> 32) + 1;
    return l;
}

// v / 2^s, halves away from zero for positive numbers and to the even one below zero
static s64 shift_round(s64 v, int s) {
    if (s <= 0)
        return v;
    v >>= s - 1;
    if (!(v & 1))
        return v >> 1;
    return v < 0 ? (v >> 1) + (v >> 1 & 1) : (v >> 1) + 1;
}

static u8 *row(const Plane *p, int channel, int y) {
    static u8 outside[1024]; // what lies past the AI RAM is nobody's
    u32 c = (u32)channel, width = 64 / p->groups;
    u32 at = p->at + (c / p->groups * p->channel_rows + (u32)y * p->rows) * 64 + c % p->groups * width;
    at &= AI_MASK;
    return at + (u32)p->w <= AI_MASK + 1u ? ram + KPU_RAM + at : outside;
}

// The input with a border of one pixel, all channels.
static u8 *framed(const Layer *l) {
    size_t w = (size_t)l->in.w + 2, h = (size_t)l->in.h + 2;
    u8 *all = malloc(w * h * (size_t)l->in.channels);
    if (!all)
        abort();
    memset(all, l->padding, w * h * (size_t)l->in.channels);
    for (int c = 0; c < l->in.channels; c++)
        for (int y = 0; y < l->in.h; y++)
            memcpy(all + ((size_t)c * h + (size_t)y + 1) * w + 1, row(&l->in, c, y), (size_t)l->in.w);
    return all;
}

static s32 weight(const Layer *l, size_t i) {
    if (board.kpu.regs[EIGHT_BIT / 4] & 1)
        return l->weights[i];
    u16 v;
    memcpy(&v, l->weights + 2 * i, 2);
    return v;
}

// Adds one input channel's products to sum, and its pixels under the kernel to seen; returns the sum of its weights.
static s64 convolve(const Layer *l, const u8 *in, size_t first, s64 *sum, s64 *seen) {
    int k = l->kernel, w = l->in.w, stride = w + 2;
    s64 weights = 0;
    for (int ky = 0; ky < k; ky++)
        for (int kx = 0; kx < k; kx++) {
            s32 factor = weight(l, first + (size_t)(ky * k + kx));
            int dy = k == 1 ? 1 : ky, dx = k == 1 ? 1 : kx;
            weights += factor;
            for (int y = 0; y < l->in.h; y++) {
                const u8 *p = in + (y + dy) * stride + dx;
                s64 *to = sum + y * w, *also = seen + y * w;
                for (int x = 0; x < w; x++) {
                    to[x] += (s64)(factor * (s32)p[x]);
                    also[x] += p[x];
                }
            }
        }
    return weights;
}

// Batch normalisation, then the activation's piece in whose range the value lies.
static u8 activate(const Layer *l, u64 norm, const u64 *pieces, s64 v) {
    const u8 *bias = l->activation + PIECES * 8;
    int i = PIECES - 1;
    v = (v * cut_signed(norm, 0, 24) >> cut(norm, 56, 4)) + cut_signed(norm, 24, 32);
    while (i > 0 && v <= cut_signed(pieces[i], 24, 36))
        i--;
    s64 from = cut_signed(pieces[i], 24, 36), slope = cut_signed(pieces[i], 8, 16);
    s64 r = shift_round((v - from) * slope, (int)(pieces[i] & 255)) + bias[i];
    return r < 0 ? 0 : r > 255 ? 255 : (u8)r;
}

// kind (kpu.h: kpu_pool_type_t) -> stride, window, 'm'ax or 'a'verage or 'l'eft top or 'r'ight of it
static const struct { u8 stride, window, what; } POOLS[10] = {
    {1, 1, 'l'}, {2, 2, 'm'}, {2, 2, 'a'}, {4, 4, 'm'}, {4, 4, 'a'},
    {2, 1, 'l'}, {2, 2, 'r'}, {4, 1, 'l'}, {1, 2, 'a'}, {1, 2, 'm'},
};

static u8 pooled(const Layer *l, const u8 *image, int x, int y) {
    int kind = l->pool < 10 ? l->pool : 0, n = POOLS[kind].window, sum = 0, most = 0;
    x *= POOLS[kind].stride;
    y *= POOLS[kind].stride;
    for (int j = y; j < y + n; j++)
        for (int i = x; i < x + n; i++) {
            int v = image[(j < l->in.h ? j : l->in.h - 1) * l->in.w + (i < l->in.w ? i : l->in.w - 1)];
            sum += v;
            most = v > most ? v : most;
            if (POOLS[kind].what == 'r' && j == y && i == x + 1)
                return (u8)v;
        }
    return (u8)(POOLS[kind].what == 'a' ? sum / (n * n) : most);
}

static void one_channel(const Layer *l, int o, const u8 *in, s64 *sum, s64 *seen, u8 *image) {
    size_t pixels = (size_t)l->in.w * (size_t)l->in.h, k2 = (size_t)(l->kernel * l->kernel);
    size_t framed_size = ((size_t)l->in.w + 2) * ((size_t)l->in.h + 2);
    int n = l->depthwise ? 1 : l->in.channels;
    s64 correction = 0;
    u64 norm, pieces[PIECES];
    memset(sum, 0, pixels * sizeof *sum);
    memset(seen, 0, pixels * sizeof *seen);
    for (int c = 0; c < n; c++) {
        size_t from = (size_t)(l->depthwise ? o : c), index = l->depthwise ? from : (size_t)o * (size_t)n + from;
        correction += convolve(l, in + from * framed_size, index * k2, sum, seen);
    }
    correction = shift_round(l->arg_w * correction, l->shift_w) + l->arg_add * n;
    memcpy(&norm, l->norm + 8 * o, 8);
    memcpy(pieces, l->activation, sizeof pieces);
    for (size_t i = 0; i < pixels; i++)
        image[i] = activate(l, norm, pieces, sum[i] + shift_round(l->arg_x * seen[i], l->shift_x) + correction);
}

static void to_fifo(const u8 *result, size_t size, u64 wanted) {
    Kpu *k = &board.kpu;
    u64 n = wanted < KPU_FIFO - 16 ? wanted : KPU_FIFO - 16;
    k->fifo_at = 0;
    k->fifo_n = (u32)((n + 15) & ~7ull);
    memset(k->fifo, 0, k->fifo_n);
    memcpy(k->fifo, result, n < size ? n : size);
}

static void run_layer(const Layer *l) {
    size_t pixels = (size_t)l->in.w * (size_t)l->in.h, out = (size_t)l->out.w * (size_t)l->out.h;
    u8 *in = framed(l), *image = malloc(pixels), *result = calloc((size_t)l->out.channels, out);
    s64 *sum = malloc(pixels * sizeof *sum), *seen = malloc(pixels * sizeof *seen);
    if (!image || !result || !sum || !seen)
        abort();
    for (int o = 0; o < l->out.channels && l->weights && l->norm && l->activation; o++) {
        one_channel(l, o, in, sum, seen, image);
        u8 *to = result + (size_t)o * out;
        for (int y = 0; y < l->out.h; y++)
            for (int x = 0; x < l->out.w; x++)
                to[y * l->out.w + x] = pooled(l, image, x, y);
    }
    if (l->to_fifo)
        to_fifo(result, out * (size_t)l->out.channels, l->fifo_bytes);
    else
        for (int c = 0; c < l->out.channels; c++)
            for (int y = 0; y < l->out.h; y++)
                memcpy(row(&l->out, c, y), result + ((size_t)c * (size_t)l->out.h + (size_t)y) * (size_t)l->out.w,
                       (size_t)l->out.w);
    free(in), free(image), free(result), free(sum), free(seen);
}

static void update(void) {
    irq_set(IRQ_KPU, board.kpu.raised & ~board.kpu.mask & 7);
    yield_harts();
}

static void take_argument(u64 v) {
    Kpu *k = &board.kpu;
    k->layer[k->layer_n++] = v;
    if (k->layer_n < LAYER_ARGS)
        return;
    k->layer_n = 0;
    Layer l = unpack(k->layer);
    run_layer(&l);
    k->raised |= (l.interrupt ? DONE : 0) | ARGUMENTS_TAKEN;
    dma_pump();
    update();
}

u64 kpu_read(u32 o, int size) {
    Kpu *k = &board.kpu;
    u64 v = 0;
    (void)size;
    switch (o) {
    case INT_STATUS: return k->raised & ~k->mask;
    case INT_RAW: return k->raised;
    case INT_MASK: return k->mask;
    case FIFO_OUT:
        if (k->fifo_at < k->fifo_n) {
            memcpy(&v, k->fifo + k->fifo_at, 8);
            k->fifo_at += 8;
        }
        return v;
    }
    return o < 1024 ? k->regs[o / 4] : 0;
}

void kpu_write(u32 o, u64 v, int size) {
    Kpu *k = &board.kpu;
    (void)size;
    switch (o) {
    case 0: take_argument(v); return;
    case INT_MASK: k->mask = v & 7; update(); return;
    case INT_CLEAR: k->raised &= ~(u32)v; update(); return;
    }
    if (o < 1024)
        k->regs[o / 4] = (u32)v;
}
