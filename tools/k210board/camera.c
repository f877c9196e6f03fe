// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The camera: an OV7740 as a file of registers behind I2C (i2c.h; Synopsys DW_apb_i2c) or the DVP's
// SCCB, and the DVP that puts its pictures into memory (dvp.h), 30 a second. What it sees: PPM
// pictures, or a pattern.
#include "board.h"
#include <stdlib.h>

bool camera_there;
static FILE *pictures; // PPM pictures one after the other; after the last comes the first
static u8 *picture;
static int picture_w, picture_h;

// --- what it sees ---

static bool read_picture(void) {
    int w, h, most;
    if (fscanf(pictures, " P6 %d %d %d", &w, &h, &most) != 3 || fgetc(pictures) < 0 ||
        most != 255 || w <= 0 || h <= 0 || w > 10000 || h > 10000)
        return false;
    size_t n = 3 * (size_t)w * (size_t)h;
    u8 *data = realloc(picture, n);
    if (!data) return false;
    picture = data;
    picture_w = w;
    picture_h = h;
    return fread(data, 1, n, pictures) == n;
}

static void next_picture(void) {
    if (!pictures || read_picture()) return;
    rewind(pictures);
    read_picture();
}

// A ramp in red and green and a blue that moves with time, or PPM pictures.
bool camera_open(const char *path) {
    camera_there = true;
    if (!strcmp(path, "pattern")) return true;
    pictures = fopen(path, "rb");
    if (!pictures || !read_picture()) return false;
    rewind(pictures);
    return true;
}

static void pixel(int x, int y, int w, int h, u8 rgb[3]) {
    const u8 ramp[3] = {(u8)(x * 255 / w), (u8)(y * 255 / h), (u8)(host.frames * 4)};
    size_t at = picture ? (size_t)(y * picture_h / h * picture_w + x * picture_w / w) : 0;
    memcpy(rgb, picture ? picture + 3 * at : ramp, 3);
}

// --- its registers ---

enum { ADDRESS = 0x21 };

static u8 sensor_register(u8 number) {
    switch (number) {
    case 0x0a: return 0x77; // product
    case 0x0b: return 0x42;
    case 0x1c: return 0x7f; // manufacturer
    case 0x1d: return 0xa2;
    }
    return board.camera.regs[number];
}

enum { TARGET_ADDRESS = 0x04, COMMAND = 0x10, CLEAR_ABORT = 0x54, ENABLE = 0x6c };

u64 i2c_read(int device, u32 o, u64 stored) {
    I2c *i = &board.i2c[device - I2C];
    switch (o) {
    case COMMAND:
        if (!i->got_n) return 0;
        stored = i->got[0];
        memmove(i->got, i->got + 1, sizeof i->got - 1);
        i->got_n--;
        break;
    case 0x2c: case 0x34: return (i->missing ? 0x40 : 0) | 0x10; // transmit abort, transmit empty
    case CLEAR_ABORT: i->missing = false; return 0;
    case 0x70: i->fresh = true; return 6 | (i->got_n ? 8 : 0);
    case 0x74: return 0;
    case 0x78: i->fresh = true; return (u64)i->got_n;
    case 0x80: return i->missing;
    }
    return stored;
}

void i2c_write(int device, u32 o, u64 v) {
    I2c *i = &board.i2c[device - I2C];
    Camera *c = &board.camera;
    if (o == ENABLE || o == TARGET_ADDRESS) i->fresh = true;
    if (o == ENABLE && !v) i->got_n = 0;
    if (o != COMMAND) return;
    if (!camera_there || (REG(device, TARGET_ADDRESS) & 0x7f) != ADDRESS) {
        i->missing = true;
    } else if (v & 0x100) { // read
        if (i->got_n < (int)sizeof i->got) i->got[i->got_n++] = sensor_register(c->at++);
    } else if (i->fresh) {
        c->at = (u8)v;
        i->fresh = false;
    } else {
        c->regs[c->at++] = (u8)v;
    }
}

// --- DVP ---

enum { CONFIG = 0x00, AI = 0x04, SCCB_CONFIG = 0x14, SCCB_CONTROL = 0x18, STATUS = 0x20 };
enum { DISPLAY = 0x28 };                                                                // address
enum { FRAME_START = 1, FRAME_FINISH = 0x100, CAPTURE = 0x10000, SCCB_GO = 0x3000000 }; // STATUS
enum { INT_START = 1, INT_FINISH = 2, TO_AI = 4, TO_DISPLAY = 8, BURST = 0x100 };       // CONFIG

static void update(void) {
    u32 c = REG(DVP, CONFIG), s = board.camera.status;
    irq_set(IRQ_DVP, (s & FRAME_START && c & INT_START) || (s & FRAME_FINISH && c & INT_FINISH));
    yield_harts();
}

// One picture: three planes for the KPU, and RGB565 with the two pixels of a word swapped.
static void frame(void) {
    u32 c = REG(DVP, CONFIG);
    int w = (int)(c >> 12 & 0xff) * 8 * (c & BURST ? 4 : 1), h = (int)(c >> 20 & 0x3ff);
    size_t n = (size_t)w * (size_t)h;
    u8 *plane[3], rgb[3], *display = c & TO_DISPLAY ? bus_memory(REG(DVP, DISPLAY), 2 * n) : NULL;
    for (u32 k = 0; k < 3; k++) plane[k] = c & TO_AI ? bus_memory(REG(DVP, AI + 4 * k), n) : NULL;
    if (!n) return;
    next_picture();
    host.frames++;
    for (size_t i = 0; i < n; i++) {
        pixel((int)i % w, (int)i / w, w, h, rgb);
        for (int k = 0; k < 3; k++)
            if (plane[k]) plane[k][i] = rgb[k];
        u16 v = (u16)((rgb[0] & 0xf8) << 8 | (rgb[1] & 0xfc) << 3 | rgb[2] >> 3);
        if (display) memcpy(display + 2 * (i ^ 1), &v, 2);
    }
}

void camera_tick(void) {
    Camera *c = &board.camera;
    u64 period = cpu_hertz() / 30;
    if (!camera_there || board.cycles < c->next) return;
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
    c->read = 0xff;
    if (!camera_there || (control & 0xfe) != ADDRESS << 1) return;
    if (control & 1) { // write
        c->at = (u8)(control >> 8);
        if (bytes >= 2) c->regs[c->at] = (u8)(control >> 16);
    } else {
        c->read = sensor_register(c->at);
    }
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
