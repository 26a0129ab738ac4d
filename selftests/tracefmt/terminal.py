#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""terminal.py [-o FILE] [-k KEYS] [-t SECONDS] COMMAND [ARGUMENT...]

Runs a command on a terminal of 24 lines of 80 columns and prints what it
showed there; -o sends its standard output elsewhere. KEYS are typed when
something has come. Exits like the command; killed after some SECONDS (20)
it is 124.
"""
import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


def start(options):
    pid, terminal = pty.fork()
    if pid:
        return pid, terminal
    size = struct.pack("HHHH", 24, 80, 0, 0)
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    if options.output:
        file = os.open(options.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, 1)
    os.execvp(options.command[0], options.command)


def read(terminal, end):
    """What has come; None at the end, b"" when there is none in time."""
    if not select.select([terminal], [], [], max(0, end - time.time()))[0]:
        return b""
    try:
        return os.read(terminal, 1 << 16) or None
    except OSError:
        return None


def show(terminal, options):
    end = time.time() + options.time
    keys = options.keys
    while True:
        data = read(terminal, end)
        if not data:
            return data is None
        sys.stdout.buffer.write(data.replace(b"\r\n", b"\n"))
        if keys:
            os.write(terminal, keys.encode())
            keys = None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="output")
    parser.add_argument("-k", dest="keys")
    parser.add_argument("-t", dest="time", type=float, default=20)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    pid, terminal = start(options)
    if not show(terminal, options):
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        sys.exit(124)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    sys.exit(status if status >= 0 else 128 - status)


main()
