// SPDX-License-Identifier: GPL-2.0
/*
 * Expressions of VARS mean what gdb prints: in programs of C and C++, from gcc
 * and clang, without and with optimizing. A program is stopped at at_work;
 * what trcust makes of an expression there is computed by a plain interpreter
 * from the registers and the memory of the stopped process, and compared with
 * the bytes that gdb has for the same expression.
 */
#include "tap.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "selftests/bpf/interpret.h"
#include "trcust/compile/analysis.h"
#include "trcust/compile/stmts.h"
#include "trcust/tsf/parse_point.h"
#include "lib/formats/rpn.h"

#define GDB_FAILED	-1
#define BYTES_MAX	1024

struct row {
	const char *expr;	/* with ":n" */
	const char *gdb;	/* NULL: the same */
	bool string;		/* up to the zero in what gdb has */
	bool wide;		/* of programs of 64 bits */
	const char *arguments;	/* of the note of a static probe */
	bool frame;		/* an address in the frame: not available where
				 * clang may mean what is in the slot there */
};

#define SIZEOF(expr)	expr, "(unsigned long)(" expr ")"	/* gdb: int */

static const struct row c_rows[] = {
	/* variables as they are */
	{ "n" }, { "u" }, { "l" }, { "h" }, { "uc" }, { "ul" }, { "sum" },
	{ "mood" }, { "yes" }, { "single" }, { "null" }, { "r" },
	{ "pp", .frame = true },
	{ "calls" }, { "hidden" }, { "'language.c'::hidden", "hidden" },
	{ "'opaque.c'::hidden" }, { "local" }, { "table" }, { "big" },
	{ "restless" }, { "enormous" }, { "bytes" }, { "anything" },
	{ "::big", "big" },
	/* members */
	{ "r->len" }, { "(*r).len", "r->len" }, { "first.len" },
	{ "r->weight" }, { "r->at" }, { "r->at.y" }, { "r->i" }, { "r->f" },
	{ "r->low" }, { "r->high" }, { "r->color" }, { "r->balance" },
	{ "r->ready" }, { "r->call" }, { "r->mac" }, { "r->mac[1]" },
	{ "r->wide" }, { "r->matrix" }, { "r->matrix[1]" },
	{ "r->matrix[1][2]" }, { "r->matrix[n-1][n]" }, { "*r" },
	{ "**pp", .frame = true }, { "(*pp)->next->len", .frame = true },
	{ "r->next->matrix[0][1]" }, { "r->flags" },
	{ "&r->len" }, { "&r->matrix[1][1]" }, { "&r->matrix[1]" }, { "&*r" },
	{ "(&first)->len" },
	/* bit-fields */
	{ "r->flags.a" }, { "r->flags.b" }, { "r->flags.c" },
	{ "r->flags.d" }, { "r->flags.e" }, { "r->flags.f" },
	{ "r->next->flags.c" }, { "r->next->flags.d" },
	{ "r->next->flags.f" }, { "r->packed.wide" },
	{ "r->packed.last", "(int64_t)6" },
	{ "r->next->packed.wide" }, { "r->next->packed.last", "(int64_t)-2" },
	{ "r->flags.a - 8", "(int)r->flags.a - 8" },
	{ "r->flags.a - 8 < 0", "(int)r->flags.a - 8 < 0" },
	/* strings, and arrays that pointers point at */
	{ "s", "*s@12", true }, { "s:5", "*s@5", true },
	{ "r->name", "r->name", true }, { "r->next->name", NULL, true },
	{ "r->text", "*r->text@6", true }, { "letters", NULL, true },
	{ "words[1]", "*words[1]@4", true }, { "words:2", "*words@2" },
	{ "r->tail:1", "*(char *)r->tail@1", true }, { "r->name:3", "r->name[0]@3", true },
	{ "s + 6", "*(s+6)@6", true }, { "*s" }, { "*s:3", "*s@3" },
	{ "s[4]" }, { "&s[6]", "*(s+6)@6", true },
	{ "table:2", "table[0]@2" }, { "table[1]:2", "table[1][0]@2" },
	{ "&table[1][1]:4", "table[1][1]@4" }, { "n:1", "n" },
	{ "r->next:1", "*r->next@1" }, { "r->mac:2", "r->mac[0]@2" },
	{ "anything:16", "*(char *)anything@16" },
	{ "*anything:3", "*(char *)anything@3" },
	/* indices */
	{ "table[n]" }, { "table[n][1]" }, { "table[2][n-1]" }, { "local[n]" },
	{ "*local", "local[0]" }, { "*(local + 3)", "local[3]" },
	{ "3[local]", "local[3]" }, { "local[n - 1]" }, { "*table", "table[0]" },
	{ "table[1][-1]" }, { "*(*(table + n) + 1)" }, { "bytes[2]" },
	{ "local[GREEN - 1]" }, { "r[1].len" }, { "r->mac[n]" },
	/* arithmetic, promotions, signs */
	{ "n + 1" }, { "n - 5" }, { "-n" }, { "~n" }, { "!n" }, { "!null" },
	{ "+h" }, { "-h" }, { "h * h" }, { "uc + uc" }, { "uc << 4" },
	{ "~uc" }, { "-uc" }, { "u + u" }, { "u * u" }, { "-u" },
	{ "u - 4000000001u" }, { "l / 2" }, { "l % 5" }, { "l >> 1" },
	{ "l << 3" }, { "u >> 4" }, { "h >> 1" }, { "h / 2" }, { "h % 4" },
	{ "l * u" }, { "l + u" }, { "n * l" }, { "big + 1" }, { "big / 3" },
	{ "big / 7" }, { "big % 7" }, { "big / big" }, { "huge / big" },
	{ "huge / 10" }, { "huge / 16" }, { "big / (huge - 1)" },
	{ "huge / (huge - 1)" }, { "huge / (big >> 1)" }, { "ul / 3" },
	{ "huge % 10" }, { "huge / (unsigned long)n" }, { "ul + 1" },
	{ "ul >> 60" }, { "least / 3" }, { "least >> 3" }, { "u / 7" },
	{ "u % 7" }, { "r->len / 2" }, { "r->next->len - 1 < 0" },
	{ "n & 3" }, { "u & ~15" }, { "l | 1" }, { "l ^ u" }, { "big & 0xff" },
	{ "1 + 2 * 3 - 4 / 2 % 3" }, { "7 / -2" }, { "-7 % 3" },
	{ "1u - 2" }, { "1ul - 2" }, { "2147483647 + 0u" }, { "0x80000000 / 2" },
	{ "1 << 31 >> 31" }, { "'a' + 1" }, { "010 + 0x10" },
	{ "4294967295" }, { "2147483648 - 1" }, { "r->color + 1" },
	{ "r->balance - 4" }, { "BLUE | 8" }, { "mood" }, { "mood == BLUE" },
	{ "yes + yes", "(int)yes + (int)yes" }, { "r->ready + 1" }, { "r->low * r->high" },
	/* comparisons */
	{ "n < 3" }, { "n > 3" }, { "n <= 2" }, { "n >= 3" }, { "n == 2" },
	{ "n != 2" }, { "h < uc" }, { "l < 0" }, { "l < n" }, { "u > 0" },
	{ "u < n" }, { "l < u" }, { "ul > 0" }, { "ul < 5" }, { "big > 5" },
	{ "5 < big" }, { "big < huge" }, { "huge <= huge" }, { "big >= huge" },
	{ "ul > l" }, { "-1 < 1u" }, { "-1 < 1ul" }, { "-1 > 0ul" },
	{ "r == &first" }, { "r < r->next" }, { "r > r->next" },
	{ "null == 0" }, { "r != 0" }, { "r->call == twice" },
	{ "restless < -299" }, { "bytes[0] < 0" }, { "r->flags.c == -64" },
	/* pointers */
	{ "r + 1" }, { "r - 1" }, { "1 + r" }, { "&local[3] - local" },
	{ "&table[2] - &table[0]" }, { "&r->matrix[1][0] - &r->matrix[0][2]" },
	{ "(uint8_t *)r + 4", "(unsigned char *)r + 4" },
	{ "local + n" }, { "local" }, { "&local[n]" }, { "anything + 1" },
	{ "(long)r" }, { "(unsigned int)(unsigned long)r" },
	/* one side only */
	{ "null && *null", "null && 0" },
	{ "!null || *null", "!null || 0" },
	{ "null ? *null : 5", "null ? 0 : 5" },
	{ "n ? n : *null", "null ? 0 : n" },
	{ "r && r->next && r->next->len < 0", "1" },
	{ "r->next->next && r->next->next->len", "0" },
	{ "n == 2 ? h : u", "(unsigned int)h" }, { "n == 3 ? h : l", "l" },
	{ "n ? r : 0", "n ? r : r" }, { "n && l" }, { "n - 2 || l + 77" },
	{ "(n > 1 ? table[0] : table[1])[1]", "table[n - 2][1]" },
	{ "(r->flags.a ? big : 0) + 1", "big + 1" },
	{ "1 ? n : 1", "n" }, { "0 && *null", "0" },
	/* casts, sizeof */
	{ "(char)u" }, { "(signed char)200" }, { "(unsigned char)-1" },
	{ "(short)l" }, { "(unsigned short)l" }, { "(int)big" },
	{ "(unsigned int)l" }, { "(long)u" }, { "(unsigned long)h" },
	{ "(uint8_t)l" }, { "(_Bool)u", "(char)(u != 0)" }, { "(enum color)n" },
	{ "(enum balance)(n - 5)" }, { "((struct node *)anything)->len" },
	{ "((point_t *)&r->at)->y", "r->at.y" },
	{ "*(unsigned char *)&r->len" }, { "(long)-1" }, { "(size_t)-1", "(unsigned long)-1" },
	{ "(n)-1", "n-1" }, { "(n)*2+1", "n*2+1" },
	{ "(uint8_t)-1 + 1", "(unsigned char)-1 + 1" },
	{ SIZEOF("sizeof n") }, { SIZEOF("sizeof(struct node)") }, { SIZEOF("sizeof *r") },
	{ SIZEOF("sizeof(point_t)") }, { SIZEOF("sizeof r->name") }, { SIZEOF("sizeof(char *)") },
	{ SIZEOF("sizeof table / sizeof table[0]") }, { "sizeof(n + l)", "(unsigned long)sizeof(long)" },
	{ SIZEOF("sizeof(*null)") }, { SIZEOF("sizeof(long double)") },
	/* types that are defined elsewhere */
	{ "r->opaque->before", "((struct opaque *)r->opaque)->before" },
	{ "r->opaque->inner.value" }, { "r->opaque->row[1].value" },
	{ "*r->opaque" }, { SIZEOF("sizeof(struct opaque)") },
	/* registers */
	{ "$esp", "(int)$esp" }, { "$eax" }, { "$ax" }, { "$ebx - 1" },
	{ "$rsp", "(long)$rsp", .wide = true }, { "$rbx", .wide = true },
	{ "$rip", .wide = true }, { "$r12 + 1", .wide = true },
};

