// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What of the GC heap is in use, between two instructions: marked as the firmware's collector
// does, from the interpreter's state, the stacks of its threads, and the registers. Source:
// py/gc.c, py/mpstate.h and py/vm.c of MicroPython 1.11; mpthreadport.c of MaixPy.
#include "trace.h"

enum { BLOCK = 32, BLOCKS = RAM_SIZE / BLOCK, SPARE = 1024 };

enum { HEAD = 1, TAIL }; // of a block, two bits in a table; nothing is marked between collections

// The heap is marked at a loop: after every round at first, after that many every second one, and
// so on; the same after so many blocks were allocated.
enum { LOOPS = 256, LOOKS = 32, ALLOCATED = 64 };

typedef struct {
    u64 key, allocated;
    u32 rounds, looks, every, next;
} Loop;

static struct {
    u64 state, books;    // addresses of mp_state_ctx and, in it, of the GC's books; 0: off
    u64 threads;         // address of the word that points to the list of threads, or 0
    u64 objects, blocks; // allocated so far, chunks too; blocks since the heap was marked
    Loop loop[LOOPS];    // by the address of the jump; the first one: every so many blocks
} live;

// The pool of the GC heap, its table, and what was marked.
static u64 pool, pool_bytes;
static const u8 *table;
static u8 used[BLOCKS / 4];
static u32 used_n;
static u32 todo[BLOCKS], todo_n;
// The RAM that was followed, by the fullest look and by this one.
static u8 seen[2][RAM_SIZE];
static u32 fullest, most;

u8 *live_seen(void) { return seen[fullest]; }

// --- marking ---
static u32 kind(const u8 *of, u32 block) { return of[block / 4] >> block % 4 * 2 & 3; }

static void use(u32 block, u32 as) {
    used[block / 4] |= (u8)(as << block % 4 * 2);
    used_n++;
}

static void follow(u64 pointer) {
    u64 at = pointer - pool;
    u32 block = (u32)(at / BLOCK);
    if (at >= pool_bytes || at % BLOCK || kind(used, block) || kind(table, block) != HEAD)
        return;
    use(block, HEAD);
    todo[todo_n++] = block;
}

static void follow_all(u64 from, u64 to) {
    const u8 *at = from < to ? ram_at(from, to - from) : NULL;
    if (!at)
        return;
    memcpy(seen[!fullest] + (at - ram), at, to - from);
    for (u64 i = 0; i + 8 <= to - from; i += 8) {
        u64 pointer;
        memcpy(&pointer, at + i, 8);
        follow(pointer);
    }
}

// The end of the stack in use, 0: none. A thread: {task, ready, arguments, stack, words, next}. As
// the firmware does (tried): from a task's first word, its stack pointer, to the end of the chunk.
static u64 stack_end(u64 sp, bool follow_others) {
    enum { READY = 8, STACK = 24, NEXT = 40, MOST_THREADS = 64 };

    u64 first = bus_word(live.state), own = 0;
    if (sp <= first && first - sp <= bus_word(live.state + 8) + SPARE)
        own = first;
    u64 thread = live.threads ? bus_word(live.threads) : 0;
    for (int i = 0; thread && i < MOST_THREADS; i++) {
        u64 task = bus_word(thread), stack = bus_word(thread + STACK);
        u64 end = stack - 16 + (bus_word(stack - 8) & ~7ull);
        if (sp >= stack && sp < end) {
            own = own ? own : end;
        } else if (follow_others && (u32)bus_word(thread + READY)) {
            follow_all(task, task + 8);
            follow_all(bus_word(task), end);
        }
        thread = bus_word(thread + NEXT);
    }
    return own;
}

static void follow_block(u32 first) {
    u32 last = first + 1;
    for (; last < pool_bytes / BLOCK && kind(table, last) == TAIL; last++)
        use(last, TAIL);
    follow_all(pool + (u64)first * BLOCK, pool + (u64)last * BLOCK);
}

static void mark(const Hart *h) {
    used_n = 0;
    memset(used, 0, sizeof used);
    memcpy(seen[!fullest], h->x, sizeof h->x);
    for (int i = 1; i < 32; i++)
        follow(h->x[i]);
    follow_all(live.state + 16, live.books); // behind stack_top and stack_limit
    follow_all(live.threads, live.threads + 8);
    follow_all(h->x[2] & ~7ull, stack_end(h->x[2], true));
    while (todo_n)
        follow_block(todo[--todo_n]);
}

// --- events ---
static bool find_pool(void) {
    u64 bytes = bus_word(live.books + 8);
    pool = bus_word(live.books + 24);
    pool_bytes = bus_word(live.books + 32) - pool;
    table = ram_at(bus_word(live.books), bytes);
    return table && pool_bytes <= RAM_SIZE && bytes * 4 >= pool_bytes / BLOCK;
}

