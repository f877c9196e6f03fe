// SPDX-FileCopyrightText: 2026 The maixmem authors
// SPDX-License-Identifier: MIT
// The system heap of an ESP32 in an array: what MicroPython's GC heap grows out of, and the module
// esp32 with the one call that tells of it. First fit by address; neighbours that are free are one.
#include <stdint.h>

#include "py/gc.h"
#include "py/runtime.h"

#define BYTES (164 * 1024) // what a Wi-Fi-less ESP32 has beside the first 64 KiB of its GC heap
#define HEADER sizeof(size_t)
#define USED ((size_t)1)
#define HEAP_EXEC (1) // MALLOC_CAP_EXEC and MALLOC_CAP_8BIT of ESP-IDF
#define HEAP_DATA (4)

// a block is its size with its header, a multiple of HEADER, and USED; then what it holds
static size_t arena[BYTES / HEADER] = {BYTES};
static size_t lowest = BYTES - HEADER;

static size_t size_of(const size_t *block) {
    return *block & ~USED;
}

static size_t *after(size_t *block) {
    return block + size_of(block) / HEADER;
}

static bool in_arena(const size_t *block) {
    return block < arena + BYTES / HEADER;
}

static void count(size_t *free, size_t *largest) {
    *free = *largest = 0;
    for (size_t *block = arena; in_arena(block); block = after(block)) {
        if (!(*block & USED)) {
            *free += size_of(block) - HEADER;
            *largest = MAX(*largest, size_of(block) - HEADER);
        }
    }
}

void *simheap_malloc(size_t n) {
    n = (n + 2 * HEADER - 1) & ~(HEADER - 1);
    for (size_t *block = arena; in_arena(block); block = after(block)) {
        if ((*block & USED) || size_of(block) < n) {
            continue;
        }
        if (size_of(block) > n + HEADER) {
            block[n / HEADER] = size_of(block) - n;
            *block = n;
        }
        *block |= USED;
        size_t free, largest;
        count(&free, &largest);
        lowest = MIN(lowest, free);
        return block + 1;
    }
    return NULL;
}

void simheap_free(void *p) {
    ((size_t *)p)[-1] &= ~USED;
    for (size_t *block = arena; in_arena(block); block = after(block)) {
        while (!(*block & USED) && in_arena(after(block)) && !(*after(block) & USED)) {
            *block += *after(block);
        }
    }
}

size_t gc_get_max_new_split(void) {
    size_t free, largest;
    count(&free, &largest);
    return largest;
}

// [(total, free, largest block, least free ever)] of each heap: there is one, which holds data
static mp_obj_t idf_heap_info(mp_obj_t kind) {
    mp_obj_t list = mp_obj_new_list(0, NULL);
    if (mp_obj_get_int(kind) & HEAP_DATA) {
        size_t free, largest;
        count(&free, &largest);
        mp_obj_t told[] = {
            MP_OBJ_NEW_SMALL_INT(BYTES),
            MP_OBJ_NEW_SMALL_INT(free),
            MP_OBJ_NEW_SMALL_INT(largest),
            MP_OBJ_NEW_SMALL_INT(lowest),
        };
        mp_obj_list_append(list, mp_obj_new_tuple(4, told));
    }
    return list;
}
static MP_DEFINE_CONST_FUN_OBJ_1(idf_heap_info_obj, idf_heap_info);

static const mp_rom_map_elem_t names[] = {
    {MP_ROM_QSTR(MP_QSTR___name__), MP_ROM_QSTR(MP_QSTR_esp32)},
    {MP_ROM_QSTR(MP_QSTR_idf_heap_info), MP_ROM_PTR(&idf_heap_info_obj)},
    {MP_ROM_QSTR(MP_QSTR_HEAP_DATA), MP_ROM_INT(HEAP_DATA)},
    {MP_ROM_QSTR(MP_QSTR_HEAP_EXEC), MP_ROM_INT(HEAP_EXEC)},
};
static MP_DEFINE_CONST_DICT(globals, names);

const mp_obj_module_t module_esp32 = {
    .base = {&mp_type_module},
    .globals = (mp_obj_dict_t *)&globals,
};
MP_REGISTER_MODULE(MP_QSTR_esp32, module_esp32);
