# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the firmware prints, and the stream that uos.dupterm() lets read along."""

stream = None


def say(text):
    """Prints a line; the stream gets it as well, with the line ends of the console."""
    print(text)
    if stream is not None:
        stream.write((text + "\r\r\n").encode())


def read_along(new):
    """uos.dupterm(): sets the stream, returns the one before."""
    global stream
    before = stream
    stream = new
    return before
