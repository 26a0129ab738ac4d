# SPDX-License-Identifier: GPL-2.0
"""check_page.py CHROMIUM PAGE MANY HOSTILE CHOSEN FOLDER: uses the pages that
tracefmt made of make_page's page.ras and many.ras (a million events) and of
make_hostile's, and prints "ok NAME" or "not ok NAME: what there was". A line of
CHOSEN is what tracefmt --field chooses of HOSTILE: an expression, a tab, and
numbers of events. Pictures are left in FOLDER."""
import base64
import json
import sys
import zlib

from browser import Browser, Picture

SECOND = 1e9
LANE, GAP, AXIS = 18, 8, 22


def check(name, got, expected):
    if got == expected:
        print(f"ok {name}")
    else:
        print(f"not ok {name}: {got!r}, expected {expected!r}")


def text_of(page, selector):
    return page.evaluate(
        f"document.querySelector({json.dumps(selector)}).textContent")


def plain(text):
    """Spaces that don't break as those that do."""
    return text.replace("\u00a0", " ")


def matched(page):
    return plain(text_of(page, "#matched"))


def choose(page, element, value):
    page.evaluate(f"byId('{element}').value = '{value}'; byId('{element}')"
                  ".dispatchEvent(new Event('change'))")
    page.settle()


class Timeline:
    """Where times and rows are in the window."""

    def __init__(self, page):
        box = page.evaluate(
            "(() => { const c = byId('canvas'), b = "
            "c.getBoundingClientRect(); return [b.x, b.y, b.width, "
            "...['from', 'to', 'label'].map((k) => +c.dataset[k])]; })()")
        self.left, self.top, self.width, self.start, self.end, self.label = box

    def x(self, seconds):
        part = (seconds * SECOND - self.start) / (self.end - self.start)
        return self.left + self.label + part * (self.width - self.label)

    def y(self, row, lane=0, lanes_above=0):
        return self.top + AXIS + row * GAP + GAP / 2 + \
            (lanes_above + lane) * LANE + LANE / 2 + 3


def colour_of(page, name):
    """As the page paints calls of it."""
    script = ("(() => { const c = document.createElement('canvas')"
              ".getContext('2d'); c.fillStyle = colourOf(points.findIndex("
              f"(p) => p.name === {json.dumps(name)}), isDark()); "
              "return c.fillStyle; })()")
    value = page.evaluate(script)
    return tuple(int(value[i:i + 2], 16) for i in (1, 3, 5))


def near(pixel, wanted):
    return all(abs(a - b) <= 2 for a, b in zip(pixel, wanted))


def check_begin(page):
    check("nothing in the trace runs, nothing is loaded", page.complaints(), [])
    check("the title is the trace's", page.evaluate("document.title"),
          "page.ras - rastrace")
    check("all events are there", matched(page), "12 events")
    check("strings make no elements", page.evaluate(
        "document.querySelectorAll('img, b:not(#tip b), i, main script')"
        ".length"), 0)
    check("they are shown unchanged", page.evaluate(
        "[...document.querySelectorAll('.row .call')].filter((r) => r.title"
        ".includes(\"</script><script>document.title='owned'</script>\"))"
        ".length"), 3)
    check("the host, too", "<b>target</b>" in text_of(page, "#about"), True)
    check("losses are reported", text_of(page, "#notices"),
          "3 hits dropped: the buffer was busy")


def check_picture(page, folder):
    picture = Picture(save(page, folder, "light.png"))
    at, panel = Timeline(page), (255, 255, 255)
    work, read = colour_of(page, "(APP) work"), colour_of(page,
                                                          "(APP) read_it")
    check("the picture isn't blank", len(picture.colours()) > 10, True)
    # thread 100: work from 1 s to 9 s, in it read_it from 3 s to 5 s; thread
    # 101: read_it from 2 s to 4 s; shown from the first event on, at 1 s
    for name, seconds, y, wanted in (
            ("a call is there", 6, at.y(0), work),
            ("up to its end", 7.95, at.y(0), work),
            ("and no further", 8.1, at.y(0), panel),
            ("one in it lies below", 3.5, at.y(0, 1), read),
            ("up to its end", 3.95, at.y(0, 1), read),
            ("and not before", 1.9, at.y(0, 1), panel),
            ("another thread has its own row", 2.5, at.y(1, 0, 2), read),
            ("which is empty where it did nothing", 4, at.y(1, 0, 2), panel)):
        pixel = picture.pixel(at.x(seconds), y)
        check(name, near(pixel, wanted) or pixel, True)


