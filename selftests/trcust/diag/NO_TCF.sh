# SPDX-License-Identifier: GPL-2.0
echo 'trcust /C=d/TRC0009.TFF' >run
echo 2 >status
echo '^{:NO_TCF}'
