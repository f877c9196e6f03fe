// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The camera: an OV7740 as a file of registers behind I2C (i2c.h) or the DVP's SCCB, and the DVP
// that puts its pictures into memory (dvp.h), 30 a second. What it sees: PPM pictures, or a
// pattern.
#include "board.h"
#include <stdlib.h>

enum {
    CONFIG = 0x00,
    AI_R = 0x04,
    AI_G = 0x08,
    AI_B = 0x0c,
    STATUS = 0x20,
    DISPLAY_ADDRESS = 0x28
};
enum { SCCB_CONFIG = 0x14, SCCB_CONTROL = 0x18 };
enum { FRAME_START = 1, FRAME_FINISH = 0x100, CAPTURE = 0x10000, SCCB_GO = 0x3000000 }; // STATUS
enum { INT_START = 1, INT_FINISH = 2, TO_AI = 4, TO_DISPLAY = 8, BURST = 0x100 };       // CONFIG
enum { ADDRESS = 0x21, FRAMES_A_SECOND = 30 };

bool camera_there;
static FILE *pictures; // PPM pictures one after the other; after the last comes the first
static u8 *picture;
static int picture_w, picture_h;

// --- what it sees ---

static bool read_picture(void) {
    int w, h, most;
    if (fscanf(pictures, " P6 %d %d %d", &w, &h, &most) != 3 || fgetc(pictures) < 0 || most != 255)
        return false;
    if (w <= 0 || h <= 0 || w > 10000 || h > 10000) return false;
    size_t n = 3 * (size_t)w * (size_t)h;
    u8 *data = malloc(n);
    if (!data || fread(data, 1, n, pictures) != n) {
        free(data);
        return false;
    }
    free(picture);
    picture = data;
    picture_w = w;
    picture_h = h;
    return true;
}

static void next_picture(void) {
    if (!pictures || read_picture()) return;
    rewind(pictures);
    read_picture();
}

// 0: fine. The pattern is a ramp in red and green, and a blue that moves with time.
int camera_open(const char *path) {
    camera_there = true;
    if (!strcmp(path, "pattern")) return 0;
    pictures = fopen(path, "rb");
    if (!pictures || !read_picture()) return -1;
    rewind(pictures);
    return 0;
}

static void pixel(int x, int y, int w, int h, u8 rgb[3]) {
    if (picture) {
        memcpy(rgb,
               picture + 3 * ((size_t)(y * picture_h / h) * (size_t)picture_w +
                              (size_t)(x * picture_w / w)),
               3);
    } else {
        rgb[0] = (u8)(x * 255 / w);
        rgb[1] = (u8)(y * 255 / h);
        rgb[2] = (u8)(board.camera.frames * 4);
    }
}

// --- its registers ---

static u8 sensor_register(u8 number) {
    switch (number) {
    case 0x0a: return 0x77; // product
    case 0x0b: return 0x42;
    case 0x1c: return 0x7f; // manufacturer
    case 0x1d: return 0xa2;
    }
    return board.camera.regs[number];
}

u64 i2c_read(u32 o, int size) {
    I2c *i = &board.i2c[o >> 16];
    u8 v;
    (void)size;
    switch (o & 0xff) {
    case 0x10:
        if (!i->got_n) return 0;
        v = i->got[0];
        memmove(i->got, i->got + 1, sizeof i->got - 1);
        i->got_n--;
        return v;
    case 0x2c:
    case 0x34: return (i->missing ? 0x40 : 0) | 0x10; // transmit abort, transmit empty
    case 0x54: i->missing = false; return 0;
    case 0x70: i->fresh = true; return 6 | (i->got_n ? 8 : 0);
    case 0x74: return 0;
    case 0x78: i->fresh = true; return (u64)i->got_n;
    case 0x80: return i->missing;
    }
    return i->regs[(o & 0xff) / 4];
}

