// SPDX-License-Identifier: GPL-2.0
/* Any bytes at the module's interface: what isn't a buffer is refused and says
 * why, a user who may only read can do nothing else, and after so many seconds (5)
 * of random calls from several threads a buffer is adopted and used as before.
 * Runs in a guest, also on the debug kernel. */
#include <pthread.h>
#include <stddef.h>
#include <time.h>
#include <sys/wait.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include "handover.h"

#define THREADS		4
#define FDS		16
#define CALLS_LEAST	25	/* of each, where a second isn't enough */
#define PAGE		4096

#ifdef MAP_32BIT	/* programs of 32 bits get there */
#define MAP_LOW		MAP_32BIT
#else
#define MAP_LOW		0
#endif

/* Refusals, one by one */

static int adopt_errno(int device, const void *arg)
{
	return ioctl(device, RASTRACE_ADOPT, arg) ? errno : 0;
}

/* The buffer, but for one part; closes `fd`. */
static int part_errno(const struct handover *h, int part, int fd)
{
	struct rastrace_adopt adopt = h->adopt;
	int code;

	adopt.maps[part] = fd;
	code = adopt_errno(h->device, &adopt);
	if (fd >= 0)
		close(fd);
	return code;
}

static int array(unsigned int bytes, unsigned int entries, unsigned int flags)
{
	return map_create(BPF_MAP_TYPE_ARRAY, "fuzz", bytes, entries, flags);
}

/* A part with entries that are longer, or with more of them, and nothing else
 * that is different. */
static int part_other(const struct handover *h, int part, unsigned int longer,
		      unsigned int more)
{
	struct bpf_map_info info = map_info(h->adopt.maps[part]);

	return array(info.value_size + longer, info.max_entries + more,
		     BPF_F_MMAPABLE);
}

/* The control map, cut to so many bytes, in so many entries */
static int control_copy(const struct handover *h, unsigned int bytes,
			unsigned int entries)
{
	int fd = array(bytes, entries, BPF_F_MMAPABLE);
	void *view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);

	if (view == MAP_FAILED)
		tap_bail("the copy of the control map: %s", strerror(errno));
	memcpy(view, h->views[RASTRACE_CONTROL], bytes);
	munmap(view, bytes);
	return fd;
}

/* A map that says what its values are: 8 times u64. */
static int array_typed(void)
{
	struct {
		struct btf_header header;
		struct btf_type key;
		__u32 key_int;
		struct btf_type word;
		__u32 word_int;
		struct btf_type value;
		struct btf_array array;
		char names[8];
	} btf = {
		.header = {
			.magic = BTF_MAGIC, .version = BTF_VERSION,
			.hdr_len = sizeof(btf.header),
			.type_len = offsetof(__typeof__(btf), names) -
				    sizeof(btf.header),
			.str_off = offsetof(__typeof__(btf), names) -
				   sizeof(btf.header),
			.str_len = sizeof(btf.names),
		},
		.key = {
			.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4,
		},
		.key_int = 32,
		.word = {
			.name_off = 3, .info = BTF_KIND_INT << 24, .size = 8,
		},
		.word_int = 64,
		.value = { .info = BTF_KIND_ARRAY << 24 },
		.array = { .type = 2, .index_type = 1, .nelems = 8 },
		.names = "\0k\0w",
	};
	union bpf_attr load = {
		.btf = (uintptr_t)&btf, .btf_size = sizeof(btf),
	};
	union bpf_attr map = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		.value_size = sizeof(struct ras_trigger), .max_entries = 1,
		.map_flags = BPF_F_MMAPABLE, .btf_key_type_id = 1,
		.btf_value_type_id = 3,
	};
	int fd;

	map.btf_fd = bpf_call(BPF_BTF_LOAD, &load);
	fd = bpf_call(BPF_MAP_CREATE, &map);
	if (fd < 0)
		tap_bail("no typed map: %s", strerror(errno));
	close(map.btf_fd);
	return fd;
}

