# SPDX-License-Identifier: GPL-2.0
# A C program of functions that print their own parameters and variables, each
# of which gets one value. -v seed=N -v functions=N
# Each prints "fK CALL NAME=VALUE ..."; `calls` is CALL.
BEGIN {
	print "#include <stdio.h>"
	print "struct pair { long x, y; };"
	print "struct trio { int x, y, z; };"
	print "struct big { long x, y, z; };"
	print "int calls;"
	print "volatile struct { long long number; double real;"
	print "\tconst char *text; } kept[32];"
	print "__attribute__((noinline)) void fill(long *to, long from)"
	print "{ *to = from * 3 + calls; }"
	for (k = 0; k < functions; k++)
		define(k)
	print "int main(void)"
	print "{"
	print "\tlong sum = 0;"
	print "\tfor (int i = 1; i < 5; i++) {"
	for (k = 0; k < functions; k++)
		printf "\t\tcalls++; sum += f%d(%s);\n", k, arguments[k]
	print "\t}"
	print "\treturn sum == 42;"
	print "}"
}

function random(n) {
	seed = (seed * 1103515245 + 12345) % 2147483648
	return int(seed / 65536) % n
}

# What is printed of the variable: its name, as tracefmt has it, and its format.
# The values go through memory: where gcc puts them in the registers of a call,
# what it says of variables may be wrong.
function show(name, format, field, member) {
	field = name
	sub(/[.]/, "_", field)
	member = format ~ /s/ ? "text" : format ~ /f/ ? "real" : "number"
	if (member == "number")
		format = "%lld"
	formats = formats " " field "=" format
	values = values ", kept[" kept "]." member
	keeps = keeps "\tkept[" kept++ "]." member " = " name ";\n"
}

function parameter(k, i, name, kind, n) {
	name = "p" i
	n = k * 100 + i * 10
	kind = random(9)
	if (!i)
		kind = 1
	if (kind == 0) {
		take("int " name, "i * 7 - " n)
		show(name, "%d")
	} else if (kind == 1) {
		take("long " name, n " + i * 1000003L")
		show(name, "%ld")
	} else if (kind == 2) {
		take("short " name, n " - i * 300")
		show(name, "%d")
	} else if (kind == 3) {
		take("unsigned " name, n "u - i * 77u")
		show(name, "%u")
	} else if (kind == 4) {
		take("const char *" name, "\"text" n "\" + i")
		show(name, "\\\"%s\\\"")
	} else if (kind == 5) {
		take("struct pair " name, "(struct pair){ " n " + i, -i }")
		show(name ".x", "%ld")
		show(name ".y", "%ld")
	} else if (kind == 6) {
		take("struct trio " name, "(struct trio){ i, " n ", -i }")
		show(name ".x", "%d")
		show(name ".y", "%d")
		show(name ".z", "%d")
	} else if (kind == 7) {
		take("struct big " name, "(struct big){ i, " n ", -i }")
		show(name ".x", "%ld")
		show(name ".z", "%ld")
	} else {
		take("double " name, n " + i / 2.0 + 0.25")
		show(name, "%.2f")
	}
}

function take(text, argument) {
	parameters = parameters (parameters == "" ? "" : ", ") text
	given = given (given == "" ? "" : ", ") argument
}

function define(k, count, i) {
	parameters = given = formats = values = keeps = ""
	kept = 0
	count = 1 + random(6)
	for (i = 0; i < count; i++)
		parameter(k, i)
	if (random(4) == 0)
		take("...", "i")
	arguments[k] = given
	body = sprintf("\tlong l0 = p0 * %d + 1;\n\tlong l1, l2, l3;\n", 3 + random(5))
	body = body sprintf("\tif (l0 & %d)\n\t\tl1 = l0 + 5;\n", 1 + random(4))
	body = body "\telse\n\t\tl1 = l0 ^ 77;\n"
	show("l0", "%d")
	show("l1", "%d")
	if (random(2)) {
		body = body "\tfill(&l2, l1);\n"
		show("l2", "%d")
	} else {
		body = body "\tl2 = l1;\n"
	}
	body = body "\tl3 = l2 - l0;\n"
	show("l3", "%d")
	printf "__attribute__((noinline)) void report%d(void)\n{\n", k
	printf "\tprintf(\"f%d %%d%s\\n\", calls%s);\n}\n", k, formats, values
	printf "__attribute__((noinline)) long f%d(%s)\n{\n", k, parameters
	printf "%s%s\treport%d();\n", body, keeps, k
	print "\treturn l0 + l1 + l2 + l3;\n}"
}
