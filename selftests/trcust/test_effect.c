// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions are said to do (arch_effect_find) against what they do:
 * each form of instruction that is in programs of this system, and many others,
 * is run with random operands. test_effect [GENERATED [SEED]]: how many of the
 * latter, and of which sequence.
 */
#include <elf.h>
#include <glob.h>
#include "tap.h"
#include "effect_text.h"
#include "insn_form.h"
#include "insn_random.h"
#include "insn_run.h"
#include "arch_x86.h"

#define ROUNDS		3	/* of each form */
#define READS_ROUNDS	1	/* the first of them with other memory, too */
#define SHOWN		20	/* failures, of each test point */
#define GENERATED	60000

static bool narrow_too;		/* 32-bit code can be run */
static uint8_t before[INSN_DATA_SIZE], after[INSN_DATA_SIZE];

struct trial {
	const struct insn_form *form;
	struct insn_decoded insn;
	struct arch_effect effect;
	struct arch_insn arch;
	struct insn_state in, out;
	uint64_t thread;
	uint8_t code[INSN_MAX];
	bool open;		/* an access whose address isn't told */
	bool outside;		/* an access that isn't in the data */
	int round;
	unsigned int *shown;
};

static void trial_tell(const struct trial *trial, const char *fmt, ...)
{
	char text[128] = "?", hex[2 * INSN_MAX + 1], what[160];
	va_list ap;

	if ((*trial->shown)++ >= SHOWN)
		return;
	for (int i = 0; i < trial->form->length; i++)
		sprintf(hex + 2 * i, "%02x", trial->code[i]);
	arch_insn_print(x86_of(trial->form->wide ? ELFCLASS64 : ELFCLASS32),
			trial->code, trial->form->length, trial->in.ip, text,
			sizeof(text));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	tap_diag("%s (%s, %d bits): %s", text, hex,
		 trial->form->wide ? 64 : 32, what);
}

static uint64_t cut(uint64_t number, unsigned int bytes)
{
	return bytes >= 8 ? number : number & ((1ULL << bytes * 8) - 1);
}

/* False: it isn't told. */
static bool memory_address(const struct trial *trial,
			   const struct arch_memory *memory, uint64_t *address)
{
	switch (memory->space) {
	case ARCH_SPACE_BASE:
		*address = trial->in.regs[memory->base] + memory->number;
		break;
	case ARCH_SPACE_FIXED:
		*address = memory->number;
		break;
	case ARCH_SPACE_THREAD:
		*address = (trial->form->wide ? trial->thread : INSN_DATA) +
			   memory->number;
		break;
	default:
		return false;
	}
	*address = cut(*address, trial->form->wide ? 8 : 4);
	return memory->bytes;
}

static bool memory_is_data(uint64_t address, unsigned int bytes)
{
	return address >= INSN_DATA &&
	       address + bytes <= INSN_DATA + INSN_DATA_SIZE;
}

static void trial_judge_access(struct trial *trial,
			       const struct arch_memory *memory)
{
	uint64_t address;

	if (!memory_address(trial, memory, &address))
		trial->open = true;
	else if (!memory_is_data(address, memory->bytes))
		trial->outside = true;
}

static void trial_judge(struct trial *trial)
{
	const struct arch_effect *effect = &trial->effect;

	trial->open = trial->outside = false;
	for (int i = 0; i < effect->read_count; i++)
		trial_judge_access(trial, &effect->reads[i]);
	for (int i = 0; i < effect->write_count; i++)
		trial_judge_access(trial, &effect->writes[i]);
}

/* What the transfer says its target gets; false: it doesn't. */
static bool transfer_value(const struct trial *trial,
			   const struct arch_transfer *transfer,
			   uint64_t *value)
{
	uint64_t address;

	*value = transfer->number;
	switch (transfer->source) {
	case ARCH_SOURCE_CONSTANT: case ARCH_SOURCE_ADDRESS:
		break;
	case ARCH_SOURCE_REGISTER:
		*value += trial->in.regs[transfer->reg];
		break;
	case ARCH_SOURCE_MEMORY:
		if (!memory_address(trial, &transfer->memory, &address) ||
		    !memory_is_data(address, transfer->memory.bytes))
			return false;
		*value = 0;
		memcpy(value, before + (address - INSN_DATA),
		       transfer->memory.bytes);
		break;
	default:
		return false;
	}
	*value = cut(*value, transfer->bytes);
	if (transfer->is_signed && *value >> (transfer->bytes * 8 - 1) & 1)
		*value |= ~cut(~0ULL, transfer->bytes);
	return true;
}

