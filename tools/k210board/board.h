// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board: the state of every device in one flat struct (so that it can be saved),
// and what each file offers to the others. Facts: K210 datasheet v0.1.5, headers and drivers of
// kendryte-standalone-sdk 7fdb511.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
    RAM_SIZE = 8 << 20,    // 6 MiB for the cores and 2 MiB for the KPU, which the cores reach too
    KPU_RAM = 6 << 20,     // where the KPU's part begins
    FLASH_SIZE = 16 << 20, // W25Q128
    SPI_SENT = 1 << 18,    // frames a transfer can hold before it starts
    SPI_GOT = 1 << 17,     // frames that wait to be read
    KPU_FIFO = 1 << 20,
    SERIAL_QUEUE = 1 << 16,
    HARTS = 2,
};
#define RAM_CACHED 0x80000000ull   // platform.h: SRAM0_MEM_ADDR
#define RAM_UNCACHED 0x40000000ull // the same bytes, past the caches
#define CYCLES_PER_INSTRUCTION 2   // brings the speed of boot and Python loops close to the chip's
#define CPU_PER_MTIME 50           // sysctl.c: the CLINT counts at CPU / 50

// Interrupt sources of the PLIC (plic.h: plic_irq_t).
enum {
    IRQ_TIMER0 = 14, // two for each of three timers
    IRQ_DVP = 24,
    IRQ_KPU = 25,
    IRQ_DMA0 = 27,
    IRQ_UARTHS = 33,
};

typedef struct {
    u64 x[33]; // x[32] takes what is written to x0
    u64 f[32];
    u64 pc;
    u64 mstatus, mie, mtvec, mepc, mcause, mbadaddr, mscratch, mideleg, medeleg, fcsr;
    u64 csr[4096]; // those without a meaning here: what was written is read
    u64 reserved;  // offset in RAM that LR reserved
    bool has_reserved;
    int id;
    bool waiting; // WFI
    bool yield;   // leave the run loop: interrupts may have changed
    int trap;     // 1 + cause of a fault in a memory access
    u64 trap_value;
    u64 instructions;
    bool spinning; // in a loop that changes nothing
} Hart;

typedef struct {
    u32 regs[0x120 / 4];
    u32 sent[SPI_SENT];
    u32 sent_n;
    u32 got[SPI_GOT];
    u32 got_at, got_n;
    bool receiving; // this command's answer has been clocked in
    int phase;      // of an enhanced transfer: 0 instruction, 1 address, 2 data
} Spi;

typedef struct {
    bool selected;
    u8 command;
    int byte; // of the command
    u32 address, page_address;
    u8 status[3];
    u8 page[256];
    int page_n;
    bool writable;
} Flash;

typedef struct {
    u8 command[6];
    int command_n;
    u8 answer[2048];
    int answer_at, answer_n;
    bool idle, application, reading;
    int writing, block_n; // command 24 or 25; bytes of the block so far, -1 before its token
    u32 block;
    u8 data[512];
} Sd;

typedef struct {
    u64 source, target, block, ctl, cfg, next, enabled, status, signalled;
    u64 left, from, to;
    bool active;
} DmaChannel;

typedef struct {
    u32 load, ctrl;
    u64 start, period, next;
    bool raised;
} TimerChannel;

typedef struct {
    u32 regs[64];
    bool missing, fresh; // no device at the address; the next byte written is a register number
    u8 got[16];
    int got_n;
} I2c;

typedef struct {
    u8 regs[256];
    u8 at;      // register that the next access means
    u8 read;    // answer of the last SCCB read
    u32 status; // of the DVP
    bool in_frame;
    u64 next;   // cycle of the next frame start or end
    u32 frames; // pictures given to the firmware
} Camera;

typedef struct {
    u32 regs[256];
    u64 layer[12];
    int layer_n;
    u32 raised, mask;
    u8 fifo[KPU_FIFO];
    u32 fifo_at, fifo_n;
} Kpu;

typedef struct {
    u32 regs[64];
    u32 hash[8];
    u8 block[64];
    int block_n;
} Sha;

typedef struct {
    u32 priority[128], pending[4], level[4], serving[4], enabled[HARTS][4], threshold[HARTS];
} Plic;

typedef struct {
    u32 txctrl, rxctrl, ie, div;
    u8 fifo[8];
    int fifo_n;
    u64 next; // cycle at which the next byte arrives
} Uarths;