static void i2c_command(I2c *i, u32 v) {
    Camera *c = &board.camera;
    if (!camera_there || (i->regs[1] & 0x7f) != ADDRESS) {
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

void i2c_write(u32 o, u64 v, int size) {
    I2c *i = &board.i2c[o >> 16];
    (void)size;
    o &= 0xff;
    if (o == 0x10) {
        i2c_command(i, (u32)v);
        return;
    }
    i->regs[o / 4] = (u32)v;
    if (o == 0x6c || o == 4) i->fresh = true;
    if (o == 0x6c && !v) i->got_n = 0;
}

// --- DVP ---

static void update(void) {
    u32 c = board.dvp[CONFIG], s = board.camera.status;
    irq_set(IRQ_DVP, (s & FRAME_START && c & INT_START) || (s & FRAME_FINISH && c & INT_FINISH));
    yield_harts();
}

static u8 *target(u32 reg, size_t bytes) {
    u64 a = board.dvp[reg / 4];
    return bytes && bus_memory(a) && bus_memory(a + bytes - 1) ? bus_memory(a) : NULL;
}

// One picture: three planes for the KPU, and RGB565 with the two pixels of a word swapped.
static void frame(void) {
    u32 c = board.dvp[CONFIG];
    int w = (int)(c >> 12 & 0xff) * 8 * (c & BURST ? 4 : 1), h = (int)(c >> 20 & 0x3ff);
    size_t n = (size_t)w * (size_t)h;
    u8 *plane[3] = {target(AI_R, n), target(AI_G, n), target(AI_B, n)};
    u8 *display = target(DISPLAY_ADDRESS, 2 * n), rgb[3];
    if (!n) return;
    next_picture();
    board.camera.frames++;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            size_t i = (size_t)y * (size_t)w + (size_t)x;
            pixel(x, y, w, h, rgb);
            for (int k = 0; c & TO_AI && k < 3; k++)
                if (plane[k]) plane[k][i] = rgb[k];
            if (c & TO_DISPLAY && display) {
                u16 v = (u16)((rgb[0] & 0xf8) << 8 | (rgb[1] & 0xfc) << 3 | rgb[2] >> 3);
                memcpy(display + 2 * (i ^ 1), &v, 2);
            }
        }
}

void camera_tick(void) {
    Camera *c = &board.camera;
    u64 period = (u64)(cpu_hertz() / FRAMES_A_SECOND);
    if (!camera_there || board.cycles < c->next) return;
    if (!c->in_frame) {
        if (board.dvp[CONFIG] & 3) {
            c->status |= FRAME_START;
            update();
        }
        c->next = board.cycles + period * 3 / 4;
    } else {
        if (c->status & CAPTURE) {
            frame();
            c->status = (c->status & ~(u32)CAPTURE) | FRAME_FINISH;
            update();
        }
        c->next = board.cycles + period / 4;
    }
    c->in_frame = !c->in_frame;
}

u64 dvp_read(u32 o, int size) {
    (void)size;
    o &= 0xff;
    if (o == SCCB_CONFIG) return (board.dvp[o / 4] & 0xffffff) | (u32)board.camera.read << 24;
    return o == STATUS ? board.camera.status : board.dvp[o / 4];
}

static void sccb(void) {
    Camera *c = &board.camera;
    u32 control = board.dvp[SCCB_CONTROL / 4], bytes = board.dvp[SCCB_CONFIG / 4] & 3;
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
static void write_status(u32 v) {
    u32 *s = &board.camera.status;
    if ((v & 3) == 3) *s &= ~(u32)FRAME_START;
    if ((v & 0x300) == 0x300) *s &= ~(u32)FRAME_FINISH;
    if (v & 0x20000) *s = (*s & ~(u32)CAPTURE) | (v & CAPTURE);
    if ((v & SCCB_GO) == SCCB_GO) sccb();
    update();
}

void dvp_write(u32 o, u64 v, int size) {
    (void)size;
    o &= 0xff;
    if (o == STATUS) {
        write_status((u32)v);
        return;
    }
    board.dvp[o / 4] = (u32)v;
    if (o == CONFIG) update();
}
