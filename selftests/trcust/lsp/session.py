# SPDX-License-Identifier: GPL-2.0
"""What an editor asks about a TSF, and what it gets: in $PWD, with app.c, app, bare
and broken.tsf of test_lsp.sh."""
import json
import os
import signal
import subprocess
import time
from client import Client, done, ok, same

uri = "file://%s/a%%20b.tsf" % os.getcwd()
HEADER = ('MODNAME=./app\nMAJOR=9\nTYPELIST NAME=PRE,ID=1,NAME=POST,ID=2\n'
          'GROUPLIST NAME=NET,ID=7\n')
POINT = HEADER + "TRACE TP=.greet,\n\t"


def marked(text, diagnostic):
    """What the range of a diagnostic covers, with UTF-16 positions."""
    start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
    lines = text.split("\n")
    if start["line"] != end["line"]:
        return None
    line = lines[start["line"]].encode("utf-16-le")
    return line[2 * start["character"]:2 * end["character"]].decode("utf-16-le")


c = Client()
same(c.ask("textDocument/hover")["error"]["code"], -32002,
     "nothing precedes initialize")
server = c.start()
same(server["capabilities"]["positionEncoding"], "utf-16",
     "positions are UTF-16 without an offer")
same(server["capabilities"]["textDocumentSync"]["change"], 2,
     "changes are incremental")
same(c.ask("initialize")["error"]["code"], -32600, "initialize comes once")

# diagnostics
text = HEADER + "TRACE TP=.grete,\n\tVARS=(who)\n"
c.open(uri, text)
found = c.diagnostics(uri, 1)
same(len(found), 1, "a message")
same(found[0]["code"], "TRCERR_BADSYMBOL", "its name")
same(found[0]["severity"], 1, "an error")
same(found[0]["source"], "trcust", "whose it is")
same(marked(text, found[0]), "grete", "the range is what is wrong")
ok("near names: greet" in found[0]["message"], "the remedy", found[0]["message"])
ok("symbol not found: grete" in found[0]["message"], "the text")
cli = subprocess.run(["trcust", "broken.tsf"], capture_output=True, text=True)
text = open("broken.tsf").read()
c.change(uri, 2, {"text": text})
found = c.diagnostics(uri, 2)
same([d["code"] for d in found],
     [line.split("[")[1].rstrip("]") for line in cli.stderr.splitlines()
      if line.startswith("broken.tsf:")], "the messages are those of trcust")
places = [tuple(map(int, line.split(":")[1:3]))
          for line in cli.stderr.splitlines() if line.startswith("broken.tsf:")]
same([d["range"]["start"]["line"] + 1 for d in found],
     [line for line, column in places], "in the same lines")
same([text.split("\n")[d["range"]["start"]["line"]]
      .encode("utf-16-le")[:2 * d["range"]["start"]["character"]]
      .decode("utf-16-le").encode().__len__() + 1 for d in found],
     [column for line, column in places],
     "and columns, which trcust counts in bytes")
c.change(uri, 3, {"text": POINT + "VARS=(who)\n"})
same([d for d in c.diagnostics(uri, 3) if d["severity"] == 1], [],
     "what is right has no errors")
c.change(uri, 4, {"range": {"start": {"line": 5, "character": 7},
                            "end": {"line": 5, "character": 10}},
                  "text": "\U0001f600x"})
found = c.diagnostics(uri, 4)
ok(found and found[0]["severity"] == 1, "an incremental change", found)
c.change(uri, 5, {"range": {"start": {"line": 5, "character": 7},
                            "end": {"line": 5, "character": 10}},
                  "text": "who"})
same([d for d in c.diagnostics(uri, 5) if d["severity"] == 1], [],
     "of characters that are two units")

# completion
version = 6


def labels(text):
    global version
    version += 1
    return c.labels(uri, text, version)


def hover(text):
    global version
    version += 1
    result = c.hover(uri, text, version)
    return result["contents"]["value"] if result else None


ok({"MODNAME", "MAJOR", "TRACE"} <= set(labels("|")), "keywords of the header")
ok("TRACE" in labels("MODNAME=./app\n|"), "in a new line")
same(labels("MODNAME=./ap|"), [], "none in a path")
ok({"TP", "VARS", "IF", "MINOR", "TRACE"} <= set(labels(POINT + "|")),
   "of a tracepoint")
ok("RETEP" in labels(HEADER + "TRACE TP=.greet, |"), "RETEP after TP")
same(labels(POINT + "DESC=\"a |"), [], "none in a string")
same(labels(POINT + "; a comment |"), [], "none in a comment")
same(labels(POINT + "/* a comment | */"), [], "of either kind")
found = labels(HEADER + "TRACE TP=|")
ok({"greet", "main", "@USDT,", "app.c"} <= set(found), "places", found)
ok("greet" in labels(HEADER + "TRACE TP=.gr|"), "a function that is typed")
same([l for l in labels(HEADER + "TRACE TP=.gr|") if l == "main"], [],
     "and no others")