static int hash(unsigned int key)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_HASH, .key_size = key, .value_size = 1,
		.max_entries = 64,
	};

	return bpf_call(BPF_MAP_CREATE, &attr);
}

static void test_parts(const struct handover *h)
{
	const unsigned int trigger = sizeof(struct ras_trigger);

	for (int part = 0; part < RASTRACE_PIDS; part++)
		tap_is(part_errno(h, part, -1), EINVAL, "without part %d",
		       part);
	tap_is(part_errno(h, RASTRACE_CONTROL,
			  control_copy(h, sizeof(struct ras_control) - 8, 1)),
	       EINVAL, "the control map cut short");
	tap_is(part_errno(h, RASTRACE_CONTROL,
			  control_copy(h, sizeof(struct ras_control), 2)),
	       EINVAL, "two of them");
	for (int part = RASTRACE_BUFFER; part < RASTRACE_PIDS; part++) {
		tap_is(part_errno(h, part, part_other(h, part, 8, 0)), EINVAL,
		       "part %d with longer entries", part);
		tap_is(part_errno(h, part, part_other(h, part, 0, 1)), EINVAL,
		       "part %d with more of them", part);
	}
	tap_is(part_errno(h, RASTRACE_TRIGGER, 9999), EBADF, "no descriptor");
	tap_is(part_errno(h, RASTRACE_TRIGGER, open("/dev/null", O_RDWR)),
	       EINVAL, "no map");
	tap_is(part_errno(h, RASTRACE_TRIGGER, array(trigger, 1, 0)), EINVAL,
	       "an array that can't be mapped");
	tap_is(part_errno(h, RASTRACE_TRIGGER,
			  array(trigger, 1,
				BPF_F_MMAPABLE | BPF_F_RDONLY_PROG)), EINVAL,
	       "one that programs only read");
	tap_is(part_errno(h, RASTRACE_TRIGGER,
			  map_create(BPF_MAP_TYPE_HASH, "fuzz", trigger, 1, 0)),
	       EINVAL, "a hash");
	tap_is(part_errno(h, RASTRACE_TRIGGER, array_typed()), EINVAL,
	       "one whose values have types");
	tap_is(part_errno(h, RASTRACE_PIDS, array(1, 64, BPF_F_MMAPABLE)),
	       EINVAL, "processes in an array");
	tap_is(part_errno(h, RASTRACE_PIDS,
			  map_create(BPF_MAP_TYPE_LRU_HASH, "fuzz", 1, 64, 0)),
	       EINVAL, "or one that forgets");
	tap_is(part_errno(h, RASTRACE_PIDS, hash(8)), EINVAL,
	       "or by something longer");
	tap_is(part_errno(h, RASTRACE_PIDS, hash(4)), 0, "by themselves");
	tap_is(ioctl(h->device, RASTRACE_RELEASE), 0, "released");
}

/* Slices of so many bytes, and a map that has them */
static int slices_errno(struct handover *h, int part, unsigned int bytes)
{
	struct ras_control *control = handover_control(h), kept = *control;
	unsigned int entries = h->cpus;
	int code;

	if (part == RASTRACE_NEST) {
		entries *= RAS_NEST_LEVELS;
		control->nest_bytes = bytes;
	} else {
		control->slice_bytes = bytes;
	}
	bytes += RAS_SLICE_HEADER + RAS_RECORD_MAX;
	code = part_errno(h, part, array(bytes, entries, BPF_F_MMAPABLE));
	*control = kept;
	return code;
}

static void test_slices(struct handover *h)
{
	tap_is(slices_errno(h, RASTRACE_BUFFER, RAS_SLICE_MIN), 0,
	       "the smallest slices");
	tap_is(handover_release(h), 0, "released");
	tap_is(slices_errno(h, RASTRACE_BUFFER, RAS_SLICE_MIN / 2), EINVAL,
	       "not smaller ones");
	tap_is(slices_errno(h, RASTRACE_BUFFER, 3 * RAS_SLICE_MIN), EINVAL,
	       "nor of any size");
	tap_is(slices_errno(h, RASTRACE_NEST, RAS_NEST_BYTES / 2), EINVAL,
	       "nor other ones to nest");
}

