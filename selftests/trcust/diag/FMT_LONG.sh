# SPDX-License-Identifier: GPL-2.0
# 4096 bytes with the line ends are not too many
awk 'BEGIN {
	while (length(x) < 2047)
		x = x "x"
	print "MODNAME=module.so"
	print "TRACE MINOR=1,TP=.alpha,DESC=\"kept alpha\","
	print "FMT=\"" x "\",FMT=\"" x "\""
	print "TRACE MINOR=2,TP=.beta,DESC=\"gone beta\","
	print "FMT=\"" x "\",FMT=^{FMT_LONG}\"" x "x\",FMT=\"y\""
}'
