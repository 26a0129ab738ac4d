// SPDX-License-Identifier: GPL-2.0
/*
 * Hits that find all slices of their CPU busy are dropped, counted where every
 * figure is, and explained: a program of this test holds the slices meanwhile,
 * as hits inside hits would.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <rastrace/buffer.h>
#include "bpf/emit.h"
#include "self_picture.h"
#include "self_tdf.h"
#include "lib/buffer/buffer.h"
#include "trace/query/query_read.h"

#define KEY	(-8)		/* in the programs' frame */

void hit(void);
__asm__(".text\n.globl hit\n.type hit, %function\n"
	"hit: " MACHINE_PUSH MACHINE_POP "ret\n");

static void tdf_write(void)
{
	static struct self_tdf tdf;

	self_begin(&tdf);
	self_point(&tdf);
	self_site(&tdf, hit, MACHINE_PUSH_BYTES);
	self_write(&tdf);
}

/* Store `lock` into entries 0 to count - 1 of a map of slices. */
static void slices_set(struct emit *e, int map_fd, uint32_t count, int lock)
{
	for (uint32_t i = 0; i < count; i++) {
		emit_label missing = emit_label_new(e);

		emit_store_imm(e, 4, BPF_REG_10, KEY, i);
		emit_lookup(e, map_fd, KEY, missing);
		emit_store_imm(e, 8, BPF_REG_0,
			       offsetof(struct ras_slice, lock), lock);
		emit_label_place(e, missing);
	}
}

/* Run a program that sets all locks: user space can't write the slices. */
static void locks_set(const struct buffer *buffer, int lock)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct emit e = { 0 };
	uint32_t cpus = buffer->control->cpus;
	int fd;

	slices_set(&e, buffer->main_view.fd, cpus, lock);
	slices_set(&e, buffer->nest_view.fd, cpus * RAS_NEST_LEVELS, lock);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(&e);
	if (emit_finish(&e))
		tap_bail("cannot write the program");
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "locks", "GPL",
			   e.insns, e.count, NULL);
	if (fd < 0 || bpf_prog_test_run_opts(fd, &run))
		tap_bail("cannot run the program: %s",
			 strerror(fd < 0 ? -fd : errno));
	close(fd);
	emit_free(&e);
	free(e.insns);
}

static void hits(int count)
{
	while (count--)
		hit();
}

static void figures_check(const struct buffer *buffer)
{
	struct ras_count_total total = { 0 };
	struct session_list list;
	struct query_figures figures;
	struct error err = { 0 };
	const struct figure *f;

	if (session_list_read(&list, buffer, self_run, &err) ||
	    query_figures_read(&figures, buffer, &list, &err))
		tap_bail("cannot read the figures: %s", err.text);
	f = figures.sessions[0];
	tap_is(figure_hits(f), 12, "12 hits");
	tap_is(f->recorded, 5, "5 recorded");
	tap_is(f->present, 5, "5 present");
	tap_is(f->dropped, 7, "7 dropped");
	tap_is(figures.dropped, 7, "of all tracepoints, too");
	tap_ok(self_counts(self_run, 1, &total, 1) && total.recorded == 5 &&
	       total.dropped == 7, "a picture of the buffer has them, too");
	query_figures_free(&figures);
	session_list_free(&list);
}

/* What a command prints has a line like this. */
static void reported(const char *command, const char *line)
{
	char text[512];

	snprintf(text, sizeof(text), "%s | grep -Eq '%s'", command, line);
	tap_is(self_trace(text), 0, "%s: %s", command, line);
}

int main(void)
{
	struct buffer buffer;
	struct error err = { 0 };
	char line[256];

	self_open();
	tdf_write();
	snprintf(line, sizeof(line), "on --max-cpu=off %s", self_path);
	if (self_trace(line) || buffer_open(&buffer, self_run, true, &err))
		tap_bail("cannot arm: %s", err.text);
	hits(3);
	locks_set(&buffer, 1);
	hits(7);
	locks_set(&buffer, 0);
	hits(2);
	figures_check(&buffer);
	reported("query", "^buffer: 7 hits dropped");
	reported("query", "^  lost: 7 of 12 hits");
	snprintf(line, sizeof(line), "explain-loss %s", self_path);
	reported(line, "^ +12 hits, of which");
	reported(line, "^ +5 present ");
	reported(line, "^ +7 dropped .*4 slices were busy");
	buffer_close(&buffer);
	self_close();
	return tap_done();
}
