// SPDX-License-Identifier: GPL-2.0
/* Hands over a buffer for more CPUs than its control block has room for, with a
 * record in the last slice, and leaves it an orphan. */
#include "handover.h"

#define CPUS	200		/* more than a page has room for */

int main(void)
{
	struct ras_control control;
	struct handover h;

	handover_make_for(&h, CPUS);
	for (int part = RASTRACE_STATE; part < RASTRACE_PARTS; part++)
		h.adopt.maps[part] = -1;
	control = *handover_control(&h);
	part_make(&h, RASTRACE_CONTROL, "control", sizeof(control), 1);
	*handover_control(&h) = control;
	handover_slice(&h, h.slices - 1)->head = RAS_RECORD_HEADER;
	if (ioctl(h.device, RASTRACE_ADOPT, &h.adopt))
		tap_bail("RASTRACE_ADOPT: %s", strerror(errno));
	return 0;
}
