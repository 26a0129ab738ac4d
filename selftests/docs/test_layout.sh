#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tables of the file format pages say what the headers say: a comment
# `layout struct NAME` in front of a table names the structure it describes.
. "$(dirname "$0")/../tap.sh"
need cc

# Rows "PAGE STRUCT OFFSET BYTES FIELD"; BYTES is "-" when it isn't a number.
awk '
	/^\.\\" layout struct / { name = $4; next }
	/^\.El/ { name = "" }
	name && /^\.It [0-9]+ Ta / {
		n = split(substr($0, 5), cell, " Ta ")
		page = FILENAME; sub(/.*\//, "", page)
		print page, name, cell[1],
		      cell[2] ~ /^[0-9]+$/ ? cell[2] : "-", cell[3]
	}' "$TOP"/usr/man/*.5 >"$TMP/rows"

# Each row is right, and the rows leave no gap up to the structure's end.
awk '
	function finish() {
		if (name && last != "-")
			printf "_Static_assert(sizeof(struct %s) == %d, \"end\");\n",
			       name, end
	}
	BEGIN {
		print "#include <stddef.h>"
		print "#include <rastrace/buffer.h>"
		print "#include <rastrace/rasfile.h>"
		print "#include <rastrace/heap.h>"
		print "#include <rastrace/tff.h>"
		print "#define SIZE(s, f) sizeof(((struct s *)0)->f)"
	}
	$2 != name { finish(); name = $2; end = 0 }
	{
		printf "_Static_assert(%d == %d, \"gap before %s.%s\");\n",
		       $3, end, name, $5
		printf "_Static_assert(offsetof(struct %s, %s) == %d, \"%s\");\n",
		       name, $5, $3, $5
		if ($4 != "-")
			printf "_Static_assert(SIZE(%s, %s) == %d, \"%s\");\n",
			       name, $5, $4, $5
		last = $4; end = $3 + $4
	}
	END { finish() }' "$TMP/rows" >"$TMP/layout.c"

ok "offsets and sizes in the pages are those of the headers" \
	cc -I"$TOP/include" -fsyntax-only "$TMP/layout.c"

for name in ras_record ras_item ras_slice ras_control ras_count \
	    ras_why ras_limit ras_call ras_block ras_trigger ras_process_key ras_process \
	    ras_aggregate_key ras_aggregate ras_aggregated ras_legend \
	    ras_aggregates ras_aggregates_point ras_otel ras_names ras_name \
	    ras_state ras_session ras_session_point ras_file ras_chunk \
	    ras_slice_copy ras_stack ras_counts ras_count_total \
	    ras_process_entry ras_maps ras_mapping ras_packed ras_pass ras_panic \
	    ras_heap ras_heap_note \
	    tdf_header tdf_module tdf_name tdf_point tdf_site tdf_stmt tff_header \
	    tff_section tff_entry tff_ctype tff_member; do
	ok "struct $name is described" grep -q " $name " "$TMP/rows"
done

# The operations of address programs: the page lists the table.
sed -n '/^\.\\" rpn\.def/,/^\.Ed/p' "$TOP/usr/man/tdf.5" | grep -v '^\.' |
	tr ' ' '\n' | grep . | sort >"$TMP/listed"
sed -nE 's/^RPN_OP(_RANGE)?\(([a-z0-9_]+),.*/\2/p' \
	"$TOP/include/rastrace/rpn.def" | sort >"$TMP/defined"
is "$(cat "$TMP/listed")" "$(cat "$TMP/defined")" \
	"tdf.5 lists the operations of rpn.def"
tap_done
