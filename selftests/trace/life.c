// SPDX-License-Identifier: GPL-2.0
/*
 * A program that dies or changes while it is traced: life KIND COUNT. Calls
 * work() COUNT times for each
 *	fork	here and in a child
 *	exec	before it becomes `life once COUNT`, and then
 *	once
 *	unmap	in a copy of its code that is mapped, and another one, and so on:
 *		10 times
 *	race	while another thread maps and unmaps the program all the time
 *	forever until it is killed
 */
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int work(int n);

/* It refers to nothing, so that it runs wherever it is mapped. */
__attribute__((noinline)) int work(int n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

struct code {
	size_t offset, size;	/* of the mapping in the file */
	size_t work;		/* in the mapping */
};

static int code_find(struct dl_phdr_info *info, size_t size, void *context)
{
	struct code *code = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || (uintptr_t)work < start ||
		    (uintptr_t)work - start >= ph->p_filesz)
			continue;
		code->offset = ph->p_offset & ~(size_t)4095;
		code->size = ph->p_filesz + ph->p_offset - code->offset;
		code->work = (uintptr_t)work - start + ph->p_offset -
			     code->offset;
		return 1;
	}
	return 0;
}

static void *code_map(const struct code *code)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, code->size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 fd, code->offset);

	close(fd);
	if (map == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return map;
}

static void work_often(int (*function)(int), int count)
{
	for (int i = 0; i < count; i++)
		function(i);
}

static void mapped_work(const struct code *code, int count)
{
	char *map = code_map(code);

	work_often((int (*)(int))(uintptr_t)(map + code->work), count);
	munmap(map, code->size);
}

static volatile int done;

static void *mapper(void *context)
{
	const struct code *code = context;

	while (!done)
		munmap(code_map(code), code->size);
	return NULL;
}

static void race(struct code *code, int count)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, mapper, code))
		exit(1);
	for (int i = 0; i < count; i++)
		mapped_work(code, 1);
	done = 1;
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 1;
	struct code code;

	if (!dl_iterate_phdr(code_find, &code))
		return 1;
	if (!strcmp(kind, "unmap")) {
		for (int i = 0; i < 10; i++)
			mapped_work(&code, count);
		return 0;
	}
	if (!strcmp(kind, "race")) {
		race(&code, count);
		return 0;
	}
	if (!strcmp(kind, "fork") && fork() < 0)
		return 1;
	do
		work_often(work, count);
	while (!strcmp(kind, "forever"));
	if (!strcmp(kind, "exec"))
		execl("/proc/self/exe", "life", "once", argv[2], (char *)NULL);
	wait(NULL);
	return strcmp(kind, "fork") && strcmp(kind, "once");
}
