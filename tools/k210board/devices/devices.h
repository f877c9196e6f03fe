// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the devices offer to each other, to the harts and to the board. A new device is a file with
// `const Device NAME_device` in it, and its row ROW(NAME) in devices.def.
#pragma once

#include "../bus.h"

extern const Device *const DEVICES[];
extern const u32 DEVICES_N;

// PLIC. Sources (plic.h: plic_irq_t); TIMER0: two for each of the three timers.
enum { IRQ_TIMER0 = 14, IRQ_DVP = 24, IRQ_KPU = 25, IRQ_DMA0 = 27, IRQ_UARTHS = 33 };

void irq_set(int irq, bool level);
u32 irq_wanted(int hart); // the most urgent source that the hart has to serve, or 0

// CLINT
enum { CPU_PER_MTIME = 50 }; // sysctl.c: it counts at CPU / 50

bool clint_software(int hart);
bool clint_timer(int hart);

// SYSCTL: frequencies in Hz; the program wants a reset, which the board does at the round's end
u64 cpu_hertz(void);
u64 timer_hertz(int timer);
extern bool reset_wanted;

// DMA: moves what can be moved; items of long blocks since the round began, a cycle each
enum { DMA_BASE = 0x50000000 };

void dma_pump(void);
extern u64 dma_moved;

// UARTHS: the serial line to the host
enum { MOST_OUT = 1 << 16 };

extern struct SerialOut {
    u8 byte[MOST_OUT];
    u32 n; // that the host has not taken
} serial_out;

bool uarths_type(u8 byte); // false: there is no room for it
u32 uarths_typed(void);    // bytes that are not on the line yet

// FPIOA: which function is at that pin
u32 fpioa_function(u32 pin);

// GPIOHS
u32 gpiohs_outputs(void);

// The flash, the SD card and the display hang on the SPI, which moves a byte each way.
enum { FLASH_SIZE = 16 << 20 }; // W25Q128

extern u8 flash_chip[FLASH_SIZE];
void flash_select(void);
void flash_deselect(void);
void flash_wait(void);
u8 flash_byte(u8 in);
u32 flash_read_from(void); // the address that was read last

extern u8 *sd_card; // null: none
extern u64 sd_size;
u8 sd_byte(u8 in);

enum { LCD_W = 480, LCD_H = 480 };

typedef struct {
    u64 pixels;        // drawn since the start
    u16 right, bottom; // size that was drawn on
} LcdDrawn;

LcdDrawn lcd_drawn(void);
u16 *lcd_pixels(void); // LCD_H rows of LCD_W, RGB565
void lcd_transfer(u32 frames);
void lcd_frame(u32 value, int bits);

// The camera hangs on I2C or on the DVP's SCCB, where it has registers, and gives pictures.
extern u8 *film; // what it sees: pictures one after the other; null: there is no camera
extern u64 film_size;

enum { CAMERA_ADDRESS = 0x21, CAMERA_CLOCK_PIN = 41, CAMERA_DATA_PIN = 40 };

void camera_point(u8 number); // at one of its registers, which is read and written
void camera_next(void);       // at the one behind it
u8 camera_read(void);
void camera_write(u8 value);
u32 camera_frames(void); // that it gave

typedef struct {
    u16 w, h;
    const u8 *rgb;
} Picture;

Picture camera_picture(void);