static bool registers_check(const struct trial *trial)
{
	unsigned int count = trial->form->wide ? 16 : 8, whole = count / 2;
	const struct arch_effect *effect = &trial->effect;
	unsigned int bytes;
	uint64_t value;

	for (unsigned int i = 0; i < count; i++) {
		const struct arch_transfer *transfer = NULL;

		for (int j = 0; j < effect->count; j++)
			if (!effect->transfers[j].to_memory &&
			    effect->transfers[j].to == i)
				transfer = &effect->transfers[j];
		value = trial->in.regs[i];
		if (transfer && !transfer_value(trial, transfer, &value))
			continue;
		bytes = transfer && transfer->part ? transfer->part : whole;
		if (cut(value, bytes) == cut(trial->out.regs[i], bytes))
			continue;
		trial_tell(trial, "register %u %#llx -> %#llx, told %#llx", i,
			   trial->in.regs[i], trial->out.regs[i], value);
		return false;
	}
	return true;
}

/* A byte that has changed is one that is told to be written. */
static bool byte_is_told(const struct trial *trial, uint64_t at)
{
	for (int i = 0; i < trial->effect.write_count; i++) {
		const struct arch_memory *memory = &trial->effect.writes[i];
		uint64_t address;

		if (!memory_address(trial, memory, &address) ||
		    at - address < memory->bytes)
			return true;
	}
	return false;
}

static bool memory_check(const struct trial *trial)
{
	const struct arch_effect *effect = &trial->effect;
	uint64_t value, address;

	for (size_t i = 0; i < INSN_DATA_SIZE; i++)
		if (before[i] != after[i] &&
		    !byte_is_told(trial, INSN_DATA + i)) {
			trial_tell(trial, "writes at data + %#zx", i);
			return false;
		}
	for (int i = 0; i < effect->count; i++) {
		const struct arch_transfer *transfer = &effect->transfers[i];

		if (!transfer->to_memory ||
		    !transfer_value(trial, transfer, &value) ||
		    !memory_address(trial, &transfer->memory, &address) ||
		    !memory_is_data(address, transfer->memory.bytes) ||
		    !memcmp(after + (address - INSN_DATA), &value,
			    transfer->memory.bytes))
			continue;
		trial_tell(trial, "writes another value than %#llx", value);
		return false;
	}
	return true;
}

static bool ip_check(const struct trial *trial)
{
	unsigned int whole = trial->form->wide ? 8 : 4;
	uint64_t next = trial->in.ip + trial->form->length;
	uint64_t jump = cut(trial->in.ip + trial->arch.jump, whole);
	uint64_t ip = trial->out.ip;
	bool good = true;

	switch (trial->arch.flow) {
	case ARCH_FLOW_NEXT:
		good = ip == next || (ip == trial->in.ip && trial->open);
		break;
	case ARCH_FLOW_BRANCH:
		good = ip == next || ip == jump;
		break;
	case ARCH_FLOW_JUMP:
		good = ip == jump;
		break;
	case ARCH_FLOW_CALL:
		good = !trial->arch.jump || ip == jump;
		break;
	case ARCH_FLOW_STOP:
		good = false;
		break;
	default:
		break;
	}
	if (!good)
		trial_tell(trial, "goes to %+lld",
			   (long long)(ip - trial->in.ip));
	return good;
}

/* May it have faulted? */
static bool fault_check(const struct trial *trial)
{
	if (trial->effect.faults || trial->effect.traps || trial->open ||
	    trial->outside ||
	    trial->arch.flow == ARCH_FLOW_COMPUTED ||
	    trial->arch.flow == ARCH_FLOW_RETURN ||
	    (trial->arch.flow == ARCH_FLOW_CALL && !trial->arch.jump))
		return true;
	trial_tell(trial, "faults (signal %d)", trial->out.signal);
	return false;
}

static void trial_run(struct trial *trial)
{
	memcpy((void *)INSN_DATA, before, INSN_DATA_SIZE);
	trial->out = trial->in;
	insn_run(&trial->out, trial->form->wide, trial->thread);
	memcpy(after, (void *)INSN_DATA, INSN_DATA_SIZE);
}

