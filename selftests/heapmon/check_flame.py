# SPDX-License-Identifier: GPL-2.0
"""check_flame.py CHROMIUM PAGE HOSTILE: uses the pages that heapmon report --html
made, as test_flame.sh has it, and prints "ok NAME" or "not ok NAME: what there
was"."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "tracefmt"))
from browser import Browser  # noqa: E402


def check(name, got, expected):
    if got == expected:
        print(f"ok {name}")
    else:
        print(f"not ok {name}: {got!r}, expected {expected!r}")


def frames(page):
    """Name, share of the width in per cent, and row, of each frame."""
    return [tuple(row) for row in page.evaluate(
        "[...document.querySelectorAll('.frame')].map((f) => "
        "[f.getAttribute('aria-label').replace(/, [0-9,]+ [a-z]+$/, ''), "
        "Math.round(f.getBoundingClientRect().width * 100 / "
        "document.getElementById('graph').clientWidth), "
        "parseInt(f.style.top) / 20])")]


def choose(page, element, value):
    page.evaluate(f"(() => {{ const e = document.getElementById('{element}');"
                  f" e.value = '{value}';"
                  " e.dispatchEvent(new Event('change')); })()")
    page.settle()


def text(page, element):
    return page.evaluate(f"document.getElementById('{element}').textContent")


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
    choose(page, "value", "allocated bytes")
    check("all that was allocated", frames(page),
          [("all", 100, 0), ("main", 100, 1), ("work()", 60, 2),
           ("leak(int)", 30, 2), ("keep()", 10, 2), ("temp<char>(int)", 60, 3)])
    choose(page, "value", "allocated count")
    check("by blocks", frames(page)[2:4], [("leak(int)", 50, 2),
                                           ("keep()", 25, 2)])
    choose(page, "value", "temporary")
    check("temporary ones", frames(page)[-1], ("temp<char>(int)", 100, 3))
    choose(page, "value", "peak bytes")
    check("the peak", sorted(frames(page))[2:4],
          [("leak(int)", 30, 2), ("main", 100, 1)])
    choose(page, "order", "callees")
    check("turned over", frames(page)[1:3],
          [("temp<char>(int)", 60, 1), ("leak(int)", 30, 1)])
    choose(page, "order", "callers")
    click_frame(page, "work()")
    check("a click makes it wide", sorted(frames(page)),
          [("all", 100, 0), ("main", 100, 1), ("temp<char>(int)", 100, 3),
           ("work()", 100, 2)])
    check("and shows its figures", text(page, "detail").split("\n")[:2],
          ["work()", "600 bytes, 60.0 % of all"])
    page.key("Escape")
    check("Escape shows all again", len(frames(page)), 6)
    page.fill("#find", "LEAK")
    check("a name is found", text(page, "found"), "300 bytes, 30.0 %")
    check("and marked", page.evaluate(
        "document.querySelector('.frame.found').textContent"), "leak(int)")
    page.size(300, 500, mobile=True)
    check("a narrow window", page.evaluate(
        "document.documentElement.scrollWidth <= window.innerWidth"), True)
    page.size(1280, 900)


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
    page.open(sys.argv[3])
    use_hostile(page)
    check("nor there", page.complaints(), [])
    page.close()
    print("done")


main()
