# SPDX-License-Identifier: GPL-2.0
"""A client of the Language Server Protocol, for test_lsp.sh."""
import json
import os
import select
import subprocess
import sys
import time

SECONDS = 60


class Client:
    """Starts the server; messages are dictionaries."""

    def __init__(self, *options):
        self.process = subprocess.Popen(["trcust", "--lsp", *options],
                                        stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.number = 0
        self.buffer = b""
        self.seen = []          # notifications

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def begin(self, method, params=None):
        self.number += 1
        self.send({"id": self.number, "method": method,
                   "params": params or {}})
        return self.number

    def read(self, seconds=SECONDS):
        """The next message; None: the server has ended or says nothing."""
        end = time.time() + seconds
        while True:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if found:
                size = int(head.split(b":")[1])
                if len(rest) >= size:
                    self.buffer = rest[size:]
                    return json.loads(rest[:size])
            left = end - time.time()
            out = self.process.stdout
            if left <= 0 or not select.select([out], [], [], left)[0]:
                return None
            data = os.read(out.fileno(), 65536)
            if not data:
                return None
            self.buffer += data

    def answer(self, number):
        """Of the request; notifications before it are kept."""
        while True:
            message = self.read()
            if message is None:
                raise SystemExit("no answer to request %s" % number)
            if message.get("id") == number:
                return message
            self.seen.append(message)

    def ask(self, method, params=None):
        return self.answer(self.begin(method, params))

    def start(self, **capabilities):
        answer = self.ask("initialize", {"processId": None, "rootUri": None,
                                         "capabilities": capabilities})
        self.notify("initialized")
        return answer["result"]

    def open(self, uri, text, version=1):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "tsf", "version": version,
            "text": text}})

    def change(self, uri, version, *changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": list(changes)})

    def diagnostics(self, uri, version=None):
        """The next ones of the document (of that version)."""
        while True:
            message = self.seen.pop(0) if self.seen else self.read()
            if message is None:
                raise SystemExit("no diagnostics of %s" % uri)
            params = message.get("params", {})
            if params.get("uri") == uri and \
               version in (None, params.get("version")):
                return params["diagnostics"]

    def at(self, method, uri, line, character):
        return self.ask("textDocument/" + method, {
            "textDocument": {"uri": uri},
            "position": {"line": line, "character": character}})

    def labels(self, uri, text, version, mark="|"):
        """Change the text, whose cursor is at the mark: labels offered."""
        items = self.items(uri, text, version, mark)
        return [item["label"] for item in items]

    def items(self, uri, text, version, mark="|"):
        before, _, after = text.partition(mark)
        self.change(uri, version, {"text": before + after})
        line = before.count("\n")
        character = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        answer = self.at("completion", uri, line, character)
        return answer["result"]["items"]

    def hover(self, uri, text, version, mark="|"):
        before, _, after = text.partition(mark)
        self.change(uri, version, {"text": before + after})
        line = before.count("\n")
        character = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        return self.at("hover", uri, line, character)["result"]

    def stop(self):
        """The exit status."""
        self.ask("shutdown")
        self.notify("exit")
        return self.process.wait(SECONDS)


count = failures = 0


def ok(passed, name, got=None):
    global count, failures
    count += 1
    failures += not passed
    print("%sok %d - %s" % ("" if passed else "not ", count, name))
    if not passed and got is not None:
        print("# got: %r" % (got,))
    sys.stdout.flush()


def same(got, expected, name):
    ok(got == expected, name, got)


def done():
    print("1..%d" % count)
    sys.exit(failures > 0)
