/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loopback.h - the one network device of a namespace without a network. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Brings lo up unless it is. FALSE with SBX_ERROR_CONFINE. */
gboolean sbx_loopback_raise (GError **error);

/* Makes all of 198.18.0.0/15 local unless it is: its addresses stand for names. FALSE with SBX_ERROR_CONFINE. */
gboolean sbx_loopback_add_names (GError **error);

G_END_DECLS
