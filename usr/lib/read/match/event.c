// SPDX-License-Identifier: GPL-2.0
#include "event.h"

#include <rastrace/rasfile.h>
#include "stream.h"

const char *const event_flag_words[EVENT_FLAGS] = {
	"trigger", "muted", "fault", "cut", "paged_in", "stale", "tail_call",
	"forced", "misfit", "damaged", "unknown",
	"changed",
};

const char *event_comm(const struct event *event)
{
	return process_table_name(&event->trace->file.processes,
				  event->record->pid, event->record->time);
}

const char *event_thread_comm(const struct event *event)
{
	struct context context = context_find(event->record,
					      event->point->context);

	return context.mask & RAS_CONTEXT_COMM ? (const char *)context.fixed :
						 event_comm(event);
}

unsigned int event_flags(const struct event *event, uint8_t item_status,
			 bool misfit)
{
	static const struct {
		uint16_t record, event;
	} of_record[] = {
		{ RAS_RECORD_TRIGGER, EVENT_TRIGGER },
		{ RAS_RECORD_MUTED, EVENT_MUTED },
		{ RAS_RECORD_FAULT, EVENT_FAULT },
		{ RAS_RECORD_CUT, EVENT_CUT },
		{ RAS_RECORD_PAGED_IN, EVENT_PAGED_IN },
		{ RAS_RECORD_TAIL_CALL, EVENT_TAIL_CALL },
	};
	uint16_t flags = event->record->flags;
	unsigned int found = 0;

	for (size_t i = 0; flags && i < sizeof(of_record) /
					sizeof(*of_record); i++)
		if (flags & of_record[i].record)
			found |= of_record[i].event;
	if (item_status & RAS_ITEM_CUT)
		found |= EVENT_CUT;
	if (item_status & RAS_ITEM_PAGED_IN)
		found |= EVENT_PAGED_IN;
	if (item_status & RAS_ITEM_STALE)
		found |= EVENT_STALE;
	if (event->point->forced)
		found |= EVENT_FORCED;
	if (misfit)
		found |= EVENT_MISFIT;
	if (event->damaged)
		found |= EVENT_DAMAGED;
	if (event_is_changed(event))
		found |= EVENT_CHANGED;
	if (!event->point->formatted)
		found |= EVENT_UNKNOWN;
	return found;
}
