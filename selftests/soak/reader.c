// SPDX-License-Identifier: GPL-2.0
/*
 * reader [OPTION...] FOLDER|FILE...: is a buffer (the folder of its pins, or of
 * files with what its maps have) or a .ras file as the text says?
 *
 *	-q	no writer and no command runs: figures are exact
 *	-c	a file may be cut short, as by a full disk
 *	-s FILE	what a buffer has is kept there, and compared with what it had
 *		when it was looked at before
 *	-p	print the figures of each tracepoint: "point SESSION MAJOR MINOR
 *		HITS RECORDED FILTERED DROPPED PRESENT"
 *	-d MAJOR/MINOR=STEP,...
 *		data of a tracepoint: bytes of a register, mBYTES memory, sBYTES
 *		a string, pBYTES memory each of whose bytes is one more than the
 *		one before
 *
 * Exit status: 0 it is, 1 it isn't, with a message, 2 misuse, 3 no buffer.
 */
#include "file.h"
#include "live.h"

static bool quiet, may_be_cut, figures_wanted;
static const char *state_path;

/* --- What may only grow, from one look to the next */

static void state_save(FILE *file)
{
	fprintf(file, "key %llx %llu\n",
		(unsigned long long)outline.control.key,
		(unsigned long long)outline.control.created);
	for (unsigned int i = 0; i < slice_count; i++)
		fprintf(file, "slice %u %llu %llu %llu %llu\n", i,
			(unsigned long long)copies[i].header.head,
			(unsigned long long)copies[i].header.records,
			(unsigned long long)copies[i].header.dropped,
			(unsigned long long)outline.tail[i]);
	for (unsigned int i = 0; i < session_count; i++)
		for (unsigned int n = 0; n < sessions[i].entry->points; n++)
			fprintf(file, "point %u %llu %u %llu %llu %llu\n",
				sessions[i].entry->index,
				(unsigned long long)sessions[i].entry->armed, n,
				(unsigned long long)sessions[i].recorded[n],
				(unsigned long long)sessions[i].filtered[n],
				(unsigned long long)sessions[i].dropped[n]);
}

static void state_slice(const char *line)
{
	unsigned long long head, records, dropped, tail;
	const struct ras_slice *now;
	unsigned int slice;

	if (sscanf(line, "slice %u %llu %llu %llu %llu", &slice, &head,
		   &records, &dropped, &tail) != 5 || slice >= slice_count)
		return;
	now = &copies[slice].header;
	slice_name(slice);
	holds(now->head >= head && now->records >= records &&
	      now->dropped >= dropped && outline.tail[slice] >= tail,
	      "went back: head %llu, records %llu, dropped %llu, cleared to %llu",
	      head, records, dropped, tail);
}

/* Does the buffer have the figures of this session? While it is armed or past,
 * unless nothing of it has been pinned yet or any more */
static bool has_figures(unsigned int session)
{
	for (unsigned int i = 0; i < figure_count; i++)
		if (figures[i].session == session)
			return true;
	return false;
}

static void state_point(const char *line)
{
	unsigned long long armed, recorded, filtered, dropped;
	unsigned int index, point;
	const struct session *session;

	if (sscanf(line, "point %u %llu %u %llu %llu %llu", &index, &armed,
		   &point, &recorded, &filtered, &dropped) != 6)
		return;
	session = session_find(index);
	if (!session || session->entry->armed != armed ||
	    point >= session->entry->points || !has_figures(index))
		return;
	part_is("session %u, point %u", index, point);
	holds(session->recorded[point] >= recorded &&
	      session->filtered[point] >= filtered &&
	      session->dropped[point] >= dropped,
	      "went back: recorded %llu, filtered %llu, dropped %llu", recorded,
	      filtered, dropped);
}

static void state_compare(FILE *file)
{
	unsigned long long key, created;
	char line[256];

	if (!fgets(line, sizeof(line), file) ||
	    sscanf(line, "key %llx %llu", &key, &created) != 2 ||
	    key != outline.control.key || created != outline.control.created)
		return;
	while (fgets(line, sizeof(line), file)) {
		state_slice(line);
		state_point(line);
	}
}

static void state_check(void)
{
	FILE *file = fopen(state_path, "r");

	if (file) {
		state_compare(file);
		fclose(file);
	}
	file = fopen(state_path, "w");
	if (!file)
		die(2, "%s: %s", state_path, strerror(errno));
	state_save(file);
	if (fclose(file))
		die(2, "%s: %s", state_path, strerror(errno));
}

/* --- Figures */

static uint64_t present_of(unsigned int session, unsigned int point)
{
	uint64_t present = 0;

	for (size_t i = 0; i < tally_space; i++)
		if (tallies[i].used && tallies[i].session == session &&
		    tallies[i].point == point)
			present += tallies[i].present;
	return present;
}

static void print_figures(void)
{
	for (unsigned int i = 0; i < session_count; i++) {
		const struct session *session = &sessions[i];

		for (unsigned int n = 0; n < session->entry->points; n++) {
			uint64_t recorded = session->recorded[n];
			uint64_t filtered = session->filtered[n];
			uint64_t dropped = session->dropped[n];

			printf("point %u %u %u %llu %llu %llu %llu %llu\n",
			       session->entry->index, session->entry->major,
			       session->points[n].minor,
			       (unsigned long long)(recorded + filtered +
						    dropped),
			       (unsigned long long)recorded,
			       (unsigned long long)filtered,
			       (unsigned long long)dropped,
			       (unsigned long long)present_of(
					session->entry->index, n));
		}
	}
}

/* --- What is given */

static void reported(uint64_t records)
{
	if (figures_wanted)
		print_figures();
	if (complaints > SHOWN_MAX)
		printf("%s: and %u more\n", subject, complaints - SHOWN_MAX);
	printf("%s: %llu records, %u sessions: %s\n", subject,
	       (unsigned long long)records, session_count,
	       complaints ? "NOT as it should be" : "good");
	tally_forget();
	sessions_forget();
}

static int look_at_buffer(void)
{
	uint64_t records;
	int ret = live_check(subject, quiet, &records);

	if (ret) {
		fprintf(stderr, "reader: no buffer in '%s'\n", subject);
		return ret;
	}
	if (state_path && copies)
		state_check();
	reported(records);
	slices_forget();
	live_close();
	return 0;
}

static void look_at_file(void)
{
	struct map map = {};

	if (!map_file(subject, &map))
		die(2, "'%s' is no file, or an empty one", subject);
	file_check(map.bytes, map.length, quiet, may_be_cut);
	reported(file_records);
	map_close(&map);
}

static int look_at(const char *path)
{
	struct stat st;

	subject = path;
	complaints = 0;
	if (stat(path, &st))
		return 3;
	if (S_ISDIR(st.st_mode))
		return look_at_buffer();
	look_at_file();
	return 0;
}

int main(int argc, char **argv)
{
	int option, status = 0;

	while ((option = getopt(argc, argv, "cd:pqs:")) != -1)
		switch (option) {
		case 'c':
			may_be_cut = true;
			break;
		case 'd':
			layout_add(optarg);
			break;
		case 'p':
			figures_wanted = true;
			break;
		case 'q':
			quiet = true;
			break;
		case 's':
			state_path = optarg;
			break;
		default:
			die(2, "reader [-cpq] [-s FILE] [-d LAYOUT] PATH...");
		}
	if (optind == argc)
		die(2, "no folder and no file");
	for (; optind < argc; optind++)
		status = look_at(argv[optind]) ?: status;
	return all_complaints ? 1 : status;
}