/* $argN: every form of operand that notes have */
static const struct row argument_rows[] = {
	{ "$arg1", "(unsigned long)$rdi", .arguments = "8@%rdi" },
	{ "$arg2", "(unsigned long)$rsp",
	  .arguments = "4@$1 8@%rsp -4@%eax" },
	{ "$arg1", "$eax", .arguments = "-4@%eax" },
	{ "$arg1", "(unsigned int)$eax", .arguments = "4@%eax" },
	{ "$arg1", "(short)$ax", .arguments = "-2@%ax" },
	{ "$arg1", "(unsigned char)$bl", .arguments = "1@%bl" },
	{ "$arg1", "(signed char)$bh", .arguments = "-1@%bh" },
	{ "$arg1", "(unsigned char)$sil", .arguments = "1@%sil" },
	{ "$arg1", "(unsigned char)$r9l", .arguments = "1@%r9b" },
	{ "$arg1", "(unsigned short)$r9w", .arguments = "2@%r9w" },
	{ "$arg1", "(int)$r9d", .arguments = "-4@%r9d" },
	{ "$arg1 + 1", "(unsigned int)$r9d + 1", .arguments = "4@%r9d" },
	{ "$arg1", "-5", .arguments = "-4@$-5" },
	{ "$arg1", "(long)-5", .arguments = "-8@$-5" },
	{ "$arg1", "(unsigned char)251", .arguments = "1@$-5" },
	{ "$arg1", "(unsigned long)0x123456789", .arguments = "8@$4886718345" },
	{ "$arg1", "(unsigned int)16", .arguments = "4@$0x10" },
	{ "$arg1", "*(int *)($rsp+4)", .arguments = "-4@4(%rsp)" },
	{ "$arg1", "*(unsigned long *)($rsp-8)", .arguments = "8@-8(%rsp)" },
	{ "$arg1", "*(unsigned long *)$rsp", .arguments = "8@(%rsp)" },
	{ "$arg1", "(unsigned long)big", .arguments = "8@big(%rip)" },
	{ "$arg1", "table[0][1]", .arguments = "-4@4+table(%rip)" },
	{ "$arg1", "table[1][0]", .arguments = "-4@table+12(%rip)" },
	{ "$arg1", "table[0][2]", .arguments = "-4@table+12-4(%rip)" },
	{ "$arg1", "table[2][0]", .arguments = "-4@table+24" },
	{ "((struct node *)$arg1)->len", "last.len",
	  .arguments = "8@first(%rip)" },
	{ "$arg1", "(unsigned long)$rax", .arguments = "%rax" },
};

