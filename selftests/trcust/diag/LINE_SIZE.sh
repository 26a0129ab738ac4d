# SPDX-License-Identifier: GPL-2.0
echo 'MODNAME=module.so'
awk 'BEGIN { while (n++ < 65535) printf "x"; print "^{LINE_SIZE}x" }'