enum { LCD_W = 480, LCD_H = 480 };
typedef struct {
    u8 command;
    int byte;   // of its arguments
    u16 box[4]; // x0 x1 y0 y1, inclusive
    u16 x, y;
    u8 half;
    u32 dc;      // bit of the GPIOHS output that tells data from commands; 0: not known yet
    u32 outputs; // as they were at the last transfer
    bool was_write, lone; // the last transfer was RAMWR; this one is a single frame
    u64 pixels;           // drawn since the last look
    u16 right, bottom;    // size that was drawn on
    u16 pixel[LCD_H][LCD_W];
} Lcd;

typedef struct {
    Hart hart[HARTS];
    u64 cycles;
    u32 msip[HARTS];
    u64 mtimecmp[HARTS];
    Plic plic;
    Uarths uarths;
    u32 sysctl[64], gpiohs[64], gpio[64], fpioa[256], otp[64];
    u32 uart[3][64];
    I2c i2c[3];
    u32 rtc[64];
    u64 rtc_cycle;
    s64 rtc_second;
    u32 dvp[64];
    Camera camera;
    Kpu kpu;
    Sha sha;
    Sd sd;
    TimerChannel timer[3][4];
    Spi spi[4];
    Flash flash;
    Lcd lcd;
    DmaChannel dma[6];
    u64 dma_cfg;
    u8 typed[SERIAL_QUEUE]; // bytes from the host that are not on the wire yet
    u32 typed_at, typed_n;
    u64 resets;
} Board;

extern Board board;
extern u8 *ram, *flash_chip, *sd_card;
extern u64 sd_size;
extern bool reset_wanted;
extern s64 done_now; // instructions of the running quantum so far: time inside it
extern int serial_speedup;

// cpu.c, decode.c, csr.c
typedef struct {
    u16 op;
    u8 rd, rs1, rs2, len, rs3, rm;
    s32 imm;
    u32 raw;
} Decoded;
extern Decoded *decoded; // one for each halfword of RAM
void cpu_start(void);
void cpu_forget(void); // what was decoded: code may have changed
void decode(Decoded *d);
s64 hart_run(Hart *h, s64 count);
s64 hart_step(Hart *h);
bool hart_spins(Hart *h, int most, s64 *used);
void hart_trap(Hart *h, u64 cause, u64 value);
bool hart_interrupt(Hart *h);
u64 hart_mip(const Hart *h);
u64 csr_read(Hart *h, u32 number);
void csr_write(Hart *h, u32 number, u64 value);

static inline u64 now(void) { return board.cycles + (u64)done_now * CYCLES_PER_INSTRUCTION; }

static inline void yield_harts(void) { board.hart[0].yield = board.hart[1].yield = true; }

// bus.c: h is null for DMA
u64 bus_read(Hart *h, u64 address, int size);
void bus_write(Hart *h, u64 address, u64 value, int size);
u8 *bus_memory(u64 address); // null when it is no RAM
void not_modelled(const char *what, u64 address);

// interrupts.c
void irq_set(int irq, bool level);
bool irq_wanted(int hart);
u64 plic_read(u32 offset, int size);
void plic_write(u32 offset, u64 value, int size);
u64 clint_read(u32 offset, int size);
void clint_write(u32 offset, u64 value, int size);

// one line a device: its registers, and what passing time does to it
#define DEVICE(name) \
    u64 name##_read(u32 offset, int size); \
    void name##_write(u32 offset, u64 value, int size);
DEVICE(uarths)
DEVICE(uart)
DEVICE(dma)
DEVICE(gpio)
DEVICE(gpiohs)
DEVICE(fpioa)
DEVICE(sysctl)
DEVICE(timer)
DEVICE(rtc)
DEVICE(spi0)
DEVICE(spi1)
DEVICE(spi2)
DEVICE(spi3)
DEVICE(i2c)
DEVICE(dvp)
DEVICE(kpu)
DEVICE(sha)
DEVICE(otp)
void uarths_tick(void);
void timer_tick(void);
void camera_tick(void);
u64 timer_next(u64 before);
double cpu_hertz(void);
void clocks_reset(bool warm);
void dma_reset(void);
void dma_pump(void);
u8 flash_byte(u8 in);
void flash_wait(void);
void flash_select(void);
void flash_deselect(void);
u8 sd_byte(u8 in);
void lcd_frame(u32 value, int bits);
void lcd_transfer(u32 frames);
int camera_open(const char *path);
extern bool camera_there;

// lcd.c, main.c, control.c
bool lcd_save(const char *path);
void serial_out(u8 c);
void board_reset(bool warm);
bool board_hangs(void);
void control_poll(void);
extern int control_fd;
extern bool quit, paused, pause_soon;
extern u64 last_frame, cycles_left; // after which Ctrl-C is typed; 0: never
extern bool limited;                // it was typed
extern u64 idle_cycles;             // that both harts have been idle in one go
