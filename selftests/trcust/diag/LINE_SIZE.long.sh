# SPDX-License-Identifier: GPL-2.0
# a comment may be as long as a line
echo 'MODNAME=module.so'
awk 'BEGIN { printf ";"; while (n++ < 65534) printf "x"; print "" }'
printf 'TRACE TP=.beta,\n'
awk 'BEGIN { while (n++ < 65535) printf " "; print "^{LINE_SIZE}DESC=\"\"" }'
