// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// DVP (dvp.h): puts the camera's pictures into the RAM, 30 a second; its SCCB reaches the camera's
// registers.
#include "devices.h"

enum { CONFIG = 0x00, AI = 0x04, SCCB_CONFIG = 0x14, SCCB_CONTROL = 0x18, STATUS = 0x20 };

enum { DISPLAY = 0x28 }; // address

enum { INT_START = 1, INT_FINISH = 2, TO_AI = 4, TO_DISPLAY = 8, BURST = 0x100 }; // CONFIG

// STATUS, where each bit has a write enable beside it
enum { FRAME_START = 1, FRAME_FINISH = 0x100, CAPTURE = 0x10000, SCCB_GO = 0x1000000 };

enum { FRAMES_PER_SECOND = 30 };

static Registers registers[1];

static struct {
    u8 sccb_read; // answer of the last read
    u32 status;
    bool in_frame;
    u64 next; // cycle of the next frame start or end
} dvp;

static void update(void) {
    u32 config = REG(registers[0], CONFIG);
    bool start = dvp.status & FRAME_START && config & INT_START;
    bool finish = dvp.status & FRAME_FINISH && config & INT_FINISH;
    irq_set(IRQ_DVP, start || finish);
}

static u8 *target(u32 o, u64 size) { return ram_at(REG(registers[0], o), size); }

// One picture, whole when it begins: three planes for the KPU, RGB565 with a word's pixels
// swapped.
static void frame(void) {
    u32 config = REG(registers[0], CONFIG);
    size_t w = (config >> 12 & 0xff) * 8 * (config & BURST ? 4 : 1), h = config >> 20 & 0x3ff;
    size_t n = w * h;
    u8 *plane[3], *display = config & TO_DISPLAY ? target(DISPLAY, 2 * n) : NULL;
    for (u32 k = 0; k < 3; k++)
        plane[k] = config & TO_AI ? target(AI + 4 * k, n) : NULL;
    Picture p = camera_picture();
    for (size_t i = 0; i < n; i++) {
        size_t x = i % w * p.w / w, y = i / w * p.h / h;
        const u8 *rgb = p.rgb + 3 * (y * p.w + x);
        u16 v = (u16)((rgb[0] & 0xf8) << 8 | (rgb[1] & 0xfc) << 3 | rgb[2] >> 3);
        for (int k = 0; k < 3; k++)
            if (plane[k])
                plane[k][i] = rgb[k];
        if (display)
            memcpy(display + 2 * (i ^ 1), &v, 2);
    }
}

static u64 next(u64 before) { return film && dvp.next < before ? dvp.next : before; }

static void start_frame(void) {
    if (REG(registers[0], CONFIG) & (INT_START | INT_FINISH))
        dvp.status |= FRAME_START;
    if (dvp.status & CAPTURE)
        frame();
}

static void finish_frame(void) {
    if (dvp.status & CAPTURE)
        dvp.status = (dvp.status & ~(u32)CAPTURE) | FRAME_FINISH;
}

static void tick(void) {
    if (!film || cycles < dvp.next)
        return;
    u64 period = cpu_hertz() / FRAMES_PER_SECOND;
    if (dvp.in_frame) {
        finish_frame();
        dvp.next = cycles + period / 4;
    } else {
        start_frame();
        dvp.next = cycles + period * 3 / 4;
    }
    dvp.in_frame = !dvp.in_frame;
    update();
}

static u64 read(int unit, u32 o, u64 stored) {
    if (o == SCCB_CONFIG)
        return (stored & 0xffffff) | (u32)dvp.sccb_read << 24;
    return o == STATUS ? dvp.status : stored;
}

static void sccb(void) {
    u32 control = REG(registers[0], SCCB_CONTROL), bytes = REG(registers[0], SCCB_CONFIG) & 3;
    bool write = control & 1;
    dvp.sccb_read = 0xff;
    if (!film || (control & 0xfe) != CAMERA_ADDRESS << 1)
        return;
    if (!write) {
        dvp.sccb_read = camera_read();
        return;
    }
    camera_point((u8)(control >> 8));
    if (bytes >= 2)
        camera_write((u8)(control >> 16));
}

// Whether `v` has the bit and its write enable.
static bool enabled(u64 v, u64 bit) { return v & bit && v & bit << 1; }

static void write_status(u64 v) {
    bool capture_too = v & CAPTURE << 1;
    if (enabled(v, FRAME_START))
        dvp.status &= ~(u32)FRAME_START;
    if (enabled(v, FRAME_FINISH))
        dvp.status &= ~(u32)FRAME_FINISH;
    if (dvp.in_frame && capture_too && v & CAPTURE & ~dvp.status)
        frame();
    if (capture_too)
        dvp.status = (dvp.status & ~(u32)CAPTURE) | (v & CAPTURE);
    if (enabled(v, SCCB_GO))
        sccb();
}

static void write(int unit, u32 o, u64 v) {
    if (o == STATUS)
        write_status(v);
    update();
}

const Device dvp_device = {
    .name = "DVP",
    .base = {0x50430000},
    .size = 0x10000,
    .width = 4,
    .read = read,
    .write = write,
    .tick = tick,
    .next = next,
    .registers = registers,
    .state = &dvp,
    .state_size = sizeof dvp,
};
