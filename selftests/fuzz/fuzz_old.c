// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the memory of a process that has glibc's heap: blocks are found
 * that lie in it, each once. The input: struct input, then what is in the
 * regions, whose addresses are known.
 */
#include "heapmon/old/old.c"
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REGION_BYTES	65536
#define BLOCKS_MOST	(4 * REGION_BYTES / 8)

/* libc's data, what brk() gave, what mmap() gave, a thread's heap: at a multiple
 * of its greatest size */
static const uint64_t starts[] = {
	0x10000000, 0x11000000, 0x12000000, 0x14000000,
};

#define REGIONS		(sizeof(starts) / sizeof(starts[0]))

struct input {
	uint8_t narrow, reserved[7];
	uint16_t bytes[REGIONS];
};

static void memory_make(void)
{
	for (size_t i = 0; i < REGIONS; i++)
		if (mmap((void *)starts[i], REGION_BYTES,
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
			abort();
}

/* As the process' maps would show them */
static void regions_make(struct old_process *process, const struct input *input,
			 const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < REGIONS; i++) {
		size_t n = input->bytes[i] < size ? input->bytes[i] : size;

		memset((void *)starts[i], 0, REGION_BYTES);
		memcpy((void *)starts[i], data, n);
		data += n;
		size -= n;
		process->regions[process->count++] = (struct old_region){
			.start = starts[i], .writable = true,
			.end = starts[i] + ((n + 4095) & ~(size_t)4095),
			.file = !i, .heap = i == 1, .anonymous = i > 1,
		};
	}
}

static int block_see(void *context, const struct old_block *block)
{
	size_t *blocks = context;
	uint64_t address = block->address, size = block->size;
	uint64_t start = address & ~(uint64_t)(REGION_BYTES - 1);
	size_t i = 0;

	while (i < REGIONS && starts[i] != start)
		i++;
	if (i == REGIONS || size > REGION_BYTES ||
	    address - start > REGION_BYTES - size ||
	    ++*blocks > BLOCKS_MOST)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct old_walking *walk = calloc(1, sizeof(*walk));
	struct old_figures figures = { 0 };
	struct error err = { 0 };
	static bool made;
	struct input input;
	size_t blocks = 0;

	if (size < sizeof(input) || !walk) {
		free(walk);
		return 0;
	}
	if (!made)
		memory_make();
	made = true;
	memcpy(&input, data, sizeof(input));
	walk->pid = walk->process.pid = getpid();
	walk->process.word = input.narrow & 1 ? 4 : 8;
	walk->process.regions = calloc(REGIONS, sizeof(struct old_region));
	walk->figures = &figures;
	walk->err = &err;
	regions_make(&walk->process, &input, data + sizeof(input),
		     size - sizeof(input));
	if (arenas_find(walk) || walk_stopped(walk) ||
	    walk_give(walk, block_see, &blocks))
		abort();
	old_chunks_free(&walk->chunks);
	old_process_close(&walk->process);
	free(walk);
	return 0;
}