/*
 * The same again with other memory where nothing is told to be read: nothing
 * comes out otherwise.
 */
static bool reads_check(struct trial *trial)
{
	static uint8_t old_before[INSN_DATA_SIZE], old_after[INSN_DATA_SIZE];
	struct insn_state old = trial->out;
	bool good;

	if (trial->open || trial->outside || trial->round >= READS_ROUNDS)
		return true;
	memcpy(old_before, before, sizeof(before));
	memcpy(old_after, after, sizeof(after));
	insn_random_data(before, sizeof(before));
	for (int i = 0; i < trial->effect.read_count; i++) {
		const struct arch_memory *memory = &trial->effect.reads[i];
		uint64_t address = 0;

		memory_address(trial, memory, &address);
		memcpy(before + (address - INSN_DATA),
		       old_before + (address - INSN_DATA), memory->bytes);
	}
	trial_run(trial);
	good = !memcmp(old.regs, trial->out.regs, sizeof(old.regs)) &&
	       !memcmp(old.vectors, trial->out.vectors, sizeof(old.vectors)) &&
	       old.flags == trial->out.flags && old.ip == trial->out.ip;
	for (size_t i = 0; i < INSN_DATA_SIZE && good; i++)
		good = old_before[i] == old_after[i] ||
		       old_after[i] == after[i];
	if (!good)
		trial_tell(trial, "reads more than is told");
	return good;
}

static bool trial_check(struct trial *trial)
{
	if (trial->out.signal)
		return fault_check(trial);
	if (!trial->effect.flags && trial->in.flags != trial->out.flags) {
		trial_tell(trial, "flags %#llx -> %#llx", trial->in.flags,
			   trial->out.flags);
		return false;
	}
	return registers_check(trial) && memory_check(trial) &&
	       ip_check(trial) && reads_check(trial);
}

struct figures {
	unsigned int forms, known, done, wrong, shown;
	uint64_t seen, seen_known;
};

/* Never run, whatever is told of them */
static bool form_is_barred(const struct insn_decoded *insn)
{
	switch (insn->zi.meta.category) {
	case ZYDIS_CATEGORY_SYSCALL: case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSRET: case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_IO: case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SCATTER:
		return true;
	default:
		return false;
	}
}

static void form_check(const struct insn_form *form, struct figures *figures)
{
	uint8_t elf_class = form->wide ? ELFCLASS64 : ELFCLASS32;
	struct trial trial = { .form = form, .shown = &figures->shown };
	bool done = false;

	figures->forms++;
	figures->seen += form->seen;
	insn_form_decode(form->bytes, form->length, form->wide, &trial.insn);
	if (!arch_effect_find(x86_of(elf_class), form->bytes, form->length, 0,
			      &trial.effect) ||
	    !trial.effect.known)
		return;
	figures->known++;
	figures->seen_known += form->seen;
	for (int i = 0; i < ROUNDS && !form_is_barred(&trial.insn); i++) {
		trial.round = i;
		insn_random_data(before, sizeof(before));
		insn_randomize(form, &trial.insn, &trial.in, &trial.thread);
		memcpy(trial.code, (void *)trial.in.ip, form->length);
		arch_effect_find(x86_of(elf_class), trial.code, form->length,
				 trial.in.ip, &trial.effect);
		arch_insn_decode(x86_of(elf_class), trial.code, form->length,
				 &trial.arch);
		trial_judge(&trial);
		trial_run(&trial);
		if (trial.out.signal == SIGILL)
			break;
		done |= !trial.out.signal;
		if (!trial_check(&trial)) {
			figures->wrong++;
			break;
		}
	}
	figures->done += done;
}

/* `share`: of how many instructions of a hundred the effect is to be known */
static void forms_check(const struct insn_forms *forms, const char *name,
			int share)
{
	struct figures figures = { 0 };

	if (!forms->count) {
		tap_skip(name, "there is no code");
		return;
	}
	for (size_t i = 0; i < forms->size; i++)
		if (forms->table[i].key &&
		    (forms->table[i].wide || narrow_too))
			form_check(&forms->table[i], &figures);
	tap_diag("%s: %u forms, %u known (%.2f %% of %llu instructions), %u run",
		 name, figures.forms, figures.known,
		 100.0 * figures.seen_known / (figures.seen + !figures.seen),
		 (unsigned long long)figures.seen, figures.done);
	tap_ok(!figures.wrong, "%s: what instructions do is as told", name);
	tap_ok(figures.seen_known >= figures.seen * share / 100,
	       "%s: of %d in a hundred it is told", name, share);
}

