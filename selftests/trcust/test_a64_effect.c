// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of AArch64 are said to do against what they do: each form
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
#include "effect_text.h"
#include "random.h"
#include "tap.h"

#define ROUNDS		3	/* of each form */
#define SHOWN		20	/* failures, of each test point */
#define GENERATED	40000
#define CENTRE		(A64_DATA + A64_DATA_SIZE / 2)

struct form {
	uint32_t key, code;	/* key 0: none */
	uint64_t seen;
};

struct forms {
	struct form *table;	/* open hashing */
	size_t count, size;
};

struct trial {
	uint32_t code;
	struct arch_effect effect;
	struct arch_insn insn;
	struct a64_state in, out;
	bool open;		/* an access whose address isn't told */
	bool outside;		/* an access that isn't in the data */
	bool again;		/* see reads_check() */
	unsigned int *shown;
};


static void trial_tell(const struct trial *trial, const char *fmt, ...)
{
	char text[128] = "?", told[512], what[160];
	va_list ap;

	if ((*trial->shown)++ >= SHOWN)
		return;
	arch_insn_print(&arch_aarch64, (const uint8_t *)&trial->code, 4,
			A64_PC, text, sizeof(text));
	effect_print(told, &arch_aarch64, &trial->effect);
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	tap_diag("%08x %s: %s (%s)", trial->code, text, what, told);
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
		return memory->bytes;
	case ARCH_SPACE_FIXED:
		*address = memory->number;
		return memory->bytes;
	default:
		return false;
	}
}

static bool memory_is_data(uint64_t address, unsigned int bytes)
{
	return address >= A64_DATA &&
	       address + bytes <= A64_DATA + A64_DATA_SIZE;
}

