// SPDX-License-Identifier: GPL-2.0
/*
 * The effects of instructions against what they do: each form
 * that is in compiled programs, and many others, is run with random operands,
 * on another machine by qemu-aarch64. test_a64_effect [GENERATED [SEED]]: how
 * many of the latter, and of which sequence.
 */
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <signal.h>
#include <unistd.h>
#include "a64_child.h"
#include "effect_trial.h"

#define ROUNDS		3	/* of each form */
#define GENERATED	40000

struct form {
	uint32_t key, code;	/* key 0: none */
	uint64_t seen;
};

struct forms {
	struct form *table;	/* open hashing */
	size_t count, size;
};

struct trial {
	struct effect_trial t;
	uint32_t code;
	struct a64_state in, out;
	bool again;		/* see reads_check() */
};

/* A jump to where no code is */
static bool leads_away(const struct trial *trial)
{
	return trial->t.insn.flow != ARCH_FLOW_NEXT &&
	       trial->out.pc - A64_CODE >= A64_CODE_SIZE;
}

/* May it have faulted? */
static bool fault_check(const struct trial *trial)
{
	const struct effect_trial *t = &trial->t;

	if (t->effect.faults || t->effect.traps || t->open || t->outside)
		return true;
	effect_report(t, "faults (signal %d)", trial->out.signal);
	return false;
}

static void run(struct trial *trial)
{
	trial->in.code = trial->code;
	trial->out = trial->in;
	a64_run(&trial->out);
	trial->t.next = trial->out.pc;
}

/*
 * The same again with other memory where the effect has no read: nothing
 * comes out otherwise.
 */
static bool reads_check(struct trial *trial)
{
	const struct effect_trial *t = &trial->t;
	struct trial other = *trial;
	bool good;

	if (t->open || t->outside || !trial->again ||
	    t->insn.flow != ARCH_FLOW_NEXT)
		return true;
	effect_change(t, other.in.data);
	run(&other);
	good = !memcmp(other.out.regs, trial->out.regs,
		       sizeof(other.out.regs)) &&
	       !memcmp(other.out.vectors, trial->out.vectors,
		       sizeof(other.out.vectors)) &&
	       other.out.flags == trial->out.flags &&
	       effect_is_same(t, other.out.data);
	if (!good)
		effect_report(t, "reads more than the effect has");
	return good;
}

static bool trial_check(struct trial *trial)
{
	const struct effect_trial *t = &trial->t;

	if (trial->out.signal && !leads_away(trial))
		return fault_check(trial);
	if (!t->effect.flags && trial->in.flags != trial->out.flags) {
		effect_report(t, "flags %#llx -> %#llx", trial->in.flags,
			    trial->out.flags);
		return false;
	}
	return effect_check_registers(t) && effect_check_memory(t) &&
	       effect_check_next(t) && reads_check(trial);
}

/* Have what is read or written in the data: at the base that the encodings of
 * loads and stores have, so that the effect isn't asked. */
static void aim(struct trial *trial)
{
	uint32_t code = trial->code;
	int64_t distance = 0;
	unsigned int scale = code >> 26 & 1 && code >> 23 & 1 ? 4 : code >> 30;

	if ((code & 0x3b000000) == 0x39000000)
		distance = (int64_t)(code >> 10 & 0xfff) << scale;
	trial->in.regs[code >> 5 & 31] = EFFECT_CENTRE - distance +
		random_below(16) * 16 + (random_below(4) ? 0 :
							   random_below(16));
	if ((code & 0x3b200c00) == 0x38200800 && (code >> 16 & 31) != 31)
		trial->in.regs[code >> 16 & 31] = random_below(32);
	/* it is to be aligned */
	trial->in.regs[31] &= ~15ULL;
}

static void randomize(struct trial *trial)
{
	struct a64_state *in = &trial->in;

	memset(in, 0, sizeof(*in));
	effect_random_data(in->data, sizeof(in->data));
	for (int i = 0; i < 32; i++)
		in->regs[i] = effect_random_number();
	for (int i = 0; i < 32; i++)
		for (int j = 0; j < 2; j++)
			in->vectors[i][j] = effect_random_number();
	in->flags = random_next() & A64_FLAGS;
	in->pc = A64_PC;
	in->thread = effect_random_number();
	in->regs[31] = EFFECT_CENTRE + random_below(16) * 16;
	if ((trial->code >> 25 & 5) == 4)
		aim(trial);
}

/* Never run: calls of the system and their like; jumps to themselves */
static bool is_barred(uint32_t code, const struct arch_insn *insn)
{
	return (code & 0xff000000) == 0xd4000000 ||
	       (!insn->jump && (insn->flow == ARCH_FLOW_BRANCH ||
				insn->flow == ARCH_FLOW_JUMP ||
				code == 0x94000000));
}

