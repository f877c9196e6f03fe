// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A Kendryte K210 board: the state that a reset clears in one struct, and what each file offers to
// the others. Facts: K210 datasheet v0.1.5, headers and drivers of kendryte-standalone-sdk
// 7fdb511.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

// A queue of a power of two of items; what does not fit is lost, an empty one gives 0.
#define QUEUE(type, size) \
    struct {              \
        type item[size];  \
        u32 first, n;     \
    }
#define ROOM(q) (sizeof(q).item / sizeof *(q).item)
#define PUT(q, v) ((q).n < ROOM(q) ? (q).item[((q).first + (q).n++) % ROOM(q)] = (v) : 0)
#define TAKE(q) ((q).n ? (q).n--, (q).item[(q).first++ % ROOM(q)] : 0)
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

enum {
    RAM_SIZE = 8 << 20,    // 6 MiB for the cores and 2 MiB for the KPU, which the cores reach too
    KPU_RAM = 6 << 20,     // where the KPU's part begins
    FLASH_SIZE = 16 << 20, // W25Q128
    HARTS = 2,
    CYCLES_PER_INSTRUCTION = 2, // brings the speed of boot and Python loops close to the chip's
    CPU_PER_MTIME = 50,         // sysctl.c: the CLINT counts at CPU / 50
};

#define RAM_CACHED 0x80000000ull   // platform.h: SRAM0_MEM_ADDR
#define RAM_UNCACHED 0x40000000ull // the same bytes, past the caches
#define DMA_BASE 0x50000000u

// Devices with registers; those that exist more than once stand one after the other.
enum {
    CLINT,
    PLIC,
    UARTHS,
    GPIOHS,
    KPU,
    DMA,
    GPIO,
    UART,
    SPI = UART + 3,
    I2C = SPI + 4,
    TIMER = I2C + 3,
    FPIOA = TIMER + 3,
    SHA,
    OTP,
    DVP,
    SYSCTL,
    RTC,
    DEVICES,
};

// Interrupt sources of the PLIC (plic.h: plic_irq_t); TIMER0: two for each of three timers.
enum { IRQ_TIMER0 = 14, IRQ_DVP = 24, IRQ_KPU = 25, IRQ_DMA0 = 27, IRQ_UARTHS = 33 };

// Control and status registers of a hart that have a meaning here.
enum {
    FFLAGS = 0x001,
    FRM = 0x002,
    FCSR = 0x003,
    MSTATUS = 0x300,
    MISA = 0x301,
    MIE = 0x304,
    MTVEC = 0x305,
    MEPC = 0x341,
    MCAUSE = 0x342,
    MBADADDR = 0x343,
    MIP = 0x344,
    MCYCLE = 0xb00,
    MINSTRET = 0xb02,
    CYCLE = 0xc00,
    TIME = 0xc01,
    INSTRET = 0xc02,
    MARCHID = 0xf12,
    MIMPID = 0xf13,
    MHARTID = 0xf14,
};

typedef struct {
    u64 x[33]; // x[32] takes what is written to x0
    u64 f[32];
    u64 pc, instructions;
    u64 reserved;  // 1 + place in RAM that LR reserved
    bool waiting;  // WFI
    bool yield;    // leave the run loop: interrupts may have changed
    bool spinning; // in a loop that changes nothing
    int id;
    int trap; // 1 + cause of a fault in a memory access
    u64 trap_value;
    u64 csr[4096];
} Hart;

typedef struct {
    QUEUE(u32, 1 << 18) sent; // frames before the transfer starts
    QUEUE(u32, 1 << 17) got;  // frames that wait to be read
    bool receiving;           // this command's answer has been clocked in
    u32 frames;               // of this command that were sent by an enhanced transfer
} Spi;

typedef struct {
    u8 command[6], data[512];
    QUEUE(u8, 2048) answer;
    int command_n;
    bool idle, application, reading;
    int writing, block_n; // command 24 or 25; bytes of the block so far, -1 before its token
    u32 block;
} Sd;

typedef struct { // byte: of the command; kind: which of the table's
    bool selected, writable;
    int byte, kind;
    u32 address;
} Flash;

typedef struct {
    u64 left, from, to, status;
    bool active;
} DmaChannel;

