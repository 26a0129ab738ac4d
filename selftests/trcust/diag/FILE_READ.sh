# SPDX-License-Identifier: GPL-2.0
mkdir d/folder.tsf
echo 'trcust d/folder.tsf' >run
echo '^{:FILE_READ}'