def save(page, folder, name):
    data = page.picture()
    with open(f"{folder}/{name}", "wb") as file:
        file.write(data)
    return data


def check_timeline(page):
    at = Timeline(page)
    page.mouse("mouseMoved", at.x(3.2), at.y(0, 1))
    page.settle()
    check("hovering shows the call", page.evaluate(
        "!byId('tip').hidden && byId('tip').textContent.includes("
        "'read_it') && byId('tip').textContent.includes("
        "'took 2\\u00a0s, of that itself 2\\u00a0s')"), True)
    page.click(at.x(3.2), at.y(0, 1))
    check("a click chooses it", text_of(page, "#details h2"), "read_it")
    check("with its arguments, large ones, too, and its result",
          page.evaluate(
              "[...document.querySelectorAll('#details .fields td')]"
              ".map((c) => c.textContent)"),
          ["/etc/app.conf", "9223372036854775809", "-2"])
    check("which is read out", plain(text_of(page, "#chosen")),
          "Event 4: read_it, 2 s")
    page.click_on("#details .steps button:nth-child(3)")
    check("its caller is a click away", text_of(page, "#details h2"), "work")
    check("with the time that it took itself", "6 s (6,000,000,000 ns)" in
          plain(text_of(page, "#details table")), True)
    page.key("Escape")
    check("Esc closes it", page.evaluate("byId('details').hidden"), True)
    page.drag(at.x(2), at.y(1, 0, 2), at.x(4), at.y(1, 0, 2), modifiers=8)
    seen = Timeline(page)
    check("Shift and dragging zooms there",
          [round(seen.start / SECOND, 1), round(seen.end / SECOND, 1)],
          [2.0, 4.0])
    page.key("+")
    check("+ zooms in", Timeline(page).end - Timeline(page).start <
          1.5 * SECOND, True)
    before = Timeline(page).start
    page.key("ArrowRight")
    check("an arrow moves", Timeline(page).start > before, True)
    page.key("0")
    check("0 shows all", Timeline(page).start < 0 < 9 * SECOND <
          Timeline(page).end, True)
    page.mouse("mouseWheel", at.x(5), at.y(0), deltaX=0, deltaY=-200)
    page.settle()
    check("the wheel zooms", Timeline(page).end - Timeline(page).start <
          8 * SECOND, True)
    page.click_on("#zoom-fit")
    choose(page, "group", "cpu")
    check("CPUs have rows", page.evaluate("tracks.map((t) => t.name)"),
          ["CPU 0", "CPU 1"])
    choose(page, "group", "thread")


FILTERS = (
    ("f-text", "CONF", 1), ("f-text", "/^rc = -/", 1), ("f-text", "owned", 3),
    ("f-major", "197", 12), ("f-major", "1-196,198", 0),
    ("f-minor", "0x19-0x1a,40", 5), ("f-pid", "200", 3), ("f-tid", "101", 4),
    ("f-comm", "a?p", 9), ("f-cpu", "0", 5),
    ("f-expression", "rc < 0", 1),
    ("f-expression", "size > 9223372036854775808", 1),
    ("f-expression", "size == 0x8000000000000001", 1),
    ("f-expression", 'name ~ "^/(etc|tmp)/" && !(size > 64)', 1),
    ("f-expression", "n * 2 + 1 == 0xf || pid == 200", 4),
    ("f-expression", "latency >= 2s && cpu != 1", 2),
    ("f-expression", "(.n ^ 0b1) == 6 || !size", 1),
    ("f-expression", "time < 1770163192500000000 || ~rc == 1", 4),
    ("f-expression", "name[1] == 0x65 && size >> 63", 1),
)


