// SPDX-License-Identifier: GPL-2.0
#include "session_tdf.h"

#include <errno.h>

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

int session_tdf_open(const struct session *session, struct tdf **tdf)
{
	int code = tdf_open(tdf, session->entry->tdf, NULL);

	if (code) {
		*tdf = NULL;
		return code == -ENOMEM ? code : 0;
	}
	if (!tdf_is_of(*tdf, session)) {
		tdf_close(*tdf);
		*tdf = NULL;
	}
	return 0;
}
