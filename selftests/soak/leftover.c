// SPDX-License-Identifier: GPL-2.0
/*
 * leftover: prints how many BPF programs, maps and links the kernel has, and
 * how much memory for itself, in KiB: "PROGRAMS MAPS LINKS KIB".
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

static unsigned int count(int command)
{
	union bpf_attr attr = {};
	unsigned int found = 0;

	for (; !syscall(SYS_bpf, command, &attr, sizeof(attr)); found++)
		attr.start_id = attr.next_id;
	if (errno != ENOENT) {
		perror("bpf");
		exit(1);
	}
	return found;
}

/* Slabs that can't be reclaimed, per-CPU memory, what vmalloc() has mapped */
static long kernel_kib(void)
{
	static const char *const names[] = {
		"SUnreclaim:", "VmallocUsed:", "Percpu:"
	};
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		for (int i = 0; i < 3; i++)
			if (!strncmp(line, names[i], strlen(names[i])))
				kib += atol(line + strlen(names[i]));
	if (file)
		fclose(file);
	return kib;
}

int main(void)
{
	printf("%u %u %u %ld\n", count(BPF_PROG_GET_NEXT_ID),
	       count(BPF_MAP_GET_NEXT_ID), count(BPF_LINK_GET_NEXT_ID),
	       kernel_kib());
	return 0;
}
