// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The camera: an OV7740 as a file of registers, and the pictures that it sees.
#include "devices.h"

enum { PRODUCT = 0x0a, MANUFACTURER = 0x1c };

u8 *film;
u64 film_size;

static struct {
    u8 registers[256];
    u8 at; // the register that is meant
} camera;

static struct {
    u64 at; // of the next picture in the film
    u32 frames;
} shown;

static void reset(bool warm) {
    memcpy(camera.registers + PRODUCT, (u8[]){0x77, 0x42}, 2);
    memcpy(camera.registers + MANUFACTURER, (u8[]){0x7f, 0xa2}, 2);
}

void camera_point(u8 number) { camera.at = number; }

u8 camera_read(void) { return camera.registers[camera.at]; }

void camera_write(u8 value) { camera.registers[camera.at] = value; }

void camera_next(void) { camera.at++; }

u32 camera_frames(void) { return shown.frames; }

// After the last comes the first. In the film: width and height in 16 bits each, red, green, blue.
Picture camera_picture(void) {
    enum { HEAD = 4 };

    Picture p = {0, 0, NULL};
    if (shown.at + HEAD > film_size)
        shown.at = 0;
    memcpy(&p, film + shown.at, HEAD);
    p.rgb = film + shown.at + HEAD;
    shown.at += HEAD + 3 * (u64)p.w * p.h;
    shown.frames++;
    return shown.at <= film_size ? p : (Picture){1, 1, film}; // cut off: no such picture
}

const Device camera_device = {
    .name = "OV7740",
    .reset = reset,
    .state = &camera,
    .state_size = sizeof camera,
    .kept = &shown,
    .kept_size = sizeof shown,
};
