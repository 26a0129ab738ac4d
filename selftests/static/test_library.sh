#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# librastrace needs no other library; its headers are for every C and C++; what
# `trace` looks for is in it; installed, it is found and used.
. "$(dirname "$0")/../tap.sh"
need_tree
need cc readelf objdump
library=$TOP/build/lib/librastrace.so.0
archive=$TOP/build/lib/librastrace.a
caller=$TOP/selftests/static/caller.c
source=$TOP/usr/librastrace/write.S
cd "$TMP" || exit 1

# compiles COMMAND STANDARD LANGUAGE: the headers alone, and calls
compiles() {
	cat >"call.$3" <<-'END'
		#include <rastrace.h>
		#include <rastrace_nfmt.h>
		int main(void)
		{
			struct nfmt_Buffer buffer;

			rastrace_write(1, 2, "a", RASTRACE_DATA_MAX);
			nfmt_init();
			nfmt_record_malloc(&buffer, 1, "a", __FILE__, __LINE__);
			nfmt_record_free(&buffer);
			buffer = nfmt_read();
			return buffer.start == buffer.end;
		}
	END
	ok "$1 -std=$2" "$1" -std="$2" -Wall -Wextra -pedantic -Werror \
		-I"$TOP/include" -fsyntax-only call.$3
}
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	for standard in c99 c11 gnu17; do compiles $compiler $standard c; done
done
for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	for standard in c++11 c++20; do compiles $compiler $standard cc; done
done

readelf -dW "$library" >dynamic
unlike "$(cat dynamic)" NEEDED "it needs no library"
like "$(cat dynamic)" 'SONAME.*\[librastrace\.so\.0\]' "it has its name"
unlike "$(cat dynamic)" 'TEXTREL' "its text isn't changed by loading"
is "$(nm -D "$library" | sed 's/.* \([A-Za-z]\) /\1 /')" "T nfmt_init
T nfmt_read
T nfmt_record_free
T nfmt_record_malloc
T rastrace_write" "it exports what its headers declare, and imports nothing"
is "$(nm -u "$archive" | grep ' U ')" "" "nor does the archive"

# check_probe FILE NAME: the note leads to the nop of rastrace_write()
check_probe() {
	readelf -nW "$1" >notes 2>/dev/null
	like "$(cat notes)" "Provider: rastrace" "$2 has the note"
	place=$(sed -n 's/^ *Location: 0x0*\([0-9a-f]*\).*/\1/p' notes)
	objdump -d "$1" | sed -n '/<rastrace_write>:$/,/^$/p' >code
	like "$(cat code)" "^ *$place:	90 " \
		"  which leads to a nop, not of 5 bytes"
	is "$(sed -n "s/^ *$place:.*	//p" code)" \
		"$(sed -n '/endbr/{n;s/.*	//p;}' code)" \
		"  after the only other instruction"
}
check_probe "$library" "the library"
ok "a program is linked with the archive" \
	cc -I"$TOP/include" -o with_archive "$caller" "$archive"
check_probe with_archive "it"
strip with_archive
readelf -nW with_archive >notes
like "$(cat notes)" "Provider: rastrace" "stripped, it still has the note"
# without the C library's startup files, which may not be marked
ok "code with -flto, for CET" cc -O2 -flto -fcf-protection -fPIC -shared \
	-nostdlib -Wl,-z,cet-report=error -I"$TOP/include" -o with_lto \
	"$caller" "$archive"
like "$(readelf -nW with_lto)" "IBT, SHSTK" "  is marked as such"
ok "one linked statically" cc -static -I"$TOP/include" -o with_static \
	"$caller" "$archive"

# The memory tracker needs nothing either, however it is compiled.
for flags in -O0 -Os -O3 "-O2 -fstack-protector-all -D_FORTIFY_SOURCE=2" \
	-flto; do
	rm -rf again
	ok "with CFLAGS=$flags" make -s -C "$TOP" B="$TMP/again" \
		CFLAGS="$flags" "$TMP/again/lib/librastrace.so.0"
	is "$(nm -uD again/lib/librastrace.so.0)" "" "  it imports nothing"
done
if command -v clang >/dev/null; then
	ok "for aarch64" clang --target=aarch64-linux-gnu -c "$source" -o arm.o
	like "$(readelf -hW arm.o)" AArch64 "  it is"
	like "$(readelf -nW arm.o)" "Provider: rastrace" "  with the note"
