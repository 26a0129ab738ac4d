# SPDX-License-Identifier: GPL-2.0
. "$TOP/selftests/trcust/combine.sh"
tff d/a.TFF 9 1
echo 'trcust input.tsf /C=d/TRC0009.TFF' >run
printf 'd/a.TFF\n\t^{COMBINE_PATH}d/nothing.TFF d/b.TFF\n'
