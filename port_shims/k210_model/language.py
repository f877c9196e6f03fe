# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""What the interpreters of the stand-in do and MicroPython 1.11 of MaixPy does not, where a text
that compiles for both shows it. Measured: host_tests/kits/language, run on both."""

#: texts of a bytearray, which 1.11 has of str and bytes only
_OF_TEXT = (
    "center count endswith find format index isalpha isdigit islower isspace isupper join lower "
    "lstrip partition replace rfind rindex rpartition rsplit rstrip split splitlines startswith "
    "strip upper"
).split()

#: attribute -> types that do not have it in 1.11
GONE = dict.fromkeys(_OF_TEXT, "bytearray")
GONE["hex"] = "bytes bytearray memoryview"
GONE["fromhex"] = "bytes bytearray"
GONE["errno"] = GONE["value"] = "BaseException"
GONE["__globals__"] = "function"
GONE["__bases__"] = GONE["__dict__"] = "type"
GONE["__setattr__"] = GONE["__delattr__"] = "object"
GONE["appendleft"] = GONE["pop"] = GONE["extend"] = "deque"
GONE["tell"] = "BytesIO StringIO"

#: attributes that 1.11 has, and that do less there; and constants of math that a compiler of today
#: knows by their names
OTHER = "to_bytes from_bytes startswith endswith format join extend inf nan tau".split()
OTHER += "popitem digest".split()
#: names that 1.11 does not know
UNKNOWN = ("StopAsyncIteration", "ViperTypeError")

#: methods of a program's own classes that 1.11 does not call
UNCALLED = ["__%s__" % name for name in "set_name setattr delattr float complex ne".split()]
UNCALLED += ["__r%s__" % name for name in "add sub mul truediv floordiv mod pow".split()]
UNCALLED += ["__r%s__" % name for name in "and or xor lshift rshift divmod".split()]

#: A mark is called with one value, at the place of that: more of them would leave other words on
#: the interpreter's stack than the board does, and those keep objects. HAS, then an attribute:
#: called with what has it
MARK = "_maixmem_"
HAS = MARK + "has_"
#: what others call: two dicts, what an operator in place takes, known(value, name), a text that is
#: run, a function that calls itself
OR, IOR, IN_PLACE, KNOWN, TEXT, DEEPER = [
    MARK + name for name in "or ior in_place known text deeper".split()
]
#: types of data: with MARK before it a function that is called in its place
OF_DATA = "bytes bytearray memoryview".split()
