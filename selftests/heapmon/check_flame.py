# SPDX-License-Identifier: GPL-2.0
"""check_flame.py CHROMIUM PAGE HOSTILE CHANGED OTHER FOLDER: uses the pages that
heapmon report --html made, as test_flame.sh has it, and prints "ok NAME" or "not
ok NAME: what there was". Pictures are left in FOLDER."""
import base64
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tracefmt"))
from browser import Browser, Picture  # noqa: E402


def check(name, got, expected):
    if got == expected:
        print(f"ok {name}")
    else:
        print(f"not ok {name}: {got!r}, expected {expected!r}")


def frames(page):
    """Name, share of the width in per cent, and row, of each frame."""
    return [tuple(row) for row in page.evaluate(
        "[...document.querySelectorAll('.frame')].map((f) => "
        "[f.getAttribute('aria-label').replace(/, [+−±]?[0-9,]+\\u00a0.*$/, ''), "
        "Math.round(f.getBoundingClientRect().width * 100 / "
        "document.getElementById('graph').clientWidth), "
        "parseInt(f.style.top) / 20])")]


def choose(page, element, value):
    page.evaluate(f"(() => {{ const e = document.getElementById('{element}');"
                  f" e.value = '{value}';"
                  " e.dispatchEvent(new Event('change')); })()")
    page.settle()


def text(page, element):
    return page.evaluate(f"document.getElementById('{element}').textContent"
                         ".replace(/\\u00a0/g, ' ')")


def options(page, element):
    return page.evaluate(f"[...document.getElementById('{element}').options]"
                         ".map((o) => o.value)")


def legend(page):
    return page.evaluate("[...document.querySelectorAll('#legend .key')]"
                         ".map((k) => k.textContent.replace(/\\u00a0/g, ' '))")


def save(page, folder, name):
    with open(f"{folder}/{name}", "wb") as file:
        file.write(page.picture())


def click_frame(page, name):
    x, y = page.evaluate(
        "(() => { const b = [...document.querySelectorAll('.frame')].find("
        f"(f) => f.getAttribute('aria-label').startsWith('{name}'))"
        ".getBoundingClientRect(); return [b.x + b.width / 2, "
        "b.y + b.height / 2]; })()")
    page.click(x, y)


def use_page(page):
    check("what wasn't freed", frames(page),
          [("all", 100, 0), ("main", 100, 1), ("leak(int)", 75, 2),
           ("keep()", 25, 2)])
    check("its title", page.evaluate("document.title"), "heap of a program")
    check("what can be chosen is in the file", options(page, "value"),
          ["live", "peak", "allocated", "rate", "temporary"])
    check("functions with most of it have colors", legend(page),
          ["main 100.0 %", "leak(int) 75.0 %", "keep() 25.0 %"])
    choose(page, "value", "allocated")
    check("all that was allocated", frames(page),
          [("all", 100, 0), ("main", 100, 1), ("work()", 60, 2),
           ("leak(int)", 30, 2), ("keep()", 10, 2), ("temp<char>(int)", 60, 3)])
    choose(page, "unit", "count")
    check("by blocks", frames(page)[2:4], [("leak(int)", 50, 2),
                                           ("keep()", 25, 2)])
    choose(page, "value", "temporary")
    check("temporary ones", frames(page)[-1], ("temp<char>(int)", 100, 3))
    choose(page, "value", "rate")
    choose(page, "unit", "bytes")
    check("per second", page.evaluate(
        "document.querySelector('.frame').textContent"
        ".replace(/\\u00a0/g, ' ')"), "all: 333 bytes per second")
    choose(page, "value", "peak")
    check("the peak", sorted(frames(page))[2:4],
          [("leak(int)", 30, 2), ("main", 100, 1)])
    choose(page, "order", "callees")
    check("turned over", frames(page)[1:3],
          [("temp<char>(int)", 60, 1), ("leak(int)", 30, 1)])
    choose(page, "order", "callers")
    choose(page, "value", "allocated")
    click_frame(page, "work()")
    check("a click makes it wide", sorted(frames(page)),
          [("all", 100, 0), ("main", 100, 1), ("temp<char>(int)", 100, 3),
           ("work()", 100, 2)])
    check("and shows its figures", text(page, "detail").split("\n")[:2],
          ["work()", "600 bytes, 60.0 % of all"])
    page.key("Escape")
    check("Escape shows all again", len(frames(page)), 6)
    page.evaluate("document.querySelector('.frame[tabindex=\"0\"]').focus()")
    for key, name in (("ArrowDown", "main"), ("ArrowDown", "work()"),
                      ("ArrowRight", "leak(int)"), ("ArrowUp", "main"),
                      ("Home", "all"), ("ArrowUp", "all")):
        page.key(key)
        check(f"{key} goes to {name}", text(page, "detail").split("\n")[0],
              name)
    check("one frame is reached by Tab", page.evaluate(
        "document.querySelectorAll('.frame[tabindex=\"0\"]').length"), 1)
    page.fill("#find", "LEAK")
    check("a name is found", text(page, "found"), "300 bytes, 30.0 %")
    check("and marked", page.evaluate(
        "document.querySelector('.frame.found').textContent"), "leak(int)")
    page.key("Escape")
    page.evaluate("document.activeElement.blur()")
    page.key("?")
    check("? explains", page.evaluate(
        "document.getElementById('help').open"), True)
    page.click_on("#help button")
    page.size(300, 500, mobile=True)
    check("no label is cut off", page.evaluate(
        "[...document.querySelectorAll('.frame')].filter((f) => "
        "f.scrollWidth > f.clientWidth).map((f) => f.textContent)"), [])
    check("a narrow window", page.evaluate(
        "document.documentElement.scrollWidth <= window.innerWidth"), True)
    page.size(1280, 900)


