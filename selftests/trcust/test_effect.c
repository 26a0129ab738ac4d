// SPDX-License-Identifier: GPL-2.0
/*
 * The effects of instructions (arch_effect_find) against what they do:
 * each form of instruction that is in programs of this system, and many others,
 * is run with random operands. test_effect [GENERATED [SEED]]: how many of the
 * latter, and of which sequence.
 */
#include <elf.h>
#include <glob.h>
#include "effect_trial.h"
#include "insn_form.h"
#include "insn_random.h"
#include "insn_run.h"
#include "arch_x86.h"

#define ROUNDS		3	/* of each form */
#define READS_ROUNDS	1	/* the first of them with other memory, too */
#define GENERATED	60000

static bool narrow_too;		/* 32-bit code can be run */
static uint8_t before[INSN_DATA_SIZE], after[INSN_DATA_SIZE];

struct trial {
	struct effect_trial t;
	const struct insn_form *form;
	struct insn_decoded insn;
	struct insn_state in, out;
	uint64_t thread;
	uint8_t code[INSN_MAX];
	int round;
};

/* May it have faulted? */
static bool fault_check(const struct trial *trial)
{
	const struct effect_trial *t = &trial->t;

	if (t->effect.faults || t->effect.traps || t->open || t->outside ||
	    t->insn.flow == ARCH_FLOW_COMPUTED ||
	    t->insn.flow == ARCH_FLOW_RETURN ||
	    (t->insn.flow == ARCH_FLOW_CALL && !t->insn.jump))
		return true;
	effect_report(t, "faults (signal %d)", trial->out.signal);
	return false;
}

static void trial_run(struct trial *trial)
{
	memcpy((void *)INSN_DATA, before, INSN_DATA_SIZE);
	trial->out = trial->in;
	insn_run(&trial->out, trial->form->wide, trial->thread);
	memcpy(after, (void *)INSN_DATA, INSN_DATA_SIZE);
	trial->t.next = trial->out.ip;
}

/*
 * The same again with other memory where the effect has no read: nothing
 * comes out otherwise.
 */
static bool reads_check(struct trial *trial)
{
	static uint8_t old_before[INSN_DATA_SIZE], old_after[INSN_DATA_SIZE];
	struct insn_state old = trial->out;
	struct effect_trial t = trial->t;
	bool good;

	if (t.open || t.outside || trial->round >= READS_ROUNDS)
		return true;
	memcpy(old_before, before, sizeof(before));
	memcpy(old_after, after, sizeof(after));
	t.before = old_before;
	t.after = old_after;
	effect_change(&t, before);
	trial_run(trial);
	good = !memcmp(old.regs, trial->out.regs, sizeof(old.regs)) &&
	       !memcmp(old.vectors, trial->out.vectors, sizeof(old.vectors)) &&
	       old.flags == trial->out.flags && old.ip == trial->out.ip &&
	       effect_is_same(&t, after);
	if (!good)
		effect_report(&t, "reads more than the effect has");
	return good;
}

static bool trial_check(struct trial *trial)
{
	const struct effect_trial *t = &trial->t;

	if (trial->out.signal)
		return fault_check(trial);
	if (!t->effect.flags && trial->in.flags != trial->out.flags) {
		effect_report(t, "flags %#llx -> %#llx", trial->in.flags,
			    trial->out.flags);
		return false;
	}
	return effect_check_registers(t) && effect_check_memory(t) &&
	       effect_check_next(t) && reads_check(trial);
}

/* Never run, whatever their effects are */
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

/* With random operands */
static void trial_make(struct trial *trial)
{
	const struct insn_form *form = trial->form;
	struct effect_trial *t = &trial->t;

	effect_random_data(before, sizeof(before));
	insn_randomize(form, &trial->insn, &trial->in, &trial->thread);
	memcpy(trial->code, (void *)trial->in.ip, form->length);
	t->ip = trial->in.ip;
	t->thread = form->wide ? trial->thread : INSN_DATA;
	arch_effect_find(t->arch, trial->code, form->length, t->ip, &t->effect);
	arch_insn_decode(t->arch, trial->code, form->length, &t->insn);
	effect_judge(t);
}

static void form_check(const struct insn_form *form,
		       struct effect_figures *figures)
{
	struct trial trial = {
		.form = form,
		.t = {
			.arch = x86_of(form->wide ? ELFCLASS64 : ELFCLASS32),
			.code = trial.code, .shown = &figures->shown,
			.registers = form->wide ? 16 : 8,
			.width = form->wide ? 8 : 4,
			.in = trial.in.regs, .out = trial.out.regs,
			.before = before, .after = after,
		},
	};
	bool done = false;

	figures->forms++;
	figures->seen += form->seen;
	insn_form_decode(form->bytes, form->length, form->wide, &trial.insn);
	if (!arch_effect_find(trial.t.arch, form->bytes, form->length, 0,
			      &trial.t.effect) ||
	    !trial.t.effect.known)
		return;
	figures->known++;
	figures->seen_known += form->seen;
	for (int i = 0; i < ROUNDS && !form_is_barred(&trial.insn); i++) {
		trial.round = i;
		trial_make(&trial);
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

static void forms_check(const struct insn_forms *forms, const char *name,
			unsigned int share)
{
	struct effect_figures figures = { 0 };

	if (!forms->count) {
		tap_skip(name, "there is no code");
		return;
	}
	for (size_t i = 0; i < forms->size; i++)
		if (forms->table[i].key &&
		    (forms->table[i].wide || narrow_too))
			form_check(&forms->table[i], &figures);
	effect_figures_check(&figures, name, share);
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

	effect_random_data(bytes, INSN_MAX + 1);
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
		char text[128], listed[512] = " none";
		struct arch_effect effect;

		if (arch_insn_print(x86_of(elf_class), bytes, exact[i].size,
				    0x1000, text, sizeof(text)))
			strcpy(text, "none");
		tap_str(text, exact[i].text, "%s, as text", exact[i].text);
		if (arch_effect_find(x86_of(elf_class), bytes, exact[i].size,
				     0x1000, &effect))
			effect_print(listed, x86_of(elf_class), &effect);
		tap_str(listed, exact[i].effect, "%s", exact[i].text);
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
