/* SPDX-License-Identifier: GPL-2.0 */
/* Location descriptions of DWARF as places. */
#ifndef TRCUST_DWARF_LOCATION_H
#define TRCUST_DWARF_LOCATION_H

#include "dwarf_frame.h"
#include "place.h"

/*
 * The place that the operations, read from attr, describe (DWARF 5 section 2.6).
 * -ENODATA: all of it is absent. place is to be freed in any case.
 */
int dwarf_location_place(const struct dwarf_context *context,
			 Dwarf_Attribute *attr, const Dwarf_Op *ops,
			 size_t count, struct place *place, struct error *err);
/* The place of a constant: DW_AT_const_value, in any form. */
int dwarf_constant_place(Dwarf_Attribute *attr, struct place *place,
			 struct error *err);

#endif
