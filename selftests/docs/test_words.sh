#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The texts avoid words that a reader stumbles over: this tree's former habits. In
# comments, messages, pages and documents; fuzzers' inputs are not texts.
. "$(dirname "$0")/../tap.sh"
need_tree
cd "$TOP" || exit 1
need git
git rev-parse --git-dir >/dev/null 2>&1 || skip_all "needs a git clone"

# words PATTERN: the lines that contain it
words() {
	git grep -nwiIE "$1" -- . ':!selftests/fuzz/corpus' ':!COPYING' \
		':!selftests/docs/test_words.sh' | cut -c1-160
}

while read -r pattern; do
	is "$(words "$pattern")" "" "no text has: $pattern"
done <<'LIST'
behind
dear|dearer|dearest
likewise|amiss|seldom
told|tell|tells|is said|are said
nobody|whoever|for want of
stands|stand
in place of|in terms of
spoil|spoils|spoiled|spoilt
mend|mends|mended
sheaf|sheaves|unhit|peel|peels|peeled
LIST
tap_done
