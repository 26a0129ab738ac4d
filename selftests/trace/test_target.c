// SPDX-License-Identifier: GPL-2.0
/*
 * Which files a TDF is armed in: the recorded one or the one beside the TDF,
 * those that are named, those that processes have mapped; each only when it is
 * the module that the TDF was made for, byte by byte where probes go, by its
 * own notes where counters are. The module is this program.
 */
#include <dlfcn.h>
#include <gelf.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include "self_tdf.h"
#include "lib/arm/probe/target.h"

void hit(void);
__asm__(".text\n.globl hit\n.type hit, %function\n"
	"hit: " MACHINE_PUSH MACHINE_POP "ret\n"
	".globl counter\n"
	".pushsection .probes,\"aw\"\n"
	"counter: .short 0, 0\n"
	".popsection\n"
	".pushsection .note.stapsdt,\"\",\"note\"\n"
	".balign 4\n"
	".4byte 8, 2f - 1f, 3\n"
	".asciz \"stapsdt\"\n"
	"1: .8byte hit, 0, counter\n"
	".asciz \"app\"\n.asciz \"it\"\n.asciz \"\"\n"
	"2: .balign 4\n"
	".4byte 8, 4f - 3f, 3\n"
	".asciz \"stapsdt\"\n"
	"3: .8byte hit, 0, hit\n"
	".asciz \"app\"\n.asciz \"code\"\n.asciz \"\"\n"
	"4: .balign 4\n"
	".popsection\n");
extern uint16_t counter[2];

/* Which of the next files can't be read; 0: none */
static int unreadable;

Elf *elf_begin(int fd, Elf_Cmd command, Elf *archive)
{
	Elf *(*begin)(int, Elf_Cmd, Elf *) = dlsym(RTLD_NEXT, "elf_begin");

	return begin(unreadable && !--unreadable ? -1 : fd, command, archive);
}

#define MODULES	2
#define NAME	4096		/* room of a path in the strings */

static struct image {
	struct tdf_header header;
	struct tdf_module modules[MODULES];
	struct tdf_point points[MODULES];
	struct tdf_site sites[MODULES];
	char strings[8 + MODULES * NAME];
} image;

static char folder[] = "/tmp/rastrace.XXXXXX";
static char tdf_path[64];
static bool picked[MODULES];
static struct target_search search;
static struct error err;

