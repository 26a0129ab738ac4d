#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# trcust --lsp with a client: diagnostics are trcust's, completion and hover are what
# the compiler knows at the place; the protocol, errors, and a module that changes or
# ends the process that reads it.
. "$(dirname "$0")/../tap.sh"
need cc python3
here=$(cd "$(dirname "$0")" && pwd)/lsp
cd "$TMP" || exit 1

cp "$here/app.c" .
cc -O2 -g -o app app.c || bail "no program"
head -c 3000 app >short.so
cat >broken.tsf <<'END'
MODNAME=./app
MAJOR=9
TRACE TP=.greet, DESC="äöü😀", FMT="%ä %D", VARS=(nosuch, who)
TRACE TP=.nothing, VARS=(v)
TRACE TP=.main, VARS=(argc.x), DESC="x", DESC="y"
TRACE MINOR=9, TP=.main
TRACE TP=@app.c,9999
END
# what the client prints is TAP, but for its plan
PYTHONDONTWRITEBYTECODE=1 python3 "$here/session.py" >session.out 2>session.err
status=$?
while read -r line; do
	case $line in
	"ok "*)		pass "${line#* - }" ;;
	"not ok "*)	not_ok "${line#* - }" ;;
	"#"*)		echo "$line" ;;
	esac
done <session.out
is "$status:$(cat session.err)" "0:" "the client reached its end"

status 2 "no file is taken" trcust --lsp app.tsf
like "$(cat err)" "takes no file, 'app.tsf' is too many" "with the reason"
tap_done
