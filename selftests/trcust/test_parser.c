// SPDX-License-Identifier: GPL-2.0
/* Clauses of a tracepoint become the right tree. */
#include "tap.h"
#include "trcust/tsf/parse_point.h"

#define HEADER	"MODNAME=x.so TYPELIST NAME=PRE,ID=1,NAME=POST,ID=64 " \
		"GROUPLIST NAME=MEM,ID=500\n"

/* The dump of one tracepoint, without the lines about TP and DESC. */
static char *clause_dump(const char *clause)
{
	struct diag *diag;
	struct tsf *tsf;
	char *text, *dump = NULL, *body, *desc;
	size_t size;
	FILE *out;

	if (asprintf(&text, HEADER "TRACE TP=.f,DESC=\"\",%s", clause) < 0 ||
	    diag_open_text(&diag, "text", text, strlen(text), 2, NULL))
		tap_bail("no memory");
	free(text);
	if (tsf_parse(&tsf, diag, NULL, NULL)) {
		diag_close(diag);
		return strdup("aborted");
	}
	out = open_memstream(&dump, &size);
	tsf_dump(tsf, out);
	fclose(out);
	body = strstr(dump, "\ttp symbol f\n");
	desc = strstr(dump, "\tdesc \"\"\n");
	if (tsf->points[0].discarded) {
		strcpy(dump, "discarded");
	} else if (body && desc) {
		memmove(desc, desc + 9, strlen(desc + 9) + 1);
		memmove(dump, body + 13, strlen(body + 13) + 1);
	}
	tsf_free(tsf);
	diag_close(diag);
	return dump;
}

