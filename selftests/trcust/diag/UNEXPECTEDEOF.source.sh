# SPDX-License-Identifier: GPL-2.0
# A comment within the text of a trace comment would not end with it.
echo 'trcust --from-source --modname=x input.tsf' >run
cat <<'END'
/***DT DESC="gone", ^{UNEXPECTEDEOF}/* of f */ int f(void) { return 1; }
END
