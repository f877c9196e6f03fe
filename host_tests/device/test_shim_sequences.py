# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Random sequences of calls, with heap_free() after each as the firmware (v0.6.2_84) gave it.

A line is: call, argument, flash address of a load, what came of it: heap_free(),
error:heap_free(), or a hang."""

import gc

import k210_board as board
import KPU as kpu
import lcd
import sensor
from kmodel_build import v3, v4
from Maix import utils

NEEDS = ("shim", "not mp2019")  # the stand-in itself: a program for desks

YOLO = (0.5, 0.3, 3, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0))


def models():
    return {
        0x300000: v3((28, 28, 1), [("conv", 16), ("raw", 15, 190000)]),
        0x400000: v3((64, 64, 3), [("conv", 24), ("raw", 15, 350000)]),
        0x500000: v3((32, 32, 3), [("conv", 8), ("dequantize",), ("softmax",)]),
        0x600000: v3((96, 96, 3), [("conv", 32), ("raw", 15, 920000)]),
        0x700000: v4((64, 64, 3), [("conv", 24), ("raw", 7, 300000)]),
    }


def camera(dual):
    sensor.reset(dual_buff=bool(dual))
    sensor.set_pixformat(sensor.RGB565)


def gc_heap(n):
    utils.gc_heap_size(n)
    board.power_on()


SIMPLE = {
    "flash": lambda n: utils.flash_read(0, n),
    "camera": camera,
    "size": sensor.set_framesize,
    "dark": lambda _: sensor.deinit(),
    "lcd": lambda _: lcd.init(),
    "unlit": lambda _: lcd.deinit(),
    "text": lambda _: lcd.draw_string(1, 1, "abc"),
    "soft": lambda _: board.soft_reset(),
    "gc": gc_heap,
}


def step(nets, call, x, address):
    if call == "load":
        nets[x] = kpu.load(address)
    elif call == "deinit":
        kpu.deinit(nets.pop(x))
    elif call == "yolo":
        kpu.init_yolo2(nets[x], *YOLO)
    else:
        SIMPLE[call](x)


def result(nets, call, x, address):
    try:
        step(nets, call, x, address)
    except board.DeviceCrash:
        return "hangs"
    except ValueError as e:
        return "%s:%d" % (str(e).split("error:")[1][:4], utils.heap_free())
    except OSError as e:
        return "%d:%d" % (e.args[0], utils.heap_free())
    return str(utils.heap_free())


def follow(firmware, lines):
    board.reset(firmware, flash=models())
    nets = {}
    done = 0
    for line in lines.split("\n"):
        if not line:
            continue
        gc.collect()
        call, x, address, expected = line.split()
        got = result(nets, call, int(x), int(address, 16))
        assert got == expected, (firmware, done, line, got)
        done += 1
    return done


MEASURED = (
    (
        "minimum",
        """
load 1 600000 3514368
flash 50000 0 3538944
camera 0 0 3518464
deinit 1 0 4755456
flash 8192 0 4718592
camera 0 0 4718592
flash 4096 0 4718592
camera 1 0 4718592
load 1 600000 3514368
deinit 1 0 4755456
soft 0 0 4726784
flash 100 0 4726784
flash 20000 0 4644864
load 1 300000 4542464
load 2 300000 4341760
deinit 2 0 4546560
deinit 1 0 4751360
load 1 300000 4542464
deinit 1 0 4751360
load 1 400000 4300800
load 2 300000 4096000
load 3 600000 2854912
deinit 2 0 2854912
load 4 400000 2527232
dark 0 0 2527232
deinit 3 0 2527232
yolo 4 0 2527232
load 5 600000 2527232
deinit 1 0 2527232
camera 1 0 2527232
flash 50000 0 2527232
load 6 300000 2527232
deinit 6 0 2527232
deinit 5 0 2527232
deinit 4 0 4751360
load 1 400000 4300800
flash 20000 0 4218880
load 2 500000 4218880
load 3 400000 3776512
load 4 400000 3325952
""",
    ),
    (
        "openmv_v4",
        """
