# SPDX-License-Identifier: GPL-2.0
# A name of 300 characters: file systems take 255.
printf 'MODNAME=^{FILENAME}%0300d.so\nTRACE TP=.alpha, DESC="gone"\n' 0
