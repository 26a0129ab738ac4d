// SPDX-License-Identifier: GPL-2.0
/* Maps of linkers and of nm: symbols are where nm has them in the program. */
#include <ctype.h>
#include <time.h>
#include "compiled.h"
#include "lib/debug/module/map.h"

static const char source[] =
	"namespace ns { struct cls { int fn(int); int fn(const char *);\n"
	"template<class T> T tm(T); static int count; }; \n"
	"int cls::count = 3;\n"
	"int cls::fn(int a) { return a; }\n"
	"int cls::fn(const char *s) { return *s; }\n"
	"template<class T> T cls::tm(T t) { return t; }\n"
	"template int cls::tm<int>(int); }\n"
	"extern \"C\" { int plain(int a) { return a; }\n"
	"int data = 4, zero, table[100];\n"
	"__attribute__((noinline)) static int local(int a) { return a; }\n"
	"int use(int a) { return local(a) + 1; }\n"
	"void start_it(void) __asm__(\"_start\");\n"
	"void start_it(void) { for (;;) plain(3); } }\n";

static const struct {
	const char *name, *symbol;
	bool code, local;
} names[] = {
	{ "plain", "plain", true },
	{ "use", "use", true },
	{ "_start", "_start", true },
	{ "data", "data", false },
	{ "table", "table", false },
	{ "plain", NULL, false },	/* code is no data */
	{ "data", NULL, true },
	{ "ns::cls::fn(int)", "_ZN2ns3cls2fnEi", true },
	{ "fn(const char *)", "_ZN2ns3cls2fnEPKc", true },
	{ "cls::tm<int>", "_ZN2ns3cls2tmIiEET_S2_", true },
	{ "ns::cls::tm", "_ZN2ns3cls2tmIiEET_S2_", true },
	{ "cls::count", "_ZN2ns3cls5countE", false },
	{ "local", "local", true, true },
	{ "nothing", NULL, true },
	{ "main.o", NULL, true },
	{ ".text", NULL, true },
};

static uint64_t nm_address(const char *program, const char *symbol)
{
	char command[128], line[128] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "nm %s | grep ' %s$'", program,
		 symbol);
	pipe = popen(command, "r");
	if (pipe && !fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	if (pipe)
		pclose(pipe);
	return strtoull(line, NULL, 16);
}

static void check_map(const char *path, const char *program, bool has_local)
{
	struct error err = {0};
	unsigned int wrong = 0;
	struct map *map;
	bool others;

	if (map_open(&map, path, &err)) {
		tap_ok(false, "%s: %s", path, err.text);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct map_symbol *symbol = map_find(map, names[i].name,
							   names[i].code,
							   &others);
		uint64_t address = 0;

		if (names[i].symbol && (has_local || !names[i].local))
			address = nm_address(program, names[i].symbol);
		if (symbol ? symbol->address != address || others : address) {
			tap_diag("'%s': %#llx, nm: %#llx", names[i].name,
				 symbol ? (unsigned long long)symbol->address :
					  0, (unsigned long long)address);
			wrong++;
		}
	}
	tap_ok(!wrong, "%u wrong of %s", wrong, path);
	tap_ok(map_find(map, "cls::fn", true, &others) && others,
	       "an overloaded name is several in %s", path);
	map_close(map);
}

static void check_maps(void)
{
	static const struct {
		const char *command, *program, *map;
		bool has_local;
	} maps[] = {
		{ "g++ -O1 -nostdlib -static a.cc -o a -Wl,-Map=ld.map",
		  "a", "ld.map" },
		{ "g++ -O1 -m32 -nostdlib -static a.cc -o a32 -Wl,-Map=ld32.map",
		  "a32", "ld32.map" },
		{ "g++ -O1 -ffunction-sections -fdata-sections -nostdlib "
		  "-static a.cc -o as -Wl,--gc-sections,-u,plain,-u,use,-u,data,"
		  "-u,table,-u,_ZN2ns3cls2fnEi,-u,_ZN2ns3cls2fnEPKc,"
		  "-u,_ZN2ns3cls2tmIiEET_S2_,-u,_ZN2ns3cls5countE,"
		  "-Map=sections.map", "as", "sections.map" },
		{ "LC_ALL=de_DE.UTF-8 g++ -O1 -nostdlib -static a.cc -o a "
		  "-Wl,-Map=plain.map,--no-demangle", "a", "plain.map" },
		{ "clang++ -O1 -fuse-ld=lld -nostdlib -static a.cc -o lld "
		  "-Wl,-Map=lld.map", "lld", "lld.map", true },
		{ "clang++ -O1 -fuse-ld=lld -nostdlib -static a.cc -o lld "
		  "-Wl,-Map=lldplain.map,--no-demangle", "lld",
		  "lldplain.map", true },
		{ "nm a >nm.map", "a", "nm.map", true },
		{ "nm -S a >nm-S.map", "a", "nm-S.map", true },
		{ "nm -n -C a >nm-n-C.map", "a", "nm-n-C.map", true },
		{ "nm a a32 >/dev/null && { echo; echo a:; nm a; } >files.map",
		  "a", "files.map", true },
		{ "sed 's/$/\\r/' nm.map >crlf.map", "a", "crlf.map", true },
		{ "tr -d '\\n' <nm.map >/dev/null && head -c -1 nm.map >end.map",
		  "a", "end.map", true },
	};

	compiled_write("a.cc", source);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		if (compiled_run("%s", maps[i].command))
			check_map(maps[i].map, maps[i].program,
				  maps[i].has_local);
		else
			tap_skip(maps[i].map, "it can't be made here");
	}
}