unlit 0 0 4026368
dark 0 0 4026368
load 1 700000 3620864
load 2 600000 2383872
deinit 1 0 2383872
flash 16384 0 2383872
deinit 2 0 4026368
flash 1 0 4026368
load 1 600000 2785280
deinit 1 0 4026368
load 1 300000 3817472
load 2 300000 3612672
deinit 1 0 3612672
flash 20000 0 3612672
deinit 2 0 4026368
soft 0 0 3842048
load 1 500000 3764224
deinit 1 0 3764224
load 1 600000 2625536
deinit 1 0 3866624
flash 4096 0 3846144
load 1 400000 3416064
deinit 1 0 3866624
flash 100 0 3866624
load 1 300000 3661824
deinit 1 0 3866624
camera 0 0 3846144
flash 16384 0 3776512
flash 50000 0 3866624
flash 16384 0 3796992
load 1 700000 3461120
size 16 0 3432448
load 2 700000 3043328
load 3 700000 2641920
load 4 600000 1404928
load 5 300000 1220608
deinit 1 0 1220608
load 6 400000 1126400
flash 8192 0 1126400
size 9 0 1064960
""",
    ),
    (
        "full",
        """
flash 70000 0 2441216
load 1 400000 2011136
load 2 300000 1802240
flash 4096 0 1781760
camera 1 0 1781760
lcd 0 0 1781760
deinit 1 0 1781760
load 3 400000 1806336
yolo 3 0 1806336
flash 50000 0 1806336
yolo 2 0 1806336
flash 16384 0 1736704
camera 0 0 1736704
load 4 700000 1400832
flash 1 0 1400832
unlit 0 0 1400832
load 5 300000 1216512
load 6 400000 864256
flash 4096 0 864256
size 11 0 12:864256
size 10 0 475136
deinit 3 0 475136
flash 20000 0 475136
deinit 4 0 475136
deinit 5 0 475136
gc 262144 0 2699264
flash 8192 0 2662400
load 1 400000 2273280
load 2 700000 1867776
flash 32768 0 1871872
load 3 500000 1789952
deinit 2 0 1789952
deinit 3 0 2273280
load 2 400000 1822720
camera 0 0 1802240
load 3 400000 1372160
dark 0 0 1372160
load 4 600000 131072
flash 50000 0 hangs
""",
    ),
    (
        "lvgl",
        """
flash 1 0 2244608
load 1 500000 2166784
flash 1 0 2166784
camera 0 0 2166784
load 2 600000 954368
load 3 300000 770048
deinit 3 0 978944
size 9 0 876544
load 3 400000 430080
deinit 3 0 880640
deinit 1 0 880640
dark 0 0 880640
camera 0 0 880640
deinit 2 0 2195456
flash 8192 0 2195456
flash 70000 0 2248704
flash 100 0 2248704
flash 100 0 2248704
flash 4096 0 2248704
flash 1 0 2248704
flash 100 0 2248704
camera 0 0 2248704
flash 32768 0 2269184
size 16 0 2240512
flash 50000 0 2248704
load 1 300000 2039808
gc 1000000 0 1769472
flash 50000 0 1794048
load 1 400000 1343488
deinit 1 0 1794048
soft 0 0 1765376
camera 1 0 1765376
load 1 400000 1339392
dark 0 0 1339392
camera 1 0 1318912
load 2 500000 1241088
load 3 600000 20480
deinit 2 0 20480
deinit 3 0 1261568
deinit 1 0 1789952
""",
    ),
    (
        "minimum",
        """
flash 20000 0 4653056
camera 0 0 4653056
flash 65536 0 4755456
load 1 600000 3514368
camera 1 0 3514368
load 2 500000 3436544
deinit 1 0 3436544
deinit 2 0 4755456
flash 1 0 4755456
flash 32768 0 4755456
load 1 600000 3514368
load 2 300000 3334144
load 3 600000 2093056
load 4 300000 1912832
soft 0 0 4726784
load 1 400000 4300800
yolo 1 0 4300800
camera 1 0 4280320
yolo 1 0 4280320
load 2 400000 3850240
yolo 2 0 3850240
load 3 500000 3768320
deinit 1 0 3768320
load 4 500000 3768320
load 5 300000 3776512
deinit 4 0 3776512
load 6 500000 3776512
size 11 0 688128
load 7 600000 2006:688128
flash 1 0 688128
text 0 0 688128
size 9 0 3674112
size 9 0 3674112
flash 8192 0 3674112
load 7 400000 3231744
""",
    ),
)


def _check(i):
    firmware, lines = MEASURED[i]
    assert follow(firmware, lines) == lines.count("\n") - 1 >= 20


def test_sequence_1_on_minimum():
    _check(0)


def test_sequence_2_on_openmv_v4():
    _check(1)


def test_sequence_3_on_full():
    _check(2)


def test_sequence_4_on_lvgl():
    _check(3)


def test_sequence_5_on_minimum():
    _check(4)
