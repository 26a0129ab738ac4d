// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <linux/version.h>
#include "rastrace.h"

static int __init rastrace_init(void)
{
	int ret;

	ret = crash_init();
	if (ret)
		return ret;
	ret = device_init();
	if (ret)
		goto err_crash;
	segment_init();
	return 0;

err_crash:
	crash_exit();
	return ret;
}

static void __exit rastrace_exit(void)
{
	device_exit();
	buffer_release();
	crash_exit();
}

module_init(rastrace_init);
module_exit(rastrace_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rastrace: static tracepoints, capture across a panic");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("BPF_INTERNAL");
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
MODULE_IMPORT_NS(BPF_INTERNAL);
#endif
