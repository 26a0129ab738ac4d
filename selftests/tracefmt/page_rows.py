# SPDX-License-Identifier: GPL-2.0
"""page_rows.py PAGE: the events in a page, by what usr/tracefmt/html/tiles.h has on
them: a line of JSON for each, and the sizes of tiles as "tile ROWS"."""
import base64
import json
import re
import sys
import zlib

COLUMNS = ("number", "time", "trace", "cpu", "pid", "tid", "comm", "point",
           "flags", "length", "role", "depth", "latency", "self", "ago")
STEPS = {"number", "time", "pid", "tid"}


def part(line, size):
    data = base64.b64decode(line, validate=True)
    if len(data) < size:
        data = zlib.decompress(data)
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes, not {size}")
    return data


def numbers(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def columns(data, rows):
    source, table = numbers(data), {}
    for name in COLUMNS:
        values = [next(source) for _ in range(rows)]
        if name in STEPS or name in ("latency", "self"):
            values = [unzigzag(value) for value in values]
        for i in range(1, rows if name in STEPS else 0):
            values[i] += values[i - 1]
        table[name] = values
    if next(source, None) is not None:
        raise ValueError("more numbers than rows")
    return table


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    meta = json.loads(re.search(r'id="meta">\n(.*?)</script>', page,
                                re.S).group(1))
    for tile in re.finditer(r'class="tile">(\d+) (\d+) (\d+)\n(.*)\n(.*)\n'
                            "</script>", page):
        rows, sizes = int(tile[1]), (int(tile[2]), int(tile[3]))
        table = columns(part(tile[4], sizes[0]), rows)
        texts = part(tile[5], sizes[1]).decode().split("\0")
        print("tile", rows)
        if len(texts) != 2 * rows + 1 or texts[-1]:
            raise ValueError(f"{len(texts)} texts of {rows} rows")
        for i in range(rows):
            row = {name: table[name][i] for name in COLUMNS}
            row["comm"] = meta["comms"][row["comm"]]
            row["point"] = meta["points"][row["point"]]["name"]
            row["text"] = texts[i]
            row["values"] = json.loads(texts[rows + i])
            print(json.dumps(row))


main()
