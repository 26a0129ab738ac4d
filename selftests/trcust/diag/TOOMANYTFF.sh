# SPDX-License-Identifier: GPL-2.0
. "$TOP/selftests/trcust/combine.sh"
echo 'trcust input.tsf /C=d/TRC0009.TFF' >run
i=1
while [ $i -le 50 ]; do
	tff d/$i.TFF 9 $i
	echo d/$i.TFF
	i=$((i + 1))
done
echo '^{TOOMANYTFF}d/1.TFF'
