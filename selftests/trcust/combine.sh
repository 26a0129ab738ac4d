# SPDX-License-Identifier: GPL-2.0
# tff FILE MAJOR MINOR...: a TFF of that name with static tracepoints
tff() {
	tff_file=$1 tff_major=$2
	shift 2
	{
		echo "MODNAME=$tff_file"
		echo "MAJOR=$tff_major"
		for tff_minor; do
			echo "TRACE MINOR=$tff_minor, TP=@STATIC, DESC=\"$tff_file $tff_minor\""
		done
	} >made.tsf
	mkdir -p made
	trcust made.tsf -o made && mv made/*.TFF "$tff_file"
}
