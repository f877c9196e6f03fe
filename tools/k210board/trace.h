// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// What the profiler asks of the interpreter. Nothing of it costs anything until it is asked for.
#pragma once
#include "board.h"

extern bool watching;               // use the loop that tells of calls and watched stores
extern bool trace_calls;            // tell of every call: to find functions by what they are given
extern u64 trace_from, trace_bytes; // stores into this part of RAM are told

bool trace_hooked(u64 pc);
u16 trace_hook(Hart *h, u64 pc); // the op that belongs there
void trace_store(Hart *h, u64 offset, u64 before, u64 after, int size);
void trace_call(Hart *h, u64 target);
bool trace_command(char *words, FILE *answer);
void trace_reset(void); // RAM was loaded anew: nothing that was hooked is there