static const struct {
	const char *clause, *dump;
} rows[] = {
	{ "REGS=(ax,EBX,Rcx,r8,R15,flags,CS,.var)",
	  "\tregs AX\n\tregs EBX\n\tregs RCX\n\tregs R8\n\tregs R15\n"
	  "\tregs FLAGS\n\tregs CS\n\tregs .var\n" },
	{ "regs=(RIP,RFLAGS,EIP,)", "\tregs RIP\n\tregs RFLAGS\n\tregs EIP\n" },
	{ "REGS=()", "discarded" },
	{ "REGS=(XMM0)", "discarded" },
	/* flags and chains */
	{ "MEM32=(.a,D,4)", "\tmem32 .a direct 4\n" },
	{ "mem32=(.a,direct,0x10)", "\tmem32 .a direct 16\n" },
	{ "MEM64=(.a,I,4)", "\tmem32 .a indirect*+0 4\n" },
	{ "MEM32=(.a,INDIRECT*,4)", "\tmem32 .a indirect*+0 4\n" },
	{ "MEM32=(.a,INDIRECT**,4)", "\tmem32 .a indirect*+0*+0 4\n" },
	{ "MEM32=(.a,I*+6*-0x8*,4)", "\tmem32 .a indirect*+6*-8*+0 4\n" },
	{ "MEM32=(.a,INDIRECT * - 6,4)", "\tmem32 .a indirect*-6 4\n" },
	{ "MEM32=(.a,IS,4)", "\tmem32 .a is*+0 4\n" },
	{ "MEM=(.a,IF,4)", "\tmem .a if*+0 4\n" },
	{ "MEM=(.a,IS,4)", "discarded" },
	{ "MEM32=(.a,IF,4)", "discarded" },
	{ "MEM32=(.a,DIRECT*,4)", "discarded" },
	{ "MEM32=(.a,DIR,4)", "discarded" },
	{ "MEM32=(.a,4)", "discarded" },
	{ "MEM32=(.a,DIRECT)", "discarded" },
	/* addresses */
	{ "MEM32=(.a+4-1+0x10,D,4)", "\tmem32 .a+19 direct 4\n" },
	{ "MEM32=(.a-4+(8),I,4)", "\tmem32 .a-4+(8) indirect*+0 4\n" },
	{ "MEM32=(.a-(0x8),I,4)", "\tmem32 .a+(-8) indirect*+0 4\n" },
	{ "MEM32=(.a+(8),DIRECT,4)", "\tmem32 .a direct 4\n" },
	{ "MEM32=(.a+(8)+4,I,4)", "discarded" },
	{ "MEM32=(.a+b,D,4)", "discarded" },
	{ "MEM32=(.f.part.0@V+4,D,4)", "\tmem32 .f.part.0@V+4 direct 4\n" },
	{ "MEM32=(.TRACE,D,4)", "\tmem32 .TRACE direct 4\n" },
	{ "MEM32=(FRBP+RDI+8,D,4)", "\tmem32 flat RBP+RDI+8 direct 4\n" },
	{ "MEM32=(FR8+8,D,4)", "\tmem32 flat R8+8 direct 4\n" },
	{ "MEM32=(fr10-r11,D,4)", "\tmem32 flat R10-R11 direct 4\n" },
	{ "MEM32=(FESP+ESI+EBP-EDI-4,D,4)",
	  "\tmem32 flat ESP+ESI+EBP-EDI-4 direct 4\n" },
	{ "MEM32=(FRSP+0xFFFFFFFF,D,4)",
	  "\tmem32 flat RSP+4294967295 direct 4\n" },
	{ "MEM32=(FRSP+0x100000001,D,4)", "\tmem32 flat RSP+1 direct 4\n" },
	{ "MEM32=(FEAX+RSP,D,4)", "discarded" },
	{ "MEM32=(FEAX+AX,D,4)", "discarded" },
	{ "MEM32=(FEIP,D,4)", "discarded" },
	{ "MEM32=(FCS,D,4)", "discarded" },
	{ "MEM32=(EAX,D,4)", "discarded" },
	{ "MEM32=(RSS+SP,D,4)", "discarded" },
	{ "MEM=(RSS+SP,D,4)", "\tmem segment SS+SP direct 4\n" },
	{ "ASCIIZ=(rgs+bx-si+0x10-(2),I,4)",
	  "\tasciiz segment GS+BX-SI+16+(-2) indirect*+0 4\n" },
	{ "MEM=(RDS+0x10002,D,4)", "\tmem segment DS+2 direct 4\n" },
	{ "MEM=(RDS+ESI,D,4)", "discarded" },
	{ "MEM=(RAX,D,4)", "discarded" },
	{ "MEM=(FEAX,D,4)", "discarded" },
	{ "MEM=(.a+4,D,4)", "\tmem .a+4 direct 4\n" },
	{ "ASCIIZ64=(.a,I,512)", "\tasciiz32 .a indirect*+0 512\n" },
	{ "ASCIIZ32=(.a,I,0xFFFFFFFFFFFFFFFFF)",
	  "\tasciiz32 .a indirect*+0 1024\n" },
	{ "ASCIIZ32=(.a,I,0)", "discarded" },
	/* LEN */
	{ "LEN=(a+2,DIRECT),MEM32=(.a,DIRECT,LEN)",
	  "\tmem32 .a direct len 0: .a+2 direct\n" },
	{ "LEN=(.a,I*+4),MEM=(.b,I,len)",
	  "\tmem .b indirect*+0 len 0: .a indirect*+4\n" },
	{ "LEN=(RDS+DI,I*+6*+8),MEM=(RDS+DI,I*+6*,LEN)",
	  "\tmem segment DS+DI indirect*+6*+0 len 2: segment DS+DI "
	  "indirect*+6*+8\n" },
	{ "LEN=(FRDI+8,D,4),MEM64=(FRDI,D,LEN)",
	  "\tmem32 flat RDI direct len 4: flat RDI+8 direct\n" },
	{ "LEN=(RDSx,D,8),MEM64=(FRDI,D,LEN)",
	  "\tmem32 flat RDI direct len 8: .RDSx direct\n" },
	{ "LEN=(frame,D,1),MEM64=(FRDI,D,LEN)",
	  "\tmem32 flat RDI direct len 1: .frame direct\n" },
	{ "LEN=(.FEAX,D,2,),MEM64=(FRDI,D,LEN)",
	  "\tmem32 flat RDI direct len 2: .FEAX direct\n" },
	{ "LEN=(a,IF),MEM=(.b,I,LEN)", "discarded" },
	{ "LEN=(a,D,16),MEM=(.b,I,LEN)", "discarded" },
	{ "LEN=(a,D),LEN=(a,D),MEM=(.b,I,LEN)", "discarded" },
	{ "LEN=(a,D),FMT=\"\",MEM=(.b,I,LEN)", "discarded" },
	/* names */
	{ "MEM32=(.ns::x+4,D,4)", "\tmem32 .ns::x+4 direct 4\n" },
	{ "MEM32=(.f.c:x-4,D,4)", "\tmem32 .f.c:x-4 direct 4\n" },
	{ "MEM32=(.\"my dir/f.c:x\"+4,D,4)",
	  "\tmem32 .my dir/f.c:x+4 direct 4\n" },
	{ "MEM32=(.cls<int>::x+(8),I,4)",
	  "\tmem32 .cls<int>::x+(8) indirect*+0 4\n" },
	{ "MEM32=(.operator+(8),I,4)", "\tmem32 .operator+(8) indirect*+0 4\n" },
	{ "MEM32=(.\"\",D,4)", "discarded" },
	{ "REGS=(.\"odd \\\"name\\\"\",.ns::x,AX)",
	  "\tregs .odd \"name\"\n\tregs .ns::x\n\tregs AX\n" },
	{ "LEN=(ns::x,D),MEM32=(.x,D,LEN)",
	  "\tmem32 .x direct len 0: .ns::x direct\n" },
	/* what Linux adds */
	{ "VARS=(a)", "\tvar a\n" },
	{ "VARS=(k=(a),b)", "\tvar k=(a)\n\tvar b\n" },
	{ "VARS=(k = (a + 1):2)", "\tvar k=(a + 1) :2\n" },
	{ "VARS=(k==(a))", "\tvar k==(a)\n" },
	{ "VARS=(k=a)", "discarded" },
	{ "VARS=(k.l=(a))", "discarded" },
	{ "VARS=(k=())", "discarded" },
	{ "VARS=(k=(", "aborted" },
	{ "vars=( r->next->len, buf[i].name : 0x10, (a, b):4,)", "discarded" },
	{ "vars=( r->next->len, buf[i].name : 0x10, a?b:c, ns::x)",
	  "\tvar r->next->len\n\tvar buf[i].name :16\n"
	  "\tvar a?b:c\n\tvar ns::x\n" },
	{ "VARS=(a,b,),VARS=(c)", "\tvar a\n\tvar b\n\tvar c\n" },
	{ "VARS=(a:1024)", "\tvar a :1024\n" },
	{ "VARS=(a:1025)", "\tvar a :1024\n" },
	{ "VARS=(a:0)", "discarded" },
	{ "VARS=(a:b)", "discarded" },
	{ "VARS=()", "discarded" },
	{ "VARS=(a", "aborted" },
	{ "VARS=a", "discarded" },
	{ "IF=(n > 4 && *p == '\"')", "\tif n > 4 && *p == '\"'\n" },
	{ "IF=((a))", "\tif (a)\n" },
	{ "IF=(a),IF=(b)", "discarded" },
	{ "IF=()", "discarded" },
	{ "IF=a", "discarded" },
	{ "IF=(a '\"')", "discarded" },
	{ "LEN=(a,D),VARS=(b)", "discarded" },
	{ "STACK=(8),REGS=(AX)", "\tstack 8\n\tregs AX\n" },
	{ "STACK=(0x20)", "\tstack 32\n" },
	{ "STACK,REGS=(AX)", "\tstack 32\n\tregs AX\n" },
	{ "STACK=(0)", "discarded" },
	{ "STACK=(33)", "discarded" },
	{ "STACK=8", "discarded" },
	{ "COUNT", "\taggregate count \n" },
	{ "COUNT,SUM=(a,b+1),BY=(c,d:7)",
	  "\tby c :0\n\tby d :7\n\taggregate count \n"
	  "\taggregate sum a\n\taggregate sum b+1\n" },
	{ "MIN=(a),MAX=(a),HIST=(a)",
	  "\taggregate min a\n\taggregate max a\n\taggregate hist a\n" },
	{ "COUNT=1", "discarded" },
	{ "SUM", "aborted" },
	{ "HIST=()", "discarded" },
	{ "HIST=a", "discarded" },
	{ "COUNT,BY=(STACK,a,(STACK))",
	  "\tby STACK :32\n\tby a :0\n\tby (STACK) :0\n\taggregate count \n" },
	{ "COUNT,BY=(stack,STACK:8)",
	  "\tby stack :0\n\tby STACK :8\n\taggregate count \n" },
	{ "COUNT,BY=(a:0)", "discarded" },
	{ "COUNT,BY=(a:63)", "discarded" },
	{ "COUNT,BY=(a,b,c,d,e)", "discarded" },
	{ "MAXHITS=1,PASSCOUNT=0x10", "\tmaxhits 1\n\tpasscount 16\n" },
	{ "maxhits=4294967295,passcount=0", "\tmaxhits 4294967295\n" },
	{ "MAXHITS=0", "discarded" },
	{ "MAXHITS=4294967296", "discarded" },
	{ "MAXHITS=many", "discarded" },
	{ "MAXHITS=1,MAXHITS=1", "discarded" },
	{ "PASSCOUNT=1,PASSCOUNT=1", "discarded" },
	{ "ONFAULT=continue", "\tonfault continue\n" },
	{ "ONFAULT=STOP", "" },
	{ "ONFAULT=GO", "discarded" },
	{ "ONFAULT=STOP,ONFAULT=STOP", "discarded" },
	/* the rest */
	{ "TYPE=(PRE,POST),GROUP=MEM", "\ttype 0x0041 group 500\n" },
	{ "TYPE=(PRE,)", "\ttype 0x0001 group 0\n" },
	{ "TYPE=(pre)", "discarded" },
	{ "TYPE=PRE", "discarded" },
	{ "OPCODE=0x8B", "\topcode 0x8b\n" },
	{ "OPCODE=139,", "\topcode 0x8b\n" },
	{ "OPCODE=0xff", "\topcode 0xff\n" },
	/* strings */
	{ "FMT=\"\\x41\\101\\\"\\\\\\?\\n\\t\\'%\\x25\"",
	  "\tfmt \"AA\\\"\\\\?\\012\\011'%%\"\n" },
	{ "FMT=\"\\x412\\1012\\q\"", "\tfmt \"A2A2q\"\n" },
	{ "FMT=\"\\xg\\400\"", "\tfmt \"xg400\"\n" },
	{ "FMT=\"\\0\"", "aborted" },
	{ "FMT=\"\",FMT=\"%p%w here\"", "\tfmt \"\"\n\tfmt \"%p%w here\"\n" },
	{ "FMT=unquoted", "discarded" },
};

