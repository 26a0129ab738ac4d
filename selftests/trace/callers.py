# SPDX-License-Identifier: GPL-2.0
# For gdb: the callers at each stop at the first instruction of a function, a line
# of addresses for each, in the file $CALLERS_OUT; at most $CALLERS_MOST stops.
import os
import gdb

function = os.environ["CALLERS_FUNCTION"]
library = os.environ.get("CALLERS_LIBRARY", "")
most = int(os.environ["CALLERS_MOST"])

for setting in ("pagination off", "confirm off", "backtrace past-main on",
                "debuginfod enabled off", "startup-with-shell on"):
    gdb.execute("set " + setting)


def alive():
    return gdb.selected_inferior().pid > 0


def callers():
    frame = gdb.newest_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    frame = frame.older()
    addresses = []
    while frame and len(addresses) < 32:
        if frame.type() != gdb.INLINE_FRAME:
            addresses.append("%x" % frame.pc())
        frame = frame.older()
    return " ".join(addresses)


if library:
    gdb.execute("set stop-on-solib-events 1")
    gdb.execute("run", to_string=True)
    while alive() and not any(library == os.path.realpath(o.filename)
                              for o in gdb.objfiles()):
        gdb.execute("continue", to_string=True)
    gdb.execute("set stop-on-solib-events 0")
    gdb.execute("break *%s" % function, to_string=True)
    gdb.execute("continue", to_string=True)
else:
    gdb.execute("starti", to_string=True)
    gdb.execute("break *%s" % function, to_string=True)
    gdb.execute("continue", to_string=True)
with open(os.environ["CALLERS_OUT"], "w") as out:
    stops = 0
    while alive() and stops < most:
        out.write(callers() + "\n")
        out.flush()
        stops += 1
        gdb.execute("continue", to_string=True)
if alive():
    gdb.execute("kill")
