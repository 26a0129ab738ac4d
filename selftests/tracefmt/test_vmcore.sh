#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tracefmt --vmcore: what it says of dumps and of what isn't one. Dumps of whole
# kernels are in kmod/test_vmcore.sh.
. "$(dirname "$0")/../tap.sh"
need_tree
core=$TOP/selftests/fuzz/corpus/vmcore/core0
cd "$TMP" || exit 1

status 0 "a dump" tracefmt --vmcore "$core"
is "$(grep -c '^Event' out)" 20 "  its records"
like "$(cat out)" 'Major \[7/0x0007\].*Process \[victim\]' "  whose they are"
like "$(cat err)" '^Trace of .*, Linux 6\.0\.test, taken ' "  the kernel"
like "$(cat err)" '^Its kernel panicked: of a test$' "  why it ended"
status 0 "figures" tracefmt -s --vmcore "$core"
like "$(cat out)" '^20 records, 3 hits dropped' "  are those of its slices"
status 0 "JSON" tracefmt --format=json --vmcore "$core"

head -c 50000 "$core" >half
status 1 "cut short" tracefmt --vmcore half
like "$(cat err)" 'damaged: the dump, which was cut short' \
	"  which is reported"
status 1 "no dump" tracefmt --vmcore "$0"
like "$(cat err)" "is no memory dump" "  which is reported"
status 1 "none at all" tracefmt --vmcore nothing
like "$(cat err)" "cannot read 'nothing': No such file" "  which is reported"
printf 'KDUMP   and nothing else' >kdump
status 1 "nothing of makedumpfile's" tracefmt --vmcore kdump
like "$(cat err)" "'kdump' is damaged: cut short in its headers" \
	"  which is reported"
status 2 "a dump isn't followed" tracefmt --follow --vmcore "$core"
tap_done
