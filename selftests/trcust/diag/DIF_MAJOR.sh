# SPDX-License-Identifier: GPL-2.0
. "$TOP/selftests/trcust/combine.sh"
tff d/a.TFF 9 1
tff d/b.TFF 10 2
echo 'trcust input.tsf /C=d/TRC0009.TFF' >run
echo 'd/a.TFF ^{DIF_MAJOR}d/b.TFF'
