# SPDX-License-Identifier: GPL-2.0
echo 'trcust d/nothing.tsf' >run
echo '^{:NO_FILE}'
