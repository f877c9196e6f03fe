# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Sound and video: buffers and files as the firmware has them, silence in them, and no
pictures."""

import k210_board as board
import k210_files as files
import k210_image
import k210_time
import k210_work
from k210_args import as_buffer, as_int, as_str
from k210_gc import finaliser
from k210_parts import Part, keep

_ENOENT, _EPERM = 2, 1
_BUFFER = 2048
_PLAYED, _QVGA = 35840, 320 * 240
_POINTS = 1024  # of a buffer that no size was given for
_HEADER = 44  # bytes of a WAV file before its samples
_MAP, _DIRECTIONS = 16, 12  # of an array of microphones: points each way, of its picture
_RECORDED = 5000  # bytes that one recorded picture takes, about


def _exists(path):
    if files.source(path) is None:
        raise OSError(_ENOENT)


# Contract. Sound samples: 4 bytes each on the GC heap, or a file. Playing a file is over at once.
class Audio(Part):
    def __init__(self, *args, **kwargs):
        keep(self, "_volume", 40.0)
        keep(self, "_path", None)
        self.init(*args, **kwargs)

    def init(self, array=None, path=None, points=_POINTS, is_create=False, samplerate=44100):
        board.point("Audio")
        if array is not None:
            as_buffer(array)
            keep(self, "_data", array)
        elif path is None:
            keep(self, "_data", bytearray(4 * points))
        else:
            as_str(path)
            if is_create is True:
                files.put(path, files.Hollow(b"", _HEADER))
            files.needs(path)
            keep(self, "_path", path)
        return True

    def to_bytes(self):
        return self._data

    def play_process(self, device):
        if type(device).__name__ != "I2S":
            raise ValueError("Invaild I2S device")
        head = files.read(self._path, 0, _HEADER)
        if len(head) < _HEADER:
            print("[MAIXPY]: file length is 0")
            return False
        return [
            int.from_bytes(head[at : at + n], "little")
            for at, n in ((22, 2), (24, 4), (28, 4), (32, 2), (34, 2))
        ]

    def record_process(self, device, channels=1):
        if type(device).__name__ != "I2S":
            raise ValueError("Invaild I2S device")

    def play(self):
        return None if self._path is None else 0

    def record(self, sound):
        board.scratch((2 * len(sound.to_bytes()) // 4,))

    def volume(self, *percent):
        if percent:
            if not 0 <= percent[0] <= 100:
                raise ValueError("value:[0,100]")
            keep(self, "_volume", float(percent[0]))
        return self._volume


class I2S(Part):
    def __init__(self, device, sample_points=_POINTS, pll2=0, mclk=0):
        board.point("I2S")
        if not 0 <= device <= 2:
            raise ValueError("[MAIXPY]I2S%d:does not exist" % device)
        keep(self, "_data", bytearray(4 * sample_points))

    def channel_config(self, channel, mode=0, resolution=0, cycles=0, align_mode=1):
        board.alive()
        if channel < 0 or not 0 <= cycles <= 2:
            board.crash(
                "I2S.channel_config(): the driver takes any number", "give I2S.CHANNEL_0 to 3"
            )
        for right, what in (
            (channel <= 3, "i2s channle"),
            (mode in (0, 1), "cycles"),
            (0 <= resolution <= 5, "resolution"),
            (align_mode in (1, 2, 4), "align mode"),
        ):
            if not right:
                raise ValueError("[MAIXPY]I2S:invalid " + what)
        return True

    def record(self, points=0, time=0):
        board.alive()
        if not points and not time:
            raise ValueError("[MAIXPY]I2S:please input recording points or time")
        return Audio.made(points=points or _POINTS)


Audio.made = Audio  # the type that programs see


# What an array of microphones hears: nothing, from nowhere.
class MIC_ARRAY:
    def get_map():
        board.alive()
        return k210_image.Image(_MAP, _MAP, k210_image.GRAYSCALE, k210_image.pixels(_MAP * _MAP))

    def get_dir(heard):
        board.alive()
        return (0,) * _DIRECTIONS


class FFT:
    def run(byte, points=64, shift=0, direction=0):
        board.alive()
        if byte is None:
            raise ValueError("[MAIXPY]FFT:invalid byte")
        as_buffer(byte)
        if len(byte) % 4:
            raise ValueError("[MAIXPY]FFT:Buffer length must be a multiple of 4")
        if points not in (64, 128, 256, 512):
            raise ValueError("[MAIXPY]FFT:invalid points")
        nothing = [0, 0]
        return [tuple(nothing) for _ in range(points)]  # each one takes its block

    def freq(points=64, sample_rate=16000):
        step = sample_rate // points
        return [step * i for i in range(points)]

    def amplitude(values):
        if not isinstance(values, list):
            raise ValueError("[MAIXPY]FFT:obj is not a list")
        pairs = [value if isinstance(value, tuple) else (0, 0) for value in values]
        return [2 * int((r * r + i * i) ** 0.5) // len(pairs) for r, i in pairs]


# What playing a file takes of the system heap: a buffer and one picture, until it is let go.
class _Playing:
    def __init__(self, path):
        size = files.read(path, 64, 8)
        w, h = int.from_bytes(size[:4], "little"), int.from_bytes(size[4:], "little")
        self._blocks = [board.heap.malloc(_PLAYED), board.heap.malloc(2 * (w * h or _QVGA))]

    def finalise(self):
        while self._blocks:
            board.heap.free(self._blocks.pop(0))


# What open() gives.  A recorded picture is packed on the way, and recorded not before its time.
class avi(Part):
    def __init__(self, path, record, interval):
        playing = None if record else _Playing(path)
        keep(self, "_playing", playing)
        keep(self, "_token", finaliser.watch(playing) if playing else None)
        if playing:
            board.state.handles.append(playing)
        keep(self, "_path", path)
        keep(self, "_recorded", record)
        keep(self, "_interval", interval)
        keep(self, "_volume", 100)

    def play(self):
        if self._recorded:
            raise OSError(_EPERM)
        return 0

    def capture(self, image):
        return self.play()

    def volume(self, *percent):
        if percent:
            keep(self, "_volume", as_int(percent[0]))
        return self._volume

    def record(self, image):
        board.point("avi.record")
        if not self._recorded:
            raise OSError(_EPERM)
        k210_work.use((k210_work.ALL,))
        board.file_read(self._path)
        k210_time.passed.sleep(self._interval)
        return _RECORDED

    def record_finish(self):
        if not self._recorded:
            raise OSError(_EPERM)
        board.file_read(self._path)

    def __del__(self):
        if self._playing:
            self._playing.finalise()


def open(path, record=False, interval=100000, **kwargs):
    board.point("video.open")
    if not path.endswith(".avi"):
        raise NotImplementedError("[MaixPy] video: format not support")
    if record:
        files.put(path, files.Hollow(b"RIFF", _RECORDED))
    _exists(path)
    if record:
        k210_work.use((_BUFFER,), lambda: board.file_read(path))
    return avi(path, record, interval)