static const struct {
	const char *tp, *dump;
} places[] = {
	{ ".f", "symbol f" },
	{ "._f", "symbol _f" },
	{ ".f+4", "symbol f+4" },
	{ ".f - 0x10", "symbol f-0x10" },
	{ ".f,RETEP", "symbol f,RETEP" },
	{ ".f , retep,", "symbol f,RETEP" },
	{ ".trace", "symbol trace" },
	{ ".f,RETEP=EXIT", "symbol f,RETEP=EXIT" },
	{ ".f,retep = caller", "symbol f,RETEP=CALLER" },
	{ ".f,RETEP=BOTH", NULL },
	{ ".f,RETEP=", NULL },
	{ ".ns::cls::fn+4", "symbol ns::cls::fn+4" },
	{ ".fn(int, char const*),RETEP", "symbol fn(int, char const*),RETEP" },
	{ ".cls<int>::fn", "symbol cls<int>::fn" },
	{ ".~cls", "symbol ~cls" },
	{ ".operator+", "symbol operator+" },
	{ ".operator+4", "symbol operator+4" },
	{ ".(anonymous namespace)::f", "symbol (anonymous namespace)::f" },
	{ ".file.c:name", "symbol file.c:name" },
	{ ".\"any name at all\"+4", "symbol any name at all+4" },
	{ ".\"dir/a-b.c:name\",RETEP", "symbol dir/a-b.c:name,RETEP" },
	{ ".\"\"", NULL },
	{ ".f(int", NULL },
	{ ".f+4,RETEP", "symbol f+4,RETEP" },
	{ ".f - 0x10 , RETEP=EXIT", "symbol f-0x10,RETEP=EXIT" },
	{ ".f,OPCODE=1,RETEP", NULL },
	{ ".f+", NULL },
	{ ". ", NULL },
	{ "f", "symbol f" },
	{ "ns::f(int)+4", "symbol ns::f(int)+4" },
	{ "<a::B>::f", "symbol <a::B>::f" },
	{ "\"f\"", "symbol f" },
	{ "~cls,RETEP", "symbol ~cls,RETEP" },
	{ "4", NULL },
	{ "@a.c,58", "line @a.c,58" },
	{ "@\\src\\a-b.c,0x3A", "line @\\src\\a-b.c,58" },
	{ "@\"my file.c\",58", "line @my file.c,58" },
	{ "@a.c,58,RETEP", NULL },
	{ "@a.c", NULL },
	{ "@a.c,0", NULL },
	{ "@a.c,4294967296", NULL },
	{ "@STATIC", "static @STATIC" },
	{ "@static,REGS=(AX),OPCODE=1", "static @STATIC" },
	{ "@STATIC,RETEP", NULL },
	{ "@STATIC,VARS=(a),IF=(b),MAXHITS=1,ONFAULT=CONTINUE,STACK=(0)",
	  "static @STATIC" },
	{ "@\"STATIC\",4", "line @STATIC,4" },
	{ "@USDT,libc,setjmp", "usdt @USDT,libc,setjmp" },
	{ "@usdt , \"a b\", c-d", "usdt @USDT,a b,c-d" },
	{ "@\"USDT\",58", "line @USDT,58" },
	{ "@USDT,libc", NULL },
	{ "@USDT,libc,", NULL },
	{ "@USDT,libc,setjmp,RETEP", NULL },
	{ "@ADDR,0x1139", "address @ADDR,0x1139" },
	{ "@addr,4409", "address @ADDR,4409" },
	{ "@ADDR,main", NULL },
	{ "@ADDR,0x1139,RETEP", NULL },
};

