# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""On the MicroPython unix port: asks the stand-in. refusals_asked.py JOB; JOB is a file with the
dict {"flash": {address: file}, "groups": [(name, program before the calls, program before every
call, calls)]}. After a call that hangs the board it is started anew, in the same interpreter."""

import sys

import k210_board as board
import k210_host
import k210_start


def ask(session, flash, name, head, each, calls):
    """Prints what each call gives."""
    alive = False
    for call in calls:
        try:
            if not alive:
                board.reset("full", flash=flash)
                session.restart()
                session.run(head, name)
            alive = True
            session.run("%s\nanswer(%r)" % (each, call), name)
        except board.DeviceCrash:
            alive = False
            print("\n@@ hangs")
    print("\n@@@")


def main(job):
    flash = job["flash"]
    board.reset("full", flash=flash)
    session = k210_start.Session(False, [], None)
    session.enclose(*k210_host.leave(list(flash.values()) + ["/dev/null"], []))
    session.boot()
    for group in job["groups"]:
        ask(session, flash, *group)


with open(sys.argv[1]) as f:
    main(eval(f.read()))