typedef struct {
    u64 period, next;
    bool on, raised;
} TimerChannel;

typedef struct {
    u32 hash[8];
    u8 block[64];
    int block_n;
} Sha;

typedef struct { // layers: of this model up to now; work: products in the quantum that began then
    u64 layer[12], layers, quantum, work;
    int layer_n;
    u32 raised;
    QUEUE(u64, 1 << 17) fifo;
} Kpu;

// missing: no device at the address; fresh: the next byte written is a register number
typedef struct {
    bool missing, fresh;
    QUEUE(u8, 16) got;
} I2c;

typedef struct {
    u8 regs[256], at, read; // the register that is meant; answer of the last SCCB read
    u32 status;             // of the DVP
    bool in_frame;
    u64 next; // cycle of the next frame start or end
} Camera;

typedef struct {
    u64 pending, level, serving; // a bit for each source
    u32 priority[128], enabled[HARTS][2], threshold[HARTS];
} Plic;

enum { LCD_W = 480, LCD_H = 480 };

typedef struct {
    u8 command, half;
    int byte;                // of its arguments
    u16 box[4];              // x0 x1 y0 y1, inclusive
    u16 x, y, right, bottom; // place of the next pixel; size that was drawn on
    u32 dc;      // bit of the GPIOHS output that tells data from commands; 0: not known yet
    u32 outputs; // as they were at the last transfer
    bool was_write, lone; // the last transfer was RAMWR; this one is a single frame
    u64 pixels;           // drawn since the start
    u16 pixel[LCD_H][LCD_W];
} Lcd;

typedef struct {
    Hart hart[HARTS];
    u64 cycles;
    u64 regs[DEVICES][512]; // what was written to each device last, by offset / 4
    u32 msip[HARTS];
    u64 mtimecmp[HARTS];
    Plic plic;
    QUEUE(u8, 8) received; // by UARTHS
    u64 next_byte;         // cycle at which it arrives
    I2c i2c[3];
    u64 rtc_cycle;
    s64 rtc_second;
    Camera camera;
    Kpu kpu;
    Sha sha;
    Sd sd;
    TimerChannel timer[3][4];
    Spi spi[4];
    Flash flash;
    Lcd lcd;
    DmaChannel dma[6];
} Board;

extern Board board;
#define REG(device, offset) board.regs[device][(offset) / 4 % 512]
extern u8 ram[RAM_SIZE], flash_chip[FLASH_SIZE], *sd_card, *film; // film: what the camera sees
extern u64 sd_size, film_size;

// What a reset leaves: bytes from the host that are not on the wire yet, and counts.
typedef struct {
    QUEUE(u8, 1 << 16) typed;
    u32 frames, asks;            // pictures given to the firmware; calls of input()
    u64 resets;                  // boots
    u64 idle_cycles;             // that both harts have been idle in one go
    u64 last_frame, cycles_left; // after which Ctrl-C is typed; 0: never
    bool limited;                // it was typed
    bool reset_wanted, rounding_used, no_firmware;
    u8 chip_status[4];       // of the flash
    u64 film_at;             // of the next picture
    u64 rounds, hung, moved; // of the run loop; where the board hung; items of long DMA blocks
    u64 watched_from, watched_bytes; // part of RAM; stores into it are told to trace.c
    bool guarded;                    // all stores into RAM are told to guard.c
} Host;

extern Host host;

// cpu.c, decode.c, csr.c
typedef struct {
    u16 op;
    u8 rd, rs1, rs2, skip, rs3, rm; // skip: bytes of these to the next one
    s32 imm;
    u32 raw;
} Decoded;

enum {
    GUARD = 4096
}; // halfwords beyond each end of the RAM that a branch reaches: not executable

extern Decoded all_decoded[RAM_SIZE / 2 + 2 * GUARD];
#define decoded (all_decoded + GUARD) // one for each halfword of RAM
extern u32 decoded_end;               // none is decoded from there on
extern s64 done_now;                  // instructions of the running quantum so far: time inside it
void cpu_start(void), cpu_forget(void); // what was decoded: code may have changed
void decode(Decoded *d);
s64 hart_run(Hart *h, s64 count);
bool hart_spins(Hart *h, int most, s64 *used);
void hart_reset(Hart *h, int id), hart_trap(Hart *h, u64 cause, u64 value), hart_return(Hart *h);
bool hart_interrupt(Hart *h);
u64 csr_read(Hart *h, u32 number);
void csr_write(Hart *h, u32 number, u64 value);

