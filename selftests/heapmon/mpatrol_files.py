#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mpatrol's tracing and profiling files, read and made from their description
alone.

  mpatrol_files.py dump FILE        a line for each thing in it
  mpatrol_files.py trace FORM VERSION COUNT >FILE
                                    random events; FORM is le64, be64, le32, be32
                                    or llp64
  mpatrol_files.py patch FILE OFFSET HEX >FILE
                                    some bytes changed, the rest as it is
"""
import random
import struct
import sys

FORMS = {                           # order, size_t and void *, unsigned long
    'le64': ('<', 8, 8), 'be64': ('>', 8, 8), 'le32': ('<', 4, 4),
    'be32': ('>', 4, 4), 'llp64': ('<', 8, 4),
}
LETTERS = {4: 'I', 8: 'Q'}
SLOTS = 32


class Reader:
    def __init__(self, data):
        self.data = data
        self.at = 4
        self.caches = ({}, {})
        first = data[4:12]
        if first == b'\1' + bytes(7):
            self.order, self.word, self.long = '<', 8, 8
            if data[16:20] != bytes(4):
                self.long = 4
        elif first == bytes(7) + b'\1':
            self.order, self.word, self.long = '>', 8, 8
        elif first[:4] == b'\1\0\0\0':
            self.order, self.word, self.long = '<', 4, 4
        elif first[:4] == b'\0\0\0\1':
            self.order, self.word, self.long = '>', 4, 4
        else:
            raise ValueError('the first word is not 1')
        assert self.get(self.word) == 1
        self.version = self.get(self.long)

    def bytes(self, count):
        self.at += count
        if self.at > len(self.data):
            raise ValueError('the file ends')
        return self.data[self.at - count:self.at]

    def get(self, size):
        return struct.unpack(self.order + LETTERS[size], self.bytes(size))[0]

    def words(self, count):
        return [self.get(self.word) for _ in range(count)]

    def leb128(self):
        value = shift = 0
        while True:
            byte = self.bytes(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                assert byte or shift == 7, 'not the shortest form'
                return value

    def name(self, cache):
        byte = self.bytes(1)[0]
        slot = byte & 0x7f
        assert slot <= SLOTS, 'a slot that mptrace does not have'
        if byte & 0x80:
            end = self.data.index(0, self.at)
            cache[slot] = self.bytes(end + 1 - self.at)[:-1].decode()
        return cache[slot] if slot else '-'

    def source(self):
        if self.version < 10405:
            return []
        thread = self.leb128()
        function, file = map(self.name, self.caches)
        return [thread, function, file, self.leb128()]


def dump_trace(reader):
    while True:
        letter = chr(reader.bytes(1)[0])
        if letter in 'HI':
            fields = [hex(reader.leb128()), reader.leb128()]
        elif letter in 'AR':
            fields = [reader.leb128(), hex(reader.leb128()), reader.leb128()]
            fields += reader.source()
        elif letter == 'F':
            fields = [reader.leb128()] + reader.source()
        else:
            break
        print(letter, *fields)
    assert letter.encode() + reader.bytes(3) == b'MTRC', 'no trailer'


def dump_bins(reader):
    count = reader.get(reader.word)
    for what in ('allocated', 'freed') if count else ():
        bins = reader.words(count)
        used = [f'{i + 1}:{n}' for i, n in enumerate(bins) if n]
        print(what, *used, 'large', reader.get(reader.word))


def dump_sites(reader):
    """Call sites as stacks, innermost first; every number is checked."""
    sums = {}
    for _ in range(reader.get(reader.word)):
        index = reader.get(reader.long)
        assert index not in sums
        sums[index] = reader.words(16)
    assert sorted(sums) == list(range(1, len(sums) + 1))
    nodes, last = {}, 0
    for _ in range(reader.get(reader.word)):
        index, parent = reader.get(reader.long), reader.get(reader.long)
        address = reader.get(reader.word)
        assert index not in nodes and address >= last
        last = address
        nodes[index] = [parent, address] + [reader.get(reader.long)
                                            for _ in range(3)]
    assert sorted(nodes) == list(range(1, len(nodes) + 1))
    starts = reader.words(reader.get(reader.word))
    table = reader.bytes(reader.get(reader.word))
    assert table[0] == 0 and table[-1] == 0

    def text(node):
        parent, address, symbol, name, _ = node
        if not name:
            return hex(address)
        end = table.index(0, name)
        assert table[name - 1] == 0
        offset = address - starts[symbol - 1]
        return table[name:end].decode() + (f'+{offset}' if offset else '')

    used = set()
    for node in sorted(nodes.values(), key=lambda node: node[4]):
        if not node[4]:
            continue
        assert node[4] not in used
        used.add(node[4])
        stack, data = [], sums[node[4]]
        while True:
            stack.append(text(node))
            if not node[0]:
                break
            node = nodes[node[0]]
        print(*[','.join(map(str, data[i:i + 4])) for i in (0, 4, 8, 12)],
              '|'.join(stack))
    assert used == set(sums)


def dump_profile(reader):
    print('bounds', *reader.words(3))
    dump_bins(reader)
    dump_sites(reader)
    assert reader.bytes(4) == b'MPTL', 'no trailer'


def dump(data):
    reader = Reader(data)
    print('version', reader.version, 'bits', reader.word * 8,
          'big' if reader.order == '>' else 'little')
    {b'MTRC': dump_trace, b'MPTL': dump_profile}[data[:4]](reader)
    assert reader.at == len(data), 'bytes after the trailer'


class Writer:
    """As mpatrol's library writes: slots in order, then the one whose use is
    the longest ago."""

    def __init__(self, form, version):
        order, word, self.long = FORMS[form]
        self.version = version
        self.out = bytearray(b'MTRC')
        self.out += struct.pack(order + LETTERS[word], 1)
        self.out += struct.pack(order + LETTERS[self.long], version)
        self.caches = ([], [])      # (slot, name), the last used one in front

    def leb128(self, value):
        while value > 0x7f:
            self.out.append(value & 0x7f | 0x80)
            value >>= 7
        self.out.append(value)

    def name(self, cache, name):
        found = [entry for entry in cache if entry[1] == name]
        if not name:
            self.out.append(0)
        elif found:
            cache.remove(found[0])
            cache.insert(0, found[0])
            self.out.append(found[0][0])
        else:
            slot = len(cache) + 1
            if slot > SLOTS:
                slot = cache.pop()[0]
            cache.insert(0, (slot, name))
            self.out.append(0x80 | slot)
            self.out += name.encode() + b'\0'

    def record(self, letter, numbers, source=None):
        self.out += letter.encode()
        for number in numbers:
            self.leb128(number)
        if source and self.version >= 10405:
            self.leb128(source[0])
            self.name(self.caches[0], source[1])
            self.name(self.caches[1], source[2])
            self.leb128(source[3])


def make_trace(form, version, count):
    rng = random.Random(count)
    top = 0x7f0000000000 if form.endswith('64') else 0x8000000
    writer, live, index = Writer(form, version), {}, 7
    for i in range(count):
        kind = rng.choice('AAAARRFFFH' if i else 'A')
        function = f'function{rng.randrange(50)}' if rng.random() < .9 else ''
        file = f'dir/file{rng.randrange(40)}.c' if rng.random() < .8 else ''
        source = (rng.choice((0, 4711, 4194304)), function, file,
                  rng.randrange(3000) if file else 0)
        address, size = top + i * 65536, rng.choice((0, 1, 40, 70000))
        if kind == 'H':
            writer.record('H', (address, 4096))
        elif kind == 'A' or not live:
            writer.record('A', (index, address, min(size, 65536)), source)
            live[index] = address
            index += rng.randrange(1, 4)
        elif kind == 'F':
            which = rng.choice(sorted(live))
            writer.record('F', (which,), source)
            del live[which]
        else:
            which = rng.choice(sorted(live))
            writer.record('R' if version >= 10404 else 'A',
                          (which, address, min(size, 65536)), source)
            live[which] = address
    return bytes(writer.out + b'MTRC')


def main(arguments):
    if arguments[0] == 'dump':
        with open(arguments[1], 'rb') as file:
            dump(file.read())
        return
    if arguments[0] == 'trace':
        data = make_trace(arguments[1], int(arguments[2]), int(arguments[3]))
    else:
        with open(arguments[1], 'rb') as file:
            data = bytearray(file.read())
        new = bytes.fromhex(arguments[3])
        offset = int(arguments[2])
        data[offset:offset + len(new)] = new
    sys.stdout.buffer.write(data)


main(sys.argv[1:])
