// SPDX-License-Identifier: GPL-2.0
/*
 * Formats over data: every example of manual 1.3.5.7 and of the sample TSFs,
 * and what is printed instead of data that is short, cut or not there.
 */
#include <tap.h>
#include "builder.h"
#include "decoder.h"
#include "row.h"

struct row {
	const char *format;
	const char *data;
	const char *expected;
	int flags;		/* of the record */
};

static struct value_types types;

static const struct row rows[] = {
	/* the examples of the manual, each FMT with its line end */
	{ "ignore ten bytes %I10 here\n and two more %I2 here\n",
	  "000102030405060708090A0B",
	  "ignore ten bytes here\n and two more here\n" },
	{ "memory byte = %P%B\n", "P(C2)", "memory byte = C2\n" },
	{ "memory byte = %P%B\n", "P(01)", "memory byte = 01\n" },
	{ "register word = %W\n", "0100", "register word = 0001\n" },
	{ "memory word = %P%W\n", "P(0100)", "memory word = 0001\n" },
	{ "double word EAX = %D\n", "2C4B0000",
	  "double word EAX = 0000 4B2C\n" },
	{ "double memory word = %P%D\n", "P(2C4B0000)",
	  "double memory word = 0000 4B2C\n" },
	{ "flat address EAX = %F\n", "2C4B0000",
	  "flat address EAX = 00004B2C\n" },
	{ "quad word from regs EAX and EBX = %Q\n", "2C4B000001000000",
	  "quad word from regs EAX and EBX = 00004B2C 00000001\n" },
	{ "segmented address in SS:SP = %A\n", "B7000100",
	  "segmented address in SS:SP = 00B7:0001\n" },
	{ "segmented address in memory = %P%A\n", "P(0100B700)",
	  "segmented address in memory = 00B7:0001\n" },
	{ "log a variable number of words from memory = %R%W\n",
	  "P(01000400)",
	  "log a variable number of words from memory = 0001 0004\n" },
	{ "string = %P%S\n", "S('c:\\os2\\os2.ini')",
	  "string = c:\\os2\\os2.ini\n" },
	{ "garbage = %U\n", "00000003c2c1c4ff040009c018",
	  "garbage = 00 00 00 03 c2 c1 c4 ff 04 00 09 c0 18\n" },
	{ "major code = %X\n", "", "major code = 00C2\n" },
	{ "minor code = %Y\n", "", "minor code = 0081\n" },
	{ "%P%W here\n", "P(0100)", "0001 here\n" },
	{ "%p%w here\n", "P(0100)", "0001 here\n" },
	{ "%P %W here\n", "P(0100)", "0001 here\n" },
	{ "%PW here\n", "P(0100)", "0001 here\n" },
	/* the sample TSFs, 1.5 and 1.3.1 */
	{ " AX = %W \n upper BX = %B\n lower BX = %B\n param = %P%S\n",
	  "34127856S('abc')",
	  " AX = 1234 \n upper BX = 78\n lower BX = 56\n param = abc\n" },
	{ " First Five words = %P%W%W%W%W%W\n Three words ignored %I6\n"
	  " Last Two Words = %W%W\n",
	  "P(0100020003000400050006000700080009000A00)",
	  " First Five words = 00010002000300040005\n Three words ignored \n"
	  " Last Two Words = 0009000A\n" },
	{ " Status_Rec.age = %P%W\n Status_Rec.name = %P%S\n"
	  " Status_Rec.next->age = %P%W\n", "P(2A00)S('Ann')P(2B00)",
	  " Status_Rec.age = 002A\n Status_Rec.name = Ann\n"
	  " Status_Rec.next->age = 002B\n" },
	{ " Variant Record = %P%W%D%U\n", "P(0100020003000405)",
	  " Variant Record = 00010003 000204 05\n" },
	{ " AX = %W \n EBX = %F\n", "3412EFBEADDE",
	  " AX = 1234 \n EBX = DEADBEEF\n" },
	{ " mix_ctrl = %P%W %W %W\n", "P(010002000300)",
	  " mix_ctrl = 0001 0002 0003\n" },
	{ "Major = %X Minor = %Y\n EAX = %D\n FileName = %P%S\n",
	  "78563412S('/etc/passwd')",
	  "Major = 00C2 Minor = 0081\n EAX = 1234 5678\n"
	  " FileName = /etc/passwd\n" },
	{ "AX=%W CX=%W ret_code=%W\n", "010002000300",
	  "AX=0001 CX=0002 ret_code=0003\n" },
	/* ours */
	{ "%L|%P%L", "EFCDAB8967452301P(0100000000000080)",
	  "0123456789ABCDEF|8000000000000001" },
	{ "%P%C%C", "P('ok')", "ok" },
	{ "%P%C%C", "P(1B41)", "\\x1BA" },
	{ "%R%C", "P('word')", "word" },
	/* an item in part: the next prefix starts after it */
	{ "%P%W %P%W", "P(01000200)P(0300)", "0001 0003" },
	{ "%P%P%P%W", "P(0100)P(0200)P(0300)", "0003" },
	{ "%P%B %R%W %P%B", "P(AABB)P(010002000300)P(CC)",
	  "AA 0001 0002 0003 CC" },
	{ "%R%B", "P(0102)", "01 02" },
	{ "%R%D", "P(0100000002000000)", "0000 0001 0000 0002" },
	{ "%R%S", "P('ab'00'cd'00)", "ab cd" },
	{ "%R%I2 |", "P(010203)", "|" },
	{ "%R%U", "P(0102)P(03)", "01 02 00 01 00 03" },
	{ "%P%B %U", "P(0102)P(03)", "01 02 00 01 00 03" },
	{ "%R%W|", "P()", "|" },
	{ "%R%W|%P%W", "P()P(0700)", "|0007" },
	/* strings */
	{ "<%P%S>", "S()", "<>" },
	{ "%P%S|%B", "P('ab'00CC)", "ab|CC" },
	{ "%P%S|", "P('ab'0000000000)", "ab|" },
	{ "%S|%W", "'ab'000100", "ab|0001" },
	{ "%S|", "'ab'", "ab<no end>|" },
	{ "%P%S", "S('a'0A'b'09'c'0D1B5B'2J'7F9B)",
	  "a\\nb\\tc\\r\\x1B[2J\\x7F\\x9B" },
	{ "%P%S", "S(C3A4 E282AC F09F9880)", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "%P%S", "S(C29B C0AF EDA080 F4908080 E282)",
	  "\\xC2\\x9B\\xC0\\xAF\\xED\\xA0\\x80\\xF4\\x90\\x80\\x80\\xE2\\x82" },
	{ "%P%S", "S('a'E280AE 'b'E281A9 E280A8 D89C E2808E)",
	  "a\\xE2\\x80\\xAEb\\xE2\\x81\\xA9\\xE2\\x80\\xA8\\xD8\\x9C"
	  "\\xE2\\x80\\x8E" },
	{ "%P%S", "S(E280A7 E280AF E281A5 E281AA D89B E2808D)",
	  "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xd8\x9b"
	  "\xe2\x80\x8d" },
	/* registers after memory take no prefix */
	{ "%P%W AX=%W", "P(0100)3412", "0001 AX=1234" },
	{ "%P%W AX=%W %P%D", "P(0100)0000P(0A000000)",
	  "0001 AX=0000 0000 000A" },
	{ "%P%S AX=%W BX=%W %P%S", "S('x')01000200S('y')",
	  "x AX=0001 BX=0002 y" },
	{ "%R%W AX=%W", "P(01000200)3412", "0001 0002 AX=1234" },
	/* an item shorter than the format (LEN) keeps the rest in step */
	{ "%P%W %W|%P%D", "P(0100)P(07000000)",
	  "0001 <0 of 2 bytes>|0000 0007" },
	{ "%P%W %W %W|%P%D", "P(0100)P(01000000)",
	  "0001 <0 of 2 bytes> <0 of 2 bytes>|0000 0001" },
	{ "%P%W|%P%D", "P()P(07000000)", "<0 of 2 bytes>|0000 0007" },
	{ "%P%W%W|%P%D", "P()P(07000000)",
	  "<0 of 2 bytes><0 of 2 bytes>|0000 0007" },
	{ "%P%W AX=%W|%P%D", "P()3412P(07000000)",
	  "<0 of 2 bytes> AX=1234|0000 0007" },
	{ "%P%D", "P(2C4B)", "2c 4b <2 of 4 bytes>" },
	{ "%P%D|%P%W", "P(2C4B)P(0100)", "2c 4b <2 of 4 bytes>|0001" },
	{ "%P%Q", "P(01020304050607)", "01 02 03 04 05 06 07 <7 of 8 bytes>" },
	{ "%R%W", "P(010002)", "0001 02 <1 of 2 bytes>" },
	{ "%P%I10 |%P%B", "P(01)P(02)", "|02" },
	{ "%D", "0102", "01 02 <2 of 4 bytes>" },
	{ "%W %W", "0100", "0001 <0 of 2 bytes>" },
	{ "%W", "", "<0 of 2 bytes>" },
	{ "%P%W", "", "<0 of 2 bytes>" },
	{ "%U|", "", "|" },
	/* cut at MAXDATALENGTH */
	{ "%P%S|", "T('abc')", "abc<cut>|", RAS_RECORD_CUT },
	{ "%P%S %P%W AX=%W", "T('abc')C()", "abc<cut> <cut> AX=<cut>",
	  RAS_RECORD_CUT },
	{ "%P%W%W%W|%P%S", "C(01000200)C()", "00010002<cut>|<cut>",
	  RAS_RECORD_CUT },
	{ "%P%W%D", "C(01000200)", "000102 00 <2 of 4 bytes><cut>",
	  RAS_RECORD_CUT },
	{ "%R%W|", "C(01000200)", "0001 0002<cut>|", RAS_RECORD_CUT },
	{ "%R%W|%R%B", "C()C()", "<cut>|<cut>", RAS_RECORD_CUT },
	{ "%P%U", "C(01)C()", "01 10 00 00", RAS_RECORD_CUT },
	{ "AX=%W BX=%W", "0100", "AX=0001 BX=<cut>", RAS_RECORD_CUT },
	/* faults */
	{ "%P%W", "X", "<not readable: 0000000000001234>", RAS_RECORD_FAULT },
	{ "%P%W%W%W|%W", "X", "<not readable: 0000000000001234>|<not traced>",
	  RAS_RECORD_FAULT },
	{ "a=%P%W\nb=%P%S\nc=%P%D %D\n", "P(0100)X",
	  "a=0001\nb=<not readable: 0000000000001234>\nc=<not traced> \n",
	  RAS_RECORD_FAULT },
	{ "%P%S|%U|AX=%W", "X",
	  "<not readable: 0000000000001234>|<not traced>|AX=<not traced>",
	  RAS_RECORD_FAULT },
	{ "%R%W|%R%W", "X", "<not readable: 0000000000001234>|<not traced>",
	  RAS_RECORD_FAULT },
	{ "%P%U|", "X", "<not readable: 0000000000001234>|", RAS_RECORD_FAULT },
	{ "%P%I2 %W", "X", "<not readable: 0000000000001234>",
	  RAS_RECORD_FAULT },
	{ "%P%A", "Y", "<bad selector: 0000000000B70001>", RAS_RECORD_FAULT },
	/* on a fault the rest may be there (ONFAULT=CONTINUE) */
	{ "%P%W %P%W", "XP(0700)", "<not readable: 0000000000001234> 0007",
	  RAS_RECORD_FAULT },
	{ "%P%W AX=%W", "X3412", "<not readable: 0000000000001234> AX=1234",
	  RAS_RECORD_FAULT },
	{ "%P%W%W|%P%W", "XP(0700)",
	  "<not readable: 0000000000001234>|0007", RAS_RECORD_FAULT },
	{ "%P%S|%R%{u16}|%P%{hex}", "XXP(0708)",
	  "<not readable: 0000000000001234>|<not readable: 0000000000001234>|"
	  "07 08", RAS_RECORD_FAULT },
	/* a variable that the site doesn't have */
	{ "a=%P%{d32} b=%P%{u8}", "NP(07)", "a=<not available here> b=7" },
	{ "a=%P%{f64} b=%P%{u8}", "VP(07)",
	  "a=<not available: needs rastrace.ko on 6.12 or later> b=7" },
	{ "%P%W%W|%P%S|%R%W|%P%{hex}|AX=%W", "NNNN3412",
	  "<not available here>|<not available here>|<not available here>|"
	  "<not available here>|AX=1234" },
	{ "%P%W + %W|%P%B", "NP(07)",
	  "<not available here> + <not available here>|07" },
	{ "%P%S %U", "NP(07)", "<not available here> 00 01 00 07" },
	/* other reasons */
	{ "%P%W|%P%W", "L", "<left alone: 0000000000001234>|<not traced>",
	  RAS_RECORD_FAULT },
	{ "%P%S", "U", "<not tried: 0000000000001234>", RAS_RECORD_FAULT },
	{ "%P%{u32} %P%B", "QP(01)", "<caller unknown: 0000000000001234> 01",
	  RAS_RECORD_FAULT },
	{ "%P%{d64} %P%B", "WP(01)", "<not known> 01", RAS_RECORD_FAULT },
	{ "%P%{u32} %P%B", "ZP(01)", "<division by zero> 01",
	  RAS_RECORD_FAULT },
	/* stacks, and addresses that nothing is known of */
	{ "stack =%P%{stack}|%P%B",
	  "K(03 00 5634120000000000 CDAB000000000000)P(01)",
	  "stack =\n  0000000000123456\n  000000000000ABCD\n"
	  "  (stopped: no frame pointer)|01" },
	{ "%R%{p64}|%P%B", "K(00 00 5634120000000000 CDAB000000000000)P(01)",
	  "0x123456 0xABCD (stopped: as deep as asked for)|01" },
	{ "%P%{stack}|", "K(02 00)",
	  "\n  (stopped: the next frame can't be read)|" },
	{ "%R%{sym}|%P%B", "K(01 00)P(01)", "(outermost)|01" },
	{ "%P%{sym} and %{sym32}", "P(5634120000000000 CDAB0000)",
	  "0x123456 and 0xABCD" },
	{ "%P%{stack}|", "P(4142)",
	  "\n+0000  41 42                                            AB|" },
	{ "%P%W", "K(01)", "<no prefix: 08 01 00>" },
	/* typed controls */
	{ "%{d8} %{d16} %{d32} %{d64}", "FF FEFF FDFFFFFF FCFFFFFFFFFFFFFF",
	  "-1 -2 -3 -4" },
	{ "%{d8}%{d64}", "80 0000000000000080", "-128-9223372036854775808" },
	{ "%{u8} %{u16} %{u32} %{u64}", "FF FFFF FFFFFFFF FFFFFFFFFFFFFFFF",
	  "255 65535 4294967295 18446744073709551615" },
	{ "%{x8} %{x16} %{x32} %{x64}", "0A 0B00 0C000000 0D00000000000000",
	  "0A 000B 0000000C 000000000000000D" },
	{ "%{o8} %{o16} %{o32} %{o64}", "00 A401 08000000 FFFFFFFFFFFFFFFF",
	  "0 0644 010 01777777777777777777777" },
	{ "%{b8} %{b16}", "05 0180", "00000101 1000000000000001" },
	{ "%{b64}", "0100000000000080",
	  "1000000000000000000000000000000000000000000000000000000000000001" },
	{ "%{f32} %{f64}", "CDCCCC3D 9A9999999999B93F", "0.1 0.1" },
	{ "%{f32} %{f32} %{f32} %{f64}",
	  "0000807F 000080FF 00000080 182D4454FB210940",
	  "inf -inf -0 3.141592653589793" },
	{ "%{f64} %{f32}", "FFFFFFFFFFFFEF7F 01000000",
	  "1.7976931348623157e+308 1.4013e-45" },
	{ "%{p32} %{p64} %{p64}", "00800408 F0FFFFFFFF7F0000 0000000000000000",
	  "0x8048000 0x7FFFFFFFFFF0 0x0" },
	{ "%{bool} %{bool} %{bool}", "000102", "false true 2" },
	{ "%{c}%{c}", "411B", "A\\x1B" },
	{ "%P%{s}|%P%{s}", "S('ab')P('cd'00'e')", "ab|cd" },
	{ "%{s}|%W", "'ab'000100", "ab|0001" },
	{ "%P%{hex}|%P%{hex2} %B", "P(0A0b0c)P(010203)", "0a 0b 0c|01 02 03" },
	{ "%P%{hex}|%W", "P(0A)0100", "0a|0001" },
	{ "%{hex3} %W", "0102030400", "01 02 03 0004" },
	{ "%R%{d16}|%R%{hex2}|%R%{c}", "P(0100FFFF)P(01020304)P('ab')",
	  "1 -1|01 02 03 04|ab" },
	{ "%P%{d32}|%P%{d64}", "P(0102)P()", "01 02 <2 of 4 bytes>|<0 of 8 bytes>" },
	{ "%P%{d32}|%P%{hex}", "C(0102)C()", "01 02 <2 of 4 bytes><cut>|<cut>",
	  RAS_RECORD_CUT },
	{ "%P%{hex}|%P%{d8}", "C(0102)P(03)", "01 02<cut>|3", RAS_RECORD_CUT },
	{ "%{be16} %{be32} %{be64}", "0102 00000100 0000000000000100",
	  "258 256 256" },
	{ "%{time32} %{time}", "00000000 7F33AA6900000000",
	  "1970-01-01T00:00:00Z 2026-03-06T01:53:03Z" },
	{ "%{time32} %{time64}", "FFFFFFFF FFFFFFFFFFFFFF7F",
	  "1969-12-31T23:59:59Z 9223372036854775807Z" },
	{ "%{timespec} %{timeval}",
	  "0000000000000000 0500000000000000 3C00000000000000 0600000000000000",
	  "1970-01-01T00:00:00.000000005Z 1970-01-01T00:01:00.000006Z" },
	{ "%{timespec}", "FFFFFFFFFFFFFFFF FFFFFFFFFFFFFFFF",
	  "1969-12-31T23:59:59.18446744073709551615Z" },
	{ "%{ns} %{ns}", "0200000000000000 FFFFFFFFFFFFFFFF",
	  "0.000000002s 18446744073.709551615s" },
	{ "%{ip4} %{ip4}", "C0A80001 FFFFFFFF", "192.168.0.1 255.255.255.255" },
	{ "%{ip6} %{ip6}", "00000000000000000000000000000001"
			   "20010DB8000000000000000000000001",
	  "::1 2001:db8::1" },
	{ "%{ip6}", "00000000000000000000FFFF7F000001", "::ffff:127.0.0.1" },
	{ "%{mac}", "00163EAABBCC", "00:16:3E:AA:BB:CC" },
	{ "%P%{ip6}", "P(0102)", "01 02 <2 of 16 bytes>" },
	{ "buf = %P%{dump}\n%P%{dump}\n", "P('0123456789abcdef'0A1B)P()",
	  "buf = \n"
	  "+0000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66"
	  "  0123456789abcdef\n"
	  "+0010  0A 1B                                          "
	  "  ..\n\n" },
	{ "%R%{ip4}", "P(0102030405060708)", "1.2.3.4 5.6.7.8" },
	{ "%P%{no such}|%P%B", "P(01)P(02)", "%{no such}|02" },
	/* other widths, the highest byte first */
	{ "%{d24} %{u24} %{x24} %{d40} %{u56}",
	  "FFFFFF FFFFFF 563412 00000000FF FFFFFFFFFFFFFF",
	  "-1 16777215 123456 -4294967296 72057594037927935" },
	{ "%{d1} %{u1} %{d12} %{u12} %{x12} %{b12}|",
	  "01 FE FF0F FFFF 3412 01FA",
	  "-1 0 -1 4095 234 101000000001|" },
	{ "%{o12} %{x9} %{b3}", "FF0F FF01 05", "07777 1FF 101" },
	{ "%{u16be} %{d16be} %{x24be} %{o32be} %{b8be} %{u12be}",
	  "0102 FFFE 123456 00000008 81 F123", "258 -2 123456 010 10000001 291" },
	{ "%{d64be} %{f32be} %{f64be} %{p64be}",
	  "FFFFFFFFFFFFFFFE 3DCCCCCD 3FB999999999999A 00007FFFFFFFFFF0",
	  "-2 0.1 0.1 0x7FFFFFFFFFF0" },
	/* names of values */
	{ "%{enum8:RED=0,GREEN=1} %{enum8:RED=0,GREEN=1} %{enum8:RED=0}",
	  "00 01 02", "RED GREEN 2" },
	{ "%{enum8:OK=0,BAD=-1} %{enum8:OK=0,BAD=-1} %{enum16be:A=0x102}",
	  "FF FE 0102", "BAD -2 A" },
	{ "%{flags8:RD=1,WR=2,X=0x10}|%{flags8:RD=1,WR=2}|%{flags8:RD=1,WR=2}",
	  "13 07 00", "RD | WR | X|RD | WR | 0x4|0" },
	{ "%{flags8:NONE=0,RD=1}|%{flags8:NONE=0,RD=1}|%{flags8:NONE=0,RD=1}",
	  "00 01 80", "NONE|RD|0x80" },
	{ "%{flags16:RDONLY=0/3,WRONLY=1/3,RDWR=2/3,CREAT=0x40}"
	  " %{flags16:RDONLY=0/3,WRONLY=1/3,RDWR=2/3,CREAT=0x40}",
	  "4000 0200", "RDONLY | CREAT RDWR" },
	{ "%R%{flags8:A=1,B=2}|%P%{enum32:A=1}", "P(010203)P(0100)",
	  "A B A | B|01 00 <2 of 4 bytes>" },
	/* strings of a fixed size */
	{ "%{str4}|%{str4}|%B", "'ab'0063 'abcd' 07", "ab|abcd|07" },
	{ "%P%{str8}|%P%{str8}|", "S('ab')T('abc')",
	  "ab <2 of 8 bytes>|abc <3 of 8 bytes><cut>|" },
	{ "%P%{str2}%B", "P(1B'x'01)", "\\x1Bx01" },
	{ "%{dump2}|%P%{dump4}", "4142 P(61)",
	  "\n+0000  41 42                                            AB|"
	  "\n+0000  61                                               a"
	  " <1 of 4 bytes>" },
	/* other units of time */
	{ "%{time_ms} %{time_us} %{time_ns}",
	  "E803000000000000 40420F0000000000 FFFFFFFFFFFFFFFF",
	  "1970-01-01T00:00:01.000Z 1970-01-01T00:00:01.000000Z"
	  " 1969-12-31T23:59:59.999999999Z" },
	{ "%{ms} %{us}", "D204000000000000 D204000000000000",
	  "1.234s 0.001234s" },
	/* a format that doesn't fit */
	{ "a=%P%W b=%P%W", "07000100",
	  "a=<no prefix: 07 00 01> b=<not formatted>" },
	{ "a=%P%W", "0000", "a=<no prefix: 00 00>" },
	{ "a=%P%W b=%W", "000500AABB", "a=<no prefix: 00 05 00> b=<not formatted>" },
	/* text */
	{ "100%% %Z\n", "", "100% %Z\n" },
	{ "tab\t\033[2J\n", "", "tab\t\\x1B[2J\n" },
};

