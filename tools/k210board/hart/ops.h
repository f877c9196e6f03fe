// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// A number for each line of ops.def, OP_ and its name.
#pragma once

#define X(name, ...) OP_##name,

enum {

#include "ops.def"
    OP_COUNT
};
#undef X
