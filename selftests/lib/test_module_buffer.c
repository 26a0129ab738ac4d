// SPDX-License-Identifier: GPL-2.0
/*
 * Who may not look into the run directory gets the buffer from the kernel
 * module's device: all parts of it, or an error and nothing that stays open. In
 * the device's place is a file that has the parts where the device maps them;
 * the module's own tests have the device.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tap.h"
#include "lib/buffer/buffer.h"
#include "lib/buffer/device.h"
#include "lib/buffer/pin.h"

#define CPUS		5
#define SLICE_BYTES	RAS_SLICE_MIN
#define NEST_BYTES	RAS_NEST_BYTES
#define MORE		(RAS_SLICE_HEADER + RAS_RECORD_MAX)
#define ID		77
#define PINS		"the pins are out of reach"

/* The device and the pins, as buffer.c is to find them */
static struct {
	int parts;		/* the file */
	int opened;		/* what buffer.c has of it */
	int refused;		/* errno of opening it, or 0 */
	int unmappable;		/* a part, or -1 */
	int asked;		/* how often, after it was opened */
	int answer;		/* of that */
	int pins;		/* what the pins are refused with; 0: they can be
				 * opened, and not mapped */
	uint32_t later_id;	/* of the control block when asked again */
	struct rastrace_info info;
	struct ras_control *control;
} device;

int __wrap_pin_map_open(const char *path, struct bpf_map_info *info,
			struct error *err);
void *__wrap_pin_map_view(int fd, const struct bpf_map_info *info, int write,
			  size_t *size, struct error *err);
int __wrap_device_open(struct rastrace_info *info, struct error *err);
int __wrap_device_ask(int fd, struct rastrace_info *info, struct error *err);
void *__wrap_device_map(int fd, int part, size_t size, struct error *err);
void *__real_device_map(int fd, int part, size_t size, struct error *err);

int __wrap_pin_map_open(const char *path, struct bpf_map_info *info,
			struct error *err)
{
	if (device.pins)
		return error_set(err, device.pins, PINS);
	device.opened = fcntl(device.parts, F_DUPFD_CLOEXEC, 0);
	return device.opened;
}

void *__wrap_pin_map_view(int fd, const struct bpf_map_info *info, int write,
			  size_t *size, struct error *err)
{
	error_set(err, -ENOMEM, "the pin isn't mapped");
	errno = ENOMEM;
	return NULL;
}

int __wrap_device_open(struct rastrace_info *info, struct error *err)
{
	if (device.refused)
		return error_set(err, device.refused, "the device is refused");
	*info = device.info;
	device.opened = fcntl(device.parts, F_DUPFD_CLOEXEC, 0);
	return device.opened;
}

int __wrap_device_ask(int fd, struct rastrace_info *info, struct error *err)
{
	if (fd != device.opened)
		tap_bail("%d is asked, not the device", fd);
	device.asked++;
	*info = device.info;
	info->parts[RASTRACE_CONTROL].id = device.later_id;
	return device.answer;
}

void *__wrap_device_map(int fd, int part, size_t size, struct error *err)
{
	if (part != device.unmappable)
		return __real_device_map(fd, part, size, err);
	error_set(err, -ENODEV, "part %d is refused", part);
	errno = ENODEV;
	return NULL;
}

static void part_write(int part, uint64_t at, const void *data, size_t size)
{
	if (pwrite(device.parts, data, size, RASTRACE_OFFSET(part) + at) !=
	    (ssize_t)size)
		tap_bail("cannot write part %d", part);
}

/* Each slice says which one it is, from 1; the last word of a part is its number. */
static void parts_fill(void)
{
	uint32_t nest = CPUS * RAS_NEST_LEVELS;
	const uint64_t sizes[] = {
		[RASTRACE_BUFFER] = CPUS * (SLICE_BYTES + MORE),
		[RASTRACE_NEST] = nest * (NEST_BYTES + MORE),
		[RASTRACE_SESSIONS] = RAS_SESSIONS_BYTES,
		[RASTRACE_TRIGGER] = sizeof(struct ras_trigger),
	};

	for (uint64_t part = RASTRACE_BUFFER; part <= RASTRACE_TRIGGER; part++)
		part_write(part, sizes[part] - sizeof(part), &part,
			   sizeof(part));
	for (uint64_t i = 0; i < CPUS; i++)
		part_write(RASTRACE_BUFFER, i * (SLICE_BYTES + MORE),
			   &(uint64_t){ i + 1 }, 8);
	for (uint64_t i = 0; i < nest; i++)
		part_write(RASTRACE_NEST, i * (NEST_BYTES + MORE),
			   &(uint64_t){ CPUS + i + 1 }, 8);
}

