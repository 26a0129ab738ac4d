// SPDX-License-Identifier: GPL-2.0
/*
 * A panic notifier: it marks the anchor, by which a memory dump is read, and
 * writes the newest records into memory that the next boot finds again. Other
 * CPUs are stopped by then; nothing here takes a lock or allocates. Notifiers
 * run before kdump only with crash_kexec_post_notifiers.
 */
#include <linux/atomic.h>
#include <linux/crc32.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/kexec.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/panic_notifier.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/version.h>
#include <rastrace/crash.h>
#include "crash.h"

#define REGION_LEAST	(CRASH_FILE_LEAST + PAGE_SIZE)
#define REGION_NAME	"rastrace"	/* of a reserve_mem=, looked for when
					 * there is no crash_mem= */

static char *crash_mem;
module_param_hw(crash_mem, charp, iomem, 0444);
MODULE_PARM_DESC(crash_mem,
		 "memory that outlives a reboot: SIZE@ADDRESS, or the NAME of a reserve_mem= (default: rastrace)");

static struct {
	struct ras_crash *header;	/* NULL: there is no such memory */
	phys_addr_t start;
	size_t size;
	bool requested;		/* as a resource */
	size_t saved;		/* bytes of the file of the boot before */
} region;

/* In a page of its own of the module's data, as it is aligned. */
static struct ras_anchor anchor __aligned(RAS_ANCHOR_ALIGN) = {
	.size = sizeof(anchor),
	.layout = RAS_LAYOUT,
};

/* ---- at a panic ---- */

static void region_publish(size_t length)
{
	struct ras_crash *header = region.header;

	arch_wb_cache_pmem(header + 1, length);
	header->version = RAS_CRASH_VERSION;
	header->length = length;
	memcpy(header->magic, RAS_CRASH_MAGIC, sizeof(header->magic));
	header->crc = ~crc32_le(~0, (u8 *)header, sizeof(*header));
	/* a reset may drop what is in the caches */
	arch_wb_cache_pmem(header, sizeof(*header));
}

static void region_clear(void)
{
	memset(region.header, 0, sizeof(*region.header));
	arch_wb_cache_pmem(region.header, sizeof(*region.header));
}

static int kmod_crash_save(struct notifier_block *block, unsigned long event,
			   void *reason)
{
	static atomic_t panics;
	struct crash_panic panic = {
		.time = ktime_get_boot_fast_ns(),
		.reason = reason ? reason : "",
	};
	const struct adopted *buffer;
	size_t length;

	/* what goes wrong in here may panic on this CPU again */
	if (atomic_inc_return(&panics) > 1)
		return NOTIFY_DONE;
	panic.wall_offset = ktime_get_real_fast_ns() - panic.time;
	anchor.panicked = panic.time;
	anchor.wall_offset = panic.wall_offset;
	strscpy(anchor.reason, panic.reason, sizeof(anchor.reason));
	preempt_disable_notrace();
	buffer = buffer_get();
	if (buffer && region.header) {
		region_clear();
		length = crash_file_write(region.header + 1,
					  region.size - sizeof(*region.header),
					  buffer, &panic);
		if (length)
			region_publish(length);
	}
	preempt_enable_notrace();
	return NOTIFY_DONE;
}

/* Before those that may not return. */
static struct notifier_block crash_notifier = {
	.notifier_call = kmod_crash_save,
	.priority = INT_MAX,
};

/* ---- the memory ---- */

static int region_named(const char *name, phys_addr_t *start, phys_addr_t *size)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	if (reserve_mem_find_by_name(name, start, size))
		return 0;
#endif
	return -ENOENT;
}

/* "1M@0x10000000", or where the memory of this name lies. */
static int region_find(phys_addr_t *start, phys_addr_t *size, bool *named)
{
	char *end, *address;

	*named = true;
	if (!crash_mem)
		return region_named(REGION_NAME, start, size);
	*size = memparse(crash_mem, &end);
	if (*end != '@')
		return region_named(crash_mem, start, size);
	*named = false;
	address = end + 1;
	*start = memparse(address, &end);
	return *end || end == address ? -EINVAL : 0;
}

/* Memory of the kernel's own must not be written to; what has a name is kept
 * from it, though it is memory like other. */
