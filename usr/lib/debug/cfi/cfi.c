// SPDX-License-Identifier: GPL-2.0
#include "cfi.h"

#include <dwarf.h>
#include <string.h>
#include "cfi_program.h"

struct cie {
	const uint8_t *at;	/* which one it is; NULL: none */
	struct cfi_function function;
	bool augmented;		/* functions have data of it */
};

uint64_t cfi_take(struct cfi_bytes *bytes, int count)
{
	uint64_t value = 0;

	if (bytes->end - bytes->at < count) {
		bytes->failed = true;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, count);
	bytes->at += count;
	bytes->address += count;
	return value;
}

void cfi_skip(struct cfi_bytes *bytes, uint64_t count)
{
	if ((uint64_t)(bytes->end - bytes->at) < count) {
		bytes->failed = true;
		count = bytes->end - bytes->at;
	}
	bytes->at += count;
	bytes->address += count;
}

uint64_t cfi_take_uleb(struct cfi_bytes *bytes)
{
	uint64_t value = 0, byte;
	int shift = 0;

	do {
		byte = cfi_take(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

int64_t cfi_take_sleb(struct cfi_bytes *bytes)
{
	uint64_t value = 0, byte;
	int shift = 0;

	do {
		byte = cfi_take(bytes, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= -1ULL << shift;
	return value;
}

static uint64_t signed_take(struct cfi_bytes *bytes, int count)
{
	int shift = 64 - 8 * count;

	return (int64_t)(cfi_take(bytes, count) << shift) >> shift;
}

uint64_t cfi_take_pointer(struct cfi_bytes *bytes, uint8_t encoding, int word)
{
	uint64_t place = bytes->address, value = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr: value = cfi_take(bytes, word); break;
	case DW_EH_PE_uleb128: value = cfi_take_uleb(bytes); break;
	case DW_EH_PE_udata2: value = cfi_take(bytes, 2); break;
	case DW_EH_PE_udata4: value = cfi_take(bytes, 4); break;
	case DW_EH_PE_udata8: value = cfi_take(bytes, 8); break;
	case DW_EH_PE_sleb128: value = cfi_take_sleb(bytes); break;
	case DW_EH_PE_sdata2: value = signed_take(bytes, 2); break;
	case DW_EH_PE_sdata4: value = signed_take(bytes, 4); break;
	case DW_EH_PE_sdata8: value = signed_take(bytes, 8); break;
	default: bytes->failed = true;
	}
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr: break;
	case DW_EH_PE_pcrel: value += place; break;
	default: bytes->failed = true;
	}
	if (encoding & DW_EH_PE_indirect)
		bytes->failed = true;
	return word == 4 ? (uint32_t)value : value;
}

/* What the letters behind 'z' announce; unknown ones end it, which their length
 * allows. */
static void augmentation_take(struct cfi_function *function,
			      struct cfi_bytes bytes, const char *letters)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			function->encoding = cfi_take(&bytes, 1);
			break;
		case 'L':
			cfi_skip(&bytes, 1);
			break;
		case 'P': {
			uint8_t encoding = cfi_take(&bytes, 1);

			cfi_take_pointer(&bytes, encoding & 0x0f,
					 function->cfi->word);
			break;
		}
		case 'S':
			function->signal = true;
			break;
		case 'B':
			break;
		default:
			return;
		}
	}
}

static bool cie_read(struct cie *cie, const struct cfi *cfi,
		     struct cfi_bytes bytes)
{
	struct cfi_function *function = &cie->function;
	const char *letters;
	uint64_t version;

	version = cfi_take(&bytes, 1);
	letters = (const char *)bytes.at;
	if (!memchr(letters, 0, bytes.end - bytes.at))
		return false;
	cfi_skip(&bytes, strlen(letters) + 1);
	*cie = (struct cie) { .augmented = letters[0] == 'z' };
	function->cfi = cfi;
	if (version == 4)
		cfi_skip(&bytes, 2);
	function->code_align = cfi_take_uleb(&bytes);
	function->data_align = cfi_take_sleb(&bytes);
	function->return_register = version == 1 ? cfi_take(&bytes, 1) :
						   cfi_take_uleb(&bytes);
	if (cie->augmented) {
		struct cfi_bytes more;
		uint64_t size = cfi_take_uleb(&bytes);

		more = bytes;
		cfi_skip(&bytes, size);
		more.end = bytes.at;
		augmentation_take(function, more, letters + 1);
	} else if (letters[0]) {
		return false;
	}
	function->initial = bytes;
	return !bytes.failed;
}

/* `bytes` is behind the pointer to the CIE. */
static void fde_read(const struct cie *cie, struct cfi_bytes bytes,
		     struct rows *rows)
{
	struct cfi_function function = cie->function;
	const struct cfi *cfi = function.cfi;
	uint64_t size;

	function.begin = cfi_take_pointer(&bytes, function.encoding, cfi->word);
	size = cfi_take_pointer(&bytes, function.encoding & 0x0f, cfi->word);
	if (cie->augmented)
		cfi_skip(&bytes, cfi_take_uleb(&bytes));
	if (bytes.failed || function.begin < cfi->lowest ||
	    function.begin >= cfi->end || size > cfi->end - function.begin)
		return;
	function.end = function.begin + size;
	function.program = bytes;
	cfi_program_run(&function, rows);
}

/* One entry; false: there are no more. */
static bool entry_read(const struct cfi *cfi, struct cfi_bytes *all,
		       struct cie *cie, struct rows *rows)
{
	uint64_t length = cfi_take(all, 4), back;
	struct cfi_bytes bytes, target;
	const uint8_t *id;

	if (length == 0xffffffff)
		length = cfi_take(all, 8);
	bytes = *all;
	cfi_skip(all, length);
	if (all->failed || !length)
		return false;
	bytes.end = all->at;
	id = bytes.at;
	back = cfi_take(&bytes, 4);
	if (!back || bytes.failed)
		return true;
	if (back > (uint64_t)(id - cfi->bytes))
		return true;
	if (cie->at != id - back) {
		target = (struct cfi_bytes) {
			.at = id - back, .end = cfi->bytes + cfi->size,
			.address = cfi->address + (id - back - cfi->bytes),
		};
		length = cfi_take(&target, 4);
		if (length == 0xffffffff)
			length = cfi_take(&target, 8);
		if (length < (uint64_t)(target.end - target.at))
			target.end = target.at + length;
		if (cfi_take(&target, 4) || target.failed ||
		    !cie_read(cie, cfi, target)) {
			cie->at = NULL;
			return true;
		}
		cie->at = id - back;
	}
	fde_read(cie, bytes, rows);
	return true;
}

void cfi_read(const struct cfi *cfi, struct rows *rows)
{
	struct cfi_bytes all = {
		.at = cfi->bytes, .end = cfi->bytes + cfi->size,
		.address = cfi->address,
	};
	struct cie cie = { NULL };

	while (all.at < all.end && !rows->failed &&
	       entry_read(cfi, &all, &cie, rows))
		;
}