/* The control map is user space's: any value of it. */
static void test_control(struct handover *h)
{
	struct ras_control *control = handover_control(h), kept = *control;

	control->magic++;
	tap_is(adopt_errno(h->device, &h->adopt), EINVAL, "no magic");
	*control = kept;
	control->layout++;
	tap_is(adopt_errno(h->device, &h->adopt), EPROTO, "another layout");
	*control = kept;
	for (int bit = 0; bit < 64; bit++) {
		control->slice_bytes = kept.slice_bytes ^ 1ULL << bit;
		if (adopt_errno(h->device, &h->adopt) != EINVAL)
			tap_bail("slices of %llu bytes", control->slice_bytes);
		*control = kept;
		control->nest_bytes ^= 1ULL << bit;
		if (adopt_errno(h->device, &h->adopt) != EINVAL)
			tap_bail("nesting slices of %llu", control->nest_bytes);
		*control = kept;
	}
	for (int bit = 0; bit < 32; bit++) {
		control->cpus = kept.cpus ^ 1u << bit;
		if (adopt_errno(h->device, &h->adopt) != EINVAL)
			tap_bail("%u CPUs", control->cpus);
		*control = kept;
		control->nest_levels ^= 1u << bit;
		if (adopt_errno(h->device, &h->adopt) != EINVAL)
			tap_bail("%u levels", control->nest_levels);
		*control = kept;
	}
	tap_ok(true, "no other geometry");
}

/* All of it fits together, but the machine has other processors. */
static void test_processors(unsigned int cpus)
{
	struct handover other;

	handover_make_for(&other, cpus + 1);
	tap_is(handover_adopt(&other), 0, "for a processor more than there is");
	tap_is(handover_release(&other), 0, "released");
	handover_drop(&other);
	close(other.device);
	if (cpus == 1)
		return;
	handover_make_for(&other, cpus - 1);
	tap_is(handover_adopt(&other), EINVAL, "for one less");
	handover_drop(&other);
	close(other.device);
}

static int info_errno(int device, size_t size, struct rastrace_info *info)
{
	info->size = size;
	return ioctl(device, RASTRACE_INFO, info) ? errno : 0;
}

/* Structures as older and newer programs have them. */
static void test_sizes(struct handover *h)
{
	union {
		struct rastrace_info info;
		struct rastrace_adopt adopt;
		uint8_t bytes[2 * PAGE];
	} u = { .bytes = { 0 } };

	tap_is(info_errno(h->device, 0, &u.info), EINVAL, "no size");
	tap_is(info_errno(h->device, PAGE + 1, &u.info), EINVAL, "too much");
	u.info.adopted = ~0u;
	tap_is(info_errno(h->device, 8, &u.info), 0, "an older program's");
	tap_ok(u.info.layout == RAS_LAYOUT && u.info.size == sizeof(u.info) &&
	       u.info.adopted == ~0u, "gets what it knows");
	memset(u.bytes, 0, sizeof(u.bytes));
	tap_is(info_errno(h->device, PAGE, &u.info), 0, "a newer program's");
	u.bytes[PAGE - 1] = 1;
	tap_is(info_errno(h->device, PAGE, &u.info), E2BIG,
	       "and one that asks for more");
	memset(u.bytes, 0, sizeof(u.bytes));
	u.adopt = h->adopt;
	u.adopt.flags = ~RASTRACE_ADOPT_AGAIN;
	tap_is(adopt_errno(h->device, &u.adopt), EINVAL, "unknown flags");
	u.adopt = h->adopt;
	u.adopt.layout++;
	tap_is(adopt_errno(h->device, &u.adopt), EPROTO, "another layout");
	u.adopt = h->adopt;
	u.adopt.size = offsetof(struct rastrace_adopt, maps[RASTRACE_STATE]);
	tap_is(adopt_errno(h->device, &u.adopt), 0, "without static parts");
	tap_is(handover_release(h), 0, "released");
	tap_is(adopt_errno(h->device, NULL), EFAULT, "no structure");
	tap_is(adopt_errno(h->device, (void *)~0xfffUL), EFAULT,
	       "one in the kernel");
	tap_is(ioctl(h->device, _IO('r', 0x65)) ? errno : 0, ENOTTY,
	       "no such call");
	tap_is(ioctl(h->device, _IO('s', 0x60)) ? errno : 0, ENOTTY,
	       "nor of that type");
}