static inline u64 now(void) { return board.cycles + (u64)done_now * CYCLES_PER_INSTRUCTION; }

static inline u64 scaled(u64 n, u64 by, u64 over) { return (u64)((__uint128_t)n * by / over); }

static inline void yield_harts(void) { board.hart[0].yield = board.hart[1].yield = true; }

// A device is asked after `stored`, what was written there last, and told after it was stored; the
// offset is that of a whole register.
typedef u64 Read(int device, u32 offset, u64 stored);
typedef void Write(int device, u32 offset, u64 value);
typedef void Reset(bool warm);    // warm: not the power's
typedef void Tick(void);          // once a round
typedef u64 Next(u64 before);     // cycle of its next event, when that comes before
typedef bool HasData(int device); // for DMA
Read clint_read, plic_read, uarths_read, gpiohs_read, kpu_read, dma_read, gpio_read, uart_read;
Read spi_read, i2c_read, timer_read, sha_read, otp_read, dvp_read, rtc_read;
Write clint_write, plic_write, uarths_write, kpu_write, dma_write, spi_write, i2c_write;
Write timer_write, sha_write, dvp_write, sysctl_write, rtc_write;
Reset clint_reset, clocks_reset, dma_reset, camera_reset;
Tick uarths_tick, timer_tick, camera_tick;
Next clint_next, uarths_next, timer_next, camera_next;
HasData kpu_has_data, uart_has_data, spi_has_data;

// bus.c: h is null for DMA
u64 bus_read(Hart *h, u64 address, int size);

static inline u64 bus_word(u64 address) { return bus_read(NULL, address, 8); }

void bus_write(Hart *h, u64 address, u64 value, int size);
u8 *bus_memory(u64 address, u64 size); // null when it is no RAM
bool bus_has_data(u64 address);
void bus_reset(bool warm), bus_tick(void); // of all devices
u64 bus_next(u64 before);

// the devices, to each other
void irq_set(int irq, bool level);
u32 irq_wanted(int hart);
u64 cpu_hertz(void);
void dma_pump(void);
void flash_wait(void), flash_select(void), flash_deselect(void);
u8 flash_byte(u8 in), sd_byte(u8 in);
void lcd_frame(u32 value, int bits), lcd_transfer(u32 frames);

// lib.c: to the host; say() knows %s, and %d and %x of u64
void serial_out(u8 c);
void say(const char *words, ...); // what the board cannot do

// trace.c: what the profiler asks of the interpreter; nothing of it costs anything before
bool trace_hooked(const Decoded *d);
u32 trace_hook(const Hart *h, const Decoded *d, u64 pc); // the op that belongs there
void trace_store(const Hart *h, u64 offset, u64 value, int size);
bool trace_hook_at(u64 pc, u8 kind);
void trace_start(u64 top, u64 table, u64 bytes), trace_where(void), trace_end(void);
void trace_reset(void); // RAM was loaded anew

typedef struct {
    u64 time;
    u32 kind, site;
    u64 a, b, c;
} Event; // time: instructions of both harts

enum { EVENTS = 1 << 16 };

extern struct Events {
    Event item[EVENTS];
    u32 n;
    u64 lost;
} events; // the host takes them

void trace_look(const Hart *h, u32 blocks, u64 loop, u32 rounds);
void trace_damaged(const Hart *h, u64 address, u64 value);
bool trace_allocates(const Hart *h);          // it is in malloc, free or realloc
void trace_used(u32 first, const u64 *three); // words of the table
void *trace_state(void);                      // all else that it knows
u32 trace_state_size(void);

// live.c: what of the GC heap is in use
u8 *live_seen(void);
void live_start(u64 state, u64 books, u64 threads);
void live_made(const Hart *h, u32 blocks, bool new), live_jump(const Hart *h, u64 at);
void live_collected(const Hart *h, u64 back);

// guard.c: what overwrites the allocator's books
void guard_start(u64 base, u64 top_at), guard_look(void);
void guard_store(const Hart *h, u64 offset, u64 value, int size);