static void files_read(struct insn_forms *forms, const char *pattern)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		insn_forms_read(forms, found.gl_pathv[i]);
	globfree(&found);
}

/* Made by compilers at all levels, beside this program */
static void compiled_check(const char *program)
{
	const char *slash = strrchr(program, '/');
	struct insn_forms forms = { 0 };
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%.*sinsn_code*",
		 slash ? (int)(slash + 1 - program) : 0, program);
	files_read(&forms, pattern);
	forms_check(&forms, "compiled", 99);
	free(forms.table);
}

static void system_check(void)
{
	static const char *const patterns[] = {
		"/lib/*-linux-gnu/libc.so.6", "/bin/bash",
		"/usr/lib/*-linux-gnu/libcrypto.so.*",
		"/usr/lib/*-linux-gnu/libstdc++.so.6",
		"/lib32/libc.so.6", "/usr/lib32/libm.so.6",
		"/usr/lib/*-linux-gnu/libm.so.6",
	};
	struct insn_forms forms = { 0 };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		files_read(&forms, patterns[i]);
	forms_check(&forms, "system", 98);
	free(forms.table);
}

/* Bytes of which most are instructions, of all maps of opcodes */
static void insn_generate(uint8_t bytes[INSN_MAX + 1])
{
	static const uint8_t prefixes[] = {
		0x66, 0xf2, 0xf3, 0xf0, 0x64, 0x65, 0x2e, 0x67,
	};
	unsigned int i = 0, map = random_below(8);

	insn_random_data(bytes, INSN_MAX + 1);
	while (random_below(4) == 0 && i < 3)
		bytes[i++] = prefixes[random_below(sizeof(prefixes))];
	if (random_below(3) == 0)
		bytes[i++] = 0x40 | random_below(16);
	if (map >= 3 && map < 7)
		bytes[i++] = 0x0f;
	if (map == 5)
		bytes[i++] = 0x38;
	if (map == 6)
		bytes[i++] = 0x3a;
	if (map == 7)
		bytes[i++] = 0xc4 | random_below(2);
	for (; i < INSN_MAX; i++)
		bytes[i] = random_next();
}

static void generated_check(int count)
{
	struct insn_forms forms = { 0 };
	uint8_t bytes[INSN_MAX + 1];

	for (int i = 0; i < count; i++) {
		insn_generate(bytes);
		insn_form_add(&forms, bytes, INSN_MAX, i & 1);
	}
	forms_check(&forms, "generated", 75);
	free(forms.table);
}

/* Not only right, but as exact as it can be said */
static const struct {
	uint8_t elf_class, size;
	const char *bytes, *text, *effect;
} exact[] = {
#define W	ELFCLASS64
#define N	ELFCLASS32
#include "insn_exact.def"
};

static void exact_check(void)
{
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)exact[i].bytes;
		uint8_t elf_class = exact[i].elf_class;
		char text[128], told[512] = " none";
		struct arch_effect effect;

		if (arch_insn_print(x86_of(elf_class), bytes, exact[i].size,
				    0x1000, text, sizeof(text)))
			strcpy(text, "none");
		tap_str(text, exact[i].text, "%s, as text", exact[i].text);
		if (arch_effect_find(x86_of(elf_class), bytes, exact[i].size,
				     0x1000, &effect))
			effect_print(told, x86_of(elf_class), &effect);
		tap_str(told, exact[i].effect, "%s", exact[i].text);
	}
}

int main(int argc, char **argv)
{
	int generated = argc > 1 ? atoi(argv[1]) : GENERATED;

	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	tap_diag("%d generated, seed %#llx", generated,
		 (unsigned long long)seed);
	exact_check();
	if (!insn_run_begin()) {
		tap_skip("what instructions do", "no memory for them");
		return tap_done();
	}
	narrow_too = insn_run_begin32();
	if (!narrow_too)
		tap_skip("code of 32 bits", "this kernel runs none");
	compiled_check(argv[0]);
	system_check();
	generated_check(generated);
	return tap_done();
}