static const char kernel[] =
	"0000000000000000 D __per_cpu_start\n"
	"0000000000001000 A fixed\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff810001a0 t open_it\n"
	"ffffffff810002a0 t open_it\n"
	"ffffffff81000300 W weak_one\n"
	"ffffffff81000400 t shadowed\n"
	"ffffffff81000500 T shadowed\n"
	"ffffffff82000000 d jiffies\n"
	"ffffffffc0000000 t in_module\t[xfs]\n";

static void check_kernel(void)
{
	const struct map_symbol *symbol;
	struct error err = {0};
	struct map *map;
	bool others;

	if (map_parse(&map, kernel, strlen(kernel), &err)) {
		tap_ok(false, "System.map: %s", err.text);
		return;
	}
	symbol = map_find(map, "open_it", true, &others);
	tap_ok(symbol && others && symbol->local, "two local ones");
	symbol = map_find(map, "shadowed", true, &others);
	tap_ok(symbol && !others && symbol->address == 0xffffffff81000500,
	       "a global one goes before a local one");
	symbol = map_find(map, "_stext", true, &others);
	tap_ok(symbol && symbol->address == 0xffffffff81000000, "_stext");
	symbol = map_find(map, "weak_one", true, &others);
	tap_ok(symbol && symbol->code && !symbol->local, "a weak one");
	symbol = map_find(map, "fixed", false, &others);
	tap_ok(symbol && symbol->address == 0x1000, "an absolute one");
	symbol = map_find(map, "jiffies", false, &others);
	tap_ok(symbol && !symbol->code, "data");
	tap_ok(map_find(map, "in_module", true, &others), "of a module");
	map_close(map);
}

static void check_bad(void)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "line 0: no symbol" },
		{ "\n\n", "line 2: no symbol" },
		{ "int main(void)\n{\n}\n", "line 3: no symbol" },
		{ "0000000000001139 T main\nwhat is this\n", "line 2: it is no" },
		{ "0000000000001139 T main\n0000000000001139 x\n",
		  "line 2: it is no" },
		{ "0000000000001139 T ma\001in\n", "line 1: it holds bytes" },
		{ "00000000000000001139 T main\n"
		  "123456789abcdef01 T toolong\n", "line 2: it is no" },
		{ "             VMA              LMA     Size Align Out     In"
		  "      Symbol\n 1 2 3\n", "line 2: it is no" },
		{ " VMA VMA VMA VMA VMA VMA Out In Symbol\n", "line 1: no" },
		{ "main 0x1139\n                0x1139                . = 3\n",
		  "line 2: no symbol" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = {0};
		struct map *map;
		int code = map_parse(&map, bad[i].text, strlen(bad[i].text),
				     &err);

		tap_ok(code < 0 && !map && !strncmp(err.text, bad[i].message,
						    strlen(bad[i].message)),
		       "refused: %s", err.text);
		if (!code)
			map_close(map);
	}
}

/* 300,000 symbols, and as many look-ups of names that aren't there. */
static void check_speed(void)
{
	size_t size = 0, count = 300000;
	char *text = malloc(count * 40), name[32];
	clock_t start = clock();
	struct error err;
	struct map *map;
	bool others;

	for (size_t i = 0; i < count; i++)
		size += sprintf(text + size, "%016zx T name_%zu\n",
				0x401000 + i, i);
	if (map_parse(&map, text, size, &err)) {
		tap_ok(false, "large map: %s", err.text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		sprintf(name, "mane_%zu", i);
		map_find(map, name, true, &others);
	}
	map_close(map);
	free(text);
	tap_ok((double)(clock() - start) / CLOCKS_PER_SEC < 3,
	       "a large map is read at once");
}

int main(void)
{
	compiled_begin();
	tap_ok(map_name_valid("a.map") && map_name_valid("x/A.MAP") &&
	       map_name_valid("/boot/System.map-6.1.0") &&
	       !map_name_valid("a.Map") && !map_name_valid("map") &&
	       !map_name_valid(".map") && !map_name_valid("a.map/x") &&
	       !map_name_valid("system.map2"), "names of maps");
	check_maps();
	check_kernel();
	check_bad();
	check_speed();
	return tap_done();
}
