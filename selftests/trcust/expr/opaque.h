/* SPDX-License-Identifier: GPL-2.0 */
/* Only declared where it is used. */
struct opaque;
struct opaque *opaque_make(void);
