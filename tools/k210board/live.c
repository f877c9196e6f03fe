// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What of the GC heap is in use, between two instructions: marked as the firmware's collector
// does, from the interpreter's state, the stacks of its threads, and the registers. Source:
// py/gc.c, py/mpstate.h and py/vm.c of MicroPython 1.11; mpthreadport.c of MaixPy.
#include "board.h"

enum { BLOCK = 32, BLOCKS = RAM_SIZE / BLOCK, SPARE = 1024 };

enum { HEAD = 1, TAIL }; // of a block, two bits in a table; nothing is marked between collections

// Looks at a loop: after every round at first, after that many every second one, and so on; the
// same for looks after so many blocks were taken.
enum { LOOPS = 256, LOOKS = 32, TAKEN = 64 };

typedef struct {
    u64 key, made;
    u32 rounds, looks, every, next;
} Loop;

static struct {
    u64 state, books; // addresses of mp_state_ctx and, in it, of the GC's books; 0: no looks
    u64 threads;      // address of the word that points to the list of threads, or 0
    u64 made, taken;  // objects and chunks so far; blocks since the last look
    Loop loop[LOOPS]; // by the address of the jump; the first one: every so many blocks
} live;

static u8 used[BLOCKS / 4];
static u32 todo[BLOCKS], todo_n, used_n;
static u64 pool, pool_bytes;
static const u8 *table;
static u8 seen[2][RAM_SIZE]; // the RAM that was followed, by the fullest look and by this one
static u32 fullest, most;

u8 *live_seen(void) { return seen[fullest]; }

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
    u64 pointer;
    const u8 *at = from < to ? bus_memory(from, to - from) : NULL;
    if (at)
        memcpy(seen[!fullest] + (at - ram), at, to - from);
    for (u64 i = 0; at && i + 8 <= to - from; i += 8)
        memcpy(&pointer, at + i, 8), follow(pointer);
}

// The end of the stack in use, 0: none. A thread: {task, ready, arguments, stack, words, next}. As
// the firmware does (tried): from a task's first word, its stack pointer, to the end of the chunk.
enum { READY = 8, STACK = 24, NEXT = 40, MOST_THREADS = 64 };

static u64 stack_end(u64 sp, bool look_at_others) {
    u64 first = bus_word(live.state), th = live.threads ? bus_word(live.threads) : 0, own = 0;
    if (sp <= first && first - sp <= bus_word(live.state + 8) + SPARE)
        own = first;
    for (int i = 0; th && i < MOST_THREADS; i++, th = bus_word(th + NEXT)) {
        u64 task = bus_word(th), s = bus_word(th + STACK),
            end = s - 16 + (bus_word(s - 8) & ~7ull);
        if (sp >= s && sp < end)
            own = own ? own : end;
        else if (look_at_others && (u32)bus_word(th + READY))
            follow_all(task, task + 8), follow_all(bus_word(task), end);
    }
    return own;
}

static void mark(const Hart *h) {
    memset(used, used_n = 0, sizeof used);
    memcpy(seen[!fullest], h->x, sizeof h->x);
    for (int i = 1; i < 32; i++)
        follow(h->x[i]);
    follow_all(live.state + 16, live.books); // behind stack_top and stack_limit
    follow_all(live.threads, live.threads + 8);
    follow_all(h->x[2] & ~7ull, stack_end(h->x[2], true));
    while (todo_n) {
        u32 first = todo[--todo_n], last = first + 1;
        for (; last < pool_bytes / BLOCK && kind(table, last) == TAIL; last++)
            use(last, TAIL);
        follow_all(pool + (u64)first * BLOCK, pool + (u64)last * BLOCK);
    }
}

// key: of the loop; 0: blocks were taken. Nothing on a stack that is not Python's.
static void look(const Hart *h, u64 key, u32 rounds) {
    u64 bytes = bus_word(live.books + 8);
    if (!stack_end(h->x[2], false))
        return;
    pool = bus_word(live.books + 24), pool_bytes = bus_word(live.books + 32) - pool;
    table = bus_memory(bus_word(live.books), bytes);
    if (!table || pool_bytes > RAM_SIZE || bytes * 4 < pool_bytes / BLOCK)
        return;
    mark(h);
    if (used_n > most)
        most = used_n, fullest ^= 1;
    trace_look(h, used_n, key, rounds);
    for (u32 i = 0; i * 32 < pool_bytes / BLOCK; i += 3) {
        u64 three[3];
        memcpy(three, used + i * 8, sizeof three);
        if (three[0] | three[1] | three[2])
            trace_used(i, three);
    }
}

// Once more there; a look when it is time, and something was taken since the last or it is long
// ago. The steps are uneven: no rhythm of the program is taken for a slow change.
static void round_of(const Hart *h, Loop *l) {
    bool idle = l->made == live.made && (l->rounds + 1) & l->rounds;
    if (++l->rounds < l->next || idle)
        return;
    l->every = l->looks++ % LOOKS ? l->every : l->every ? l->every * 2 : 1;
    l->next = l->rounds + 1 + (u32)((l->rounds * 2654435761u >> 8) % (2 * l->every - 1));
    l->made = live.made;
    look(h, l->key, l->rounds);
}

void live_start(u64 state, u64 books, u64 threads) {
    memset(&live, 0, sizeof live);
    live.state = state, live.books = books, live.threads = threads, most = 0;
}

// Before blocks of the GC heap are taken, or a chunk (blocks 0).
void live_made(const Hart *h, u32 blocks, bool new) {
    live.made += new;
    if (!live.books || (live.taken += blocks) < TAKEN || !new)
        return;
    live.taken = 0;
    round_of(h, live.loop);
}

// At a place that the program comes by again and again.
static void again(const Hart *h, u64 key) {
    Loop *l = &live.loop[1 + key / 2 % (LOOPS - 1)];
    for (int i = 0; live.books && i < 8; i++, l += l < live.loop + LOOPS - 1) {
        if (l->key && l->key != key)
            continue;
        l->key = key;
        round_of(h, l);
        return;
    }
}

// At the return from a collection: what is in use may be less than before.
void live_collected(const Hart *h, u64 back) { live.made++, again(h, back); }

// A jump of the bytecode: the two bytes behind it say how far.
void live_jump(const Hart *h, u64 at) {
    if (live.books && bus_read(NULL, at, 2) < 0x8000)
        again(h, at);
}
