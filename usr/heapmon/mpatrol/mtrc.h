/* SPDX-License-Identifier: GPL-2.0 */
/* mpatrol's tracing file, "MTRC". */
#ifndef HEAPMON_MTRC_H
#define HEAPMON_MTRC_H

#include "heapmon/core/format.h"

#define MTRC_MAGIC	"MTRC"
#define MTRC_SOURCES	10405	/* from this version on, records tell thread and
				 * source */
#define MTRC_RESIZES	10404	/* ... there are R; before, a second A of an
				 * index means that */

int mtrc_read_events(struct heap_input *input, const struct heap_sink *sink,
		     struct error *err);
int mtrc_begin(struct heap_output *output, void **state, struct error *err);
int mtrc_step(struct heap_output *output, void *state,
	      const struct heap_model *model, const struct heap_step *step,
	      struct error *err);
int mtrc_end(struct heap_output *output, void *state,
	     const struct heap_model *model, bool failed, struct error *err);

#endif
