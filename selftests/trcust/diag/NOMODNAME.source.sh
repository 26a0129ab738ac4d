# SPDX-License-Identifier: GPL-2.0
echo 'trcust --from-source input.tsf' >run
echo '/***DT DESC="gone" */ int f; ^{:NOMODNAME}'