static void add_used(void) {
    for (u32 i = 0; i * 32 < pool_bytes / BLOCK; i += 3) {
        u64 three[3];
        memcpy(three, used + i * 8, sizeof three);
        if (three[0] | three[1] | three[2])
            events_write((Event){0, USED, i, three[0], three[1], three[2]});
    }
}

// Bytes that go out in events.
static struct {
    u8 bytes[3 * sizeof(u64)];
    u32 n;
} out;

static void flush(void) {
    u64 three[3];
    memcpy(three, out.bytes, sizeof three);
    events_write((Event){0, SLACK, 0, three[0], three[1], three[2]});
    memset(&out, 0, sizeof out);
}

static void put(u32 byte) {
    out.bytes[out.n++] = (u8)byte;
    if (out.n == sizeof out.bytes)
        flush();
}

// Seven bits of a number in a byte, the lowest first; of all but the last the eighth is set.
static void put_number(u32 number) {
    for (; number >= 128; number >>= 7)
        put(number | 128);
    put(number);
}

static u32 empty_words(const u8 *from, const u8 *to) {
    u32 n = 0;
    for (; to - from >= 8; from += 8) {
        u64 word;
        memcpy(&word, from, sizeof word);
        n += !word;
    }
    return n;
}

// Of each object of more than one block that is in use, in their order: a byte, how many at the
// end of its last block are 0, and a number, how many words before them are. The firmware clears
// there what nobody asked for, and the free entries of a table.
static void add_slack(void) {
    const u8 *objects = ram_at(pool, pool_bytes), *from = objects;
    u32 blocks = (u32)(pool_bytes / BLOCK);
    for (u32 i = 1; objects && i <= blocks; i++) {
        const u8 *end = objects + (u64)i * BLOCK;
        if (kind(used, i - 1) == HEAD)
            from = end - BLOCK;
        if (kind(used, i - 1) != TAIL || (i < blocks && kind(used, i) == TAIL))
            continue;
        u32 slack = 0;
        while (slack < BLOCK && !*(end - 1 - slack))
            slack++;
        put(slack);
        put_number(empty_words(from, end - slack));
    }
    flush();
}

// key: of the loop; 0: blocks were allocated. Nothing on a stack that is not Python's.
static void look(const Hart *h, u64 key, u32 rounds) {
    if (!stack_end(h->x[2], false) || !find_pool())
        return;
    mark(h);
    if (used_n > most) {
        most = used_n;
        fullest ^= 1;
    }
    events_add(LOOK, site_of(h), used_n, key, rounds);
    add_used();
    add_slack();
}

// --- when ---
// Once more there; a look when it is time, and something was allocated since the last or it is
// long ago. The steps are uneven: no rhythm of the program is taken for a slow change.
static void round_of(const Hart *h, Loop *l) {
    bool idle = l->allocated == live.objects && (l->rounds + 1) & l->rounds;
    l->rounds++;
    if (l->rounds < l->next || idle)
        return;
    if (l->looks++ % LOOKS == 0)
        l->every = l->every ? l->every * 2 : 1;
    u32 uneven = (u32)((l->rounds * 2654435761u >> 8) % (2 * l->every - 1));
    l->next = l->rounds + 1 + uneven;
    l->allocated = live.objects;
    look(h, l->key, l->rounds);
}

void live_start(u64 state, u64 books, u64 threads) {
    memset(&live, 0, sizeof live);
    live.state = state;
    live.books = books;
    live.threads = threads;
    most = 0;
}

// Before blocks of the GC heap are allocated, or a chunk (blocks 0).
void live_allocated(const Hart *h, u32 blocks, bool new) {
    live.objects += new || blocks; // an object may become larger where it lies
    if (!live.books)
        return;
    live.blocks += blocks;
    if (live.blocks < ALLOCATED || !new)
        return;
    live.blocks = 0;
    round_of(h, live.loop);
}

// At a place that the program comes by again and again.
static void again(const Hart *h, u64 key) {
    if (!live.books)
        return;
    const Loop *last = live.loop + LOOPS - 1;
    Loop *l = &live.loop[1 + key / 2 % (LOOPS - 1)];
    for (int i = 0; i < 8; i++) {
        if (!l->key || l->key == key) {
            l->key = key;
            round_of(h, l);
            return;
        }
        if (l < last)
            l++;
    }
}

// At the return from a collection: what is in use may be less than before.
void live_collected(const Hart *h, u64 back) {
    live.objects++;
    again(h, back);
}

// A jump of the bytecode: the two bytes behind it say how far.
void live_jump(const Hart *h, u64 at) {
    if (live.books && bus_read(NOBODY, at, 2) < 0x8000)
        again(h, at);
}
