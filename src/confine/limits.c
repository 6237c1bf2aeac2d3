/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits.c - see limits.h. */
#include "config.h"

#include "confine/limits.h"

#include <errno.h>

#include "base/error.h"
#include "base/program.h"

/* No core file, and none for a program either that the kernel would start outside for it (core(5), "Piping core dumps to a program"): such
 * programs are given the dump whatever the limit, except when it is exactly this. */
#define CORE_NONE 1

static const struct
{
  SbxKey key;
  int resource;
} table[] = {
  { SBX_KEY_LIMIT_NOFILE, RLIMIT_NOFILE }, { SBX_KEY_LIMIT_NPROC, RLIMIT_NPROC }, { SBX_KEY_LIMIT_CORE, RLIMIT_CORE },
  { SBX_KEY_LIMIT_FSIZE, RLIMIT_FSIZE },   { SBX_KEY_LIMIT_AS, RLIMIT_AS },       { SBX_KEY_LIMIT_CPU, RLIMIT_CPU },
};

GArray *
sbx_limits_new (const SbxPolicy *policy, GError **error)
{
  g_autoptr (GArray) limits = g_array_new (FALSE, FALSE, sizeof (SbxLimit));

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gint64 value = sbx_policy_number (policy, table[i].key);
      SbxLimit limit = { .resource = table[i].resource, .name = sbx_keyword (table[i].key)->name };

      if (getrlimit (table[i].resource, &limit.limit) < 0)
        {
          sbx_error_set_errno (error, SBX_ERROR_SYSTEM, errno, _("cannot read the resource limits"));
          return NULL;
        }
      if (value != SBX_NUMBER_UNSET)
        {
          /* A hard limit that the caller lives under stays; within it the policy's number counts, also where the soft one was lower. */
          if (table[i].resource == RLIMIT_CORE && value == 0)
            value = CORE_NONE;
          if (limit.limit.rlim_max == RLIM_INFINITY || (rlim_t) value < limit.limit.rlim_max)
            limit.limit.rlim_max = (rlim_t) value;
          limit.limit.rlim_cur = limit.limit.rlim_max;
        }
      else if (table[i].resource != RLIMIT_NOFILE)
        continue;
      g_array_append_val (limits, limit);
    }
  return g_steal_pointer (&limits);
}
