# SPDX-License-Identifier: GPL-2.0
echo 'trcust input.tsf /C=d/TRC0009.TFF' >run
printf '  \n ^{UNEXPECTEDEOF}'
