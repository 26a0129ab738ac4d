// SPDX-License-Identifier: GPL-2.0
#include "session_tdf.h"

static bool tdf_is_of(const struct tdf *tdf, const struct session *session)
{
	if (tdf->header->points.count != session->entry->points)
		return false;
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (tdf->points[i].minor != session->points[i].minor ||
		    tdf->points[i].hash != session->points[i].hash ||
		    tdf->points[i].type != session->points[i].type ||
		    tdf->points[i].group != session->points[i].group)
			return false;
	return true;
}

struct tdf *session_tdf_open(const struct session *session)
{
	struct tdf *tdf;

	if (tdf_open(&tdf, session->entry->tdf, NULL))
		return NULL;
	if (tdf_is_of(tdf, session))
		return tdf;
	tdf_close(tdf);
	return NULL;
}