/* Somebody who was let open it, and has no capability. */
static int stranger(struct handover *h)
{
	struct rastrace_info info = { .size = sizeof(info) };
	const unsigned long calls[] = {
		RASTRACE_ADOPT, RASTRACE_RELEASE, RASTRACE_SWITCH,
		RASTRACE_FORGET,
	};

	if (setgid(65534) || setuid(65534))
		return 1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!ioctl(h->device, calls[i], &h->adopt) || errno != EPERM)
			return 2;
	if (ioctl(h->device, RASTRACE_INFO, &info))
		return 3;
	return open("/dev/rastrace", O_RDONLY) >= 0 ? 4 : 0;
}

/* Somebody who has one capability and no more */
static int half(struct handover *h, int capability)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };

	data[capability / 32].effective = 1u << capability % 32;
	data[capability / 32].permitted = 1u << capability % 32;
	if (syscall(SYS_capset, &header, data))
		return 1;
	return ioctl(h->device, RASTRACE_SWITCH) && errno == EPERM ? 0 : 2;
}

static int child_status(struct handover *h, int capability)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(capability < 0 ? stranger(h) : half(h, capability));
	waitpid(child, &status, 0);
	return status;
}

static void test_rights(struct handover *h)
{
	tap_is(child_status(h, -1), 0,
	       "without capabilities: nothing but the description");
	tap_is(child_status(h, CAP_BPF), 0, "CAP_BPF is not enough");
	tap_is(child_status(h, CAP_PERFMON), 0, "nor is CAP_PERFMON");
	tap_is(ioctl(h->device, RASTRACE_SWITCH) ? errno : 0, ENOENT,
	       "with both: there is nothing to be switched");
}

/* Any calls */

#define REQUESTS	5	/* from RASTRACE_ADOPT on */
#define CALLS_TELLING	500	/* of fewer some request may be missing */

struct fuzz {
	struct handover *h;
	uint64_t random;
	int fds[FDS];
	unsigned long calls;
	unsigned long done[REQUESTS], refused[REQUESTS];
};

static time_t end;

static uint64_t random_next(struct fuzz *f)
{
	f->random ^= f->random << 13;
	f->random ^= f->random >> 7;
	f->random ^= f->random << 17;
	return f->random;
}

#if defined(__x86_64__)
/* As a program of 32 bits calls it; in a kernel that has no such programs it is
 * the end of this one. */
static long ioctl_narrow(int fd, unsigned long call, const void *arg)
{
	long ret;

	asm volatile("int $0x80" : "=a" (ret)
		     : "0" (54L), "b" ((long)fd), "c" (call), "d" (arg)
		     : "memory", "r8", "r9", "r10", "r11");
	return ret;
}
#else
static long ioctl_narrow(int fd, unsigned long call, const void *arg)
{
	return ioctl(fd, call, arg);
}
#endif

static bool narrow_possible;

static void narrow_try(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(ioctl_narrow(-1, 0, NULL) == 0);
	narrow_possible = waitpid(child, &status, 0) == child && !status;
	tap_diag("%s programs of 32 bits", narrow_possible ? "with" : "without");
}

static void fuzz_call(struct fuzz *f, unsigned long call, const void *arg)
{
	unsigned long number = _IOC_NR(call) - _IOC_NR(RASTRACE_ADOPT);
	bool narrow = narrow_possible && random_next(f) % 4 == 0 &&
		      (uintptr_t)arg < 1ULL << 32;
	long ret = narrow ? ioctl_narrow(f->h->device, call, arg) :
			    ioctl(f->h->device, call, arg);

	if (_IOC_TYPE(call) != _IOC_TYPE(RASTRACE_ADOPT) || number >= REQUESTS)
		return;
	if (ret)
		f->refused[number]++;
	else
		f->done[number]++;
}

