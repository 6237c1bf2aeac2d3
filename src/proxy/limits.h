/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits.h - how many clients there is place for. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Raises the limit of descriptors as far as it goes. Two are for each client; where there are not as many there is place for fewer than
 * @wanted. @reserve: descriptors that are needed for other things. */
guint sbx_proxy_limits_raise (guint wanted, guint reserve);

G_END_DECLS