version += 1
item = [i for i in c.items(uri, HEADER + "TRACE TP=.gr|", version)
        if i["label"] == "greet"][0]
same(item["textEdit"], {"range": {"start": {"line": 4, "character": 9},
                                  "end": {"line": 4, "character": 12}},
                        "newText": ".greet"}, "the edit keeps the dot")
ok(item["detail"].startswith("int (char *who"), "with its type", item)
found = labels(POINT + "VARS=(|)")
ok({"who", "v", "counter", "total"} <= set(found), "variables in scope", found)
ok("p" not in found, "and no others")
ok({"who", "v"} <= set(labels(POINT + "VARS=(v, w|")), "unfinished ones")
ok({"who", "v"} <= set(labels(POINT + "IF=(v > |")), "of a condition")
version += 1
items = {i["label"]: i for i in c.items(uri, POINT + "VARS=(|)", version)}
same(items["who"]["detail"], "char *", "with their types")
ok("register" in items["who"]["documentation"], "and places",
   items["who"]["documentation"])
ok("not available" in items["n"]["documentation"], "or why they have none",
   items["n"])
ok(items["n"]["sortText"] > items["who"]["sortText"], "which come last")
quiet = HEADER + "TRACE TP=@app.c,31, VARS=("
same(labels(quiet + "p->|"), ["id", "name", "next"], "members")
same(labels(quiet + "p->next->n|)"), ["id", "name", "next"], "of members")
same(labels(quiet + "p->next[2].|"), ["id", "name", "next"], "of elements")
same(labels(quiet + "p->id.|"), [], "a number has none")
ok("$rax" in labels(POINT + "VARS=($|"), "registers")
ok("$result" in labels(HEADER + "TRACE TP=.greet,RETEP=EXIT, VARS=(|"),
   "a result")
ok("RAX" in labels(POINT + "REGS=(|"), "registers of REGS")
same(labels(HEADER + "TRACE TP=.greet,RETEP=|"), ["EXIT", "CALLER"],
     "kinds of return points")
same(labels(POINT + "TYPE=(|"), ["PRE", "POST"], "types")
same(labels(POINT + "GROUP=|"), ["NET"], "groups")
same(labels(POINT + "ONFAULT=|"), ["STOP", "CONTINUE"], "what follows faults")
ok({"DIRECT", "INDIRECT"} <= set(labels(POINT + "MEM32=(.total,|")), "flags")
ok("total" in labels(POINT + "MEM32=(.|"), "variables of MEM32")
ok("who" in labels(HEADER + "TRACE VARS=(|), TP=.greet"),
   "TP may follow")
ok("who" in labels(HEADER + "TRACE TP=.main\nTRACE TP=.greet, VARS=(|)\n"
                   "TRACE TP=.main"), "of the tracepoint around it")
ok("TP" in labels("MODNAME=./none\nTRACE |"), "keywords without a module")

# hover
text = hover(POINT + "VARS=(wh|o)")
ok(text and text.startswith("who: char *\nparameter, register"),
   "a variable has type and place", text)
text = hover(POINT + "VARS=(n|)")
ok(text and "not available: it is optimized out" in text, "or the reason", text)
ok(": int\n" in (hover(quiet + "p->next->i|d)") or ""), "a member")
text = hover(HEADER + "TRACE TP=.gre|et")
ok(text and text.startswith("greet: int (char *who, int v)\n1 site\ngreet+"),
   "a place has type and sites", text)
text = hover(HEADER + "TRACE TP=.greet, MAX|HITS=2")
same(text, "MAXHITS: most records", "a keyword")
same(hover(POINT + "DESC=\"gr|eet\""), None, "nothing in a string")
same(hover("|"), None, "nothing in nothing")

# the protocol
same(c.ask("textDocument/rename")["error"]["code"], -32601,
     "an unknown method is an error")
c.notify("$/setTrace", {"value": "off"})
c.notify("workspace/didChangeConfiguration")
same(c.at("hover", "file:///none.tsf", 0, 0)["error"]["code"], -32602,
     "a document that is not open")
same(c.ask("textDocument/hover", {"textDocument": {"uri": uri}})
     ["error"]["code"], -32602, "no position")
same(c.ask("textDocument/hover", [1])["error"]["code"], -32602, "no object")
same(c.at("hover", uri, 10**9, 10**9)["result"], None,
     "a position after the end")