/* An address: one that is right, one whose page ends there, or any. */
static void *random_place(struct fuzz *f, uint8_t *page)
{
	switch (random_next(f) % 8) {
	case 0:
		return (void *)random_next(f);
	case 1:
		return page + PAGE - random_next(f) % 256;
	default:
		return page;
	}
}

/* The control map as it was made: fuzz_parts() leaves nothing whole. */
static struct ras_control control_made;

static void fuzz_adopt(struct fuzz *f, uint8_t *page)
{
	struct rastrace_adopt *adopt = (void *)page;

	if (random_next(f) % 4)
		*handover_control(f->h) = control_made;
	*adopt = f->h->adopt;
	for (uint64_t n = random_next(f) % 4; n--;)
		adopt->maps[random_next(f) % RASTRACE_PARTS] =
			f->fds[random_next(f) % FDS];
	if (random_next(f) % 8 == 0)
		adopt->maps[RASTRACE_PIDS] = f->h->pids;
	adopt->flags = random_next(f) % 2;
	if (random_next(f) % 4 == 0)
		page[random_next(f) % sizeof(*adopt)] = random_next(f);
	/* as an older program has it, or a newer one */
	if (random_next(f) % 4 == 0)
		adopt->size = random_next(f) % (2 * sizeof(*adopt));
	fuzz_call(f, RASTRACE_ADOPT, random_place(f, page));
}

static void fuzz_ioctl(struct fuzz *f, uint8_t *page)
{
	unsigned long call = random_next(f);

	if (random_next(f) % 2)
		call = _IOC(call % 4, 'r', 0x60 + random_next(f) % 5,
			    random_next(f) % PAGE);
	for (size_t i = 0; i < 64; i++)
		page[i] = random_next(f);
	if (random_next(f) % 2)
		*(uint32_t *)page = random_next(f) %
			(random_next(f) % 2 ? 2 * PAGE :
			 2 * sizeof(struct rastrace_info));
	fuzz_call(f, call, random_place(f, page));
}

/* Reads where the mapping lets it: one without rights can be had, too. */
static void mapping_read(struct fuzz *f, const volatile uint8_t *at,
			 size_t size, int prot)
{
	uint8_t sum = 0;

	for (size_t i = 0; prot & PROT_READ && i < size; i += PAGE)
		sum += at[i];
	f->random += sum;
}

static void fuzz_mmap(struct fuzz *f)
{
	size_t size = (random_next(f) % 1024 + 1) * PAGE;
	off_t offset = RASTRACE_OFFSET(random_next(f) % (RASTRACE_PARTS + 2));
	int prot = random_next(f) % 8 ? PROT_READ : (int)(random_next(f) % 8);
	void *at;

	if (random_next(f) % 4 == 0)
		offset += (random_next(f) % 2048) * PAGE;
	at = mmap(NULL, size, prot, random_next(f) % 2 ? MAP_SHARED :
		  MAP_PRIVATE, f->h->device, offset);
	if (at == MAP_FAILED)
		return;
	fuzz_call(f, RASTRACE_RELEASE, NULL);
	mapping_read(f, at, size, prot);
	mprotect(at, PAGE, PROT_READ | PROT_WRITE);
	munmap(at, size);
}

static void fuzz_file(struct fuzz *f, uint8_t *page)
{
	int device = open("/dev/rastrace", random_next(f) % 3);

	lseek(device, random_next(f), random_next(f) % 3);
	if (read(device, random_place(f, page), random_next(f) % PAGE) < 0 ||
	    write(device, random_place(f, page), random_next(f) % PAGE) < 0)
		fcntl(device, F_GETFL);
	close(device);
}

