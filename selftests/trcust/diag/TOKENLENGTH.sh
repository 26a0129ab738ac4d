# SPDX-License-Identifier: GPL-2.0
echo 'MODNAME=module.so'
awk 'BEGIN {
	printf "TRACE TP=.^{TOKENLENGTH}"
	while (n++ < 4097)
		printf "x"
	print ",DESC=\"\""
}'
