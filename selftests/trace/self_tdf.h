/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TDF of the running test program, made by hand, and `trace` as a user calls
 * it. Tests that use it need no trcust.
 */
#ifndef SELFTESTS_TRACE_SELF_TDF_H
#define SELFTESTS_TRACE_SELF_TDF_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "machine.h"
#include "tap.h"
#include "lib/hash.h"
#include "lib/identity.h"

#define SELF_MAJOR	0xc5
#define SELF_POINTS	16
#define SELF_SITES	32
#define SELF_STMTS	64

struct self_tdf {
	struct tdf_header header;
	struct tdf_module module;
	struct tdf_point points[SELF_POINTS];
	struct tdf_site sites[SELF_SITES];
	struct tdf_stmt stmts[SELF_STMTS];
	uint8_t rpn[1024];
	char strings[4200];
};

static char self_run[64], self_path[80], self_bin[4096];

struct self_place {
	uintptr_t at;
	uint64_t address, offset;
};

static inline int self_place_match(struct dl_phdr_info *info, size_t size,
				   void *context)
{
	struct self_place *place = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || place->at < start ||
		    place->at >= start + ph->p_filesz)
			continue;
		place->address = place->at - info->dlpi_addr;
		place->offset = place->at - start + ph->p_offset;
		return 1;
	}
	return 0;
}

/* Where this program's file has a function or variable. */
static inline struct self_place self_place(const void *what)
{
	struct self_place place = { .at = (uintptr_t)what };

	if (!dl_iterate_phdr(self_place_match, &place))
		tap_bail("not found in its own program");
	return place;
}

static inline struct tdf_table self_table(const struct self_tdf *tdf,
					  const void *at, uint32_t count)
{
	return (struct tdf_table){ (char *)at - (char *)tdf, count };
}

/* Without tracepoints. */
static inline void self_begin(struct self_tdf *tdf)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct identity id;

	memset(tdf, 0, sizeof(*tdf));
	if (fd < 0 || identity_read(fd, "self", &id, NULL) ||
	    readlink("/proc/self/exe", tdf->strings + 1, 4096) < 0)
		tap_bail("cannot identify this program");
	close(fd);
	tdf->module = (struct tdf_module){
		.path = 1, .name = 1, .machine = MACHINE_ELF,
		.elf_class = ELFCLASS64, .kind = TDF_MODULE_USER,
		.id_kind = id.kind, .id_length = id.length,
	};
	memcpy(tdf->module.id, id.id, sizeof(id.id));
	tdf->header = (struct tdf_header){
		.magic = TDF_MAGIC, .version = TDF_VERSION,
		.header_size = sizeof(tdf->header),
		.file_size = sizeof(*tdf), .major = SELF_MAJOR, .maxdata = 512,
		.modules = self_table(tdf, &tdf->module, 1),
		.points = self_table(tdf, tdf->points, 0),
		.sites = self_table(tdf, tdf->sites, 0),
		.stmts = self_table(tdf, tdf->stmts, 0),
		.rpn = self_table(tdf, tdf->rpn, 0),
		.strings = self_table(tdf, tdf->strings, 4200),
	};
}

/* Minors count from 1. */
static inline struct tdf_point *self_point(struct self_tdf *tdf)
{
	uint32_t index = tdf->header.points.count++;

	tdf->points[index] = (struct tdf_point){
		.minor = index + 1, .hash = index + 1,
		.first_site = tdf->header.sites.count,
	};
	return &tdf->points[index];
}

/* Another site of the last point, where a function begins with an instruction
 * of `length` bytes. */
static inline struct tdf_site *self_site(struct self_tdf *tdf,
					 const void *function, int length)
{
	struct tdf_site *site = &tdf->sites[tdf->header.sites.count++];
	struct self_place place = self_place(function);
	int fd;

	tdf->points[tdf->header.points.count - 1].sites++;
	*site = (struct tdf_site){
		.offset = place.offset, .address = place.address,
		.nominal = place.address, .insn_length = length,
		.cost = TDF_COST_UNKNOWN,
		.first_stmt = tdf->header.stmts.count,
	};
	/* not from memory: an earlier test's probe may still be there */
	fd = open("/proc/self/exe", O_RDONLY);
	if (pread(fd, site->insn, length, place.offset) != length)
		tap_bail("cannot read its own program");
	close(fd);
	return site;
}

static inline uint32_t self_rpn(struct self_tdf *tdf, const uint8_t *rpn,
				size_t size)
{
	uint32_t at = tdf->header.rpn.count;

	if (size)
		memcpy(tdf->rpn + at, rpn, size);
	tdf->header.rpn.count += size;
	return at;
}

/* Another statement of the last site; rpn may be NULL. */
static inline struct tdf_stmt *self_stmt(struct self_tdf *tdf,
					 struct tdf_stmt stmt,
					 const uint8_t *rpn, size_t size)
{
	struct tdf_stmt *copy = &tdf->stmts[tdf->header.stmts.count++];

	tdf->sites[tdf->header.sites.count - 1].stmts++;
	*copy = stmt;
	copy->rpn = self_rpn(tdf, rpn, size);
	copy->rpn_length = size;
	return copy;
}

#define SELF_RPN(...)	(uint8_t[]){ __VA_ARGS__ }, \
			sizeof((uint8_t[]){ __VA_ARGS__ })

static inline void self_write(struct self_tdf *tdf)
{
	int fd = open(self_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	tdf->header.crc = 0;
	tdf->header.crc = hash_crc32(0, tdf, sizeof(*tdf));
	if (write(fd, tdf, sizeof(*tdf)) != sizeof(*tdf))
		tap_bail("cannot write '%s'", self_path);
	close(fd);
}

/* `trace ARGUMENTS`: its exit status. */
static inline int self_trace(const char *arguments)
{
	char line[8192];
	int status;

	snprintf(line, sizeof(line), "RASTRACE_RUN=%s %s/trace %s", self_run,
		 self_bin, arguments);
	status = system(line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A run directory of this test's own. */
static inline void self_open(void)
{
	const char *top = getenv("TOP");

	if (geteuid())
		tap_skip_all("needs root");
	if (!top)
		tap_skip_all("needs TOP, the tree");
	snprintf(self_bin, sizeof(self_bin), "%s/build/bin", top);
	snprintf(self_run, sizeof(self_run), "/tmp/rastrace.%d", getpid());
	snprintf(self_path, sizeof(self_path), "%s.tdf", self_run);
}

static inline void self_close(void)
{
	self_trace("off --all");
	umount2(self_run, MNT_DETACH);
	rmdir(self_run);
	strcat(self_run, ".lock");
	unlink(self_run);
	unlink(self_path);
}

/* Are there uprobe_multi links? The TDF has been written. */
static inline bool self_has_multi(void)
{
	char line[256];
	bool has;

	snprintf(line, sizeof(line), "on --max-cpu=off --attach multi %s 2>/dev/null",
		 self_path);
	has = !self_trace(line);
	self_trace("off --all");
	return has;
}

#endif
