// SPDX-License-Identifier: GPL-2.0
/* Asks the module without a pause whether it has a buffer, until a signal ends
 * that, and prints how often there was none: "0 of 5123". */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <rastrace/device.h>

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = 1;
}

int main(void)
{
	struct rastrace_info info = { .size = sizeof(info) };
	unsigned long missing = 0, asked = 0;
	int fd = open("/dev/rastrace", O_RDONLY);

	if (fd < 0)
		err(1, "/dev/rastrace");
	signal(SIGTERM, end);
	for (; !ended; asked++) {
		info.size = sizeof(info);
		if (ioctl(fd, RASTRACE_INFO, &info))
			err(1, "RASTRACE_INFO");
		missing += info.adopted != RASTRACE_ADOPTED;
	}
	printf("%lu of %lu\n", missing, asked);
	return 0;
}