def use_changed(page):
    check("the difference of two files", page.evaluate(
        "[...document.querySelectorAll('.frame')].map((f) => "
        "f.getAttribute('aria-label').replace(/\\u00a0/g, ' '))"),
        ["all, +200 bytes: 400 bytes before, 600 bytes after",
         "main, ±0 bytes: 400 bytes before, 400 bytes after",
         "far(), +200 bytes: 0 bytes before, 200 bytes after",
         "deep(), +200 bytes: 0 bytes before, 200 bytes after",
         "leak(int), −200 bytes: 300 bytes before, 100 bytes after",
         "keep(), +200 bytes: 100 bytes before, 300 bytes after"])
    check("its colors", legend(page),
          ["more than before", "less than before", "the same"])
    red, blue = page.evaluate(
        "['keep()', 'leak(int)'].map((name) => { const c = document"
        ".createElement('canvas').getContext('2d'); c.fillStyle = "
        "getComputedStyle([...document.querySelectorAll('.frame')].find((f) => "
        "f.getAttribute('aria-label').startsWith(name))).backgroundColor; "
        "c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; })")
    check("red and blue", [red[0] > red[2], blue[2] > blue[0]], [True, True])


def use_other(page):
    check("no frame is an end that is none", sorted(frames(page)), [
        ("all", 100, 0), ("deep()", 33, 2), ("far()", 33, 1),
        ("keep()", 50, 2), ("leak(int)", 17, 2), ("main", 67, 1)])
    click_frame(page, "far()")
    check("but it is marked", [page.evaluate(
        "[...document.querySelectorAll('.frame')].find((f) => f.textContent"
        ".includes('far()')).textContent"), text(page, "detail")
        .split("\n")[2]],
        ["…far()", "callers unknown (stopped: as deep as asked for)"])
    page.key("Escape")


def use_all(page, folder):
    """Sizes, dark, printed, and for those who don't see it."""
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "searchbox", "tree", "treeitem")
    check("all controls have names", [
        node["role"]["value"] for node in nodes
        if not node["ignored"] and node["role"]["value"] in roles and
        not node.get("name", {}).get("value")], [])
    for width in (1280, 2560):
        page.size(width, 900)
        save(page, folder, f"flame{width}.png")
        check(f"{width} pixels are filled", page.evaluate(
            "Math.round(document.querySelector('.frame')"
            ".getBoundingClientRect().width)"), width - 1)
    page.size(1280, 900)
    page.evaluate("document.documentElement.dataset.theme === 'dark' || "
                  "document.getElementById('theme').click()")
    page.settle()
    picture = Picture(page.picture())
    check("it can be dark", max(picture.pixel(640, 600)) < 60, True)
    pdf = base64.b64decode(page.send("Page.printToPDF",
                                     landscape=True)["data"])
    check("it prints", pdf[:5], b"%PDF-")


def use_hostile(page):
    check("hostile names are text", sorted(name for name, *_ in frames(page)),
          ["\"'</script><script>alert(1)</script>", "<!--", "all"])
    check("and make no elements",
          page.evaluate("document.scripts.length"), 2)


def main():
    page = Browser(sys.argv[1])
    page.open(sys.argv[2])
    use_page(page)
    check("no error, nothing loaded", page.complaints(), [])
    for path, use in zip(sys.argv[3:6], (use_hostile, use_changed, use_other)):
        page.open(path)
        use(page)
        check("nor there", page.complaints(), [])
    use_all(page, sys.argv[6])
    page.close()
    print("done")


main()
