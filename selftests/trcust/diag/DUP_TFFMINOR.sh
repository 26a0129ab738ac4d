# SPDX-License-Identifier: GPL-2.0
. "$TOP/selftests/trcust/combine.sh"
tff d/a.TFF 9 1 5
tff d/b.TFF 9 2 5
echo 'trcust input.tsf /C=d/TRC0009.TFF' >run
echo 'd/a.TFF ^{DUP_TFFMINOR}d/b.TFF'
echo 0 >status