static struct ras_record *record_make(const struct row *row)
{
	return row_record(row->data, row->flags);
}

static void row_run(size_t i)
{
	const struct row *row = &rows[i];
	struct ras_record *record = record_make(row);
	struct decode_format format;
	struct decode_result result;
	uint8_t *seen = calloc(1, record->length);
	char *text;

	if (decode_compile(&format, row->format, &types))
		tap_bail("no memory");
	text = decoder_text(&(struct render_input){ &format, record }, seen,
			    &result);
	tap_str(text, row->expected, "row %zu: data %s", i, row->data);
	free(text);
	free(seen);
	free(record);
	decode_free(&format);
}

static void test_seen(void)
{
	static const struct row row = { "%P%W %P%I1 %B", "P(01000200)P(0A0B0C)" };
	struct ras_record *record = record_make(&row);
	uint8_t seen[32] = { 0 };
	struct decode_format format;
	struct decode_result result;
	static const uint8_t expected[13] = { 1, 1, 1, 1, 1, 0, 0,
					      1, 1, 1, 1, 1, 0 };

	decode_compile(&format, row.format, &types);
	free(decoder_text(&(struct render_input){ &format, record }, seen,
			  &result));
	tap_ok(!memcmp(seen, expected, sizeof(expected)),
	       "bytes that no control took are reported");
	decode_free(&format);
	free(record);
}