/* A path below the scratch folder; four of them at a time */
static char *at(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static struct tdf_table table(const void *where, uint32_t count)
{
	return (struct tdf_table){ (char *)where - (char *)&image, count };
}

static void module_set(int index, const char *path)
{
	snprintf(image.strings + 8 + index * NAME, NAME, "%s", path);
}

static void site_set(struct tdf_site *site)
{
	struct self_place place = self_place(hit);
	int fd = open("/proc/self/exe", O_RDONLY);

	*site = (struct tdf_site){
		.offset = place.offset, .address = place.address,
		.nominal = place.address, .cost = TDF_COST_UNKNOWN,
		.insn_length = MACHINE_PUSH_BYTES,
	};
	if (pread(fd, site->insn, MACHINE_PUSH_BYTES, place.offset) !=
	    MACHINE_PUSH_BYTES)
		tap_bail("cannot read its own program");
	close(fd);
}

/* Two modules, both "app" in the folder, of which the first has points. */
static void prepare(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct identity id;

	if (fd < 0 || identity_read(fd, "self", &id, NULL))
		tap_bail("cannot identify this program");
	close(fd);
	memset(&image, 0, sizeof(image));
	image.header = (struct tdf_header){
		.magic = TDF_MAGIC, .version = TDF_VERSION,
		.header_size = sizeof(image.header),
		.file_size = sizeof(image), .major = 5, .maxdata = 512,
		.modules = table(image.modules, MODULES),
		.points = table(image.points, MODULES),
		.sites = table(image.sites, MODULES),
		.strings = table(image.strings, sizeof(image.strings)),
	};
	for (int i = 0; i < MODULES; i++) {
		image.modules[i] = (struct tdf_module){
			.path = 8 + i * NAME, .name = 8 + i * NAME,
			.machine = MACHINE_ELF, .elf_class = ELFCLASS64,
			.id_kind = id.kind, .id_length = id.length,
		};
		memcpy(image.modules[i].id, id.id, sizeof(id.id));
		module_set(i, at("app"));
		image.points[i] = (struct tdf_point){
			.minor = i + 1, .module = i, .sites = 1,
			.first_site = i, .name = 8 + i * NAME,
		};
		site_set(&image.sites[i]);
	}
	snprintf(tdf_path, sizeof(tdf_path), "%s", at("tdfs/it.tdf"));
	picked[0] = true;
	picked[1] = false;
	search = (struct target_search){ 0 };
}

/* Opens: files of the first module's, "" for none; or a message has `text`. */
static void opens(const char *first, uint32_t files, const char *name)
{
	struct target *targets;
	struct tdf *tdf;
	int code;

	image.header.crc = 0;
	image.header.crc = hash_crc32(0, &image, sizeof(image));
	if (tdf_parse(&tdf, &image, sizeof(image), tdf_path, &err))
		tap_bail("bad TDF: %s", err.text);
	err = (struct error){ 0 };
	code = target_open(&targets, tdf, picked, &search, &err);
	if (!tap_ok(!code && targets[0].file_count == files &&
		    !strcmp(targets[0].path, first) &&
		    targets[1].file_count == picked[1], "%s", name))
		tap_diag("%d %s: %u '%s'", code, err.text,
			 code ? 0 : targets[0].file_count,
			 code ? "" : targets[0].path);
	if (!code) {
		if (*err.text)
			tap_ok(false, "what is found raises no error");
		target_close(targets, tdf);
	} else if (targets) {
		tap_ok(false, "what isn't found leaves nothing");
	}
	tdf_close(tdf);
}

static void refused(int expected, const char *text, const char *name)
{
	struct target *targets;
	struct tdf *tdf;
	int code;

	image.header.crc = 0;
	image.header.crc = hash_crc32(0, &image, sizeof(image));
	if (tdf_parse(&tdf, &image, sizeof(image), tdf_path, &err))
		tap_bail("bad TDF: %s", err.text);
	err = (struct error){ 0 };
	code = target_open(&targets, tdf, picked, &search, &err);
	if (!tap_ok(code == expected && !targets && strstr(err.text, text),
		    "%s", name))
		tap_diag("%d %s", code, err.text);
	tdf_close(tdf);
}

/* Another copy of this program, with a byte changed at `offset` */
static void copy(const char *path, off_t offset)
{
	char line[256];
	uint8_t byte;
	int fd;

	snprintf(line, sizeof(line), "cp /proc/%d/exe %s", getpid(), path);
	if (system(line))
		tap_bail("cannot copy to '%s'", path);
	if (!offset)
		return;
	fd = open(path, O_RDWR);
	if (pread(fd, &byte, 1, offset) != 1)
		tap_bail("cannot read '%s'", path);
	byte ^= 1;
	if (pwrite(fd, &byte, 1, offset) != 1)
		tap_bail("cannot change '%s'", path);
	close(fd);
}

/* ---- by its path ---- */

static void test_places(void)
{
	char name[NAME - 2], line[256];

	prepare();
	refused(-ENOENT, "is not here, nor beside the TDF", "nowhere");
	tap_ok(strstr(err.hint, "--module PATH"), "what to do");
	copy(at("tdfs/app"), 0);
	opens(at("tdfs/app"), 1, "beside the TDF");
	copy(at("app"), 0);
	opens(at("app"), 1, "where it was");
	symlink("../app", at("tdfs/link"));
	module_set(0, at("tdfs/link"));
	opens(at("app"), 1, "where a link leads");
	module_set(0, "app");
	opens(at("tdfs/app"), 1, "a bare name beside the TDF");
	module_set(0, at("app/x"));
	refused(-ENOENT, "is not here, nor beside", "below a file");
	module_set(0, at("tdfs"));
	refused(-EINVAL, "tdfs' is no regular file", "a directory");
	snprintf(line, sizeof(line), "echo text >%s", at("text"));
	if (system(line))
		tap_bail("cannot write '%s'", at("text"));
	module_set(0, at("text"));
	refused(-EINVAL, "text' is not an ELF file", "a text");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	module_set(0, name);
	refused(-ENAMETOOLONG, "cannot open 'xxx", "too long a name");
	picked[0] = false;
	opens("", 0, "no points, nothing to look for");
	prepare();
	picked[1] = true;
	opens(at("app"), 1, "both modules");
	module_set(1, "/nonexistent");
	refused(-ENOENT, "module '/nonexistent' is not", "the second isn't");
	prepare();
	module_set(0, "/nonexistent/app");
	strcpy(tdf_path, "it.tdf");
	if (chdir(at("tdfs")))
		tap_bail("cannot go there");
	opens(at("tdfs/app"), 1, "beside a TDF that is here");
	module_set(0, "./app");
	opens(at("tdfs/app"), 1, "here");
	if (chdir("/"))
		tap_bail("cannot go away");
}

static void test_identity(void)
{
	char path[PATH_MAX], expected[64], found[64];

	prepare();
	copy(at("tdfs/app"), 0);
	symlink("/bin/sh", at("other"));
	module_set(0, at("other"));
	refused(-ESTALE, "differs (TDF ", "another program");
	tap_ok(strstr(err.hint, "compile the TSF"), "what to do");
	symlink(at("tdfs/app"), at("tdfs/other"));
	opens(at("tdfs/app"), 1, "another one there, the right one beside");
	unlink(at("tdfs/other"));
	symlink("/bin/ls", at("tdfs/other"));
	refused(-ESTALE, basename(realpath("/bin/sh", path)),
		"others at both places: the first is reported");
	unlink(at("other"));
	refused(-ESTALE, basename(realpath("/bin/ls", path)),
		"none there, another one beside");
	unlink(at("tdfs/other"));
	prepare();
	identity_print(image.modules[0].id_kind, image.modules[0].id,
		       image.modules[0].id_length, found);
	image.modules[0].id[image.modules[0].id_length - 1] ^= 1;
	identity_print(image.modules[0].id_kind, image.modules[0].id,
		       image.modules[0].id_length, expected);
	snprintf(path, sizeof(path), "differs (TDF %s, module '%s' %s)",
		 expected, at("app"), found);
	refused(-ESTALE, path, "one bit of the identity");
	prepare();
	image.modules[0].id_length--;
	refused(-ESTALE, "differs", "its length");
	prepare();
	image.modules[0].id_kind ^= TDF_ID_BUILD ^ TDF_ID_CONTENT;
	refused(-ESTALE, image.modules[0].id_kind == TDF_ID_BUILD ?
		"build-id differs" : "content differs", "its kind");
	prepare();
	image.modules[0].machine = EM_S390;
	refused(-ENOEXEC, "of another machine (ELF machine 22)",
		"another machine");
}

/* ---- by --module ---- */

static void given(const char *first, const char *second)
{
	static const char *paths[2];

	paths[0] = first;
	paths[1] = second;
	search.paths = paths;
	search.path_count = second ? 2 : 1;
}

static void test_given(void)
{
	prepare();
	module_set(0, "/nonexistent");
	image.modules[1].id[0] ^= 1;
	given(at("app"), NULL);
	opens(at("app"), 1, "a file that is named");
	given(at("app"), at("tdfs/app"));
	opens(at("app"), 2, "two");
	given(at("app"), at("app"));
	opens(at("app"), 1, "one that is named twice");
	given("/bin/sh", NULL);
	refused(-ENOENT, "differs", "another program");
	given(at("app"), "/nonexistent");
	refused(-ENOENT, "cannot open '/nonexistent'", "one is not there");
	given("/nonexistent", at("app"));
	refused(-ENOENT, "cannot open '/nonexistent'", "the first one isn't");
	given(at("app"), NULL);
	image.modules[0].id[0] ^= 1;
	image.modules[1].id[0] ^= 1;
	module_set(0, at("app"));
	refused(-ESTALE, "differs", "of the second module only");
	prepare();
	image.modules[0].kind = image.modules[1].kind = TDF_MODULE_KERNEL;
	image.sites[0].symbol = image.sites[1].symbol = 8;
	given(at("app"), NULL);
	refused(-EINVAL, "--module names a file, but", "a TDF of the kernel");
	search.path_count = 0;
	image.modules[0].id[0] ^= 1;
	refused(-ESTALE, "kernel", "of another kernel than this one");
	image.modules[0].kind = TDF_MODULE_KMOD;
	module_set(0, "/lib/modules/rastrace_none.ko");
	refused(-ENOENT, "kernel module 'rastrace_none' is not loaded",
		"of a module that isn't loaded");
}

/* ---- what is in it ---- */

static void test_sites(void)
{
	char text[64];

	prepare();
	image.sites[0].insn[MACHINE_PUSH_BYTES - 1] ^= 1;
	snprintf(text, sizeof(text), "differ at offset %#llx of",
		 (unsigned long long)image.sites[0].offset);
	refused(-ESTALE, text, "another instruction");
	snprintf(text, sizeof(text), "%02x, module ",
		 image.sites[0].insn[MACHINE_PUSH_BYTES - 1]);
	tap_ok(strstr(err.text, text), "which is reported");
	tap_ok(strstr(err.hint, "compile the TSF"), "what to do");
	picked[0] = false;
	opens("", 0, "of no interest");
	prepare();
	image.sites[1].insn[0] ^= 1;
	opens(at("app"), 1, "of the other tracepoint");
	prepare();
	image.sites[0].offset = 1 << 30;
	refused(-ESTALE, "module past the end of the file", "past the end");
	prepare();
	image.points[0].sites = 2;
	image.header.points.count = 1;
	image.sites[1].insn[0] ^= 1;
	refused(-ESTALE, "instruction bytes differ", "at the second site");
	prepare();
	image.sites[0].insn_length = 3;
	refused(-EINVAL, "there is no instruction of 3 bytes",
		"an instruction of another length");
#ifdef __x86_64__
	prepare();
	image.sites[0].insn_length = 3;
	memcpy(image.sites[0].insn, "\xf0\xff\x07", 3);
	refused(-EINVAL, "has a lock prefix", "a lock prefix");
	memcpy(image.sites[0].insn, "\xc5\xf8\x77", 3);
	refused(-EINVAL, "has a VEX prefix", "a VEX instruction");
#endif
	tap_ok(!strstr(err.text, "past the end"), "what is there is reported");
	prepare();
	copy(at("changed"), image.sites[0].offset);
	if (image.modules[0].id_kind == TDF_ID_BUILD) {
		given(at("app"), at("changed"));
		refused(-ESTALE, "changed' (TDF", "in the second file");
	}
	unlink(at("changed"));
}

static void test_semaphores(void)
{
	uint64_t offset = self_place(&counter[0]).offset;

	prepare();
	image.sites[0].semaphore = offset;
	opens(at("app"), 1, "a probe's counter");
	image.sites[0].semaphore = offset + 2;
	refused(-EINVAL, "has a semaphore at offset 0x", "what is none");
	picked[0] = false;
	opens("", 0, "of no interest");
	picked[0] = true;
	image.sites[0].semaphore = self_place(hit).offset;
	refused(-EINVAL, "has a semaphore at offset 0x",
		"what a probe has, and nothing may write to");
	image.sites[0].semaphore = 0;
	image.points[0].sites = 2;
	image.header.points.count = 1;
	image.sites[1].semaphore = offset;
	opens(at("app"), 1, "of the second site");
	image.sites[0].semaphore = offset;
	opens(at("app"), 1, "of both");
	image.sites[1].semaphore = offset + 2;
	refused(-EINVAL, "no probe of", "at the second site");
	prepare();
	picked[1] = true;
	image.sites[1].semaphore = offset + 2;
	refused(-EINVAL, "tracepoint 2 (", "in the second module");
	prepare();
	image.sites[0].semaphore = offset;
	unreadable = 2;
	refused(-EINVAL, "app': invalid file descriptor",
		"the file can't be read any more: libelf says why");
}

/* ---- by processes ---- */

/* A process that has the file mapped and waits; its root is the folder. */
static pid_t mapper(const char *path, bool chrooted)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		tap_bail("no pipe");
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
		if (chrooted && (chroot(folder) || chdir("/")))
			_exit(1);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		tap_bail("cannot map '%s'", path);
	close(ready[0]);
	return pid;
}

