# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""The sentences of errors, by a short name: imported when an error is created, and dropped again.
A one-time part.

A line is what is wrong, each further one a step that helps; the numbers of both are the same.
"""

_SENTENCES = {
    # models
    "add": "add: {0!r} was added already.\nforget({0!r}) first",
    "is_fallback": "forget({0!r}): it is the fallback of {1!r}.\nforget({1!r}) first",
    "use": "no model {!r}; there are: {}.\nadd() it",
    "keep": "ModelManager: keep is {!r}.\n1 or more",
    "release": "net {0!r}: its model was released.\ntake it again with use({0!r})",
    "pin": "{} of at most {} models are resident, and pinned or in a with block.\nrelease() one",
    "warning": "maixmem: {!r}: {}",
    "fallback": "maixmem: {} Using {!r} instead.",
    "no_room_in": "loading takes {} bytes of {}, with {} to spare; {} are free{}.\n{5}",
    "cannot_run": "this model cannot run here: {0}.\n{0}",
    "stack": "a thread with {} bytes of stack takes {} bytes of system heap, {} are free in one "
    "piece.\nstart it before the models are used, or with a smaller _thread.stack_size()",
    # K210: a load
    "no_model_source": "model {!r}: neither a flash address (int) nor a path (str).\nsuch as "
    "0x300000 or '/sd/m.kmodel'",
    "address_beyond": "flash address {}: addresses are 0 to 0xffffff (16 MiB).\nwhere the model "
    "was flashed",
    "stream_options": "stream={!r}.\nthree ints, (dual_buf, batch, spi_speed), such as (0, 8, "
    "80000000)",
    "file_not_read": "cannot read {!r}: error {}.\nsee os.listdir() of its folder; is the card "
    "in?",
    "not_told": "model at 0x{:06x}: this firmware cannot read flash (no Maix.utils.flash_read), "
    "and nbytes is {!r}.\nadd(..., nbytes=bytes of its file) for a V3 model, or file= a path of "
    "the same model",
    "missing": "not on this firmware: {}.\nflash MaixPy v0.6.2-84, which has it",
    "no_kmodel_in_path": "kpu.load takes paths with .kmodel in them, {!r} has not.\nrename the "
    "file",
    "load": "the firmware refused it: {}.\nmaixmem_advice.advise(error)",
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
    "kpu": "net {!r}: kpu.{}(net, *{}) was refused.\nsee what it printed; set_outputs() wants "
    "the shape of an output of a V4 model",
    "init_yolo2": "net {!r}: init_yolo2() was done.\nrelease() to change it",
    "run_yolo2": "net {!r}: run_yolo2() needs init_yolo2().\ndo it in the setup of add()",
    "KPU": "net {0!r} has no {1!r}: forward, run, init_yolo2, run_yolo2, get_output, "
    "set_outputs, set_layers, netinfo, fmap, fmap_free, classifier.\nKPU.{1}() if it takes "
    "results; release({0!r}) frees a model",
    "kpu_net": "[MAIXPY]kpu: kpu_net type error, {}.\nif it is a net, load it after import "
    "maixmem_auto",
    "kpu_fmap": "kpu_fmap: its model went for another meanwhile.\ntake its values, [:], before "
    "the next model runs",
    "kpu_net_deinit": "kpu_net {}: kpu.deinit() was called on it.\nkpu.load() it again",
    "kpu_yolo2": "kpu_net {}: run_yolo2() is for models of YOLO's after init_yolo2(): {}.\n"
    "kpu.forward() runs others",
    "models_turns": "maixmem: there is no room for all models at once, so they take turns: "
    "loading {} took {} ms.",
    "kpu_unjudged": "maixmem: kpu.load({}) cannot be judged and is tried as the firmware would: "
    "{}",
    "classifier": "classifier of {!r}: its model was released, predict() would fail with 2001.\n"
    "load its model again, make one and load() what save() kept",
    "image": "net {!r}: an image is needed, not {}.\nsensor.snapshot(), or image.Image and "
    "pix_to_ai()",
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
    "load_method": "no way to load {!r}.\nload_path, load_addr, stream_single, stream_dual, "
    "canmv or sdk",
    # K210: flash, GC heap, images
    "read_flash": "read_flash({}, {}): flash is 0 to {:#x}.\nan address and a length inside",
    "flash_room": "flash: reading needs {} bytes of system heap at once, {} are free.\nfree a "
    "model first",
    "heap_damaged": "the system heap is damaged at 0x{:x}, a load or a camera may hang.\n"
    "machine.reset()",
    "heap_damaged_after": "the system heap is damaged at 0x{0:x}, perhaps by what has the block "
    "of {1} bytes at 0x{2:x}; a load or a camera may hang.\nmachine.reset()",
    "heap_damaged_gc": "the system heap is damaged at 0x{0:x}, perhaps by an image or a buffer "
    "at the end of the GC heap; a load or a camera may hang.\nmachine.reset()",
    "camera": "a camera of {}x{} takes {} bytes of system heap, {} are free and {} of them in "
    "one piece.\nsmaller frames, release() a model, or make_room() of maixmem_camera",
    "new_image": 'new_image: format "rgb565" or "gray", not {!r}',
    "gc_heap_type": "set_gc_heap: bytes as an int, not {!r}",
    "gc_heap_small": "{0}: below {1} MaixPy does not boot or cannot run.\n{1} or more",
    "gc_heap_large": "{0}: at most {1} now ({2} free in the system heap and about {3} in the GC "
    "heap, less {4}).\n{1} or less, or free models and camera first",
    "gc_heap_lost": "GC heap size: {} was written, {} reads back.\ncheck that /flash is not "
    "full, then set it again",
    "gc_heap_stored": "GC heap of {} bytes stored.\nmachine.reset() (a soft reset keeps the old "
    "size)",
    "gc_heap_other": "GC heap: {} bytes are set, about {} are active. A new size needs a hard "
    "reset: machine.reset().",
    "gc_heap_too_large": "GC heap: {} bytes are set, about {} are active. A new size needs a "
    "hard reset: machine.reset(). If it stays so after a reset, that much could not be allocated "
    "at boot: set a smaller one.",
    "frees_twice": "MaixPy {}.{}.{}-{}: before 0.5.1-48 freeing a YOLO model damages the heap.\n"
    "flash v0.6.2-84",
    # pools
    "BufferPool": "BufferPool({!r}, {!r}, {!r}): {!r} must be an int, 1 or more.\ndivide with //",
    "ImagePool": "ImagePool({!r}, {!r}, count={!r}): {!r} must be an int, 1 or more.\ndivide "
    "with //",
    "block": "{}: the block has {} bytes.\ngive it {2}",
    "acquire": "pool exhausted: {} in use by {}.\nrelease one or pool more",
    "stale": "stale release: {!r} holds it now, not {!r}.\ngive back once what acquire() returned",
    "foreign": "not from this pool: no object that acquire() gave.\ngive back what acquire(), "
    "take() or borrow() gave",
    "double": "double release: it is free already.\ngive back once what acquire() returned",
    "check": "damaged: {} of {} are out, held by {}",
    "take": "take: a frame of {}x{} (format {}) for images of {}x{} {}.\na pool of its size",
    "image_pool_room": "ImagePool: no {}x{} {} image, the GC heap has {} bytes free "
    "({}).\nfewer, or pool them first",
    "Arena": "Arena({!r}, {!r}, pieces={!r}): {!r} must be an int, 1 or more.\ndivide with //",
    "alloc": "alloc({!r}): bytes are an int, 1 or more.\ndivide with //",
    "piece": "arena: no piece of {} bytes ({} by the rule), the largest is {}; {} free, {} of {} "
    "pieces live.\nfree a piece or make the arena larger",
    "image_size": "image of {!r}x{!r}: ints, 1x1 or more.\ndivide with //",
    "format": "no format {!r} here.\none of {1}",
    # flash map
    "kind": "flash region {}: kind {!r}.\none of {2}",
    "nbytes": "{}: start {!r} and {!r} bytes.\nints, 0 or more and 1 or more",
    "overlap": "{0} overlaps {1}: {2} bytes, {3:#08x}..{4:#08x}",
    "firmware": "{0} lies in the area used by every official firmware (no firmware in this map): "
    "{2} bytes, {3:#08x}..{4:#08x}",
    "beyond": "{0} extends past the end of flash: {2} bytes, {3:#08x}..{4:#08x}",
    "erase": "flashing {0} erases whole sectors: {2} bytes of {1}, {3:#08x}..{4:#08x}",
    "padding": "flashing {0} may write whole 64 KiB frames: {2} bytes of {1}, {3:#08x}..{4:#08x}",
    "damaged": "{} is damaged: its SHA-256 does not match",
    "flash_conflict": "{}.\nanother address, such as gap_for(nbytes) finds, then flash again "
    "what was overwritten",
    "unread": "no conflict in what could be read, but {}",
    "place_not_checked": "its place in flash was not checked: no memory.\ngc.collect(), or add() "
    "at the start",
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


# What an error or a warning says. Errors have it as their last argument: the steps of an error `e`
# are e.args[-1].steps, and no code searches its text for them. str(e) is plain text; MicroPython
# adds a Text to no other str, so "{}".format() it.
class Text(str):
    """The whole sentence; `what` is it without its steps, `steps` a tuple of them."""

    what = ""
    steps = ()  # type: tuple[str, ...]


def of(error: BaseException) -> str:
    """The Text of an error; its text where it has none."""
    for x in error.args:
        if hasattr(x, "steps"):
            return x
    return str(error)


def like(said, what: str) -> str:
    """`what`, which has the sentence of `said` in it, with the steps of that."""
    steps = getattr(said, "steps", ())
    if steps:
        what = Text(what)
        what.what = said.what
        what.steps = steps
    return what


def say(what: str, *steps) -> str:
    """A Text: what is wrong, then the steps; one that is in `what` is not repeated. Without
    steps `what` itself."""
    if not steps:
        return what
    said = "; or ".join([x for x in steps if x not in what])
    text = Text("{} Next: {}.".format(what, said) if said else what)
    text.what = what
    text.steps = steps
    return text


def tell(form: str, *args) -> str:
    """say() of the lines of `form`, each with these numbers."""
    return say(*[line.format(*args) for line in form.split("\n")])


def fill(key: str, *args) -> str:
    """The sentence of this name with its numbers; `key` may be a port's own sentence, in the same
    form."""
    return tell(_SENTENCES.get(key, key), *args)


def signature(word: int, behind: bytes) -> str:
    """What it is that begins with this word, `behind` being the bytes 5 to 8."""
    if behind == _FIRMWARE:
        word = 0xBEEFA821
    return _SIGNATURES.get(word, "no model: check the address")