/* The line "tp ..." must be the last of the point's dump but an opcode. */
static void place_check(const char *place, const char *expected)
{
	char *text, *dump = NULL, line[64];
	struct diag *diag;
	struct tsf *tsf;
	size_t size;
	FILE *out;

	if (asprintf(&text, HEADER "TRACE TP=%s\nTRACE TP=.g", place) < 0 ||
	    diag_open_text(&diag, "text", text, strlen(text), 2, NULL) ||
	    tsf_parse(&tsf, diag, NULL, NULL))
		tap_bail("'%s' does not parse", place);
	out = open_memstream(&dump, &size);
	tsf_dump(tsf, out);
	fclose(out);
	snprintf(line, sizeof(line), "\n\ttp %s\ntrace 2",
		 expected ? expected : "");
	tap_ok(tsf->point_count == 2 && !tsf->points[1].discarded &&
	       tsf->points[0].discarded == !expected &&
	       (!expected || strstr(dump, line)), "TP=%s", place);
	free(dump);
	free(text);
	tsf_free(tsf);
	diag_close(diag);
}

/* After a broken tracepoint the next one is met, whatever was broken. */
static void resync_check(const char *broken)
{
	char *text;
	struct diag *diag;
	struct tsf *tsf;

	if (asprintf(&text, HEADER "TRACE MINOR=7,TP=.f,%s\n"
		     "TRACE MINOR=8,TP=.g", broken) < 0 ||
	    diag_open_text(&diag, "text", text, strlen(text), 2, NULL))
		tap_bail("no memory");
	tap_ok(!tsf_parse(&tsf, diag, NULL, NULL) && tsf->point_count == 2 &&
		       tsf->points[0].discarded && !tsf->points[1].discarded &&
		       tsf->points[1].minor == 8,
	       "after '%s'", broken);
	free(text);
	tsf_free(tsf);
	diag_close(diag);
}

int main(void)
{
	static const char *const broken[] = {
		"REGS=(AX,", "REGS=(", "REGS=", "REGS", "MEM32=(.a,",
		"MEM32=(.a,DIRECT,4", "MEM32=(.", "MEM32=(.a+", "GROUP=",
		"TYPE=(", "TYPE=(PRE,", "TP=.trace", "x TRACE=1", "FMT=",
		"LEN=(", "LEN=(a,DIRECT),", "OPCODE=", "?", "DESC=",
		"x .trace y", "x @trace y", "\x01", "MEM32=(FEAX+",
	};
	char *dump;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		dump = clause_dump(rows[i].clause);
		tap_str(dump, rows[i].dump, "%s", rows[i].clause);
		free(dump);
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		place_check(places[i].tp, places[i].dump);
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++)
		resync_check(broken[i]);
	return tap_done();
}
