# SPDX-License-Identifier: GPL-2.0
# A return probe crashes a Go program.
echo 1 >d/note
objcopy --add-section .note.go.buildid=d/note module.so d/go.so
cat <<'END'
MODNAME=d/go.so
MAJOR=9
TRACE MINOR=1, TP=.^{UNSUPPORTED}alpha,RETEP=CALLER, DESC="gone"
TRACE MINOR=2, TP=.alpha,RETEP, DESC="kept"
END
