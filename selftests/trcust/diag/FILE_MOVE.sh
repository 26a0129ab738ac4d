# SPDX-License-Identifier: GPL-2.0
# A module is read here and there, a FIFO from its beginning only.
mkfifo d/fifo
cat <<'END'
MODNAME=^{FILE_MOVE}d/fifo
TRACE TP=.alpha, DESC="gone"
END
