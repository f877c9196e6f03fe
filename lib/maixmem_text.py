# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The sentences of errors, by a short name: imported when an error is made, and dropped again. A
one-time part."""

_SENTENCES = {
    # models
    "add": "add: {0!r} is there. Next: forget({0!r}) first.",
    "is_fallback": "forget({0!r}): it is the fallback of {1!r}. Next: forget({1!r}) first.",
    "use": "no model {!r}; there are: {}. Next: add() it.",
    "keep": "ModelManager: keep is {!r}. Next: 1 or more.",
    "release": "net {0!r}: its model was released. Next: take it again with use({0!r}).",
    "pin": "{} of at most {} models are resident, and pinned or in a with block. Next: "
    "release() one.",
    "loading": "the setup of {0!r} uses {1!r} while {0!r} is being loaded. Next: use the net "
    "that setup(net) is given.",
    "setup": "the setup of {!r} released it. Next: no release() in a setup.",
    "warning": "maixmem: {!r}: {}",
    "fallback": "maixmem: {} Using {!r} instead.",
    "no_room_in": "loading takes {} bytes of {}, with {} to spare; {} are free. Next: release() "
    "a model.",
    "cannot_run": "this model cannot run here: {}.",
    # K210: a load
    "no_model_source": "model {!r}: neither a flash address (int) nor a path (str). Next: such "
    "as 0x300000 or '/sd/m.kmodel'.",
    "address_beyond": "flash address {}: addresses are 0 to 0xffffff (16 MiB). Next: where the "
    "model was flashed.",
    "stream_options": "stream={!r}. Next: three ints, (dual_buf, batch, spi_speed), such as (0, "
    "8, 80000000).",
    "file_not_read": "cannot read {!r}: error {}. Next: see os.listdir() of its folder; is the "
    "card in?",
    "not_told": "model at 0x{:06x}: this firmware cannot read flash (no Maix.utils.flash_read), "
    "and nbytes is {!r}. Next: add(..., nbytes=bytes of its file) for a V3 model, or "
    "file= a path of the same model.",
    "missing": "not on this firmware: {}. Next: flash MaixPy v0.6.2-84, which has it.",
    "no_kmodel_in_path": "kpu.load takes paths with .kmodel in them, {!r} has not. Next: rename "
    "the file",
    "load": "the firmware refused it: {}. Next: maixmem_advice.advise(error).",
    "no_room_left": "loading takes {} bytes of system heap, there are {}.",
    "no_room_hangs": "loading takes {} bytes of system heap, {} are free and {} of them in one "
    "piece ({} holes): kpu.load would hang the board.",
    "no_room_2006": "loading takes {} bytes of system heap, {} are free and {} of them in one "
    "piece ({} holes): kpu.load would fail with 2006.",
    "cure_release": "release() another model",
    "cure_file": "load it from a file on /sd or /flash, that takes {} bytes",
    "cure_gc_heap": "maixmem.set_gc_heap({}) and machine.reset()",
    "cure_firmware": "a smaller firmware build, or smaller camera frames",
    # K210: a net
    "kpu": "net {!r}: kpu.{}(net, *{}) was refused. Next: see what it printed; set_outputs() "
    "wants the shape of an output of a V4 model.",
    "init_yolo2": "net {!r}: init_yolo2() was done. Next: release() to change it.",
    "run_yolo2": "net {!r}: run_yolo2() needs init_yolo2(). Next: do it in the setup of add().",
    "KPU": "net {0!r} has no {1!r}: forward, run, init_yolo2, run_yolo2, get_output, "
    "set_outputs, set_layers, netinfo, fmap, fmap_free, classifier. Next: KPU.{1}() if "
    "it takes results; release({0!r}) frees a model.",
    "KPU_object": "net {0!r} has no {1!r}. Next: release({0!r}) frees a model; run(), "
    "init_yolo2(), regionlayer_yolo2() and those of maix.KPU run it.",
    "slot_taken": "slot {} of {} is the next one, and taken by {!r}. Next: release() that model, "
    "then use() it again.",
    "kpu_fmap": "kpu_fmap: its model went for another meanwhile. Next: take its values, [:], "
    "before the next model runs.",
    "kpu_deinit": "kpu_net {}: kpu.deinit() was called on it. Next: kpu.load() it again.",
    "kpu_turns": "maixmem: there is no room for all models at once, so they take turns: loading "
    "{} again took {} ms.",
    "kpu_unjudged": "maixmem: kpu.load({}) cannot be judged and is tried as the firmware would: "
    "{}",
    "classifier": "classifier of {0!r}: its model was released, predict() would fail with 2001. "
    "Next: use({0!r}), make one and load() what save() kept.",
    "image": "net {!r}: an image is needed, not {}. Next: sensor.snapshot(), or image.Image "
    "and pix_to_ai().",
    # why a model is unsupported
    "encrypted_model": "encrypted for one board: use the plain .kmodel",
    "format_not_loaded": "{}: refused or crashes, so compile it with nncase 0.1 or 0.2",
    "v4_model_on_v3": "V4 on a V3 build: use one with V4, or compile with nncase 0.1",
    "headers_too_long": "headers of {} bytes, load_flash keeps {}: use kpu.load",
    "words_swapped": "word-swapped: use load_flash, or swap it back",
    "words_not_swapped": "not word-swapped: load_flash needs a swapped copy",
    "layer_asserts": "layer type {} stops the board: compile without it",
    "first_layer": "layer type {} first never runs (2007): begin with a convolution",
    "larger_than_ram": "takes {} bytes of {}: use a smaller model",
    "load_method": "no way to load {!r}. Next: load_path, load_addr, stream_single, stream_dual, "
    "canmv or sdk.",
    # K210: flash, GC heap, images
    "read_flash": "read_flash({}, {}): flash is 0 to {:#x}. Next: an address and a length inside.",
    "flash_room": "flash: reading needs {} bytes of system heap at once, {} are free. Next: free "
    "a model first.",
    "heap_damaged": "the system heap is damaged at 0x{:x}, a load or a camera may hang. Next: "
    "machine.reset().",
    "heap_damaged_after": "the system heap is damaged at 0x{0:x}, perhaps by what has the block "
    "of {1} bytes at 0x{2:x}; a load or a camera may hang. Next: machine.reset().",
    "heap_damaged_gc": "the system heap is damaged at 0x{0:x}, perhaps by an image or a buffer at "
    "the end of the GC heap; a load or a camera may hang. Next: machine.reset().",
    "camera": "a camera of {}x{} takes {} bytes of system heap, {} are free and {} of them in one "
    "piece. Next: smaller frames, release() a model, or make_room() of maixmem_camera.",
    "new_image": 'new_image: format "rgb565" or "gray", not {!r}',
    "gc_heap_type": "set_gc_heap: bytes as an int, not {!r}",
    "gc_heap_small": "{0}: below {1} MaixPy does not boot or cannot run. Next: {1} or more.",
    "gc_heap_large": "{0}: at most {1} now ({2} free in the system heap and about {3} in the GC "
    "heap, less {4}). Next: {1} or less, or free models and camera first.",
    "gc_heap_lost": "GC heap size: {} was written, {} reads back. Next: check that /flash is not "
    "full, then set it again.",
    "gc_heap_stored": "GC heap of {} bytes stored. Next: machine.reset() (a soft reset keeps the "
    "old size).",
    "gc_heap_other": "GC heap: {} bytes are set, about {} are active. A new size needs a hard "
    "reset: machine.reset().",
    "gc_heap_too_large": "GC heap: {} bytes are set, about {} are active. A new size needs a "
    "hard reset: machine.reset(). If it stays so after a reset, that much could not be "
    "allocated at boot: set a smaller one.",
    "frees_twice": "MaixPy {}.{}.{}-{}: before 0.5.1-48 freeing a YOLO model damages the heap. "
    "Next: flash v0.6.2-84.",
    # pools
    "BufferPool": "BufferPool({!r}, {!r}, {!r}): {!r} must be an int, 1 or more. Next: divide "
    "with //.",
    "ImagePool": "ImagePool({!r}, {!r}, count={!r}): {!r} must be an int, 1 or more. Next: "
    "divide with //.",
    "block": "BufferPool: the block has {} bytes. Next: give it {}.",
    "acquire": "pool exhausted: {} in use by {}. Next: release one or pool more",
    "stale": "stale release: {!r} holds it now, not {!r}. Next: give back once what acquire() "
    "returned.",
    "foreign": "not from this pool: no object that acquire() gave. Next: give back what "
    "acquire(), take() or borrow() gave.",
    "double": "double release: it is free already. Next: give back once what acquire() returned.",
    "check": "damaged: {} of {} are out, held by {}",
    "take": "take: a frame of {}x{} (format {}) for images of {}x{} {}. Next: a pool of its size.",
    "image_pool_room": "ImagePool: no {}x{} {} image, the GC heap has {} bytes free. Next: "
    "fewer, or pool them first. {}",
    # flash map
    "kind": "flash region {}: kind {!r}. Next: one of {}.",
    "nbytes": "{}: start {!r} and {!r} bytes. Next: ints, 0 or more and 1 or more.",
    "overlap": "{0} overlaps {1}: {2} bytes, {3:#08x}..{4:#08x}",
    "firmware": "{0} lies in the area used by every official firmware (no firmware in this map): "
    "{2} bytes, {3:#08x}..{4:#08x}",
    "beyond": "{0} extends past the end of flash: {2} bytes, {3:#08x}..{4:#08x}",
    "erase": "flashing {0} erases whole sectors: {2} bytes of {1}, {3:#08x}..{4:#08x}",
    "padding": "flashing {0} may write whole 64 KiB frames: {2} bytes of {1}, {3:#08x}..{4:#08x}",
    "damaged": "{} is damaged: its SHA-256 does not match",
    "flash_conflict": "{}. Next: another address, such as gap_for(nbytes) finds, then flash "
    "again what was overwritten.",
    "unread": "no conflict in what could be read, but {}",
    "place_not_checked": "its place in flash was not checked: no memory. Next: gc.collect(), or "
    "add() at the start",
    "overlap_of_ranges": "model {:#08x}..{:#08x} overlaps {} {:#08x}..{:#08x}: {:#08x}..{:#08x} "
    "are of both",
}

# What the first word of something that is no model says
_SIGNATURES = {
    0x73726576: "a Git-LFS pointer: fetch the file with git lfs pull",
    0x04034B50: "a zip or kfpkg: burn it or unpack it",
    0xBEEFA821: "firmware: models go behind it, often at 0x300000",
    0xFFFFFFFF: "blank flash: burn a model or check the address",
}
_FIRMWARE = (
    b"\x21\xa8\xef\xbe"  # its first instruction: in flash an image has its length before it
)


def fill(key: str, *args) -> str:
    """The sentence of this name with its numbers."""
    return _SENTENCES[key].format(*args)


def signature(word: int, behind: bytes) -> str:
    """What it is that begins with this word, `behind` being the bytes 5 to 8."""
    if behind == _FIRMWARE:
        word = 0xBEEFA821
    return _SIGNATURES.get(word, "no model: check the address")
