// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// Events wait here until the host takes them.
#include "trace.h"

struct Events events;

static struct {
    bool on;
    Event run;
} state;

void events_parts(AddPart *add) { add(&state, sizeof state); }

void events_start(void) {
    events.n = 0;
    events.lost = 0;
    state.on = true;
}

void events_end(void) {
    events_end_run();
    memset(&state, 0, sizeof state);
}

void events_write(Event e) {
    if (!state.on)
        return;
    e.time = harts[0].instructions + harts[1].instructions + (u64)done_now;
    if (events.n < EVENTS)
        events.item[events.n++] = e;
    else
        events.lost++;
}

void events_add(u32 kind, u32 site, u64 a, u64 b, u64 c) {
    events_end_run();
    events_write((Event){.kind = kind, .site = site, .a = a, .b = b, .c = c});
}

const Event *events_run(void) { return &state.run; }

void events_begin_run(u32 kind, u32 site, u64 block) {
    events_end_run();
    state.run = (Event){.kind = kind, .site = site, .a = block, .b = 1, .c = 1};
}

void events_grow_run(bool by_an_object) {
    state.run.b++;
    state.run.c += by_an_object;
}

void events_end_run(void) {
    if (state.run.b)
        events_write(state.run);
    state.run.b = 0;
}
