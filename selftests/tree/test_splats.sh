#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What the kernel says when something is wrong with it is found in its log, and
# what it says on good days isn't. The lines are those of 6.1 and 6.12.
. "$(dirname "$0")/../tap.sh"
splats=$TOP/selftests/splats

cat >"$TMP/bad" <<'END'
BUG: KASAN: slab-use-after-free in buffer_release+0x12/0x40 [rastrace]
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: sleeping function called from invalid context at mm/slab.h:494
BUG: using smp_processor_id() in preemptible [00000000] code: insmod/71
BUG: scheduling while atomic: swapper/1/0/0x00010002
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 36s!
BUG kmalloc-96 (Tainted: G           O     ): Poison overwritten
BUG: Bad page state in process insmod  pfn:0f3c1
kernel BUG at mm/vmalloc.c:1637!
WARNING: CPU: 1 PID: 80 at kernel/jump_label.c:269 __static_key_slow_dec+0x5a/0x70
WARNING: possible circular locking dependency detected
WARNING: inconsistent lock state
WARNING: possible recursive locking detected
WARNING: suspicious RCU usage
WARNING: lockdep is off
INFO: trying to register non-static key.
INFO: lockdep is turned off.
turning off the locking correctness validator.
ODEBUG: free active (active state 0) object: 00000000f3 object type: timer_list, Call Trace:
UBSAN: shift-out-of-bounds in rastrace/buffer.c:12:3
KASAN: null-ptr-deref in range [0x0000000000000000-0x0000000000000007]
BUG: KFENCE: memory corruption in crash_save+0x7/0x20
BUG: KCSAN: data-race in rastrace_record / rastrace_record
kmemleak: unreferenced object 0xffff888003b1a000 (size 96):
Oops: general protection fault, probably for non-canonical address: 0000 [#1]
general protection fault, probably for non-canonical address 0xdead000000000108: 0000 [#1] PREEMPT SMP NOPTI
divide error: 0000 [#1] PREEMPT SMP NOPTI
Oops: 0002 [#1] PREEMPT SMP KASAN
traps: PANIC: double fault, error_code: 0x0
Kernel panic - not syncing: sysrq triggered crash
INFO: task insmod:71 blocked for more than 120 seconds.
watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [writer:77]
watchdog: Watchdog detected hard LOCKUP on cpu 1
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... }
huh, entered softirq 1 TIMER 00000000d8 with preempt_count 00000101, exited with 00000100?
list_del corruption. prev->next should be ffff888003b1a008, but was 0000000000000000
list_add corruption. next->prev should be prev (c2a0), but was 0000. (next=c2a0).
refcount_t: underflow; use-after-free.
END

cat >"$TMP/good" <<'END'
rastrace: loading out-of-tree module taints kernel.
rastrace: module verification failed: signature and/or required key missing - tainting kernel
NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
rcu: Preemptible hierarchical RCU implementation.
rcu: RCU CPU stall warnings timeout set to 21 (rcu_cpu_stall_timeout).
Debug: mounting debugfs
random: crng init done
sched_clock: Marking stable (1480043236, 15832612)->(1503166023, -7290175)
clocksource: tsc: mask: 0xffffffffffffffff max_cycles: 0x1cd42e4dffb
systemd[1]: Mounted debugfs.mount - Kernel Debug File System.
workqueue: vmstat_update hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
INFO: the word alone
hrtimer: interrupt took 4718590 ns
perf: interrupt took too long (2514 > 2500), lowering kernel.perf_event_max_sample_rate to 79500
sysrq: Power Off
traps: target[77] trap int3 ip:5581e0c2113a sp:7ffd51c3a6b0 error:0 in target[5581e0c21000+1000]
traps: target[78] general protection fault ip:5581e0c2113a sp:7ffd51c3a6b0 error:0 in target[5581e0c21000+1000]
traps: target[79] trap divide error ip:5581e0c2113a sp:7ffd51c3a6b0 error:0 in target[5581e0c21000+1000]
target[80]: segfault at 0 ip 00005581e0c2113a sp 00007ffd51c3a6b0 error 4 in target[5581e0c21000+1000] likely on CPU 1 (core 0, socket 1)
Code: c3 0f 1f 80 00 00 00 00 f3 0f 1e fa eb 8a 55 48 89 e5 <f4> 5d c3
END

while IFS= read -r line; do
	echo "[   12.345678] $line" | grep -qE -f "$splats" || echo "$line"
done <"$TMP/bad" >"$TMP/missed"
is "$(cat "$TMP/missed")" "" "each complaint is found"
is "$(grep -E -f "$splats" "$TMP/good")" "" "nothing else is"

# a pattern that matches no line above has never been seen to work
while IFS= read -r pattern; do
	grep -qE -- "$pattern" "$TMP/bad" || echo "$pattern"
done <"$splats" >"$TMP/unused"
is "$(cat "$TMP/unused")" "" "each pattern finds a line"
tap_done