static const struct row cc_rows[] = {
	{ "this" }, { "*this" }, { "this->width" }, { "width", "this->width" },
	{ "::width" }, { "height" }, { "number" }, { "this->number" },
	{ "base::common", "this->base::common" },
	{ "other::common", "this->other::common" },
	{ "peer.base::common" }, { "alone" }, { "peer.width" }, { "peer", "*&peer" },
	{ "peer.alone" }, { "&peer" }, { "moved", "*&moved" },
	{ "alias", "*&alias", .frame = true },
	{ "alias + 1", .frame = true }, { "&alias", .frame = true },
	{ "scale" }, { "small" }, { "how" },
	{ "how == space::level::high", "(int)1" },
	{ "(int)space::level::low" }, { "space::level::high" },
	{ "space::inside" }, { "inside", "space::inside" },
	{ "referred", "space::inside" }, { "this->referred", "space::inside" },
	{ "referred + 1", "space::inside + 1" },
	{ "held" }, { "held.value" }, { "longs[1].value" },
	{ "longs[scale - 2].value" }, { "count", "space::shape::count" },
	{ "shape::count", "space::shape::count" },
	{ "peer.count", "space::shape::count" },
	{ "space::shape::count" }, { "'space::box<char>::made'" },
	{ "scale * width + peer.width" }, { "global" },
	{ "((space::shape *)this)->height" }, { "(shape *)this", "this" },
	{ SIZEOF("sizeof(space::shape)") }, { "sizeof(shape)", "(unsigned long)sizeof(space::shape)" },
	{ "(base *)this", "this" }, { "(space::level)1" }, { "true + false", "1" },
	{ "this != nullptr", "(int)1" }, { "this->base::number" },
	{ "sum" }, { "this[0].width" },
};

