/* SPDX-License-Identifier: GPL-2.0 */
/* The effects of instructions against what a run of it did. */
#ifndef TRCUST_EFFECT_TRIAL_H
#define TRCUST_EFFECT_TRIAL_H

#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include "effect_text.h"
#include "random.h"
#include "tap.h"

#define EFFECT_SHOWN	20	/* failures, of each test point */
#define EFFECT_DATA	0x10000000UL	/* memory for it: nothing is around */
#define EFFECT_DATA_SIZE 0x1000UL
#define EFFECT_CENTRE	(EFFECT_DATA + EFFECT_DATA_SIZE / 2)

struct effect_trial {
	const struct arch *arch;
	const uint8_t *code;
	uint64_t ip;			/* where it is */
	unsigned int registers, width;	/* bytes of an address */
	struct arch_insn insn;
	struct arch_effect effect;
	uint64_t thread;		/* the thread pointer */
	/* without and with it: registers by DWARF number, memory */
	const uint64_t *in, *out;
	const uint8_t *before, *after;
	uint64_t next;			/* where it went */
	bool open;		/* an access whose address isn't known */
	bool outside;		/* an access that isn't in the data */
	unsigned int *shown;
};

struct effect_figures {
	unsigned int forms, known, done, wrong, shown;
	uint64_t seen, seen_known;
};

static void effect_report(const struct effect_trial *t, const char *fmt, ...)
{
	char text[128] = "?", hex[33] = "", listed[512], what[160];
	va_list ap;

	if ((*t->shown)++ >= EFFECT_SHOWN)
		return;
	for (unsigned int i = 0; i < t->insn.length && i < 16; i++)
		sprintf(hex + 2 * i, "%02x", t->code[i]);
	arch_insn_print(t->arch, t->code, t->insn.length, t->ip, text,
			sizeof(text));
	effect_print(listed, t->arch, &t->effect);
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	tap_diag("%s (%s, %u bits): %s (%s)", text, hex, t->width * 8, what,
		 listed);
}

static uint64_t effect_cut(uint64_t number, unsigned int bytes)
{
	return bytes >= 8 ? number : number & ((1ULL << bytes * 8) - 1);
}

/* False: it isn't known. */
static bool effect_address(const struct effect_trial *t,
			   const struct arch_memory *memory, uint64_t *address)
{
	switch (memory->space) {
	case ARCH_SPACE_BASE:
		*address = t->in[memory->base] + memory->number;
		break;
	case ARCH_SPACE_FIXED:
		*address = memory->number;
		break;
	case ARCH_SPACE_THREAD:
		*address = t->thread + memory->number;
		break;
	default:
		return false;
	}
	*address = effect_cut(*address, t->width);
	return memory->bytes;
}

static bool effect_is_data(uint64_t address, unsigned int bytes)
{
	return address >= EFFECT_DATA &&
	       address + bytes <= EFFECT_DATA + EFFECT_DATA_SIZE;
}

static void effect_judge_access(struct effect_trial *t,
				const struct arch_memory *memory)
{
	uint64_t address;

	if (!effect_address(t, memory, &address))
		t->open = true;
	else if (!effect_is_data(address, memory->bytes))
		t->outside = true;
}

/* In front of the run: where are its accesses? */
static void effect_judge(struct effect_trial *t)
{
	const struct arch_effect *effect = &t->effect;

	t->open = t->outside = false;
	for (int i = 0; i < effect->read_count; i++)
		effect_judge_access(t, &effect->reads[i]);
	for (int i = 0; i < effect->write_count; i++)
		effect_judge_access(t, &effect->writes[i]);
}

/* What the transfer says its target gets; false: it doesn't. */
static bool effect_value(const struct effect_trial *t,
			 const struct arch_transfer *transfer, uint64_t *value)
{
	uint64_t address;

	*value = transfer->number;
	switch (transfer->source) {
	case ARCH_SOURCE_CONSTANT: case ARCH_SOURCE_ADDRESS:
		break;
	case ARCH_SOURCE_REGISTER:
		*value += transfer->reg < t->registers ?
				  t->in[transfer->reg] : t->thread;
		break;
	case ARCH_SOURCE_MEMORY:
		if (!effect_address(t, &transfer->memory, &address) ||
		    !effect_is_data(address, transfer->memory.bytes))
			return false;
		*value = 0;
		memcpy(value, t->before + (address - EFFECT_DATA),
		       transfer->memory.bytes);
		break;
	default:
		return false;
	}
	*value = effect_cut(*value, transfer->bytes);
	if (transfer->is_signed && *value >> (transfer->bytes * 8 - 1) & 1)
		*value |= ~effect_cut(~0ULL, transfer->bytes);
	return true;
}