static int region_request(phys_addr_t start, phys_addr_t size, bool named)
{
	if (!PAGE_ALIGNED(start) || size < REGION_LEAST || size > SZ_1G ||
	    start + size < start)
		return -EINVAL;
	region.start = start;
	region.size = size;
	if (named)
		return 0;
	if (region_intersects(start, size, IORESOURCE_SYSTEM_RAM,
			      IORES_DESC_NONE) != REGION_DISJOINT)
		return -EINVAL;
	if (!request_mem_region(start, size, "rastrace"))
		return -EBUSY;
	region.requested = true;
	return 0;
}

static void region_drop(void)
{
	if (region.header)
		memunmap(region.header);
	if (region.requested)
		release_mem_region(region.start, region.size);
	memset(&region, 0, sizeof(region));
}

/* What the boot before has left there. */
static size_t region_saved(void)
{
	struct ras_crash header = *region.header;
	u32 crc = header.crc;

	header.crc = 0;
	if (memcmp(header.magic, RAS_CRASH_MAGIC, sizeof(header.magic)) ||
	    header.version != RAS_CRASH_VERSION ||
	    ~crc32_le(~0, (u8 *)&header, sizeof(header)) != crc ||
	    header.length > region.size - sizeof(header))
		return 0;
	return header.length;
}

static int region_map(void)
{
	region.header = memremap(region.start, region.size, MEMREMAP_WB);
	if (!region.header)
		return -ENOMEM;
	region.saved = region_saved();
	if (region.saved)
		pr_notice("rastrace: a panic of the boot before left its trace: trace get --crash FILE saves it\n");
	if (kexec_crash_loaded())
		pr_notice("rastrace: kdump is loaded: a panic leaves its trace in the dump, and in crash_mem only with crash_kexec_post_notifiers\n");
	return 0;
}

static int region_open(void)
{
	phys_addr_t start, size;
	bool named;
	int ret = region_find(&start, &size, &named);

	if (ret && !crash_mem)
		return 0;
	if (!ret)
		ret = region_request(start, size, named);
	if (!ret)
		ret = region_map();
	if (!ret)
		return 0;
	pr_err("rastrace: crash_mem=%s can't be used (%d): it is SIZE@ADDRESS of memory kept from the kernel (memmap=SIZE$ADDRESS; whole pages, 68K to 1G), or the NAME of a reserve_mem=SIZE:ALIGN:NAME (Linux 6.12)\n",
	       crash_mem ? crash_mem : REGION_NAME, ret);
	region_drop();
	return ret;
}

int crash_init(void)
{
	int ret = region_open();

	if (ret)
		return ret;
	atomic_notifier_chain_register(&panic_notifier_list, &crash_notifier);
	return 0;
}

void crash_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &crash_notifier);
	region_drop();
}

/* ---- for the device ---- */

u32 crash_kib(void)
{
	return region.header ? region.size >> 10 : 0;
}

ssize_t crash_read(struct file *file, char __user *to, size_t size, loff_t *at)
{
	return simple_read_from_buffer(to, size, at, region.header + 1,
				       READ_ONCE(region.saved));
}

void crash_forget(void)
{
	WRITE_ONCE(region.saved, 0);
	if (region.header)
		region_clear();
}

/* ---- the anchor ---- */

static void anchor_fill(const struct adopted *buffer)
{
	for (int i = 0; i < RASTRACE_PARTS; i++) {
		const struct buffer_part *part = &buffer->parts[i];

		anchor.parts[i] = (struct ras_anchor_part){
			.base = (unsigned long)part->base,
			.stride = part->stride,
			.entries = part->entries,
		};
	}
	anchor.self = (unsigned long)&anchor;
	anchor.uts = (unsigned long)init_utsname();
	/* from init on: makedumpfile may leave out the kernel's data, in which
	 * the ring's first one lies, of kernels newer than it */
	anchor.tasks = (struct ras_anchor_tasks){
		.first = (unsigned long)init_pid_ns.child_reaper->group_leader,
		.next = offsetof(struct task_struct, tasks.next),
		.pid = offsetof(struct task_struct, tgid),
		.comm = offsetof(struct task_struct, comm),
		.started = offsetof(struct task_struct, start_boottime),
	};
}

void crash_anchor(const struct adopted *buffer)
{
	anchor.magic[0] = '\0';
	barrier();
	if (!buffer)
		return;
	anchor_fill(buffer);
	barrier();
	memcpy(anchor.magic, RAS_ANCHOR_MAGIC, sizeof(RAS_ANCHOR_MAGIC));
}