static void form_check(const struct form *form, struct effect_figures *figures)
{
	struct trial trial = {
		.code = form->code,
		.t = {
			.arch = &arch_aarch64, .ip = A64_PC,
			.code = (const uint8_t *)&trial.code,
			.shown = &figures->shown, .registers = 32, .width = 8,
			.in = trial.in.regs, .out = trial.out.regs,
			.before = trial.in.data, .after = trial.out.data,
		},
	};
	struct effect_trial *t = &trial.t;
	bool done = false, barred;

	figures->forms++;
	figures->seen += form->seen;
	if (!arch_effect_find(t->arch, t->code, 4, A64_PC, &t->effect) ||
	    !t->effect.known)
		return;
	figures->known++;
	figures->seen_known += form->seen;
	arch_insn_decode(t->arch, t->code, 4, &t->insn);
	barred = is_barred(trial.code, &t->insn);
	for (int i = 0; i < ROUNDS && !barred; i++) {
		trial.again = !i;
		randomize(&trial);
		t->thread = trial.in.thread;
		effect_judge(t);
		run(&trial);
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

static struct form *form_slot(struct forms *forms, uint32_t key)
{
	size_t i = key * 0x9e3779b1u & (forms->size - 1);

	while (forms->table[i].key && forms->table[i].key != key)
		i = (i + 1) & (forms->size - 1);
	return &forms->table[i];
}

static void forms_grow(struct forms *forms)
{
	struct forms old = *forms;

	forms->size = old.size ? old.size * 2 : 1 << 12;
	forms->table = calloc(forms->size, sizeof(*forms->table));
	if (!forms->table)
		abort();
	for (size_t i = 0; i < old.size; i++)
		if (old.table[i].key)
			*form_slot(forms, old.table[i].key) = old.table[i];
	free(old.table);
}

/* What is alike but for the registers' numbers: 31 is another one, and so is
 * the same one twice. Where there are no registers numbers count. */
static uint32_t form_key(uint32_t code)
{
	uint32_t group = code >> 25 & 15;
	uint32_t low = code & 31, high = code >> 5 & 31;
	uint32_t shape = (low == 31) | (high == 31) << 1 |
			 (low == high) << 2 | ((code >> 16 & 31) == 31) << 3 |
			 ((code >> 16 & 31) == low) << 4;

	if (group == 10 || group == 11 || (code & 0x1f800000) == 0x12000000)
		return code | 1;
	if (group == 8 || group == 9)
		return (code & 0xfffffc00) | (shape & 7) << 1 | 1;
	return (code & 0xffe0fc00) | shape << 1 | 1;
}

static void form_add(struct forms *forms, uint32_t code)
{
	struct form *form;
	uint32_t key = form_key(code);

	if (forms->count * 2 >= forms->size)
		forms_grow(forms);
	form = form_slot(forms, key);
	if (!form->key) {
		form->key = key;
		form->code = code;
		forms->count++;
	}
	form->seen++;
}

/* `most`: so many forms are run */
static void forms_check(struct forms *forms, const char *name, size_t most,
			unsigned int share)
{
	struct effect_figures figures = { 0 };
	size_t step;

	if (!forms->count) {
		tap_skip(name, "there is no code");
		return;
	}
	step = forms->count / most + 1;
	for (size_t i = 0, number = 0; i < forms->size; i++)
		if (forms->table[i].key && number++ % step == 0)
			form_check(&forms->table[i], &figures);
	effect_figures_check(&figures, name, share);
	free(forms->table);
}

static void file_read(struct forms *forms, const char *path)
{
	int fd = open(path, O_RDONLY);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr file;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	while (elf && gelf_getehdr(elf, &file) &&
	       file.e_machine == EM_AARCH64 &&
	       (section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);
		const uint32_t *code = data ? data->d_buf : NULL;

		if (!gelf_getshdr(section, &header) || !code ||
		    header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		for (size_t i = 0; i < data->d_size / 4; i++)
			form_add(forms, code[i]);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* Files of that name beside this program: what compilers make at all levels,
 * and a program with its C library */
static void files_check(const char *program, const char *names,
			const char *name, size_t most, int share)
{
	const char *slash = strrchr(program, '/');
	struct forms forms = { 0 };
	char pattern[4096];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%.*s%s",
		 slash ? (int)(slash + 1 - program) : 0, program, names);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			file_read(&forms, found.gl_pathv[i]);
		globfree(&found);
	}
	forms_check(&forms, name, most, share);
}

static void generated_check(int count)
{
	/* bits 28 to 25: as many of each group as it has of classes */
	static const uint8_t groups[] = {
		8, 9, 10, 11, 4, 4, 6, 12, 12, 12, 14, 5, 13, 13, 7, 15,
	};
	struct forms forms = { 0 };

	for (int i = 0; i < count; i++) {
		uint32_t code = random_next() >> 32 & ~(15u << 25);

		code |= groups[random_below(sizeof(groups))] << 25;
		if ((code >> 25 & 15) == 12 && random_below(2))
			code &= ~(3u << 23);
		form_add(&forms, code);
	}
	forms_check(&forms, "generated", count, 20);
}

/* Not only right, but as exact as it can be said */
static const struct {
	uint32_t code;
	const char *text, *effect;
} exact[] = {
#include "a64_exact.def"
};

static void exact_check(void)
{
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		struct arch_effect effect;
		char listed[512] = " none";

		if (arch_effect_find(&arch_aarch64,
				     (const uint8_t *)&exact[i].code, 4, 0x1000,
				     &effect))
			effect_print(listed, &arch_aarch64, &effect);
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
	if (!a64_start(argv[0])) {
		tap_skip("what instructions do", "no AArch64 code runs here");
		return tap_done();
	}
	files_check(argv[0], "a64_code*", "compiled", 20000, 99);
	files_check(argv[0], "a64_run*", "C library", 20000, 97);
	generated_check(generated);
	return tap_done();
}
