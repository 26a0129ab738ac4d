// SPDX-License-Identifier: GPL-2.0
/*
 * What one statement keeps another one uses: lists and trees of nodes, each found
 * from the one before, in good and in damaged memory. Compared with the
 * interpreter, and with what the nodes have.
 */
#include <stdlib.h>
#include "bed.h"
#include "lib/formats/bytes.h"
#include "lib/formats/rpn.h"

#define NODES	40
#define SHOWN	12
#define RDI	OP_breg + 5, 0

struct node {
	uint64_t parent;
	struct node *next, *left, *right;
	uint64_t value;
};

#define AT(member)	((uint8_t)offsetof(struct node, member))
#define TREE(steps)	OP_tree_next, AT(left), AT(right), AT(parent), steps

static struct bed bed;
static struct node nodes[NODES];
static size_t used;

static void value_kept(int as, const uint8_t *rpn, size_t size)
{
	bed_memory(&bed, TDF_STMT_VALUE, 1 + 7 * (used & 1), rpn, size)->reg =
		as;
}

/* A node's value; none, if there is no node */
static void value_add(int of)
{
	struct tdf_stmt *s = bed_memory(&bed, TDF_STMT_MEM, 8,
					RPN(OP_kept, of, OP_plus_uconst,
					    AT(value)));

	bed_len(&bed, s, 8, RPN(OP_kept, of, OP_lit, OP_ne, OP_lit + 8,
				OP_mul));
	s->flags |= TDF_STMT_LEN_VALUE;
}

/* if (kept) next(kept) else 0 */
static void nodes_add(const uint8_t *next, size_t size)
{
	for (int i = 1; i < SHOWN; i++) {
		int from = 1 + !(i & 1);
		struct bytes rpn = { 0 };

		rpn_emit_kept(&rpn, from);
		rpn_emit_op(&rpn, OP_bra);
		rpn_emit_fixed(&rpn, 4, 2);
		rpn_emit_op(&rpn, OP_lit);
		rpn_emit_op(&rpn, OP_skip);
		rpn_emit_fixed(&rpn, 2 + size, 2);
		rpn_emit_kept(&rpn, from);
		bytes_add(&rpn, next, size);
		value_kept(3 - from, rpn.data, rpn.size);
		bytes_free(&rpn);
		value_add(3 - from);
	}
}

static void begin(const struct node *first)
{
	bed_clear(&bed);
	bed.point.flags = TDF_POINT_CONTINUE;
	bed.input.regs.rdi = (uintptr_t)first;
	value_kept(1, RPN(RDI));
	value_add(1);
}

static bool check(const uint8_t *next, size_t size)
{
	nodes_add(next, size);
	return !bed_check(&bed);
}

/* The values that were recorded, as far as they are, are 1, 2, ... */
static bool counts_up(uint64_t position, uint64_t expected)
{
	const struct ras_record *r = (const void *)
		(bed_slice(&bed)->data +
		 (position & (bed.target.slice_bytes - 1)));
	const uint8_t *p = (const uint8_t *)(r + 1);
	const uint8_t *end = (const uint8_t *)r + r->length;
	uint64_t count = 0, value;
	struct ras_item item;

	for (bool is_node = true; p < end; is_node = !is_node) {
		memcpy(&item, p, sizeof(item));
		p += RAS_ITEM_PREFIX;
		if (!is_node && item.length == 8) {
			memcpy(&value, p, 8);
			if (value != ++count)
				return false;
		}
		p += item.length;
	}
	return count == expected;
}

#define NEXT	RPN(OP_plus_uconst, AT(next), OP_deref)

static void test_list(void)
{
	uint64_t position;

	for (size_t i = 0; i < NODES; i++)
		nodes[i] = (struct node){
			.value = i + 1,
			.next = i + 1 < NODES ? &nodes[i + 1] : NULL,
		};
	position = bed_slice(&bed)->head;
	begin(nodes);
	tap_ok(check(NEXT) && counts_up(position, SHOWN), "a list");
	position = bed_slice(&bed)->head;
	begin(&nodes[NODES - 1]);
	tap_ok(check(NEXT), "a list of one node");
	begin(NULL);
	tap_ok(check(NEXT), "no node");
	nodes[4].next = &nodes[2];
	begin(nodes);
	tap_ok(check(NEXT), "a cycle");
	nodes[4].next = (struct node *)8;
	begin(nodes);
	tap_ok(check(NEXT), "a node that cannot be read");
	bed.point.flags = 0;
	begin(nodes);
	bed.point.flags = 0;
	tap_ok(check(NEXT), "the same, and the record ends there");
}

static struct node *subtree(size_t count)
{
	size_t left = count ? (size_t)rand() % count : 0;
	struct node *node, *inner;

	if (!count)
		return NULL;
	inner = subtree(left);
	node = &nodes[used++];
	*node = (struct node){ .value = used, .left = inner };
	if (inner)
		inner->parent = (uintptr_t)node;
	node->right = subtree(count - 1 - left);
	if (node->right)
		node->right->parent = (uintptr_t)node;
	return node;
}

static void test_trees(void)
{
	bool good = true, same = true;

	for (size_t round = 0; round < 15; round++) {
		size_t count = 1 + (size_t)rand() % NODES;
		uint64_t position = bed_slice(&bed)->head;

		used = 0;
		subtree(count);
		begin(nodes);
		good &= check(RPN(TREE(32)));
		same &= counts_up(position, count < SHOWN ? count : SHOWN);
		begin(nodes);
		good &= check(RPN(TREE(2)));
	}
	tap_ok(same, "the nodes of random trees are in order");
	tap_ok(good, "what isn't found in so many steps is a fault");
	nodes[0] = (struct node){ .right = nodes, .left = nodes,
				  .parent = (uintptr_t)nodes };
	begin(nodes);
	tap_ok(check(RPN(TREE(9))), "a cycle");
	nodes[0] = (struct node){ .parent = 8 };
	begin(nodes);
	tap_ok(check(RPN(TREE(9))), "a parent that cannot be read");
	nodes[0] = (struct node){ .right = (void *)-8 };
	begin(nodes);
	tap_ok(check(RPN(TREE(9))), "a right side that cannot be read");
	nodes[0] = (struct node){ .right = &nodes[1] };
	nodes[1] = (struct node){ .left = &nodes[1] };
	begin(nodes);
	tap_ok(check(RPN(TREE(31))), "a cycle to the left");
}

int main(void)
{
	bed_open(&bed, BODY_TEST);
	bed.input.cookie = RAS_COOKIE(0x1234, 2, 3);
	srand(24);
	test_list();
	test_trees();
	return tap_done();
}
