# SPDX-License-Identifier: GPL-2.0
awk 'BEGIN {
	print "MODNAME=module.so"
	while (n++ < 65535)
		print "TRACE TP=@STATIC,DESC=\"\""
	print "^{TOOMANYRECS}TRACE TP=.beta,DESC=\"\""
}'