static void judge_access(struct trial *trial, const struct arch_memory *memory)
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
		judge_access(trial, &effect->reads[i]);
	for (int i = 0; i < effect->write_count; i++)
		judge_access(trial, &effect->writes[i]);
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
		*value += transfer->reg == arch_aarch64.thread ?
				  trial->in.thread :
				  trial->in.regs[transfer->reg];
		break;
	case ARCH_SOURCE_MEMORY:
		if (!memory_address(trial, &transfer->memory, &address) ||
		    !memory_is_data(address, transfer->memory.bytes))
			return false;
		*value = 0;
		memcpy(value, trial->in.data + (address - A64_DATA),
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
	const struct arch_effect *effect = &trial->effect;
	unsigned int bytes;
	uint64_t value;

	for (unsigned int i = 0; i < 32; i++) {
		const struct arch_transfer *transfer = NULL;

		for (int j = 0; j < effect->count; j++)
			if (!effect->transfers[j].to_memory &&
			    effect->transfers[j].to == i)
				transfer = &effect->transfers[j];
		value = trial->in.regs[i];
		if (transfer && !transfer_value(trial, transfer, &value))
			continue;
		bytes = transfer && transfer->part ? transfer->part : 8;
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

	for (size_t i = 0; i < A64_DATA_SIZE; i++)
		if (trial->in.data[i] != trial->out.data[i] &&
		    !byte_is_told(trial, A64_DATA + i)) {
			trial_tell(trial, "writes at data + %#zx", i);
			return false;
		}
	for (int i = 0; i < effect->count; i++) {
		const struct arch_transfer *transfer = &effect->transfers[i];

		if (!transfer->to_memory ||
		    !transfer_value(trial, transfer, &value) ||
		    !memory_address(trial, &transfer->memory, &address) ||
		    !memory_is_data(address, transfer->memory.bytes) ||
		    !memcmp(trial->out.data + (address - A64_DATA), &value,
			    transfer->memory.bytes))
			continue;
		trial_tell(trial, "writes another value than %#llx", value);
		return false;
	}
	return true;
}

static bool pc_check(const struct trial *trial)
{
	uint64_t next = A64_PC + 4, jump = A64_PC + trial->insn.jump;
	uint64_t pc = trial->out.pc;
	bool good = true;

	switch (trial->insn.flow) {
	case ARCH_FLOW_NEXT:
		good = pc == next;
		break;
	case ARCH_FLOW_BRANCH:
		good = pc == next || pc == jump;
		break;
	case ARCH_FLOW_JUMP:
		good = pc == jump;
		break;
	case ARCH_FLOW_CALL:
		good = !trial->insn.jump || pc == jump;
		break;
	case ARCH_FLOW_STOP:
		good = false;
		break;
	default:
		break;
	}
	if (!good)
		trial_tell(trial, "goes to %+lld", (long long)(pc - A64_PC));
	return good;
}

/* A jump to where no code is */
static bool leads_away(const struct trial *trial)
{
	return trial->insn.flow != ARCH_FLOW_NEXT &&
	       trial->out.pc - A64_CODE >= A64_CODE_SIZE;
}

/* May it have faulted? */
static bool fault_check(const struct trial *trial)
{
	if (trial->effect.faults || trial->effect.traps || trial->open ||
	    trial->outside)
		return true;
	trial_tell(trial, "faults (signal %d)", trial->out.signal);
	return false;
}

static void run(struct trial *trial)
{
	trial->in.code = trial->code;
	trial->out = trial->in;
	a64_run(&trial->out);
}

/* Numbers of the kinds that are at the edge of something, and any */
static uint64_t random_number(void)
{
	switch (random_below(8)) {
	case 0:
		return random_below(4);
	case 1:
		return -(uint64_t)random_below(4);
	case 2:
		return CENTRE + random_below(256);
	case 3:
		return random_next() >> random_below(64);
	case 4:
		return 1ULL << random_below(64);
	default:
		return random_next();
	}
}

static void random_data(uint8_t *data)
{
	for (size_t i = 0; i + 8 <= A64_DATA_SIZE; i += 8) {
		uint64_t number = random_number();

		memcpy(data + i, &number, 8);
	}
}

/*
 * The same again with other memory where nothing is told to be read: nothing
 * comes out otherwise.
 */
static bool reads_check(struct trial *trial)
{
	struct trial other = *trial;
	bool good;

	if (trial->open || trial->outside || !trial->again ||
	    trial->insn.flow != ARCH_FLOW_NEXT)
		return true;
	random_data(other.in.data);
	for (int i = 0; i < trial->effect.read_count; i++) {
		const struct arch_memory *memory = &trial->effect.reads[i];
		uint64_t address = 0;

		memory_address(trial, memory, &address);
		memcpy(other.in.data + (address - A64_DATA),
		       trial->in.data + (address - A64_DATA), memory->bytes);
	}
	run(&other);
	good = !memcmp(other.out.regs, trial->out.regs,
		       sizeof(other.out.regs)) &&
	       !memcmp(other.out.vectors, trial->out.vectors,
		       sizeof(other.out.vectors)) &&
	       other.out.flags == trial->out.flags;
	for (size_t i = 0; i < A64_DATA_SIZE && good; i++)
		good = trial->in.data[i] == trial->out.data[i] ||
		       other.out.data[i] == trial->out.data[i];
	if (!good)
		trial_tell(trial, "reads more than is told");
	return good;
}

static bool trial_check(struct trial *trial)
{
	if (trial->out.signal && !leads_away(trial))
		return fault_check(trial);
	if (!trial->effect.flags && trial->in.flags != trial->out.flags) {
		trial_tell(trial, "flags %#llx -> %#llx", trial->in.flags,
			   trial->out.flags);
		return false;
	}
	return registers_check(trial) && memory_check(trial) &&
	       pc_check(trial) && reads_check(trial);
}

/* Have what is read or written in the data: at the base that the encodings of
 * loads and stores have, so that what is told isn't asked. */
static void aim(struct trial *trial)
{
	uint32_t code = trial->code;
	int64_t distance = 0;
	unsigned int scale = code >> 26 & 1 && code >> 23 & 1 ? 4 : code >> 30;

	if ((code & 0x3b000000) == 0x39000000)
		distance = (int64_t)(code >> 10 & 0xfff) << scale;
	trial->in.regs[code >> 5 & 31] = CENTRE - distance +
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
	random_data(in->data);
	for (int i = 0; i < 32; i++)
		in->regs[i] = random_number();
	for (int i = 0; i < 32; i++)
		for (int j = 0; j < 2; j++)
			in->vectors[i][j] = random_number();
	in->flags = random_next() & A64_FLAGS;
	in->pc = A64_PC;
	in->thread = random_number();
	in->regs[31] = CENTRE + random_below(16) * 16;
	if ((trial->code >> 25 & 5) == 4)
		aim(trial);
}

struct figures {
	unsigned int forms, known, done, wrong, shown;
	uint64_t seen, seen_known;
};

/* Never run: calls of the system and their like; jumps to themselves */
static bool is_barred(uint32_t code, const struct arch_insn *insn)
{
	return (code & 0xff000000) == 0xd4000000 ||
	       (!insn->jump && (insn->flow == ARCH_FLOW_BRANCH ||
				insn->flow == ARCH_FLOW_JUMP ||
				code == 0x94000000));
}

static void form_check(const struct form *form, struct figures *figures)
{
	struct trial trial = { .code = form->code, .shown = &figures->shown };
	const uint8_t *bytes = (const uint8_t *)&trial.code;
	bool done = false, barred;

	figures->forms++;
	figures->seen += form->seen;
	if (!arch_effect_find(&arch_aarch64, bytes, 4, A64_PC, &trial.effect) ||
	    !trial.effect.known)
		return;
	figures->known++;
	figures->seen_known += form->seen;
	arch_insn_decode(&arch_aarch64, bytes, 4, &trial.insn);
	barred = is_barred(trial.code, &trial.insn);
	for (int i = 0; i < ROUNDS && !barred; i++) {
		trial.again = !i;
		randomize(&trial);
		trial_judge(&trial);
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

/* `most`: so many forms are run; `share`: of how many instructions of a hundred
 * the effect is to be known. */
static void forms_check(struct forms *forms, const char *name, size_t most,
			int share)
{
	struct figures figures = { 0 };
	size_t step;

	if (!forms->count) {
		tap_skip(name, "there is no code");
		return;
	}
	step = forms->count / most + 1;
	for (size_t i = 0, number = 0; i < forms->size; i++)
		if (forms->table[i].key && number++ % step == 0)
			form_check(&forms->table[i], &figures);
	tap_diag("%s: %u forms, %u known (%.2f %% of %llu instructions), "
		 "%u run", name, figures.forms, figures.known,
		 100.0 * figures.seen_known / (figures.seen + !figures.seen),
		 (unsigned long long)figures.seen, figures.done);
	tap_ok(!figures.wrong, "%s: what instructions do is as told", name);
	tap_ok(figures.seen_known * 100 >= figures.seen * share,
	       "%s: of %d in a hundred it is told", name, share);
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
		char told[512] = " none";

		if (arch_effect_find(&arch_aarch64,
				     (const uint8_t *)&exact[i].code, 4, 0x1000,
				     &effect))
			effect_print(told, &arch_aarch64, &effect);
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
	if (!a64_start(argv[0])) {
		tap_skip("what instructions do", "no AArch64 code runs here");
		return tap_done();
	}
	files_check(argv[0], "a64_code*", "compiled", 20000, 99);
	files_check(argv[0], "a64_run*", "C library", 20000, 97);
	generated_check(generated);
	return tap_done();
}
