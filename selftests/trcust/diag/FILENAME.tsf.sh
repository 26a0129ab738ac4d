# SPDX-License-Identifier: GPL-2.0
printf 'trcust %0300d.tsf\n' 0 >run
echo '^{:FILENAME}'
