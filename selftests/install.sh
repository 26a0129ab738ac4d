#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# install.sh FOLDER SUBJECT BUILT FILE...: a subject's tests, run by lib.mk in
# its folder. FOLDER gets the files and what was built. Beside it lies what all
# subjects share, so that all of it can be carried to another machine:
#
#	tap.sh run.sh narrow.sh splats registers.sh
#				the frame
#	build/bin, build/lib	the programs under test
#	build/selftests, selftests
#				links to the subjects, under the names that they
#				have in the tree
set -e
folder=$1 subject=$2 built=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
shared=${folder%/*}
for file; do
	cp -RL "$file" "$folder/"
done
for file in "$built"/*; do
	case $file in
	*.d|*/Makefile) ;;
	*)	[ -f "$file" ] && [ -x "$file" ] && cp "$file" "$folder/" ;;
	esac
done

mkdir -p "$shared/selftests" "$shared/build/selftests"
for file in tap.sh run.sh narrow.sh splats registers.sh; do
	cp "$here/$file" "$shared/$file"
	ln -sfn "../$file" "$shared/selftests/$file"
done
ln -sfn "../${folder##*/}" "$shared/selftests/$subject"
ln -sfn "../../${folder##*/}" "$shared/build/selftests/$subject"
for part in bin lib lib32; do
	[ ! -d "$TOP/build/$part" ] ||
		cp -RL "$TOP/build/$part" "$shared/build/"
done