def check_filters(page):
    choose(page, "rows", "events")
    for field, value, count in FILTERS:
        page.fill(f"#{field}", value)
        check(f"{field[2:]} {value}", matched(page),
              "12 events" if count == 12 else f"{count} of 12 events")
        rows = page.evaluate("document.querySelectorAll('.row').length")
        if rows != count:
            print(f"not ok the table has them: {rows}, expected {count}")
        page.click_on("#f-reset")
    check("resetting shows all", matched(page), "12 events")
    for value, complaint in (
            ("size >> > 3", "size >> > 3\n        ^ a value is missing"),
            ("nosuch == 1", "nosuch == 1\n^ no event has a field 'nosuch'"),
            ("(n", "(n\n  ^ ')' is missing"),
            ("n < 5x", "n < 5x\n    ^ '5x' is no number")):
        page.fill("#f-expression", value)
        check(f"'{value}' is refused", text_of(page, "#filter-error"),
              complaint)
    check("and what was there stays", matched(page), "12 events")
    page.click_on("#f-reset")
    page.evaluate("viewSet(6.5e9, 8.5e9)")
    page.click_on("#f-window")
    check("the window is a filter", matched(page), "1 of 12 events")
    page.click_on("#f-reset")
    choose(page, "rows", "calls")
    page.fill("#f-expression", "rc == -2")
    check("a filter of a result chooses the call", cells(page, ".row"), [[
        "4", "23:59:53.000000000", "0", "app 100", "2 s", "2 s",
        "read_it(name = /etc/app.conf, size = 9223372036854775809) "
        "→ rc = -2"]])
    page.click_on("#f-reset")


def cells(page, selector):
    return page.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((r) => "
        "[...r.children].map((c) => c.textContent.trim()"
        ".replace(/\\u00a0/g, ' ')))")


def check_tabs(page):
    page.click_on("#tab-functions")
    found = {row[0]: row for row in cells(page, "#functions-table tbody tr")}
    work, read = found["work"], found["read_it"]
    check("a function's calls", work[1:4] + work[-3:],
          ["1", "8 s", "6 s", "8 s", "1", "0"])
    check("another's", read[1:4] + read[-3:],
          ["2", "4 s", "4 s", "2 s", "0", "1"])
    page.click_on("#functions-table tbody tr:nth-child(2)")
    check("its histogram", page.evaluate(
        "[...document.querySelectorAll('#histogram rect')].map((r) => "
        "[r.dataset.power, r.nextSibling.textContent])"), [["30", "2"]])
    page.click_on("#histogram rect")
    check("a bar's calls", matched(page), "2 of 12 events")
    page.click_on("#f-reset")
    page.click_on("#tab-counts")
    check("counts", dict(row[:2] for row in
                         cells(page, "#counts-table tbody tr")).get(
        "197/0x0029  </script><script>document.title='owned'</script>"
        "<!-- <script>\\xE2\\x80\\xA8&amp;"), "3")
    page.click_on("#tab-figures")
    check("figures", "12 records, 3 hits dropped" in
          text_of(page, "#figures-text"), True)
    page.click_on("#tab-events")


ROWS = (
    "work(n = 7) → rc = 0", "read_it(…) → rc = 3",
    "read_it(name = /tmp/x, size = 64) → rc = 64",
    "read_it(name = /etc/app.conf, size = 9223372036854775809) → rc = -2",
    "mark  n = 1")