static void mapper_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_processes(void)
{
	uint32_t pids[2];
	char path[128];
	pid_t first, second;

	prepare();
	copy(at("mapped"), 0);
	first = mapper(at("mapped"), false);
	pids[0] = getpid();
	pids[1] = first;
	search.pids = pids;
	search.pid_count = 2;
	module_set(0, "/elsewhere/mapped");
	opens(at("mapped"), 1, "what a process has mapped");
	module_set(0, "/elsewhere/apped");
	refused(-ENOENT, "is not here", "not under another name");
	unlink(at("mapped"));
	copy(at("mapped"), 0);
	module_set(0, at("mapped"));
	opens(at("mapped"), 1, "what it has mapped is gone by now");
	second = mapper(at("mapped"), false);
	pids[0] = second;
	opens(at("mapped"), 2, "two files of one name");

	/* the folder is the root of one: "/link" leads to "/app" there */
	mapper_end(second);
	second = mapper(at("app"), true);
	pids[0] = second;
	search.pid_count = 1;
	symlink("/app", at("link"));
	module_set(0, "/link");
	snprintf(path, sizeof(path), "/proc/%d/root/link", second);
	opens(path, 1, "a file as a process with another root sees it");
	module_set(0, "link");
	opens(path, 1, "without a slash in front");
	module_set(0, "/elsewhere/app");
	snprintf(path, sizeof(path), "/proc/%d/root%s/app", second, folder);
	opens(path, 1, "what it has mapped");
	mapper_end(first);
	mapper_end(second);
	module_set(0, "/elsewhere/gone");
	refused(-ENOENT, "is not here", "nor by a process that is gone");
}

static size_t descriptors(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* All that can be opened with little effort */
static void tests(void)
{
	test_places();
	test_identity();
	test_given();
	test_sites();
	test_semaphores();
	if (!geteuid())
		test_processes();
}

static void folder_remove(void)
{
	char line[64];

	snprintf(line, sizeof(line), "rm -rf %s/*", folder);
	if (system(line) || mkdir(at("tdfs"), 0700))
		tap_bail("cannot empty the folder");
}

int main(int argc, char **argv)
{
	size_t before = descriptors(), used;

	/* mallinfo2() takes what is in there for used */
	if (!setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 0) &&
	    argc < 2)
		execl("/proc/self/exe", argv[0], "again", NULL);
	if (!mkdtemp(folder))
		tap_bail("no scratch folder");
	folder_remove();
	tests();
	tap_is(descriptors(), before, "all files are closed");
	used = mallinfo2().uordblks;
	folder_remove();
	tests();
	tap_is(mallinfo2().uordblks, used, "and all memory is given back");
	folder_remove();
	rmdir(at("tdfs"));
	rmdir(folder);
	return tap_done();
}
