# SPDX-License-Identifier: GPL-2.0
echo 'trcust --from-source --modname=x input.tsf' >run
cat <<'END'
int f(void) { return 1; }
^{INCOMPLETE}/***DT DESC="gone" */
END