def check_table(page):
    rows = cells(page, ".row")
    check("a call is one row", [row[-1] for row in rows[:5]], list(ROWS))
    check("one without return, too", rows[-1][-1], "work(n = 8) … no return")
    check("rows are counted", text_of(page, "#rows-count"), "9 rows")
    check("with latency and its own time", [row[4:6] for row in rows[:4]],
          [["8 s", "6 s"], ["", ""], ["2 s", "2 s"], ["2 s", "2 s"]])
    check("the module is named once", ["(APP)" in str(rows),
          "module APP" in text_of(page, "#about")], [False, True])
    check("a number and its unit stay together", page.evaluate(
        "/\\d (ns|µs|ms|s|events?)\\b/.test(document.body.innerText"
        ".replace(byId('figures-text').innerText, ''))"), False)
    head = "#table-head button:nth-child(5)"
    page.click_on(head)
    page.click_on(head)
    check("a heading sorts", [row[4] for row in cells(page, ".row")][:4],
          ["8 s", "2 s", "2 s", ""])
    page.click_on("#table-head button:nth-child(1)")
    page.click_on(".row:nth-child(3)")
    page.key("ArrowDown")
    check("keys go from row to row", text_of(page, "#details td"), "4")
    page.key("End")
    check("and to the end", text_of(page, "#details td"), "12")
    choose(page, "rows", "events")
    check("events have rows of their own", len(cells(page, ".row")), 12)
    choose(page, "rows", "calls")
    page.key("Escape")
    choose(page, "clock", "relative")
    check("times since the first event", cells(page, ".row")[2][1],
          "+1.000000000")
    page.key("?")
    check("? explains", page.evaluate("byId('help').open"), True)
    page.click_on("#help button")


def check_names(page):
    """In this order they need less room."""
    name = ("std::vector<std::__cxx11::basic_string<char>>::insert<int>"
            "(int, char const**) const")
    check("names are shortened, not cut", page.evaluate(
        f"nameForms({json.dumps(name)})"),
        ["std::vector<std::string>::insert<int>(int, char const**) const",
         "std::vector<std::string>::insert<int>(…) const",
         "std::vector<…>::insert<…>(…) const", "std::vector<…>::insert<…>",
         "vector<…>::insert<…>", "insert<…>", "insert"])
    for name, folded in (
            ("operator<< <int>(std::ostream&)", "operator<<"),
            ("a::operator->()", "operator->"), ("x<(1>2)>::f", "f"),
            ("(anonymous namespace)::g(int)", "g"), ("a<b", "a"), ("", "")):
        check(f"the least of '{name}'", page.evaluate(
            f"nameShort({json.dumps(name)}, 1)"), folded)


def check_inflate(page):
    """What zlib makes in all its ways is read as it was."""
    data = bytes(i * i >> 3 & 255 for i in range(3000)) * 9 + b"a" * 70000
    for level, kind in ((0, 0), (1, 0), (6, 0), (9, zlib.Z_FIXED),
                        (6, zlib.Z_HUFFMAN_ONLY), (6, zlib.Z_RLE)):
        packer = zlib.compressobj(level, zlib.DEFLATED, 15, 9, kind)
        packed = packer.compress(data) + packer.flush()
        got = page.evaluate(
            f"(() => {{ const of = new Inflate(base64Read("
            f"'{base64.b64encode(packed).decode()}'), {len(data)}).run(); "
            "let sum = 0; for (const b of of) sum = (sum * 31 + b) % 65521; "
            "return [of.length, sum]; })()")
        total = 0
        for byte in data:
            total = (total * 31 + byte) % 65521
        check(f"zlib's level {level}, strategy {kind}", got,
              [len(data), total])
    check("what isn't compressed", page.evaluate(
        "String(partRead('AAEC/w==', 4))"), "0,1,2,255")


def check_access(page):
    """What can be used has a name for those who don't see it."""
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "combobox", "textbox", "searchbox", "tab", "grid",
             "image", "application", "columnheader", "checkbox")
    check("all controls have names", [
        node["role"]["value"] for node in nodes
        if not node["ignored"] and node["role"]["value"] in roles and
        not node.get("name", {}).get("value")], [])


def check_print(page, folder):
    pdf = base64.b64decode(page.send("Page.printToPDF", landscape=True)["data"])
    with open(f"{folder}/page.pdf", "wb") as file:
        file.write(pdf)
    check("it prints", pdf[:5], b"%PDF-")
    page.evaluate("themeSet('dark'); printBegin()")
    check("light, and its rows", page.evaluate(
        "[isDark(), document.querySelectorAll('.row').length]"), [False, 9])
    page.evaluate("printEnd()")
    check("and is dark again", page.evaluate("isDark()"), True)