static void device_reset(void)
{
	*device.control = (struct ras_control){
		.magic = RAS_CONTROL_MAGIC, .layout = RAS_LAYOUT,
		.slice_bytes = SLICE_BYTES, .nest_bytes = NEST_BYTES,
		.cpus = CPUS, .nest_levels = RAS_NEST_LEVELS,
	};
	device.info = (struct rastrace_info){
		.size = sizeof(device.info), .layout = RAS_LAYOUT,
		.adopted = RASTRACE_ADOPTED,
		.parts[RASTRACE_CONTROL] = { .bytes = 4096, .id = ID },
	};
	device.opened = device.unmappable = -1;
	device.refused = device.asked = device.answer = 0;
	device.pins = -EACCES;
	device.later_id = ID;
}

static void device_make(void)
{
	device.parts = memfd_create("device", MFD_CLOEXEC);
	if (device.parts < 0 ||
	    ftruncate(device.parts, RASTRACE_OFFSET(RASTRACE_STATE)))
		tap_bail("cannot make the device's file");
	device.control = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			      device.parts, RASTRACE_OFFSET(RASTRACE_CONTROL));
	if (device.control == MAP_FAILED)
		tap_bail("cannot map the device's file");
	parts_fill();
}

/* Mappings of the device; one is the test's. */
static int mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	if (!maps)
		tap_bail("there are no /proc/self/maps");
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "/memfd:device") != NULL;
	fclose(maps);
	return count;
}

static bool all_closed(void)
{
	return mappings() == 1 &&
	       (device.opened < 0 || fcntl(device.opened, F_GETFD) == -1);
}

/* The error or its hint contains `text`. */
static void refused(int code, const char *text, const char *name)
{
	struct error err = { 0 };
	struct buffer buffer;
	int found = buffer_open(&buffer, PIN_RUN_DEFAULT, false, &err);

	if (!tap_ok(found == code && (strstr(err.text, text) ||
				      strstr(err.hint, text)), "%s", name))
		tap_diag("got %d: %s (%s)", found, err.text, err.hint);
	tap_ok(all_closed() && buffer.device_fd == -1 && !buffer.control,
	       "%s: nothing stays open", name);
	device_reset();
}

static bool last_word_is(const struct buffer_view *view, uint64_t part)
{
	uint64_t found;

	memcpy(&found, (char *)view->base + view->size - sizeof(found),
	       sizeof(found));
	return found == part;
}

static void check_slices(const struct buffer *buffer)
{
	bool right = true;
	uint64_t bytes;

	tap_is(buffer->slices, CPUS * (1 + RAS_NEST_LEVELS), "slices");
	for (uint32_t row = 0; row < buffer->slices; row++) {
		const struct ras_slice *slice =
			buffer_slice(buffer, row, &bytes);

		right &= slice->lock == row + 1 &&
			 bytes == (row < CPUS ? SLICE_BYTES : NEST_BYTES);
	}
	tap_ok(right, "each is the one it should be");
}

static void check_opened(void)
{
	struct error err = { 0 };
	struct buffer buffer;
	int code;

	code = buffer_open(&buffer, PIN_RUN_DEFAULT, false, &err);
	if (!tap_is(code, 0, "it can be opened"))
		tap_bail("%s", err.text);
	tap_ok(buffer.device_fd == device.opened && buffer.device_id == ID &&
	       buffer.processes_fd == -1, "from the device");
	tap_is(mappings(), 1 + 5, "all parts are mapped");
	tap_is(buffer.control->cpus, CPUS, "the control block is its own");
	tap_is(buffer.control_view.size, sizeof(struct ras_control) +
	       8 * CPUS * (1 + RAS_NEST_LEVELS), "it has a mark for each slice");
	device.control->tail[3] = 12345;
	tap_is(buffer_tail(&buffer, 3), 12345, "as it is now");
	check_slices(&buffer);
	tap_ok(last_word_is(&buffer.main_view, RASTRACE_BUFFER) &&
	       last_word_is(&buffer.nest_view, RASTRACE_NEST) &&
	       last_word_is(&buffer.sessions_view, RASTRACE_SESSIONS) &&
	       last_word_is(&buffer.trigger_view, RASTRACE_TRIGGER),
	       "each part is whole");
	tap_ok((void *)buffer.trigger == buffer.trigger_view.base &&
	       buffer.sessions_view.size == RAS_SESSIONS_BYTES,
	       "trigger and session log");
	tap_is(buffer_refresh(&buffer, &err), 0, "nothing has to be read again");
	tap_ok(!buffer_device_gone(&buffer), "the module has it");
	device.later_id = ID + 1;
	tap_ok(buffer_device_gone(&buffer), "the module has another one");
	device.later_id = ID;
	device.answer = -ENODEV;
	tap_ok(buffer_device_gone(&buffer), "the module is gone");
	buffer_close(&buffer);
	tap_ok(all_closed() && buffer.device_fd == -1, "closed");
	device_reset();
	tap_ok(!buffer_open(&buffer, PIN_RUN_DEFAULT, false, NULL),
	       "without a reason");
	buffer_close(&buffer);
	device_reset();
}

