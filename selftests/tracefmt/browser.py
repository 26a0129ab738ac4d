# SPDX-License-Identifier: GPL-2.0
"""Chromium without a window, driven through its debugging pipe (Chrome
DevTools Protocol: JSON messages, each ended by a zero byte)."""
import base64
import json
import os
import select
import struct
import subprocess
import tempfile
import time
import zlib

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Escape": 27, "Enter": 13, "ArrowDown": 40, "ArrowUp": 38, "End": 35,
        "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, "PageDown": 34}


class Browser:
    def __init__(self, program, width=1280, height=900, limit=40):
        self.limit = limit
        self.number = 0
        self.buffer = b""
        self.messages = []
        self.folder = tempfile.TemporaryDirectory()
        down, up = os.pipe(), os.pipe()
        self.start(program, down[0], up[1], width, height)
        os.close(down[0])
        os.close(up[1])
        self.to, self.of = down[1], up[0]
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")
        self.session = self.send("Target.attachToTarget", flatten=True,
                                 targetId=target["targetId"])["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def start(self, program, read, write, width, height):
        """The browser reads from descriptor 3 and writes to 4."""
        def pipes():
            # neither may be in the way of the other
            high = os.dup(read), os.dup(write)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
            for fd in high:
                os.close(fd)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars",
             "--disable-background-networking", "--no-first-run",
             "--force-color-profile=srgb", "--remote-debugging-pipe",
             f"--window-size={width},{height}",
             f"--user-data-dir={self.folder.name}"],
            preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def read(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.of], [], [], left)[0]:
                raise TimeoutError("the browser doesn't answer")
            piece = os.read(self.of, 1 << 20)
            if not piece:
                raise EOFError("the browser ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + self.limit
        while True:
            answer = self.read(until)
            if answer.get("id") != self.number:
                self.messages.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            return answer["result"]

    def evaluate(self, script):
        result = self.send("Runtime.evaluate", expression=script,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script):
        until = time.monotonic() + self.limit
        while not self.evaluate(script):
            if time.monotonic() > until:
                raise TimeoutError(script)
            time.sleep(0.05)

    def settle(self, ms=0):
        """What was asked for is drawn; what waits for so long is done."""
        self.evaluate("new Promise((r) => setTimeout(() => "
                      "requestAnimationFrame(() => "
                      f"requestAnimationFrame(r)), {ms}))")

    def open(self, path):
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("document.documentElement?.dataset.ready === ''")
        self.settle()

    def size(self, width, height, mobile=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width,
                  height=height, deviceScaleFactor=1, mobile=mobile)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", clickCount=n,
                           buttons=int(kind == "mousePressed"))
        self.settle()

    def drag(self, x, y, to_x, to_y, modifiers=0):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1,
                   clickCount=1, modifiers=modifiers)
        for part in (0.5, 1):
            self.mouse("mouseMoved", x + (to_x - x) * part,
                       y + (to_y - y) * part, button="left", buttons=1,
                       modifiers=modifiers)
        self.mouse("mouseReleased", to_x, to_y, button="left",
                   clickCount=1, modifiers=modifiers)
        self.settle()

    def click_on(self, selector):
        self.click(*self.middle(selector))

    def middle(self, selector):
        box = self.evaluate(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}"
            ").getBoundingClientRect(); return [b.x + b.width / 2, "
            "b.y + b.height / 2]; })()")
        return tuple(box)

    def key(self, name):
        code = KEYS.get(name, ord(name[0]))
        more = {} if name in KEYS and name != "Enter" else {
            "text": "\r" if name == "Enter" else name}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=name,
                  windowsVirtualKeyCode=code, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=name,
                  windowsVirtualKeyCode=code)
        self.settle()

    def type(self, text):
        self.send("Input.insertText", text=text)
        self.settle(200)

    def fill(self, selector, text):
        """Click on a field and replace its text."""
        self.click_on(selector)
        self.evaluate(f"document.querySelector({json.dumps(selector)}"
                      ").select()")
        self.type(text)

    def picture(self):
        data = self.send("Page.captureScreenshot", format="png")["data"]
        return base64.b64decode(data)

    def complaints(self):
        """Errors and requests that the page made."""
        found = []
        for message in self.messages:
            params = message.get("params", {})
            if message["method"] == "Runtime.exceptionThrown":
                found.append(str(params["exceptionDetails"]))
            elif message["method"] == "Log.entryAdded":
                found.append(params["entry"]["text"])
            elif message["method"] == "Network.requestWillBeSent" and \
                    not params["request"]["url"].startswith("file:"):
                found.append(params["request"]["url"])
        return found

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()


class Picture:
    """The pixels of a PNG of 8 bits a channel, without interlacing."""

    def __init__(self, data):
        at, packed = 8, b""
        while at < len(data):
            length, kind = struct.unpack_from(">I4s", data, at)
            body = data[at + 8:at + 8 + length]
            if kind == b"IHDR":
                self.width, self.height, _, colour = struct.unpack_from(
                    ">IIBB", body)
                self.bytes = {2: 3, 6: 4}[colour]
            elif kind == b"IDAT":
                packed += body
            at += 12 + length
        self.rows = self.unfilter(zlib.decompress(packed))

    def unfilter(self, raw):
        size, rows = self.width * self.bytes, []
        before = bytearray(size)
        for y in range(self.height):
            start = y * (size + 1)
            row = bytearray(raw[start + 1:start + 1 + size])
            self.unfilter_row(raw[start], row, before)
            rows.append(row)
            before = row
        return rows

    def unfilter_row(self, kind, row, up):
        step = self.bytes
        if kind == 0:
            return
        if kind == 2:
            for i, above in enumerate(up):
                row[i] = (row[i] + above) & 255
            return
        for i, above in enumerate(up):
            left = row[i - step] if i >= step else 0
            corner = up[i - step] if i >= step else 0
            if kind == 1:
                guess = left
            elif kind == 3:
                guess = (left + above) // 2
            else:
                p = left + above - corner
                guess = min((abs(p - left), 0, left),
                            (abs(p - above), 1, above),
                            (abs(p - corner), 2, corner))[2]
            row[i] = (row[i] + guess) & 255

    def pixel(self, x, y):
        at = int(x) * self.bytes
        return tuple(self.rows[int(y)][at:at + 3])

    def colours(self):
        return {self.pixel(x, y) for y in range(0, self.height, 4)
                for x in range(0, self.width, 4)}
