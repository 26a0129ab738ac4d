# SPDX-License-Identifier: GPL-2.0
"""profile_proto.py FILE: prints a gzipped profile.proto: what it is of, then a
line for each sample with its values and its stack, and for each mapping. Knows
the encoding of protocol buffers and nothing of who wrote the file."""
import gzip
import sys


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = number(data, at)
        value, at = number(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data), "a field is cut"
        else:
            assert key & 7 == 0, f"wire type {key & 7}"
        yield key >> 3, value


def numbers(data):
    at, values = 0, []
    while at < len(data):
        value, at = number(data, at)
        values.append(value)
    return values


def of(message, field, default=0):
    return next((value for key, value in message if key == field), default)


def every(message, field):
    return [value for key, value in message if key == field]


def main():
    whole = list(fields(gzip.open(sys.argv[1]).read()))
    texts = [text.decode() for text in every(whole, 6)]
    assert texts[0] == "", "the first string is empty"
    types = [list(fields(kind)) for kind in every(whole, 1)]
    print("types", *(f"{texts[of(kind, 1)]}/{texts[of(kind, 2)]}"
                     for kind in types))
    print("default", texts[of(whole, 14)])
    period = list(fields(of(whole, 11)))
    print("period", texts[of(period, 1)], texts[of(period, 2)], of(whole, 12))
    print("time", of(whole, 9), of(whole, 10))
    for comment in every(whole, 13):
        print("comment", texts[comment])
    functions = {}
    for function in every(whole, 5):
        function = list(fields(function))
        assert of(function, 1) not in functions, "a function twice"
        functions[of(function, 1)] = (texts[of(function, 2)],
                                      texts[of(function, 4)])
    mappings = {}
    for mapping in every(whole, 3):
        mapping = list(fields(mapping))
        mappings[of(mapping, 1)] = texts[of(mapping, 5)]
        print(f"mapping 0x{of(mapping, 2):x} 0x{of(mapping, 3):x}",
              texts[of(mapping, 5)])
    assert sorted(mappings) == list(range(1, len(mappings) + 1))
    places = {}
    for location in every(whole, 4):
        location = list(fields(location))
        text = f"0x{of(location, 3):x}"
        for line in every(location, 4):
            line = list(fields(line))
            name, file = functions[of(line, 1)]
            text = f"{name} {file}:{of(line, 2)}" if file else name
        if of(location, 2):
            text += f" [{mappings[of(location, 2)]}]"
        places[of(location, 1)] = text
    for sample in every(whole, 2):
        sample = list(fields(sample))
        values = numbers(of(sample, 2, b""))
        assert len(values) == len(types), "a value for each type"
        print("sample", *values, "|".join(
            places[place] for place in numbers(of(sample, 1, b""))))


main()
