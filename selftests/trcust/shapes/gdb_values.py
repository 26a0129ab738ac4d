# SPDX-License-Identifier: GPL-2.0
# gdb's values as tracefmt prints them: lines "NAME=VALUE" from stdin, with what
# the pretty printers of libstdc++ add taken away. What gdb shows as an address
# only becomes "?".
import re
import sys

HEADS = [
    # what is empty
    (re.compile(r"empty std::[\w:]+|std::[\w:]+(<bool>)? (of length 0"
                r"(, capacity \d+)?|with 0 elements)(?! = )"), "empty"),
    (re.compile(r"std::optional(<.*?>)? \[no contained value\]"), "none"),
    (re.compile(r"std::optional(<[^={]*>)? = "), "optional"),
    (re.compile(r"std::(unique_ptr|shared_ptr)<.*?>( \([^()]*\))? = "),
     "pointer"),
    (re.compile(r"std::(unordered_)?map with \d+ elements? = "), "map"),
    (re.compile(r"std::(unordered_)?multimap with \d+ elements? = "),
     "pairs"),
    (re.compile(r"std::[\w:]+(<bool>)? (of length \d+(, capacity \d+)?|"
                r"with \d+ elements?|containing) = "), "list"),
    (re.compile(r"std::((__cxx11::)?list|forward_list|array<.*?>) = "),
     "list"),
]
ADDRESS = re.compile(r"(\([^()]* ?[&*]+( const)?\) )?@0x[0-9a-f]+: ")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SCALAR = re.compile(r"(\d+ )?('(?:[^'\\]|\\.)*')|[^,{}\[\]]*[^,{}\[\] ]")
NAME = re.compile(r"([\w$]+) = ")


class Reader:
    def __init__(self, text):
        self.text, self.at = text, 0

    def take(self, pattern):
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def braces(self, kind):
        """The items of {...}; of a map with keys."""
        items = []
        self.at += 1
        while self.text[self.at] != "}":
            key = name = None
            if self.text.startswith("[", self.at):
                self.at += 1
                key = self.value()
                assert self.text.startswith("] = ", self.at)
                self.at += 4
            else:
                match = self.take(NAME)
                name = match and match.group(1)
            value = self.value()
            if kind == "map" and key is not None:
                items.append((None, key + ": " + value))
            elif kind == "pairs":
                items.append((None, "{" + key + ", " + value + "}"))
            else:
                items.append((name, value))
            if self.text.startswith(", ", self.at):
                self.at += 2
        self.at += 1
        names = [name for name, value in items]
        if names == ["_M_elems"]:
            return items[0][1]
        if names == ["first", "second"]:
            items = [(None, value) for name, value in items]
        return "{" + ", ".join((name + " = " if name else "") + value
                               for name, value in items) + "}"

    def value(self):
        self.take(ADDRESS)
        for pattern, kind in HEADS:
            if not self.take(pattern):
                continue
            if kind == "empty":
                return "{}"
            if kind == "none":
                return "nullopt"
            if kind == "optional":
                return self.braces("list")[1:-1]
            if kind == "pointer":
                inner = self.braces("list")
                return "NULL" if inner.endswith("0x0}") else "?"
            return self.braces(kind)
        if self.text.startswith("{", self.at):
            return self.braces("list")
        match = self.take(STRING)
        if match:
            return match.group(0)
        match = self.take(SCALAR)
        if not match:
            raise ValueError(self.text[self.at:])
        return match.group(2) or match.group(0)


for line in sys.stdin:
    line = line.rstrip("\n").replace("<No data fields>", "")
    name, _, text = line.partition("=")
    try:
        reader = Reader(text)
        value = reader.value()
        if reader.at != len(text):
            value = "?" + text
        elif STRING.fullmatch(value) and "std::" not in text:
            value = value[1:-1]
    except (AssertionError, IndexError, ValueError):
        value = "?" + text
    print(name + "=" + value)
