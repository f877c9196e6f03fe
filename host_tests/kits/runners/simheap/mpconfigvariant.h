// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The features of the standard variant; the GC heap grows out of a system heap, as on an ESP32.
#include <stddef.h>

void *simheap_malloc(size_t n);
void simheap_free(void *p);

#define MICROPY_CONFIG_ROM_LEVEL (MICROPY_CONFIG_ROM_LEVEL_EXTRA_FEATURES)
#define MICROPY_GC_SPLIT_HEAP (1)
#define MICROPY_GC_SPLIT_HEAP_AUTO (1)
#define MICROPY_GC_SPLIT_HEAP_N_HEAPS (1)
#define MP_PLAT_ALLOC_HEAP(n) simheap_malloc(n)
#define MP_PLAT_FREE_HEAP(p) simheap_free(p)
#define MICROPY_PY_SYS_PLATFORM "esp32"

#include "variants/mpconfigvariant_common.h"
