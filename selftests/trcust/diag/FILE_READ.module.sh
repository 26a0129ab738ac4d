# SPDX-License-Identifier: GPL-2.0
cat <<'END'
MODNAME=^{FILE_READ}d
TRACE TP=.alpha, DESC="gone"
END
