# SPDX-License-Identifier: GPL-2.0
echo trcust >run
echo 2 >status
echo '^{:NO_TSF}'
