#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Debug files of debuginfod: asked for only if a server is configured; one that does
# not answer is waited for a moment, once, and reported in a line.
. "$(dirname "$0")/../tap.sh"

built=${BUILT:-$TOP/build/selftests}/tracefmt
make_symbols=$built/make_symbols
[ -x "$make_symbols" ] && [ -x "$built/named" ] || skip_all "needs $make_symbols"
need nm
need objcopy
need python3
for library in libdw.so.1 libdebuginfod.so.1; do
	ldconfig -p | grep -q "$library" || skip_all "needs $library"
done
unset TRACEFMT_PATH TRACEFMT_PREFIX DEBUGINFOD_TIMEOUT http_proxy
export DEBUGINFOD_CACHE_PATH="$TMP/cache" no_proxy='*'
cd "$TMP" || exit 1

# a stripped program, of which the server has the debug file
cp "$built/named" named
for name in _ZN2ns5firstEi named_second; do
	nm named | sed -n "s/ T $name\$//p"
done >addresses
"$make_symbols" . named "$TMP/named" <addresses || bail "make_symbols"
id=$(od -An -v -tx1 -N 4096 named | tr -d ' \n' |
	sed -n 's/.*040000001400000003000000474e5500\(.\{40\}\).*/\1/p')
mkdir -p "served/buildid/$id"
objcopy --only-keep-debug named "served/buildid/$id/debuginfo"
objcopy --strip-all named stripped && mv stripped named

# serve KIND: its port is in $port, what it was asked in the file "asked"
serve() {
	rm -rf asked port cache
	python3 - "$1" >port 2>asked <<'END' &
import functools, http.server, socket, sys, time
if sys.argv[1] == "silent":
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    while True:
        kept = server.accept()
        print("GET", file=sys.stderr, flush=True)
        time.sleep(30)
handler = functools.partial(http.server.SimpleHTTPRequestHandler,
                            directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
END
	server=$!
	while [ ! -s port ]; do
		sleep 0.05
	done
	read -r port <port
}

cleanup() {
	kill "$server" 2>/dev/null
}

# names OPTION...: of the addresses; messages are in err
names() {
	tracefmt -q "$@" symbols.ras 2>err | sed -n 's/^at=//p' |
		sed 's/ .*//' | tr '\n' ' '
}
found="ns::first(int)+0x0 named_second+0x0 "

serve served
like "$(names)" '^named\+0x' "without a server: module and offset"
is "$(names "--debuginfod=http://127.0.0.1:$port")" "$found" \
	"--debuginfod: symbols of the server's debug file"
like "$(tracefmt -q symbols.ras)" '^at=named\+0x' "what it has got isn't used unasked"
export DEBUGINFOD_URLS="http://127.0.0.1:$port"
is "$(names)" "$found" "DEBUGINFOD_URLS"
is "$(grep -c GET asked)" 1 "is asked once"
is "$(names --debuginfod)" "$found" "--debuginfod without servers takes those"
like "$(names --debuginfod=off)" '^named\+0x' "--debuginfod=off"
rm -r cache
like "$(names --no-symbols)" '^named\+0x' "--no-symbols"
is "$(grep -c GET asked)" 1 "asks for nothing"
mkdir -p config/rastrace
echo "debuginfod = $DEBUGINFOD_URLS" >config/rastrace/tracefmt.conf
unset DEBUGINFOD_URLS
is "$(names)" "$found" "the configuration file"
rm -r config
export DEBUGINFOD_URLS="http://127.0.0.1:$port"
mv named elsewhere
is "$(names)" "$found" "the debug file alone does"
mv elsewhere named

# another build's file, and none
rm -r cache
printf 'no debug file' >"served/buildid/$id/debuginfo"
like "$(names)" '^named\+0x' "what is no debug file isn't used"
objcopy --only-keep-debug "$BIN/tracefmt" "served/buildid/$id/debuginfo"
rm -r cache
like "$(names)" '^named\+0x' "nor that of another build"
rm -r cache "served/buildid/$id/debuginfo"
like "$(names)" '^named\+0x' "a server without it"
is "$(cat err)" "" "is not reported"
kill $server

# no server
rm -rf cache
like "$(names)" '^named\+0x' "a server that is not there"
is "$(sed 's/\(127.0.0.1:\).*/\1/' err)" \
	"tracefmt: debuginfod: no answer from 'http://127.0.0.1:" "is reported"
serve silent
export DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_TIMEOUT=1
start=$(date +%s)
like "$(names)" '^named\+0x' "one that does not answer"
ok "is waited for a moment" test $(($(date +%s) - start)) -lt 5
is "$(cat err)" \
	"tracefmt: debuginfod: no answer from '$DEBUGINFOD_URLS': Connection timed out" \
	"and reported"
is "$(grep -c GET asked)" 1 "once"
unset DEBUGINFOD_URLS
status 2 "--debuginfod without a server" tracefmt --debuginfod symbols.ras
like "$(cat err)" "DEBUGINFOD_URLS names no server" "is reported"
status 2 "what is no server" tracefmt --debuginfod=localhost symbols.ras
is "$(cat err)" \
	"tracefmt: --debuginfod 'localhost': URLs of servers, or off, are wanted" \
	"is refused"
tap_done
