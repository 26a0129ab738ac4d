" SPDX-License-Identifier: GPL-2.0
autocmd BufRead,BufNewFile *.tsf,*.TSF setfiletype tsf
