// SPDX-License-Identifier: GPL-2.0
/* TP=@USDT,provider,name: all places where the program has the probe. */
#include "site.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX	8

static bool is_probe(const struct usdt_probe *probe,
		     const struct tsf_tp *tp)
{
	return !strcmp(probe->provider, tp->provider) &&
	       !strcmp(probe->name, tp->name);
}

/* Shares the provider, or part of the name. */
static bool is_near(const struct usdt_probe *probe, const struct tsf_tp *tp)
{
	return !strcmp(probe->provider, tp->provider) ||
	       strstr(probe->name, tp->name) || strstr(tp->name, probe->name);
}

static bool is_first(const struct usdt_probes *probes, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(probes->probes[j].provider,
			    probes->probes[i].provider) &&
		    !strcmp(probes->probes[j].name, probes->probes[i].name))
			return false;
	return true;
}

static size_t list_probes(const struct usdt_probes *probes,
			  const struct tsf_tp *tp, bool all, char *text,
			  size_t size)
{
	size_t used = 0, shown = 0;

	for (size_t i = 0; i < probes->count && shown < SHOWN_MAX; i++) {
		const struct usdt_probe *probe = &probes->probes[i];

		if (!(all || is_near(probe, tp)) || !is_first(probes, i))
			continue;
		used += snprintf(text + used, size - used, "%s%s,%s",
				 shown++ ? "; " : "", probe->provider,
				 probe->name);
		if (used >= size)
			break;
	}
	return shown;
}

static int report_unknown(struct compilation *c, const struct tsf_point *point,
			  const struct usdt_probes *probes)
{
	char text[1024], name[512];

	snprintf(name, sizeof(name), "%s:%s", point->tp.provider,
		 point->tp.name);
	diag_report(c->diag, point->tp.pos, TRCERR_BADSYMBOL, name);
	if (!probes->count)
		diag_hint(c->diag, "the module has no static probes");
	else if (list_probes(probes, &point->tp, false, text, sizeof(text)))
		diag_hint(c->diag, "near ones: %s", text);
	else if (list_probes(probes, &point->tp, true, text, sizeof(text)))
		diag_hint(c->diag, "it has: %s", text);
	return 1;
}

int site_usdt_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places)
{
	struct site_state *state = c->sites;

	if (!state->usdt_known && usdt_load(c->module, &state->usdt))
		return diag_no_memory(c->diag, point->tp.pos);
	state->usdt_known = true;
	for (size_t i = 0; i < state->usdt.count; i++) {
		const struct usdt_probe *probe = &state->usdt.probes[i];
		struct site_place *place;

		if (!is_probe(probe, &point->tp))
			continue;
		place = site_place_add(c, point, places, probe->address);
		if (!place)
			return -1;
		place->claimed = true;
		place->semaphore = probe->semaphore;
		place->arguments = probe->arguments;
	}
	return places->count ? 0 : report_unknown(c, point, &state->usdt);
}
