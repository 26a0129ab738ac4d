# SPDX-License-Identifier: GPL-2.0
echo '#!/bin/sh' >d/script
cat <<'END'
MODNAME=^{BAD_EXEH}d/script
TRACE TP=.alpha, DESC="gone"
END