/* What user space may write, while the module reads it. */
static void fuzz_parts(struct fuzz *f)
{
	int part = random_next(f) % RASTRACE_PIDS;
	uint64_t *view = f->h->views[part];

	if (part == RASTRACE_CONTROL && random_next(f) % 8)
		return;
	view[random_next(f) % (random_next(f) % 4 ? 8 :
			       f->h->sizes[part] / 8)] = random_next(f);
}

static void *fuzz_run(void *arg)
{
	struct fuzz *f = arg;
	/* after the page is nothing, and stays so */
	uint8_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOW, -1, 0);

	mprotect(page + PAGE, PAGE, PROT_NONE);
	for (; time(NULL) < end || f->calls < CALLS_LEAST; f->calls++) {
		switch (random_next(f) % 8) {
		case 0:
		case 1:
			fuzz_adopt(f, page);
			break;
		case 2:
			fuzz_ioctl(f, page);
			break;
		case 3:
			fuzz_mmap(f);
			break;
		case 4:
			fuzz_file(f, page);
			break;
		case 5:
			fuzz_call(f, RASTRACE_SWITCH, NULL);
			*(uint32_t *)page = random_next(f) %
					    sizeof(struct rastrace_info);
			fuzz_call(f, RASTRACE_INFO, random_place(f, page));
			break;
		default:
			fuzz_parts(f);
			storm_write(random_next(f) % 256, random_next(f) % 4,
				    random_next(f) % 600);
		}
	}
	return NULL;
}

static void fuzz_start(struct fuzz *f, struct handover *h, unsigned int number)
{
	f->h = h;
	f->random = 0x9e3779b97f4a7c15ULL * (number + 1);
	for (int i = 0; i < FDS; i++)
		f->fds[i] = i < RASTRACE_PIDS ? h->adopt.maps[i] : i - 12;
	f->fds[FDS - 1] = h->device;
	f->fds[FDS - 2] = h->pids;
}

/* All requests were made, and of those that can be refused some were. */
static void requests_check(const struct fuzz *fuzz)
{
	static const struct {
		const char *name;
		bool refused;
	} requests[REQUESTS] = {
		{ "adopt", true }, { "release" }, { "switch", true },
		{ "info", true }, { "forget" },
	};

	for (int i = 0; i < REQUESTS; i++) {
		unsigned long done = 0, refused = 0;

		for (int k = 0; k < THREADS; k++) {
			done += fuzz[k].done[i];
			refused += fuzz[k].refused[i];
		}
		tap_ok(done && (refused || !requests[i].refused),
		       "%s: %lu done, %lu refused", requests[i].name, done,
		       refused);
	}
}

static void test_random(struct handover *h, unsigned int seconds)
{
	struct fuzz fuzz[THREADS] = { { 0 } };
	pthread_t threads[THREADS];
	unsigned long calls = 0;

	narrow_try();
	control_made = *handover_control(h);
	end = time(NULL) + seconds;
	for (unsigned int i = 0; i < THREADS; i++) {
		fuzz_start(&fuzz[i], h, i);
		if (pthread_create(&threads[i], NULL, fuzz_run, &fuzz[i]))
			tap_bail("no thread");
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		calls += fuzz[i].calls;
	}
	tap_ok(calls >= THREADS * CALLS_LEAST, "%lu random calls", calls);
	if (calls < CALLS_TELLING)
		tap_skip("all requests", "too few calls");
	else
		requests_check(fuzz);
	handover_release(h);
}

int main(int argc, char **argv)
{
	struct handover h;

	handover_make(&h);
	test_sizes(&h);
	test_parts(&h);
	test_slices(&h);
	test_control(&h);
	test_processors(h.cpus);
	test_rights(&h);
	test_random(&h, argc > 1 ? atoi(argv[1]) : 5);
	handover_make(&h);
	tap_is(handover_adopt(&h), 0, "a buffer is adopted as before");
	handover_switch(&h, 9, true);
	tap_is(storm_write(9, 1, 8), 0, "and used");
	tap_is(recorded_sum(&h, 9), 1, "and counted");
	tap_is(handover_release(&h), 0, "released");
	return tap_done();
}
