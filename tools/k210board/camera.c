// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The camera: an OV7740 as a file of registers behind I2C (i2c.h; Synopsys DW_apb_i2c) or the DVP's
// SCCB, and the DVP that puts its pictures into memory (dvp.h), 30 a second.
#include "board.h"

u8 *film; // pictures one after the other: width and height in 16 bits each, red, green, blue bytes
u64 film_size;
typedef struct { u16 w, h; const u8 *rgb; } Picture;

// After the last comes the first.
static Picture next_picture(void) {
    static u64 at;
    Picture p = {0, 0, NULL};
    if (at + 4 > film_size) at = 0;
    memcpy(&p, film + at, 4);
    p.rgb = film + at + 4;
    at += 4 + 3 * (u64)p.w * p.h;
    return at <= film_size ? p : (Picture){1, 1, film}; // cut off: no such picture
}

// --- its registers ---
enum { ADDRESS = 0x21 };

void camera_reset(void) {
    memcpy(board.camera.regs + 0x0a, (u8[]){0x77, 0x42}, 2); // product
    memcpy(board.camera.regs + 0x1c, (u8[]){0x7f, 0xa2}, 2); // manufacturer
}

enum { TARGET_ADDRESS = 0x04, COMMAND = 0x10, INT_STATUS = 0x2c, INT_RAW = 0x34 };
enum { CLEAR_ABORT = 0x54, ENABLE = 0x6c, I2C_STATUS = 0x70, RECEIVED = 0x78, WHY_ABORT = 0x80 };
enum { READ = 0x100 }; // COMMAND

u64 i2c_read(int device, u32 o, u64 stored) {
    I2c *i = &board.i2c[device - I2C];
    if (o == I2C_STATUS || o == RECEIVED) i->fresh = true;
    if (o == CLEAR_ABORT) i->missing = false;
    switch (o) {
    case COMMAND: return TAKE(i->got);
    case INT_STATUS: case INT_RAW: return (i->missing ? 0x40 : 0) | 0x10; // transmit FIFO empty
    case I2C_STATUS: return 6 | (i->got.n ? 8 : 0);
    case RECEIVED: return i->got.n;
    case WHY_ABORT: return i->missing;
    }
    return stored;
}

void i2c_write(int device, u32 o, u64 v) {
    I2c *i = &board.i2c[device - I2C];
    Camera *c = &board.camera;
    if (o == ENABLE || o == TARGET_ADDRESS) i->fresh = true;
    if (o == ENABLE && !v) i->got.n = 0;
    if (o != COMMAND) return;
    if (!film || (REG(device, TARGET_ADDRESS) & 0x7f) != ADDRESS) i->missing = true;
    else if (v & READ) PUT(i->got, c->regs[c->at++]);
    else if (i->fresh) c->at = (u8)v;
    else c->regs[c->at++] = (u8)v;
    i->fresh &= (v & READ) != 0;
}

// --- DVP ---
enum { CONFIG = 0x00, AI = 0x04, SCCB_CONFIG = 0x14, SCCB_CONTROL = 0x18, STATUS = 0x20 };
enum { DISPLAY = 0x28 };                                                                // address
enum { FRAME_START = 1, FRAME_FINISH = 0x100, CAPTURE = 0x10000, SCCB_GO = 0x3000000 }; // STATUS
enum { INT_START = 1, INT_FINISH = 2, TO_AI = 4, TO_DISPLAY = 8, BURST = 0x100 };       // CONFIG

static void update(void) {
    u32 c = REG(DVP, CONFIG), s = board.camera.status;
    irq_set(IRQ_DVP, (s & FRAME_START && c & INT_START) || (s & FRAME_FINISH && c & INT_FINISH));
}

// One picture: three planes for the KPU, and RGB565 with the two pixels of a word swapped.
static void frame(void) {
    u32 c = REG(DVP, CONFIG);
    size_t w = (c >> 12 & 0xff) * 8 * (c & BURST ? 4 : 1), h = c >> 20 & 0x3ff, n = w * h;
    u8 *plane[3], *display = c & TO_DISPLAY ? bus_memory(REG(DVP, DISPLAY), 2 * n) : NULL;
    for (u32 k = 0; k < 3; k++) plane[k] = c & TO_AI ? bus_memory(REG(DVP, AI + 4 * k), n) : NULL;
    Picture p = next_picture();
    host.frames++;
    for (size_t i = 0; i < n; i++) {
        size_t x = i % w * p.w / w, y = i / w * p.h / h;
        const u8 *rgb = p.rgb + 3 * (y * p.w + x);
        u16 v = (u16)((rgb[0] & 0xf8) << 8 | (rgb[1] & 0xfc) << 3 | rgb[2] >> 3);
        for (int k = 0; k < 3; k++)
            if (plane[k]) plane[k][i] = rgb[k];
        if (display) memcpy(display + 2 * (i ^ 1), &v, 2);
    }
}

void camera_tick(void) {
    Camera *c = &board.camera;
    u64 period = cpu_hertz() / 30;
    if (!film || board.cycles < c->next) return;
    if (!c->in_frame && REG(DVP, CONFIG) & (INT_START | INT_FINISH)) c->status |= FRAME_START;
    if (c->in_frame && c->status & CAPTURE) {
        frame();
        c->status = (c->status & ~(u32)CAPTURE) | FRAME_FINISH;
    }
    c->next = board.cycles + (c->in_frame ? period / 4 : period * 3 / 4);
    c->in_frame = !c->in_frame;
    update();
}

u64 dvp_read(int device, u32 o, u64 stored) {
    if (o == SCCB_CONFIG) return (stored & 0xffffff) | (u32)board.camera.read << 24;
    return o == STATUS ? board.camera.status : stored;
}

static void sccb(void) {
    Camera *c = &board.camera;
    u32 control = REG(DVP, SCCB_CONTROL), bytes = REG(DVP, SCCB_CONFIG) & 3;
    bool there = film && (control & 0xfe) == ADDRESS << 1, write = control & 1;
    if (there && write) c->at = (u8)(control >> 8);
    if (there && write && bytes >= 2) c->regs[c->at] = (u8)(control >> 16);
    c->read = there && !write ? c->regs[c->at] : 0xff;
}

// Each status bit has a write enable beside it.
void dvp_write(int device, u32 o, u64 v) {
    u32 *s = &board.camera.status;
    if (o == STATUS) {
        if ((v & 3) == 3) *s &= ~(u32)FRAME_START;
        if ((v & 0x300) == 0x300) *s &= ~(u32)FRAME_FINISH;
        if (v & 0x20000) *s = (*s & ~(u32)CAPTURE) | (v & CAPTURE);
        if ((v & SCCB_GO) == SCCB_GO) sccb();
    }
    update();
}