/* The error of the pins stays, and the device is not asked. */
static void not_from_device(const char *run, bool write, int pins,
			    const char *name)
{
	struct error err = { 0 };
	struct buffer buffer;

	device.pins = pins;
	tap_is(buffer_open(&buffer, run, write, &err), pins, "%s", name);
	tap_ok(device.opened == -1 && strstr(err.text, PINS),
	       "%s: the device isn't asked", name);
	device_reset();
}

static void check_refused(void)
{
	struct buffer buffer;
	char name[64];

	device.refused = -ENOENT;
	refused(-EACCES, PINS, "without a module");
	device.refused = -ENOENT;
	tap_is(buffer_open(&buffer, PIN_RUN_DEFAULT, false, NULL), -EACCES,
	       "without a module, nor a reason");
	device_reset();
	device.refused = -EPERM;
	refused(-EPERM, "the device is refused", "who may not open it");
	device.info.layout++;
	refused(-EPROTO, "the kernel module is of another version",
		"a module of another version");
	device.info.adopted = 0;
	refused(-ENOENT, "has no trace buffer", "a module without a buffer");
	for (int part = RASTRACE_CONTROL; part <= RASTRACE_TRIGGER; part++) {
		device.unmappable = part;
		snprintf(name, sizeof(name), "part %d is refused", part);
		refused(-ENODEV, name, name);
	}
	device.info.adopted = 0;
	refused(-ENOENT, "'trace on' gives it one", "what to do about it");
	device.later_id++;
	refused(-EAGAIN, "removed or made anew", "another buffer meanwhile");
	device.later_id++;
	refused(-EAGAIN, "try again", "what to do about that");
	device.answer = -ENODEV;
	refused(-EAGAIN, "removed or made anew", "no module any more");
}

/* Without standard input the first descriptor is 0. */
static void check_pins(void)
{
	int input = fcntl(0, F_DUPFD_CLOEXEC, 10);
	struct buffer buffer;

	device.pins = 0;
	refused(-ENOMEM, "the pin isn't mapped", "a pin that can't be mapped");
	close(0);
	device.pins = 0;
	refused(-ENOMEM, "the pin isn't mapped", "the same as descriptor 0");
	close(0);
	tap_ok(!buffer_open(&buffer, PIN_RUN_DEFAULT, false, NULL) &&
	       buffer.device_fd == 0, "the device is descriptor 0");
	buffer_close(&buffer);
	tap_ok(all_closed(), "which is closed, too");
	device_reset();
	if (input >= 0)
		dup2(input, 0);
}

static void check_damaged(void)
{
	device.control->magic++;
	refused(-EPROTO, "another version of trace", "another magic number");
	device.control->layout++;
	refused(-EPROTO, "another version of trace", "another layout");
	device.control->slice_bytes++;
	refused(-EINVAL, "control block in '/dev/rastrace' is damaged",
		"a slice of an odd size");
	device.control->cpus = (4096 - sizeof(*device.control)) / 8 / 4 + 1;
	refused(-EINVAL, "control block in '/dev/rastrace' is damaged",
		"more slices than have a mark");
}

/* As many CPUs as there are marks for */
static void check_most(void)
{
	struct buffer buffer;

	device.control->cpus = (4096 - sizeof(*device.control)) / 8 / 4;
	tap_ok(!buffer_open(&buffer, PIN_RUN_DEFAULT, false, NULL) &&
	       buffer.control_view.size <= 4096 &&
	       buffer.control_view.size > 4096 - 8 * 4,
	       "a control block that is full");
	buffer_close(&buffer);
	device_reset();
}

int main(void)
{
	tap_start();
	device_make();
	device_reset();
	check_opened();
	not_from_device(PIN_RUN_DEFAULT, true, -EACCES, "who wants to write");
	not_from_device("/run/other", false, -EACCES, "another run directory");
	not_from_device(PIN_RUN_DEFAULT, false, -EIO, "another error");
	check_refused();
	check_pins();
	check_damaged();
	check_most();
	return tap_done();
}