many = [c.begin("textDocument/completion", {
    "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
    for _ in range(8)]
c.notify("$/cancelRequest", {"id": many[-1]})
answers = [c.answer(number) for number in many[:-1]]
ok(all("result" in a for a in answers), "answers come in order")
canceled = [m for m in c.seen if m.get("id") == many[-1]] or \
    [c.answer(many[-1])]
ok(canceled[0].get("error", {}).get("code") == -32800 or
   "result" in canceled[0], "a canceled request is answered", canceled)
c.send({"id": 9999})
same(c.answer(9999)["error"]["code"], -32600, "a message without a method")
c.send({"id": "x", "result": None})
c.raw(b"Content-Length: 3\r\nContent-Type: x\r\n\r\n{]}")
same(c.answer(None)["error"]["code"], -32700, "a message that is no JSON")
c.raw(b"Content-Length: 14\r\n\r\n[{\"jsonrpc\":1}")
same(c.answer(None)["error"]["code"], -32700, "or no whole one")
c.raw(b"Content-Length: 2\r\n\r\n[]")
same(c.answer(None)["error"]["code"], -32600, "a batch")

# the module changes, is damaged, kills the process
c.change(uri, 500, {"text": POINT + "VARS=(other)\n"})
ok(any(d["code"] == "TRCERR_BADSYMBOL" for d in c.diagnostics(uri, 500)),
   "a variable that is not there")
source = open("app.c").read().replace("const char *who", "const char *other") \
    .replace("strlen(who)", "strlen(other)").replace(", who", ", other")
open("app.c", "w").write(source)
subprocess.run(["cc", "-O2", "-g", "-o", "app.new", "app.c"], check=True)
os.rename("app.new", "app")
c.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
same([d for d in c.diagnostics(uri, 500) if d["severity"] == 1], [],
     "is there when the module was built again")


def children():
    path = "/proc/%d/task/%d/children" % (c.process.pid, c.process.pid)
    return [int(pid) for pid in open(path).read().split()]


ok(len(children()) == 1, "one process reads modules")
for seconds in (0.2, 1, 5):      # until the server has handed over the request
    os.kill(children()[0], signal.SIGSTOP)
    number = c.begin("textDocument/hover", {
        "textDocument": {"uri": uri}, "position": {"line": 5, "character": 8}})
    time.sleep(seconds)
    os.kill(children()[0], signal.SIGKILL)
    answer = c.answer(number)
    if "error" in answer:
        break
ok("ended with signal 9" in answer.get("error", {}).get("message", ""),
   "its end during a request is reported", answer)
answer = c.at("hover", uri, 5, 8)
ok("other" in answer["result"]["contents"]["value"], "and there is another one",
   answer)
os.kill(children()[0], signal.SIGKILL)
time.sleep(0.2)
answer = c.at("hover", uri, 5, 8)
ok("result" in answer, "one that ends between requests is replaced", answer)
c.change(uri, 600, {"text": "MODNAME=./short.so\nTRACE TP=.greet\n"})
found = c.diagnostics(uri, 600)
ok(found and found[0]["severity"] == 1 and found[0]["range"]["start"]["line"] == 0,
   "a damaged module is a diagnostic", found)
c.change(uri, 601, {"text": "MODNAME=./none\nTRACE TP=.greet\n"})
found = c.diagnostics(uri, 601)
same(found[0]["code"], "TRCERR_NO_FILE", "and so is one that is not there")

c.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
same(c.diagnostics(uri), [], "a closed document has no diagnostics")
pid = children()
same(c.stop(), 0, "shutdown and exit")
time.sleep(0.2)
ok(not any(os.path.exists("/proc/%d" % p) for p in pid),
   "no process is left")

# another encoding, and the ends that are not friendly
c = Client()
server = c.start(general={"positionEncodings": ["utf-32", "utf-8"]})
same(server["capabilities"]["positionEncoding"], "utf-8",
     "UTF-8 is taken if it is offered")
text = HEADER + "TRACE TP=.greet, DESC=\"\u00e4\U0001f600\", VARS=(nosuch)\n"
c.open("untitled:1", text.replace("./app", os.getcwd() + "/app"), 7)
found = [d for d in c.diagnostics("untitled:1") if d["severity"] == 1][0]
line = text.split("\n")[4].encode()
same(line[found["range"]["start"]["character"]:
          found["range"]["end"]["character"]], b"nosuch",
     "positions are bytes then")
same(c.ask("shutdown")["result"], None, "after shutdown")
same(c.at("hover", "untitled:1", 0, 0)["error"]["code"], -32600,
     "no request is taken")
c.process.stdin.close()
same(c.process.wait(60), 0, "the end of the input ends it")
c = Client()
c.start()
c.process.stdin.close()
same(c.process.wait(60), 1, "without shutdown it is an error")
for header in (b"Content-Length: x\r\n\r\n", b"Content-Length: -1\r\n\r\n",
               b"Content-Length: 99999999999\r\n\r\n", b"X: 1\r\n\r\n{}",
               b"y" * 5000):
    c = Client()
    c.raw(header)
    same(c.read()["error"]["code"], -32700, "wrong headers are refused")
    same(c.process.wait(60), 1, "and it ends")
done()
