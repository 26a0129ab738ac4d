#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# narrow.sh FOLDER: where the kernel runs no 32-bit programs (some hypervisors,
# ia32_emulation=0), make FOLDER with compilers that refuse -m32, and print its
# name, for the front of PATH. Tests then skip what needs such programs, as where
# the compiler has no libraries for them. RASTRACE_NO_32BIT=1: do it here too.
[ "$(uname -m)" = x86_64 ] || exit 0

# An ELF file of 32 bits: xor %ebx, %ebx; xor %eax, %eax; inc %eax; int $0x80
tiny_program() {
	printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0'
	printf '\124\200\4\10\64\0\0\0\0\0\0\0\0\0\0\0\64\0\40\0\1\0\0\0\0\0\0\0'
	printf '\1\0\0\0\0\0\0\0\0\200\4\10\0\200\4\10\133\0\0\0\133\0\0\0'
	printf '\5\0\0\0\0\20\0\0\61\333\61\300\100\315\200'
}

if [ -z "${RASTRACE_NO_32BIT-}" ]; then
	program=$(mktemp "${TMPDIR:-/tmp}/narrow.XXXXXX") || exit
	tiny_program >"$program"
	chmod 700 "$program"
	"$program" 2>/dev/null
	status=$?
	rm -f "$program"
	[ $status -ne 0 ] || exit 0
fi
mkdir -p "$1" || exit
for name in cc gcc c++ g++ clang clang++; do
	[ ! -e "$1/$name" ] && real=$(command -v $name) || continue
	cat >"$1/$name.new" <<END
#!/bin/sh
case " \$* " in
*" -m32 "*)
	echo "$name: 32-bit programs don't run on this machine" >&2
	exit 1 ;;
esac
exec '$real' "\$@"
END
	chmod 755 "$1/$name.new"
	mv "$1/$name.new" "$1/$name"
done
echo "$1"