static char dir[] = "/tmp/expr.XXXXXX";
static struct interpreter in;
static struct user_regs_struct stop_regs;
static struct pt_regs regs;

static void command(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static void command(const char *fmt, ...)
{
	char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (system(text))
		tap_bail("failed: %s", text);
}

/* The module's symbol, as linked. */
static uint64_t symbol_address(const struct module *module, const char *name)
{
	bool others;
	const struct module_symbol *symbol =
		module_symbol_find(module, name, MODULE_CODE, &others);

	if (!symbol)
		symbol = module_symbol_find(module, name, MODULE_DATA, &others);
	if (!symbol)
		tap_bail("no symbol %s", name);
	return symbol->address;
}

static uint64_t load_bias(pid_t pid, const char *program)
{
	char path[64], line[4096], real[4096];
	unsigned long start;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	if (!maps || !realpath(program, real))
		tap_bail("no %s", path);
	while (fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = 0;
		if (strstr(line, real) && sscanf(line, "%lx", &start) == 1) {
			fclose(maps);
			return start;
		}
	}
	tap_bail("%s is not in %s", program, path);
}

static void wait_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		tap_bail("the program didn't stop");
}

/* Start it, stop at pc, leave it stopped without a debugger. */
static void program_stop(const char *program, const struct module *module,
			 uint64_t pc)
{
	pid_t pid = fork();
	uint64_t at, base;
	long word;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, NULL);
		_exit(127);
	}
	wait_stop(pid);
	base = module->segments[0].address - module->segments[0].offset;
	in.bias = load_bias(pid, program) - base;
	at = pc + in.bias;
	word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
	ptrace(PTRACE_POKETEXT, pid, at, (word & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	wait_stop(pid);
	ptrace(PTRACE_POKETEXT, pid, at, word);
	ptrace(PTRACE_GETREGS, pid, NULL, &stop_regs);
	if (stop_regs.rip != at + 1)
		tap_bail("%s stopped elsewhere", program);
	stop_regs.rip = at;
	ptrace(PTRACE_SETREGS, pid, NULL, &stop_regs);
	ptrace(PTRACE_DETACH, pid, NULL, SIGSTOP);
	memcpy(&regs, &stop_regs, sizeof(regs));
	in.regs = &regs;
	in.pid = pid;
}

/* Expressions one a line into out, their bytes into files of that number. */
static void ask_gdb(const struct row *rows, size_t count)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ask.py", dir);
	file = fopen(path, "w");
	fprintf(file, "import gdb\nfor i, e in enumerate([\n");
	for (size_t i = 0; i < count; i++)
		fprintf(file, "  \"%s\",\n",
			rows[i].gdb ? rows[i].gdb : rows[i].expr);
	fprintf(file, "]):\n  try:\n    gdb.execute('dump binary value "
		"%s/%%d.value ' %% i + e)\n  except gdb.error as x:\n"
		"    print('%%s: %%s' %% (e, x))\n", dir);
	fclose(file);
	command("gdb -nx -batch -p %d -x %s/ask.py >%s/gdb.out 2>&1", in.pid,
		dir, dir);
}

