/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Static tracepoints for kernel code:
 *
 *	rastrace_write(MAJOR, minor, &data, sizeof(data));
 *
 * writes a record that `trace on MAJOR` switches on and a TSF with @STATIC
 * formats. A constant major that is off costs one nop. Callable in any context,
 * NMI included; never sleeps and never waits: what finds the CPU's slices busy
 * is counted and lost.
 */
#ifndef RASTRACE_KERNEL_H
#define RASTRACE_KERNEL_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/types.h>
#include <rastrace/buffer.h>

/* by major; a major is on while its key is enabled */
extern struct static_key_false rastrace_majors[RAS_STATIC_MAJORS];

/*
 * For majors that are on. 0, or why there is no record:
 *
 *	-ENOENT		no buffer, or the major is off; or this is called where
 *			RCU isn't watching (the idle loop's innermost part)
 *	-EAGAIN		suspended, or stopped by a trigger
 *	-ESRCH		the process isn't one of those asked for
 *	-ENOBUFS	overrun: all slices of this CPU are busy
 *	-EMSGSIZE	written, but cut to RAS_STATIC_DATA_MAX bytes
 *	-EINVAL		there is no such minor
 *
 * In an interrupt the process is the interrupted one.
 */
int rastrace_record(unsigned int major, unsigned int minor, const void *data,
		    size_t length);

static inline bool rastrace_major_enabled(unsigned int major)
{
	return major < RAS_STATIC_MAJORS &&
	       static_key_enabled(&rastrace_majors[major]);
}

static inline int rastrace_major_write(unsigned int major, unsigned int minor,
				       const void *data, size_t length)
{
	return rastrace_major_enabled(major) ?
		rastrace_record(major, minor, data, length) : -ENOENT;
}

/* The key of a constant major; the compiler looks at the others, too. */
#define RASTRACE_CONSTANT(major)					\
	__builtin_choose_expr(__builtin_constant_p(major), (major), 0)
#define RASTRACE_KEY(major)						\
	(&rastrace_majors[RASTRACE_CONSTANT(major) +			\
	 BUILD_BUG_ON_ZERO((unsigned int)RASTRACE_CONSTANT(major) >=	\
			   RAS_STATIC_MAJORS)])

/* Is the major on? For what is only worth preparing then. */
#define rastrace_enabled(major)						\
	__builtin_choose_expr(__builtin_constant_p(major),		\
		static_branch_unlikely(RASTRACE_KEY(major)),		\
		rastrace_major_enabled(major))

/* As a macro, so that a constant major's key is known where it is called; the
 * other arguments are evaluated only when it is on, then. */
#define rastrace_write(major, minor, data, length)			\
	__builtin_choose_expr(__builtin_constant_p(major),		\
		static_branch_unlikely(RASTRACE_KEY(major)) ?		\
			rastrace_record(RASTRACE_CONSTANT(major),	\
					minor, data, length) :		\
			-ENOENT,					\
		rastrace_major_write(major, minor, data, length))

#endif