static bool effect_check_registers(const struct effect_trial *t)
{
	const struct arch_effect *effect = &t->effect;
	unsigned int bytes;
	uint64_t value;

	for (unsigned int i = 0; i < t->registers; i++) {
		const struct arch_transfer *transfer = NULL;

		for (int j = 0; j < effect->count; j++)
			if (!effect->transfers[j].to_memory &&
			    effect->transfers[j].to == i)
				transfer = &effect->transfers[j];
		value = t->in[i];
		if (transfer && !effect_value(t, transfer, &value))
			continue;
		bytes = transfer && transfer->part ? transfer->part : t->width;
		if (effect_cut(value, bytes) == effect_cut(t->out[i], bytes))
			continue;
		effect_report(t, "register %u %#llx -> %#llx, listed %#llx", i,
			    t->in[i], t->out[i], value);
		return false;
	}
	return true;
}

/* A byte that has changed is one that the effect writes. */
static bool effect_byte_is_told(const struct effect_trial *t, uint64_t at)
{
	for (int i = 0; i < t->effect.write_count; i++) {
		const struct arch_memory *memory = &t->effect.writes[i];
		uint64_t address;

		if (!effect_address(t, memory, &address) ||
		    at - address < memory->bytes)
			return true;
	}
	return false;
}

static bool effect_check_memory(const struct effect_trial *t)
{
	const struct arch_effect *effect = &t->effect;
	uint64_t value, address;

	for (size_t i = 0; i < EFFECT_DATA_SIZE; i++)
		if (t->before[i] != t->after[i] &&
		    !effect_byte_is_told(t, EFFECT_DATA + i)) {
			effect_report(t, "writes at data + %#zx", i);
			return false;
		}
	for (int i = 0; i < effect->count; i++) {
		const struct arch_transfer *transfer = &effect->transfers[i];

		if (!transfer->to_memory ||
		    !effect_value(t, transfer, &value) ||
		    !effect_address(t, &transfer->memory, &address) ||
		    !effect_is_data(address, transfer->memory.bytes) ||
		    !memcmp(t->after + (address - EFFECT_DATA), &value,
			    transfer->memory.bytes))
			continue;
		effect_report(t, "writes another value than %#llx", value);
		return false;
	}
	return true;
}

/* An instruction whose access isn't known may be a loop: rep. */
static bool effect_check_next(const struct effect_trial *t)
{
	uint64_t after = t->ip + t->insn.length;
	uint64_t jump = effect_cut(t->ip + t->insn.jump, t->width);
	bool good = true;

	switch (t->insn.flow) {
	case ARCH_FLOW_NEXT:
		good = t->next == after || (t->next == t->ip && t->open);
		break;
	case ARCH_FLOW_BRANCH:
		good = t->next == after || t->next == jump;
		break;
	case ARCH_FLOW_JUMP:
		good = t->next == jump;
		break;
	case ARCH_FLOW_CALL:
		good = !t->insn.jump || t->next == jump;
		break;
	case ARCH_FLOW_STOP:
		good = false;
		break;
	default:
		break;
	}
	if (!good)
		effect_report(t, "goes to %+lld", (long long)(t->next - t->ip));
	return good;
}

/* Numbers of the kinds that are at the edge of something, and any */
static uint64_t effect_random_number(void)
{
	switch (random_below(8)) {
	case 0:
		return random_below(4);
	case 1:
		return -(uint64_t)random_below(4);
	case 2:
		return EFFECT_CENTRE + random_below(256);
	case 3:
		return random_next() >> random_below(64);
	case 4:
		return 1ULL << random_below(64);
	default:
		return random_next();
	}
}

static void effect_random_data(uint8_t *data, size_t size)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		uint64_t number = effect_random_number();

		memcpy(data + i, &number, 8);
	}
}

/* Other memory, but where the effect has a read. */
static void effect_change(const struct effect_trial *t, uint8_t *data)
{
	effect_random_data(data, EFFECT_DATA_SIZE);
	for (int i = 0; i < t->effect.read_count; i++) {
		const struct arch_memory *memory = &t->effect.reads[i];
		uint64_t address = EFFECT_DATA;

		effect_address(t, memory, &address);
		memcpy(data + (address - EFFECT_DATA),
		       t->before + (address - EFFECT_DATA), memory->bytes);
	}
}

/* Has a run with such memory left the same where this one has written? */
static bool effect_is_same(const struct effect_trial *t, const uint8_t *after)
{
	for (size_t i = 0; i < EFFECT_DATA_SIZE; i++)
		if (t->before[i] != t->after[i] && after[i] != t->after[i])
			return false;
	return true;
}

/* `share`: of how many instructions of a hundred the effect is to be known */
static void effect_figures_check(const struct effect_figures *f,
				 const char *name, unsigned int share)
{
	tap_diag("%s: %u forms, %u known (%.2f %% of %llu instructions), %u run",
		 name, f->forms, f->known,
		 100.0 * f->seen_known / (f->seen + !f->seen),
		 (unsigned long long)f->seen, f->done);
	tap_ok(!f->wrong, "%s: what instructions do is as in their effects", name);
	tap_ok(f->seen_known * 100 >= f->seen * share,
	       "%s: of %u in a hundred it is known", name, share);
}

#endif
