// SPDX-License-Identifier: GPL-2.0
#include "identity.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <rastrace/tdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "hash.h"

static void identity_set(struct identity *id, uint8_t kind, const void *bytes,
			 size_t length)
{
	if (length > sizeof(id->id))
		length = sizeof(id->id);
	memset(id, 0, sizeof(*id));
	id->kind = kind;
	id->length = length;
	memcpy(id->id, bytes, length);
}

void identity_set_hash(struct identity *id, uint64_t hash)
{
	uint8_t bytes[sizeof(hash)];

	for (size_t i = 0; i < sizeof(hash); i++)
		bytes[i] = hash >> (56 - 8 * i);
	identity_set(id, TDF_ID_CONTENT, bytes, sizeof(bytes));
}

static bool identity_find_note(Elf_Data *data, struct identity *id)
{
	const uint8_t *bytes = data ? data->d_buf : NULL;
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (bytes && (at = gelf_getnote(data, at, &note, &name, &desc))) {
		if (note.n_type != NT_GNU_BUILD_ID || !note.n_descsz ||
		    note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		identity_set(id, TDF_ID_BUILD, bytes + desc, note.n_descsz);
		return true;
	}
	return false;
}

/* No more than `left` bytes are read in all, however parts overlap. */
static bool identity_take(uint64_t *left, uint64_t size)
{
	if (size > *left)
		return false;
	*left -= size;
	return true;
}

/* Segments are there in stripped files too, sections in relocatable ones; each
 * kind covers the file once at most. */
static bool identity_find_build_id(Elf *elf, uint64_t left,
				   struct identity *id)
{
	Elf_Scn *scn = NULL;
	size_t count;
	GElf_Phdr ph;
	GElf_Shdr sh;

	if (elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_NOTE &&
		    identity_take(&left, ph.p_filesz) &&
		    identity_find_note(
			    elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz,
						 ph.p_align == 8 ? ELF_T_NHDR8
								 : ELF_T_NHDR),
			    id))
			return true;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE &&
		    identity_take(&left, sh.sh_size) &&
		    identity_find_note(elf_getdata(scn, NULL), id))
			return true;
	return false;
}

/* A hash of the executable segments' bytes in the file. */
static int identity_hash_code(Elf *elf, int fd, const char *path,
			      uint64_t left, struct identity *id,
			      struct error *err)
{
	uint64_t hash = HASH_FNV_START;
	uint8_t buffer[65536];
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		if (!identity_take(&left, ph.p_filesz))
			return error_set(err, -EINVAL, "cannot read '%s': its segments overlap or it is truncated",
					 path);
		while (ph.p_filesz) {
			size_t most = ph.p_filesz < sizeof(buffer) ?
					      ph.p_filesz : sizeof(buffer);
			ssize_t n = pread(fd, buffer, most, ph.p_offset);

			if (n <= 0)
				return error_set(err, n ? -errno : -EINVAL,
						 "cannot read '%s': %s", path,
						 n ? strerror(errno) :
						 "the file is truncated");
			hash = hash_fnv(hash, buffer, n);
			ph.p_offset += n;
			ph.p_filesz -= n;
		}
	}
	identity_set_hash(id, hash);
	return 0;
}

int identity_read(int fd, const char *path, struct identity *id,
		  struct error *err)
{
	struct stat st;
	int code = 0;
	Elf *elf;

	if (fstat(fd, &st))
		return error_set(err, -errno, "cannot read '%s': %s", path,
				 strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		return error_set(err, -EINVAL, "cannot read '%s': %s", path,
				 elf_errmsg(-1));
	if (elf_kind(elf) != ELF_K_ELF)
		code = error_set(err, -EINVAL, "'%s' is not an ELF file", path);
	else if (!identity_find_build_id(elf, 2 * (uint64_t)st.st_size, id))
		code = identity_hash_code(elf, fd, path, st.st_size, id, err);
	elf_end(elf);
	return code;
}

void identity_read_build_id(int fd, struct identity *id)
{
	struct stat st;
	Elf *elf;

	memset(id, 0, sizeof(*id));
	if (fstat(fd, &st))
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		identity_find_build_id(elf, 2 * (uint64_t)st.st_size, id);
	elf_end(elf);
}

void identity_read_notes(const char *path, struct identity *id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t bytes[4096];
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
	size_t at = 0;

	if (fd >= 0)
		close(fd);
	memset(id, 0, sizeof(*id));
	while (n > 0 && sizeof(Elf64_Nhdr) <= n - at) {
		Elf64_Nhdr note;
		size_t name, next;

		memcpy(&note, bytes + at, sizeof(note));
		name = at + sizeof(note);
		next = name + (((size_t)note.n_namesz + 3) & ~(size_t)3) +
		       (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (next > (size_t)n)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz &&
		    note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			identity_set(id, TDF_ID_BUILD,
				     bytes + name + sizeof(ELF_NOTE_GNU),
				     note.n_descsz);
			return;
		}
		at = next;
	}
}

void identity_print(uint8_t kind, const uint8_t *id, uint8_t length, char *text)
{
	if (kind == TDF_ID_NONE || !length) {
		strcpy(text, "-");
		return;
	}
	for (uint8_t i = 0; i < length && i < 30; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
}

#define SECOND	1000000000LL

static uint64_t time_ns(const struct timespec *time)
{
	return time->tv_sec * SECOND + time->tv_nsec;
}

void module_file_note(struct ras_session *entry, const struct stat *st)
{
	entry->device = st->st_dev;
	entry->inode = st->st_ino;
	entry->bytes = st->st_size;
	entry->mtime = time_ns(&st->st_mtim);
	entry->ctime = time_ns(&st->st_ctim);
}

/* A new st_ctim may be that of a change of the file's mode or names, and a writer
 * may set st_mtim back: what is in the file decides. */
static bool identity_differs(const struct ras_session *entry)
{
	struct identity id = { 0 };
	int fd = open(entry->module, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool differs;

	if (fd < 0)
		return false;
	differs = identity_read(fd, entry->module, &id, NULL) ||
		  id.kind != entry->id_kind || id.length != entry->id_length ||
		  memcmp(id.id, entry->id, sizeof(id.id));
	close(fd);
	return differs;
}

/* Wall clock to CLOCK_BOOTTIME, not before the session. */
static uint64_t time_of_boot(uint64_t time, uint64_t armed)
{
	struct timespec boot, wall;
	int64_t now, at;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &wall);
	now = time_ns(&boot);
	at = (int64_t)time - (int64_t)(time_ns(&wall) - now);
	if (at > now)
		at = now;
	return at < (int64_t)armed ? armed : (uint64_t)at;
}

uint64_t module_file_changed(const struct ras_session *entry)
{
	uint64_t mtime, ctime;
	struct stat st;

	if (!entry->mtime || entry->module[0] != '/' ||
	    stat(entry->module, &st) || st.st_dev != entry->device ||
	    st.st_ino != entry->inode)
		return 0;
	mtime = time_ns(&st.st_mtim);
	ctime = time_ns(&st.st_ctim);
	if (mtime == entry->mtime && (uint64_t)st.st_size == entry->bytes &&
	    (ctime == entry->ctime || !identity_differs(entry)))
		return 0;
	/* a st_mtim that was set to the past isn't the time of the write */
	return time_of_boot(mtime > entry->ctime && mtime < ctime ? mtime :
			    ctime, entry->armed);
}
