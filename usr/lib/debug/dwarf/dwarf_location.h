/* SPDX-License-Identifier: GPL-2.0 */
/* Location descriptions (DWARF 5 section 2.6) and constants as places. */
#ifndef TRCUST_DWARF_LOCATION_H
#define TRCUST_DWARF_LOCATION_H

#include "dwarf_expression.h"
#include "place.h"

/*
 * The place that the operations, read from attr, describe. 0; -ENODATA with
 * the reason in err->text when all of it is absent; -EINVAL: damaged,
 * with err->text as well; -ENOMEM. place is to be freed in any case.
 */
int dwarf_location_place(const struct dwarf_context *context,
			 Dwarf_Attribute *attr, const Dwarf_Op *ops,
			 size_t count, struct place *place, struct error *err);
/* The place of a constant: DW_AT_const_value, in any form. */
int dwarf_constant_place(Dwarf_Attribute *attr, struct place *place,
			 struct error *err);

#endif
