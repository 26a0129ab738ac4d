// SPDX-License-Identifier: GPL-2.0
/* The module: its device, and the order in which its parts come up. */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include "rastrace.h"

#define PART_SHIFT	(36 - PAGE_SHIFT)	/* RASTRACE_OFFSET in pages */

/* The structure at `arg`, whose first word is its size; what the caller
 * doesn't have is 0. */
static int struct_read(void *to, size_t size, const void __user *arg,
		       u32 *given)
{
	if (get_user(*given, (const u32 __user *)arg))
		return -EFAULT;
	if (*given < sizeof(u32) || *given > PAGE_SIZE)
		return -EINVAL;
	return copy_struct_from_user(to, size, arg, *given);
}

static long device_adopt(const void __user *arg)
{
	struct rastrace_adopt adopt;
	u32 given;
	int ret = struct_read(&adopt, sizeof(adopt), arg, &given);

	if (ret)
		return ret;
	for (int i = 0; i < RASTRACE_PARTS; i++)
		if (given < offsetofend(struct rastrace_adopt, maps[i]))
			adopt.maps[i] = -1;
	return buffer_adopt(&adopt);
}

static void info_fill(struct rastrace_info *info)
{
	const struct adopted *buffer;

	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->layout = RAS_LAYOUT;
	info->crash = crash_kib();
	rcu_read_lock();
	buffer = buffer_get();
	if (buffer)
		info->adopted = buffer_orphaned(buffer) ? RASTRACE_ORPHANED :
							  RASTRACE_ADOPTED;
	for (int i = 0; buffer && i < RASTRACE_PARTS; i++) {
		const struct buffer_part *part = &buffer->parts[i];

		info->parts[i].bytes = buffer_part_bytes(part);
		info->parts[i].id = part->map ? part->map->id : 0;
	}
	rcu_read_unlock();
}

static long device_info(void __user *arg)
{
	struct rastrace_info info;
	u32 given;
	int ret = struct_read(&info, sizeof(info), arg, &given);

	if (ret)
		return ret;
	info_fill(&info);
	return copy_to_user(arg, &info, min_t(size_t, given, sizeof(info))) ?
		-EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int cmd,
			 unsigned long arg)
{
	void __user *user = (void __user *)arg;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(RASTRACE_INFO))
		return -ENOTTY;
	/* the size may be another version's */
	if (_IOC_NR(cmd) == _IOC_NR(RASTRACE_INFO))
		return device_info(user);
	if (!bpf_capable() || !perfmon_capable())
		return -EPERM;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(RASTRACE_ADOPT):
		return device_adopt(user);
	case _IOC_NR(RASTRACE_RELEASE):
		buffer_release();
		return 0;
	case _IOC_NR(RASTRACE_SWITCH):
		return buffer_switch();
	case _IOC_NR(RASTRACE_FORGET):
		crash_forget();
		return 0;
	default:
		return -ENOTTY;
	}
}

/* It is for reading, and stays so; remap_vmalloc_range() sees to it that it
 * doesn't grow. */
static void area_limit(struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
#else
	vma->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
#endif
}

/* The mapping refers to the pages, and not to the map: they stay as long as
 * they are mapped, also after a release. */
static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long number = vma->vm_pgoff >> PART_SHIFT;
	unsigned long first = vma->vm_pgoff & ((1UL << PART_SHIFT) - 1);
	struct buffer_part part;
	unsigned long pages;
	int ret;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (number >= RASTRACE_PARTS)
		return -EINVAL;
	ret = buffer_part_get(&part, array_index_nospec(number,
							RASTRACE_PARTS));
	if (ret)
		return ret;
	area_limit(vma);
	/* What remap_vmalloc_range() knows of the end is that of the map's
	 * memory, in which a part begins after the map itself. */
	pages = buffer_part_bytes(&part) >> PAGE_SHIFT;
	ret = first < pages && vma_pages(vma) <= pages - first ?
		remap_vmalloc_range(vma, part.base, first) : -EINVAL;
	buffer_part_put(&part);
	return ret;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = crash_read,
	.mmap = device_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rastrace",
	.fops = &device_operations,
	.mode = 0640,
};

static int __init rastrace_init(void)
{
	int ret;

	ret = crash_init();
	if (ret)
		return ret;
	ret = misc_register(&device);
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
	misc_deregister(&device);
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
