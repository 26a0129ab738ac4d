# SPDX-License-Identifier: GPL-2.0
"""The memory tracker's stream, read and written from its description alone.

tracker_stream.py dump FILE BITS ORDER     a line per record
tracker_stream.py make FILE BITS ORDER     from such lines on stdin
ORDER: little or big
"""
import struct
import sys

MALLOC, FREE, SYMBOL, OUT_OF_MEMORY = range(4)


def dump(data, bits, mark):
    pointer = mark + ("Q" if bits == 64 else "I")
    texts = {0: "", -1: "?"}
    following = 1
    at = 0

    def take(form):
        nonlocal at
        value, = struct.unpack_from(form, data, at)
        at += struct.calcsize(form)
        return value

    while at < len(data):
        kind = take(mark + "i")
        if kind == SYMBOL:
            number = take(mark + "i")
            end = data.index(b"\0", at)
            texts[number] = data[at:end].decode()
            assert number == following, "symbol %d, not %d" % (number, following)
            following += end - at + 1
            padded = at + (end - at + 4) // 4 * 4
            assert not any(data[end:padded])
            at = padded
        elif kind == MALLOC:
            address = take(pointer)
            size, tag, name, line = (take(mark + "i") for _ in range(4))
            print("malloc %#x %d %s|%s|%d" %
                  (address, size, texts[tag], texts[name], line))
        elif kind == FREE:
            print("free %#x" % take(pointer))
        elif kind == OUT_OF_MEMORY:
            print("lost")
        else:
            raise ValueError("type %d at %d" % (kind, at - 4))


def make(lines, bits, mark):
    pointer = mark + ("Q" if bits == 64 else "I")
    numbers = {"": 0, "?": -1}
    following = 1
    out = b""
    for line in lines:
        word, _, rest = line.rstrip("\n").partition(" ")
        if word == "malloc":
            address, size, rest = rest.split(" ", 2)
            tag, name, number = rest.split("|")
            for text in (tag, name):
                if text in numbers:
                    continue
                numbers[text] = following
                coded = text.encode() + b"\0"
                out += struct.pack(mark + "ii", SYMBOL, following)
                out += coded + b"\0" * (-len(coded) % 4)
                following += len(coded)
            out += struct.pack(mark + "i", MALLOC)
            out += struct.pack(pointer, int(address, 0))
            out += struct.pack(mark + "iiii", int(size), numbers[tag],
                               numbers[name], int(number))
        elif word == "free":
            out += struct.pack(mark + "i", FREE)
            out += struct.pack(pointer, int(rest, 0))
        else:
            out += struct.pack(mark + "i", OUT_OF_MEMORY)
    return out


def main(action, path, bits, order):
    mark = "<" if order == "little" else ">"
    if action == "dump":
        with open(path, "rb") as stream:
            dump(stream.read(), int(bits), mark)
    else:
        with open(path, "wb") as stream:
            stream.write(make(sys.stdin, int(bits), mark))


main(*sys.argv[1:])
