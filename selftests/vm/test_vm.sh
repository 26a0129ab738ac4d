#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The statuses of scripts/vm: it must not take a dead guest for a good one.
. "$(dirname "$0")/../tap.sh"
need qemu-system-x86_64 busybox cpio
vm=$TOP/scripts/vm
"$vm" -k 6.12 -n >"$TMP/out" 2>&1 || skip_all "$(tail -n 1 "$TMP/out")"

status 7 "the command's status, files, variables, arguments" \
	"$vm" -k 6.12 -f "$0:/data/file" -e "WORD=it's one" -a preempt=full -- \
	sh -c 'test -s /data/file && grep -q preempt=full /proc/cmdline &&
		echo "$WORD,$1,$2" && exit 7' sh 'a b' '"'
is "$(cat "$TMP/out")" "it's one,a b,\"" "what it prints is on stdout"
status 0 "a program with its libraries, a module of the kernel's" \
	"$vm" -k 6.12 -m dummy -f "$(command -v ldd):/ldd" \
	-f "$(command -v readlink):/a/readlink" -- \
	sh -c '/a/readlink -f / && grep -q ^dummy /proc/modules'
status 124 "out of time" "$vm" -k 6.12 -t 8 sleep 1000
"$vm" -k 6.12 -a guest_of=$$ sleep 1000 >/dev/null 2>&1 &
vm_process=$!
until pgrep -f "^qemu.*guest_of=$$" >/dev/null; do sleep 0.1; done
kill $vm_process
for tenth in $(seq 100); do
	pgrep -f "guest_of=$$" >/dev/null || break
	sleep 0.1
done
is "$(pgrep -f "guest_of=$$")" "" "killed, with its guest ($tenth tenths)"
pkill -f "^qemu.*guest_of=$$"
wait $vm_process
is $? 143 "  and says so"
# the first time it ends as the emulator sometimes makes it end
mkdir "$TMP/bin"
real=$(command -v timeout)
cat >"$TMP/bin/timeout" <<END
#!/bin/sh
[ ! -e "$TMP/booted" ] || exec $real "\$@"
touch "$TMP/booted"
for word; do
	case \$word in
	file:*) echo "[ 2.2] Oops: int3: 0000 [#1] PREEMPT" >"\${word#file:}" ;;
	esac
done
END
chmod +x "$TMP/bin/timeout"
status 7 "an int3 while it boots" env "PATH=$TMP/bin:$PATH" "$vm" -k 6.12 \
	sh -c 'exit 7'
like "$(cat "$TMP/err")" "by an int3 while it booted: once more" "  and says so"
status 125 "a panic" "$vm" -k 6.12 sh -c 'echo c >/proc/sysrq-trigger'
like "$(cat "$TMP/err")" "sysrq triggered crash" "and its log is shown"
status 126 "a splat" "$vm" -k 6.12 sh -c 'echo "BUG: of a test" >/dev/kmsg'
status 2 "no such kernel" "$vm" -k none true
status 2 "no such module" "$vm" -k 6.12 -m no_such_module true

# What the kernel says of itself fails a test, what it says of programs doesn't.
x=$TMP/t/selftests/x
mkdir -p "$x"
cp "$TOP/selftests/run.sh" "$TOP/selftests/splats" "$TMP/t/selftests"
echo 'int main(void) { __asm__("hlt"); }' |
	cc -static -x c -o "$x/trapped" - 2>"$TMP/err" || {
	skip "splats of tests" "$(tail -n 1 "$TMP/err")"
	tap_done
}
cat >"$x/test_trap.sh" <<'END'
#!/bin/sh
./trapped
echo "ok 1 - trapped"
echo 1..1
END
cat >"$x/test_warning.sh" <<'END'
#!/bin/sh
echo "WARNING: CPU: 0 PID: 1 at kernel/none.c:1" >/dev/kmsg
echo "ok 1 - warned"
echo 1..1
END
chmod +x "$x"/*.sh
status 1 "a test with a splat" "$vm" -k 6.12 -f "$TMP/t:/t" -- sh -c \
	'sh /t/selftests/run.sh; status=$?; dmesg | grep traps:; exit $status'
like "$(cat "$TMP/out")" '^x/test_trap.sh +1 passed$' "a program that dies is none"
like "$(cat "$TMP/out")" 'traps: trapped.*general protection' "  it did"
like "$(cat "$TMP/out")" '^x/test_warning.sh +1 passed, FAILED' "a warning is one"
like "$(cat "$TMP/out")" '^2 passed, 1 failed, 0 skipped' "  and counted"
tap_done