static int gdb_bytes(size_t row, uint8_t *bytes)
{
	char path[128];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "%s/%zu.value", dir, row);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return GDB_FAILED;
	size = read(fd, bytes, BYTES_MAX);
	close(fd);
	unlink(path);
	return size;
}

static struct compiled compiled;

/* Bytes that one statement logs; -1: a fault. */
static int stmt_bytes( const struct tdf_stmt *s,
		      uint8_t *bytes)
{
	uint64_t value, at;
	int length = 0;

	if (!interpret(&in, compiled.rpn.data + s->rpn, s->rpn_length, false,
		       &value))
		return -1;
	if (s->kind == TDF_STMT_VALUE) {
		memcpy(bytes, &value, s->length);
		return s->length;
	}
	if (s->kind != TDF_STMT_ASCIIZ)
		return memory_read(&in, &value, bytes, s->length) ?
			       s->length : -1;
	for (at = value; length < s->length; length++, at++)
		if (!memory_read(&in, &at, &bytes[length], 1) ||
		    !bytes[length])
			break;
	return length;
}

static int stmts_bytes(uint8_t *bytes)
{
	int size = 0, more;

	for (size_t i = 0; i < compiled.stmt_count; i++) {
		more = stmt_bytes(&compiled.stmts[i], bytes + size);
		if (more < 0)
			return -1;
		size += more;
	}
	return size;
}

static bool parse_row(struct compilation *c, const char *expr,
		      struct tsf **tsf)
{
	char text[512];

	snprintf(text, sizeof(text), "MODNAME=x TRACE MINOR=1, TP=.f, "
		 "VARS=(%s)\n", expr);
	if (diag_open_text(&c->diag, expr, text, strlen(text), 2, stdout))
		tap_bail("no memory");
	return !tsf_parse(tsf, c->diag, NULL, NULL) &&
	       (*tsf)->point_count == 1 && !(*tsf)->points[0].discarded;
}

/* What trcust makes of it: bytes, or -1 and why in text. */
static int our_bytes(struct compilation *c, uint64_t pc, const struct row *row,
		     uint8_t *bytes)
{
	struct compile_site site = { .nominal = pc, .from.pc = pc,
				     .address = pc, .alone = true,
				     .arguments = row->arguments };
	const char *expr = row->expr;
	struct compile_item item = { .ctype = CTYPE_NONE };
	struct tsf *tsf = NULL;
	int size = -1;

	compiled.stmt_count = compiled.rpn.size = 0;
	if (parse_row(c, expr, &tsf)) {
		c->tsf = tsf;
		if (!variable_compile(&(struct site_stmt){
			    c, &compiled, &site, &tsf->points[0].stmts[0],
			    &item }))
			size = stmts_bytes(bytes);
	}
	if (size >= 0 && item.kind != TDF_STMT_ASCIIZ &&
	    item.ctype != CTYPE_NONE &&
	    compiled.ctypes.types[item.ctype].bytes != item.bytes)
		tap_ok(false, "%s: a type of %u bytes for %u", expr,
		       compiled.ctypes.types[item.ctype].bytes, item.bytes);
	tsf_free(tsf);
	diag_close(c->diag);
	return size;
}