def check_looks(page, folder):
    page.evaluate("document.documentElement.dataset.theme === 'dark' || "
                  "byId('theme').click()")
    page.settle()
    picture = Picture(save(page, folder, "dark.png"))
    check("it can be dark", max(picture.pixel(640, 880)) < 60, True)
    page.size(2560, 1400)
    save(page, folder, "wide.png")
    check("a wide window is filled", page.evaluate(
        "document.querySelector('.row').offsetWidth"), 2560)
    page.size(390, 844, mobile=True)
    save(page, folder, "phone.png")
    check("a phone's width is enough", page.evaluate(
        "document.documentElement.scrollWidth"), 390)
    page.click_on("#f-more")
    check("more filters there when asked for", page.evaluate(
        "byId('f-major').offsetHeight > 0"), True)
    page.size(1280, 900)
    check("still nothing complains", page.complaints(), [])


def check_many(page):
    check("the newest are there", matched(page), "1,000,000 events")
    check("and the page reports it", text_of(page, "#notices li").startswith(
        "Only the newest 1,000,000 of 1,040,000 events"), True)
    check("few of them are elements", page.evaluate(
        "document.querySelectorAll('.row').length") < 100, True)
    # in parts of what it took, because the machine may be slow
    check("it was read in pieces", page.evaluate(
        "Math.max(0, ...longTasks) / performance.now()") < 0.5, True)
    page.click_on(".row")
    check("the oldest", text_of(page, "#details td"), "40001")
    page.key("End")
    check("the newest", text_of(page, "#details td"), "1039998")
    check("is in the window", page.evaluate(
        "document.querySelector('.row.chosen').getBoundingClientRect().bottom"
        " <= byId('table').getBoundingClientRect().bottom + 1"), True)
    choose(page, "rows", "events")
    page.evaluate("byId('table').focus()")
    page.key("End")
    check("of rows that are higher than a browser can have",
          text_of(page, "#details td"), "1040000")
    check("too", page.evaluate(
        "document.querySelector('.row.chosen').getBoundingClientRect().bottom"
        " <= byId('table').getBoundingClientRect().bottom + 1"), True)
    choose(page, "rows", "calls")
    page.fill("#f-expression", "rc < 0")
    page.wait("byId('matched').textContent.includes(' of ')")
    check("a filter over all", matched(page), "5,000 of 1,000,000 events")
    check("nothing complains", page.complaints(), [])


def check_hostile(page, chosen):
    """Expressions choose the same as those of the program."""
    for line in open(chosen):
        value, numbers = line.rstrip("\n").split("\t")
        page.fill("#f-expression", value)
        page.evaluate("filterRun()")
        check(f"as --field has it: {value}", page.evaluate(
            "Array.from(filter.shown, (i) => events.number[i]).join(' ')"),
            numbers)
        check("and is right", text_of(page, "#filter-error"), "")
    page.key("End")
    check("nothing complains", page.complaints(), [])


def main():
    program, small, many, hostile, chosen, folder = sys.argv[1:]
    page = Browser(program)
    try:
        page.size(1280, 900)
        page.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "light"}])
        page.open(small)
        check_begin(page)
        check_picture(page, folder)
        check_timeline(page)
        check_filters(page)
        check_tabs(page)
        check_table(page)
        check_names(page)
        check_inflate(page)
        check_access(page)
        check_print(page, folder)
        check_looks(page, folder)
        page.send("Page.addScriptToEvaluateOnNewDocument", source="""
            window.longTasks = [];
            new PerformanceObserver((list) => longTasks.push(
                ...list.getEntries().map((entry) => entry.duration)))
                .observe({ type: "longtask", buffered: true });""")
        page.open(many)
        check_many(page)
        page.open(hostile)
        check_hostile(page, chosen)
    finally:
        page.close()
    print("done")


if __name__ == "__main__":
    main()
