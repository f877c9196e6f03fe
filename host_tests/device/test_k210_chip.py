# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The arithmetic of the K210's allocator, pinned to figures of the firmware (v0.6.2_84) and of
newlib on 64 bits."""

from maixmem_k210_chip import (
    FLASH_SIZE,
    HELD,
    PAGE,
    SPIFFS_SIZE,
    SPIFFS_START,
    TRANSIENT,
    UNCHECKED,
    chunk,
)
from maixmem_k210_cost import _grow, chunks, image_bytes, required_free

TRIM = 131072
SPI = TRANSIENT | UNCHECKED


def test_chunks_are_steps_of_16_with_8_bytes_of_head():
    sizes = (0, 1, 8, 9, 23, 24, 25, 39, 40, 41, 56, 57, 192, 200, 201, 262274, 389032, 45000)
    taken = (32, 32, 32, 32, 32, 32, 48, 48, 48, 64, 64, 80, 208, 208, 224, 262288, 389040, 45008)
    assert tuple([chunk(n) for n in sizes]) == taken


def test_the_break_moves_in_pages_and_leaves_32_bytes():
    sizes = (32, 4064, 4080, 8160, 8176, 434240)
    moved = (4096, 4096, 8192, 8192, 12288, 438272)
    assert tuple([_grow([n], 0)[0] for n in sizes]) == moved and PAGE == 4096


def test_what_a_load_needs_at_the_worst_page_end():
    # 388776 bytes with 45000 of main memory: the SPI buffer of 262274 comes on top of the copy of
    # the file
    load = [(1, 0), (290, SPI), (389032, 0), (192, 0), (262274, SPI), (244658, SPI), (45000, 0)]
    load = chunks(load)
    assert load[:3] == (32, 304 | SPI, 389040)
    assert required_free(load) == 659456
    # as many as 4112 bytes may be left of a page and the last request
    assert required_free(chunks([(4000, 0), (50000, SPI)])) == 57344


def test_the_top_serves_what_leaves_32_bytes_of_it():
    assert _grow([4000], 4031) == (4096, 1)
    assert _grow([4000], 4032) == (0, TRIM)
    assert _grow([4000], 0) == (4096, 4032)


def test_a_free_top_of_128_kib_goes_back_in_whole_pages():
    transient = TRIM | TRANSIENT
    assert _grow([transient, TRIM], 32)[0] == 4096 + 135168
    assert _grow([transient, TRIM], 33)[0] == 135168
    assert _grow([TRIM - 32 | TRANSIENT, TRIM], 0)[0] == 4096 + 135168
    # less than that stays, and what is larger takes a whole request more: 126976 and 135168
    less = TRIM - 8192 | TRANSIENT
    assert _grow([less, TRIM], 0) == (126976 + 135168, 4096)


def test_the_file_system_is_the_end_of_flash():
    assert SPIFFS_START + SPIFFS_SIZE == FLASH_SIZE == 1 << 24
    assert image_bytes(b"\0\0\1\0\0") == 256 + 1 + 4 + 32  # flag, length, SHA-256


def test_what_is_held_is_there_until_then():
    load = [80000 | TRANSIENT | HELD, 5008 | TRANSIENT, 70000]
    assert _grow(load, 0) == (81920 + 8192, 5008 + 32 - 1920)
    load = load[:2] + [64 | TRANSIENT, 90096]  # 15 and not 16 bytes more than 90112 are at the top
    assert _grow(load, 15)[0] == 90112 + 94208


def test_what_is_held_goes_with_the_next_transient_one():
    both = required_free(chunks([(80000, TRANSIENT | HELD), (5000, TRANSIENT), (70000, 0)]))
    kept = required_free(chunks([(80000, 0), (5000, TRANSIENT), (70000, 0)]))
    assert both < kept and both >= 81920
