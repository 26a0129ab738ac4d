#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Times, addresses, vectors of memory and flags of C are printed as what they are,
# in memory and in registers.
. "$(dirname "$0")/../tap.sh"
need_root
need gcc
cd "$TMP" || exit 1
cat >types.c <<'C'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

enum flags { READ = 1, WRITE = 2, SYNC = 64 };
struct conn { struct in_addr ip; struct sockaddr_in6 peer; struct timespec t; };

#ifdef __clang__
#define F __attribute__((noinline))
#else
#define F __attribute__((noipa))
#endif
#define END asm volatile("" : : : "memory")
F int addresses(const struct sockaddr *sa, struct in_addr ip,
		struct sockaddr_in sin)
{
	END;
	return sa && ip.s_addr && sin.sin_port;
}
F int times(struct timespec *ts, struct timeval tv, struct iovec *io,
	    enum flags f)
{
	END;
	return ts->tv_sec + tv.tv_usec + io->iov_len + f;
}
F int inside(struct conn *c, struct sockaddr_un *un, struct sockaddr_storage *ss)
{
	END;
	return c && un && ss;
}

int main(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(8080),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	struct sockaddr_un abstract = { .sun_family = AF_UNIX,
					.sun_path = "\0name" };
	struct sockaddr_storage ss = { 0 };
	struct sockaddr other = { .sa_family = AF_NETLINK };
	struct timespec ts = { 90, 500000000 };
	struct timeval tv = { 3, 250000 };
	struct iovec io = { "bytes\1of more", 8 };
	struct conn c = { .peer = sin6, .t = { 1, 5 } };
	const void *all[] = { &sin, &sin6, &un, &abstract, &other, NULL };

	inet_pton(AF_INET, "10.0.0.1", &sin.sin_addr);
	c.ip = sin.sin_addr;
	memcpy(&ss, &sin6, sizeof(sin6));
	for (int i = 0; i < 6; i++)
		addresses(all[i], sin.sin_addr, sin);
	times(&ts, tv, &io, READ | SYNC);
	times(&ts, tv, &io, WRITE);
	inside(&c, &un, &ss);
	return 0;
}
C
cat >types.tsf <<'T'
MODNAME=./types
MAJOR=1
TRACE TP=.addresses,DESC="a",FMT="sa %P%{auto}",FMT="ip %P%{auto}",
	FMT="sin %P%{auto}",VARS=(*sa,ip,sin)
TRACE TP=.times,DESC="t",FMT="ts %P%{auto}",FMT="tv %P%{auto}",
	FMT="io %P%{auto}",FMT="f %P%{auto}",VARS=(*ts,tv,*io,f)
TRACE TP=.inside,DESC="i",FMT="c %P%{auto}",FMT="un %P%{auto}",
	FMT="ss %P%{auto}",VARS=(*c,*un,*ss)
T
for row in "gcc -O0" "gcc -O2" "clang -O0" "gcc -m32 -O1"; do
	# shellcheck disable=SC2086
	$row -g -o types types.c 2>log || {
		skip "$row" "it does not build"
		continue
	}
	trcust -W1 types.tsf >log 2>&1 || diag_file log
	trace run -o t.ras types.tdf -- ./types >printed 2>log
	is "$(tracefmt -q t.ras 2>log2 | sed 's/^ *//' |
		grep -E '^(sa|ip|sin|ts|tv|io|f|c|un|ss) ')" "$(cat <<'END'
sa 10.0.0.1:80
ip 10.0.0.1
sin 10.0.0.1:80
sa [::1]:8080
ip 10.0.0.1
sin 10.0.0.1:80
sa /run/x
ip 10.0.0.1
sin 10.0.0.1:80
sa @name
ip 10.0.0.1
sin 10.0.0.1:80
sa family 16
ip 10.0.0.1
sin 10.0.0.1:80
sa <not readable: 0000000000000000>
ip 10.0.0.1
sin 10.0.0.1:80
ts 90.5s
tv 3.25s
io bytes\x01of
f READ | SYNC
ts 90.5s
tv 3.25s
io bytes\x01of
f WRITE
c {ip = 10.0.0.1, peer = [::1]:8080, t = 1.000000005s}
un /run/x
ss [::1]:8080
END
)" "$row: values of C's types"
done
tracefmt -q --format json t.ras >json 2>log
like "$(cat json)" '"sa":"10.0.0.1:80"' "JSON has addresses as strings"
like "$(cat json)" '"ts":90.5' "and times as numbers"
for name in sa ss; do
	is "$(tracefmt -q --field "$name == \"[::1]:8080\"" t.ras 2>log |
		grep -c "^ *$name ")" 1 "--field: $name as an address"
done

# The kernel's types, as a program has them: paths that end nowhere, too
cat >paths.c <<'C'
#include <stdint.h>
#include <string.h>
struct qstr {
	union { struct { uint32_t hash, len; }; uint64_t hash_len; };
	const unsigned char *name;
};
struct dentry { int flags; struct dentry *d_parent; struct qstr d_name; };
struct path { void *mnt; struct dentry *dentry; };
struct file { int x; struct path f_path; };

__attribute__((noinline)) int work(struct file *f, struct dentry *d,
				   struct path p)
{
	asm volatile("" : : "r"(f), "r"(d), "r"(p.dentry) : "memory");
	return 0;
}

#define NAME(var, parent, s)						\
	struct dentry var = {						\
		0, parent, { .len = strlen(s), .name = (const void *)s }	\
	}
int main(void)
{
	NAME(root, NULL, "/");
	NAME(etc, &root, "etc");
	NAME(apt, &etc, "apt");
	NAME(a, &apt, "a"); NAME(b, &a, "b"); NAME(c, &b, "c");
	NAME(d, &c, "d"); NAME(e, &d, "e"); NAME(last, &e, "f");
	NAME(bad, (void *)8, "bad");
	NAME(one, NULL, "one"); NAME(other, &one, "other");
	NAME(huge, &root, "huge");
	struct file f = { 1, { NULL, &apt } };
	struct dentry *all[] = { &etc, &root, &last, &bad, &one, &huge, NULL };

	root.d_parent = &root;
	one.d_parent = &other;
	huge.d_name.len = 4000000000u;
	huge.d_name.name = (const void *)all;
	memcpy(all[5] = &huge, &huge, sizeof(huge));
	for (int i = 0; i < 7; i++)
		work(&f, all[i], f.f_path);
	return 0;
}
C
gcc -O0 -g -w -o paths paths.c 2>log || bail "paths.c"
cat >paths.tsf <<'T'
MODNAME=./paths
MAJOR=1
TRACE TP=.work,DESC="w",FMT="f %P%{auto}",FMT="p %P%{auto}",FMT="d %P%{auto}",
	VARS=(*f,p,*d)
T
trcust -W1 paths.tsf >log 2>&1 || diag_file log
trace run -o t.ras paths.tdf -- ./paths >printed 2>log
is "$(tracefmt -q t.ras 2>log2 | sed -n 's/^ *d //p' | cut -c1-60 |
	sed 's/^\/[^a-z].*/(cut)/; s/^\/.*\\x.*/(cut)/')" "/etc
/
<cut>/etc/apt/a/b/c/d/e/f
<not readable: 000000000000001C>
<cut>/other/one/other/one/other/one/other/one
(cut)
NULL" "the kernel's paths"
is "$(tracefmt -q t.ras 2>log2 | grep -c '^ *[fp] /etc/apt$')" 14 \
	"a path and a file"
like "$(tracefmt -q t.ras)" '<cut>$' "a name that is too long is marked"
tap_done