static size_t compare_rows(struct compilation *c, uint64_t pc,
			   const char *program, const struct row *rows,
			   size_t count)
{
	uint8_t ours[BYTES_MAX * 2], theirs[BYTES_MAX * 2];
	size_t compared = 0;

	for (size_t i = 0; i < count; i++) {
		int their = gdb_bytes(i, theirs), our;

		if (rows[i].wide && in.is32)
			continue;
		our = our_bytes(c, pc, &rows[i], ours);
		if (our < 0 && rows[i].frame && strstr(program, "clang") &&
		    strstr(program, "-O2"))
			continue;
		if (rows[i].string && their >= 0)
			their = strnlen((char *)theirs, their);
		compared += our >= 0 && their >= 0;
		if (!tap_ok(our == their && (our < 0 ||
					     !memcmp(ours, theirs, our)),
			    "%s: %s%s%s", program, rows[i].expr,
			    rows[i].arguments ? " of " : "",
			    rows[i].arguments ? rows[i].arguments : "")) {
			tap_diag("%d bytes, gdb has %d", our, their);
			for (int j = 0; j < our && j < 16; j++)
				tap_diag("%02x %02x", ours[j], theirs[j]);
		}
	}
	return compared;
}

static bool build(const char *title, const char *program, const char *sources)
{
	const char *top = getenv("TOP");
	char text[1024];

	snprintf(text, sizeof(text), "cd %s/selftests/trcust/expr && "
		 "%s -g -o %s %s 2>%s/build.log", top ? top : "../..", title,
		 program, sources, dir);
	if (!system(text))
		return true;
	if (!strstr(title, "-m32"))
		tap_bail("%s does not compile %s", title, sources);
	tap_skip(title, "no compiler or libraries for 32 bits");
	return false;
}

static void test_program(const char *compiler, const char *options,
			 const char *sources, const struct row *rows,
			 size_t count)
{
	struct dwarf_search search = {0};
	struct compilation c = {0};
	char program[128], title[128];
	struct error err;
	uint64_t pc;

	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(title, sizeof(title), "%s %s", compiler, options);
	if (!build(title, program, sources))
		return;
	if (module_open(&c.module, program, program, TDF_MODULE_USER, &err) ||
	    dwarf_file_open(&c.dwarf, c.module, program, &search, &err))
		tap_bail("%s: %s", title, err.text);
	if (analysis_begin(&c))
		tap_bail("no memory");
	in.is32 = c.module->elf_class == ELFCLASS32;
	pc = symbol_address(c.module, "at_work");
	program_stop(program, c.module, pc);
	ask_gdb(rows, count);
	tap_ok(compare_rows(&c, pc, title, rows, count) > count / 2,
	       "%s: most have a value", title);
	kill(in.pid, SIGKILL);
	waitpid(in.pid, NULL, 0);
	c.tsf = NULL;
	compile_free(&c, &compiled);
	memset(&compiled, 0, sizeof(compiled));
	dwarf_file_close(c.dwarf);
	module_close(c.module);
}

static bool present(const char *program)
{
	char text[128];

	snprintf(text, sizeof(text), "command -v %s >/dev/null", program);
	return !system(text);
}

#define COUNT(rows)	(sizeof(rows) / sizeof(*(rows)))

int main(void)
{
	static const char *const options[] = {
		"-O0", "-O2", "-O2 -gdwarf-4 -fno-pie -no-pie",
		"-O0 -gdwarf-4 -fdebug-types-section", "-m32 -O0",
	};
	static const char *const compilers[] = { "gcc", "clang" };
	static const char *const cxx[] = { "g++", "clang++" };

	if (!present("gdb"))
		tap_skip_all("needs gdb");
	if (!mkdtemp(dir))
		tap_bail("no directory");
	for (size_t i = 0; i < COUNT(compilers) * COUNT(options); i++) {
		size_t c = i / COUNT(options), o = i % COUNT(options);

		if (c && o > 2)
			break;
		if (present(compilers[c]))
			test_program(compilers[c], options[o],
				     "language.c opaque.c", c_rows,
				     COUNT(c_rows));
		if (!c && o < 2)
			test_program(compilers[c], options[o],
				     "language.c opaque.c", argument_rows,
				     COUNT(argument_rows));
		if (present(cxx[c]))
			test_program(cxx[c], options[o], "language.cc",
				     cc_rows, COUNT(cc_rows));
	}
	command("rm -r %s", dir);
	return tap_done();
}