/* Records that are as they should be go the short way, others don't. */
static void test_plain(void)
{
	static const struct {
		struct row row;
		bool plain;
	} some[] = {
		{ { "%W AX=%{x64} %{u32} %{d16} %P%{hex} %P%S%R%W %X",
		    "0100 0100000000000000 07000000 FFFF P(0102) S('ab')"
		    "P(01000200)" }, true },
		{ { "%B%D%F%L%Q%C%I1 %{hex2}%{u12}%{enum8:A=1}%S", "01 02000000"
		    "03000000 0400000000000000 0500000000000000 41 00 0102"
		    "FFFF 01 'ab'00" }, true },
		{ { "%P%B%B%P%W", "P(010203)P(0100)" }, true },
		{ { "%P%S%P%S", "S(1B'x')S()" }, true },
		{ { "%P%W", "C(0100)" }, false },
		{ { "%P%W", "P(01)" }, false },
		{ { "%P%W", "X" }, false },
		{ { "%P%W%W", "P(0100)0200" }, false },
		{ { "%W", "01" }, false },
		{ { "%S", "'ab'" }, false },
		{ { "%R%W", "P(010203)" }, false },
		{ { "%U", "01" }, false },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct ras_record *record = record_make(&some[i].row);
		struct decode_format format;
		char *text;

		decode_compile(&format, some[i].row.format, &types);
		text = decoder_plain(&(struct render_input){ &format, record });
		tap_is(text != NULL, some[i].plain, "'%s' of %s: is plain",
		       some[i].row.format, some[i].row.data);
		free(text);
		free(record);
		decode_free(&format);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		row_run(i);
	test_seen();
	test_plain();
	return tap_done();
}