fi
if cc -m32 -c "$source" -o narrow.o 2>/dev/null; then
	like "$(readelf -nW narrow.o)" '4@4\(%esp\) 4@8\(%esp\)' "for 32 bits"
else
	skip "for 32 bits" "needs gcc -m32"
fi

# For AArch64, where indirect calls land on `bti c`
a64_build() {
	"$TOP/selftests/vm/cross_build.sh" aarch64 \
		build/aarch64/lib/librastrace.a \
		build/aarch64/lib/librastrace.so.0 2>err
}

a64_cc() {
	aarch64-linux-gnu-gcc -O2 -mbranch-protection=standard \
		-I"$TOP/include" "$@"
}

a64_check() {
	is "$(nm -uD "$1/librastrace.so.0")" "" "aarch64: it imports nothing"
	readelf -nW "$1/librastrace.so.0" >notes 2>/dev/null
	like "$(cat notes)" "AArch64 feature: .*BTI" "  is marked as for BTI"
	place=$(sed -n 's/^ *Location: 0x0*\([0-9a-f]*\).*/\1/p' notes)
	is "$(aarch64-linux-gnu-objdump -d --no-show-raw-insn \
		--disassemble=rastrace_write "$1/librastrace.so.0" |
		sed -n "/bti	c/{n;s/^ *$place:	//p}")" nop \
		"  and the note leads to the nop after the landing pad"
	ok "aarch64: code with BTI" a64_cc -fPIC -shared -nostdlib \
		-Wl,-z,force-bti,--fatal-warnings -o with_bti "$caller" \
		"$1/librastrace.a"
	ok "aarch64: a program" a64_cc -static -o with_a64 "$caller" \
		"$1/librastrace.a"
	if command -v qemu-aarch64 >/dev/null; then
		ok "  runs" qemu-aarch64 ./with_a64 1 1 text abc
	else
		skip "  runs" "needs qemu-aarch64"
	fi
}

folder=$(a64_build)
case $? in
0)	a64_check "$folder/lib" ;;
4)	skip "for aarch64, linked" "$(tail -n 1 err)" ;;
*)	not_ok "for aarch64, linked"
	diag_file err ;;
esac

# Installed
ok "make install" make -C "$TOP" install DESTDIR="$TMP/root" PREFIX=/opt/ras ||
	tap_done
root=$TMP/root/opt/ras
for file in include/rastrace.h include/rastrace_nfmt.h \
	share/man/man3/rastrace_write.3 share/man/man3/nfmt.3; do
	ok "$file is there" test -f "$root/$file"
done
if command -v pkg-config >/dev/null; then
	export PKG_CONFIG_PATH="$root/lib/pkgconfig"
	export PKG_CONFIG_SYSROOT_DIR="$TMP/root"
	flags=$(pkg-config --cflags --libs librastrace)
else
	flags="-I$root/include -L$root/lib -lrastrace"
fi
# shellcheck disable=SC2086
ok "a program is linked with it" cc -o with_library "$caller" $flags
like "$(readelf -dW with_library)" 'NEEDED.*\[librastrace\.so\.0\]' \
	"  and needs it"
ok "  and runs" env LD_LIBRARY_PATH="$root/lib" ./with_library 1 1 text abc
man_blocks nfmt.3
cp block.1 example.c
# shellcheck disable=SC2086
ok "so is the example of nfmt(3)" cc -Wall -Wextra -Werror -o example \
	example.c $flags
ok "  it runs" env LD_LIBRARY_PATH="$root/lib" ./example
heapmon convert --to monitor app.nfmt 2>err | sed 1d >text
is "$(awk '{ print $4, $6 }' text | tr '\n' ' ')" \
	"100 example.c:38 del  200 example.c:39 " "  and heapmon reads its stream"
if [ -n "$folder" ] && command -v qemu-aarch64 >/dev/null; then
	mv text there
	rm app.nfmt
	ok "it is compiled for aarch64" a64_cc -static -o example_a64 \
		example.c "$folder/lib/librastrace.a"
	ok "  runs" qemu-aarch64 ./example_a64
	heapmon convert --to monitor app.nfmt 2>err | sed 1d >text
	is "$(awk '{ print $4, $6 }' text)" "$(awk '{ print $4, $6 }' there)" \
		"  and its stream is the same"
fi
# shellcheck disable=SC2086
ok "or statically" cc -static -o with_static "$caller" $flags
ok "  and runs" ./with_static 1 1 text abc
tap_done
