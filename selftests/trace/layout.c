// SPDX-License-Identifier: GPL-2.0
/*
 * layout CONTROL NUMBER: makes a buffer look like another version's, by the
 * layout in its control block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <rastrace/buffer.h>

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int main(int argc, char **argv)
{
	union bpf_attr get = { 0 }, map = { 0 };
	static char value[1 << 20];
	__u32 key = 0;

	if (argc < 3)
		return 2;
	get.pathname = (__u64)(unsigned long)argv[1];
	map.map_fd = bpf(BPF_OBJ_GET, &get);
	map.key = (__u64)(unsigned long)&key;
	map.value = (__u64)(unsigned long)value;
	if ((int)map.map_fd < 0 || bpf(BPF_MAP_LOOKUP_ELEM, &map)) {
		perror("layout");
		return 1;
	}
	((struct ras_control *)value)->layout = atoi(argv[2]);
	map.flags = 0;
	if (bpf(BPF_MAP_UPDATE_ELEM, &map)) {
		perror("layout");
		return 1;
	}
	return 0;
}
