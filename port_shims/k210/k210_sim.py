# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Runs one MaixPy script on the stand-in board: `k210_sim.py JOB`, JOB a file with the dict that run() takes."""

import sys

import k210_board as board

_HANG = 3


def run(script, firmware, flash, files):
    """Powers the board on and runs the script as __main__; returns the exit status for the host."""
    board.reset(firmware, flash=flash, files=files)
    try:
        with open(script) as f:
            source = f.read()
        exec(compile(source, script, "exec"), {"__name__": "__main__", "__file__": script})
    except board.DeviceCrash as e:
        print("\nBOARD HANGS: {}.\n  cure: {}".format(e.cause, e.cure))
        return _HANG
    except board.HardReset:
        print("\nmachine.reset(): the board restarts here; the script is not run again.")
    except SystemExit as e:
        return _status(e)
    return 0


def _status(e):
    code = e.args[0] if e.args else 0
    if code is None or isinstance(code, int):
        return code or 0
    print(code)
    return 1


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        job = eval(f.read())
    sys.exit(run(job["script"], job["firmware"], job["flash"], job["files"]))
