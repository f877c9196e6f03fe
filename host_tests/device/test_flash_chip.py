# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""A scan of the chip that is there: a board's own, or the stand-in's with two models."""

import gc
import sys

from devtest import Skip, needs

try:
    import k210_board  # the stand-in
except ImportError:
    k210_board = None
import kmodel_build
import maixmem
from Maix import utils
from maixmem_flash import FlashMap

HEAP = "3m"

GC_LIMIT = 16384


def chip():
    """True on the stand-in, which it makes anew with two models; a board is taken as it is."""
    needs("Maix.utils.flash_read")
    if k210_board is None:
        return False
    face = kmodel_build.v3((8, 8, 1), [("conv", 4)]).to_bytes()
    k210_board.reset("full", flash={0x300000: face, 0x600000: face})
    return True


def addresses(simulated):
    if simulated:
        return (0x300000, 0x600000)
    import board_models

    return board_models.MODELS


def scan(simulated, read=None):
    """All of it on a board; the stand-in has the header of an image only, and reads slowly."""
    return FlashMap().scan(read, verify=not simulated, gaps=not simulated)


def kinds(m, kind):
    return [r for r in m.regions if r.kind == kind]


def test_the_firmware_ends_where_its_header_says():
    simulated = chip()
    m = scan(simulated)
    assert m.unread == [], m.unread
    if [r for r in m.regions if r.name[:5] == "Kboot"]:
        raise Skip("a Kboot layout: the firmware is not at 0x000000")
    (firmware,) = kinds(m, "firmware")
    assert firmware.end == int.from_bytes(utils.flash_read(1, 4), "little") + 37
    overwritten = [c for c in m.conflicts() if firmware in (c.first, c.second)]
    if not simulated:
        assert firmware.intact is (not overwritten), str(firmware)


def test_the_file_system_is_where_the_firmware_made_it():
    simulated = chip()
    m = FlashMap().scan(offsets=(), gaps=False)
    (area,) = kinds(m, "filesystem")
    assert (area.start, area.end) == (0xD00000, 0x1000000)
    if not simulated:
        assert area.source[:9] == "formatted" and " 0 of" not in area.source, area.source


def test_models_are_found_where_they_were_put():
    simulated = chip()
    wanted = sorted(addresses(simulated))
    if not wanted:
        raise Skip("no --model ADDR: no model on this board is known")
    from maixmem_kmodel import read_info

    found = {r.start: r.end - r.start for r in kinds(scan(simulated), "model")}
    for address in wanted:
        assert found.get(address) == read_info(address).nbytes, hex(address)


def test_the_system_heap_is_as_it_was():
    simulated = chip()
    scan(simulated)
    before = utils.heap_free()
    scan(simulated)
    assert utils.heap_free() >= before, (before, utils.heap_free())


def test_the_gc_heap_it_holds_is_bounded():
    """The live bytes while it runs, garbage not counted, modules not counted."""
    if sys.implementation.name != "micropython":
        raise Skip("this interpreter does not count its heap")

    simulated = chip()
    scan(simulated)
    plain = maixmem.port().read_flash
    state = [0, 0]  # reads, most bytes live

    def metered(offset, n):
        state[0] += 1
        data = plain(offset, n)
        if state[0] % 97 == 0:
            gc.collect()
            state[1] = max(state[1], gc.mem_alloc())
        return data

    gc.collect()
    start = gc.mem_alloc()
    scan(simulated, metered)
    print("scan: {} reads, {} bytes of GC heap".format(state[0], state[1] - start))
    assert state[0] > 97 and state[1] - start < GC_LIMIT, (state, start)
