# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Picture files: the size that a BMP, PGM, PPM or JPEG says it has; no pixel of it is read or
written."""

import k210_board as board
import k210_files as files
import k210_work

_ENOENT, _EIO = 2, 5
_GRAYSCALE, _RGB565 = 1, 2
_JPEG, _BMP, _PNM = b"\xff\xd8", b"BM", (b"P5", b"P6")
_WRITTEN = ("bmp", "jpg", "jpeg")
_OF_FORMAT = {"ppm": _RGB565, "pgm": _GRAYSCALE, "raw": 3}  # 3: sensor.BAYER
_TITLES = {"raw": "BAYER"}
_BMP_HEADS = {_GRAYSCALE: 1078, _RGB565: 66}  # bytes


def save(img, path, w, h):
    """img.save(path) of a part of w * h pixels: the file has the header and the length of a
    picture; a JPEG needs the largest scratch block. Of other kinds nothing is written, and only
    some are refused."""
    kind = path.split(".")[-1].lower()
    if kind in _OF_FORMAT and img._bpp != _OF_FORMAT[kind]:
        raise OSError("Image is not %s!" % _TITLES.get(kind, kind.upper()))
    if kind not in _WRITTEN:
        return
    _place(path)
    if kind != "bmp":
        packs = img._bpp in (_GRAYSCALE, _RGB565)
        k210_work.use((k210_work.ALL,) if packs else (), lambda: board.file_read(path))
        planes = 1 if img._bpp == _GRAYSCALE else 3
        head = b"\xff\xd8\xff\xc0\x00\x11\x08" + bytes((h >> 8, h & 255, w >> 8, w & 255, planes))
        size = 600 + img.size() * w * h // (img.width() * img.height()) // 40
    else:
        bpp = _GRAYSCALE if img._bpp == _GRAYSCALE else _RGB565
        head = b"BM" + bytes(16) + w.to_bytes(4, "little") + h.to_bytes(4, "little")
        head += bytes((1, 0, 8 * bpp, 0))
        size = _BMP_HEADS[bpp] + (w * bpp + 3 & ~3) * h
        board.file_read(path)
    files.put(path, files.Hollow(head, size))


def _place(path):
    """OSError where the firmware's C code finds no folder for a new file."""
    folder = files.full_name(path)
    folder = folder[: folder.rfind("/")]
    card = board.state.card and (folder == "/sd" or files.is_folder(folder))
    if not folder or (folder[:6] != "/flash" and not card):
        raise OSError(_ENOENT)


def shape(path):
    """(width, height, format) of a picture file; OSError as the firmware's, ValueError for what is
    none."""
    files.needs(path)
    board.file_read(path)
    data = files.read(path, 0, 64)
    if data[:2] == _JPEG:
        return _jpeg(path)
    if data[:2] == _BMP:
        w, h = int.from_bytes(data[18:22], "little"), int.from_bytes(data[22:26], "little")
        if h >= 1 << 31:  # a picture from the top down has a negative height
            h = (1 << 32) - h
        return w, h, _GRAYSCALE if data[28] == 8 else _RGB565
    if data[:2] in _PNM:
        w, h = [int(word) for word in data[2:64].split()[:2]]
        return w, h, _GRAYSCALE if data[:2] == _PNM[0] else _RGB565
    raise OSError("Unsupported format!")


def _jpeg(path):
    at = 2
    while True:
        part = files.read(path, at, 10)
        if len(part) < 10:
            raise OSError(_EIO)
        if 0xC0 <= part[1] <= 0xCF and part[1] not in (0xC4, 0xC8, 0xCC):
            w, h = part[7] << 8 | part[8], part[5] << 8 | part[6]
            return w, h, _GRAYSCALE if part[9] == 1 else _RGB565
        at += 2 + (part[2] << 8 | part[3])
