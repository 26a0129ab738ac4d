# SPDX-License-Identifier: GPL-2.0
# Another TSF of the same module and MAJOR had a tracepoint that this one
# hasn't; where it has them all nothing is lost.
cat >d/other.tsf <<'END'
MODNAME=module.so
MAJOR=9
TRACE MINOR=1, TP=.alpha, DESC="alike"
END
cat >run <<'END'
cp input.tsf all.tsf
trcust d/other.tsf all.tdf && trcust /W2 all.tsf 2>&1 | grep REPLACED && exit 1
echo 'TRACE MINOR=2, TP=.beta, DESC="replaced"' >>all.tsf
trcust all.tsf 2>/dev/null && trcust input.tsf
END
cat <<'END'
MODNAME=^{REPLACED}module.so
MAJOR=9
TRACE MINOR=1, TP=.alpha, DESC="kept"
END
