# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""Reads k210_names.txt: which names the firmware offers, and what the stand-in does with each."""

VALUE, KEPT, QUIET, ABSENT = "value", "kept", "quiet", "absent"
MODULE, TYPE, STATIC, INSTANCE = "module", "type", "static", "instance"
_MINUS = "-"


# Contract. One name: `kind` VALUE, KEPT, QUIET or ABSENT; `takes` its arguments as text ("" when
# nothing is known); `gives` the text of its result or value ("" is None); `pixels` is True when it
# needs an image that is not packed.
class Entry:
    def __init__(self, name, kind, takes, gives):
        self.name = name
        self.kind = kind
        self.gives = gives
        self.pixels = takes[:1] == "#"
        self.takes = takes.lstrip("#")


# Contract. One section: `names` under which the firmware has it, `kind` MODULE, TYPE, STATIC or
# INSTANCE, `title` the name of a type on the board, `lacking` the builds that have nothing of it,
# `entries` {name: Entry} of this build, `gone` the names that other builds have and this one
# lacks.
class Section:
    def __init__(self, head):
        names, _, rest = head[1:].partition("]")
        words = rest.split()
        self.names = names.split()
        self.kind = words[0]
        self.lacking = [word[1:] for word in words if word[0] == _MINUS]
        named = [word for word in words[1:] if word[0] != _MINUS]
        self.title = named[0] if named else self.names[0].split(".")[-1]
        self.entries = {}
        self.gone = []

    def add(self, line, build):
        kind, _, rest = line.partition(":")
        if kind[0] != _MINUS:
            for word in rest.split():
                entry = _entry(word, kind)
                self.entries[entry.name] = entry
        elif kind[1:] == build:
            for name in rest.split():
                self.entries.pop(name)
                self.gone.append(name)


def _entry(word, kind):
    if kind == VALUE:
        name, _, text = word.partition("=")
        return Entry(name, kind, "", text)
    word, _, gives = word.partition("->")
    name, bracket, takes = word.partition("(")
    if bracket and name == "time.clock":  # a name of its own, no call
        name, takes = word, ""
    return Entry(name, kind, takes[:-1], gives)


def sections(lines, build):
    """Every section that a build has, in the order of the file."""
    section = None
    for line in lines:
        line = line.rstrip()
        if line[:1] == "[":
            if section and build not in section.lacking:
                yield section
            section = Section(line)
        elif line and line[0] != "#":
            section.add(line, build)
    if section and build not in section.lacking:
        yield section
