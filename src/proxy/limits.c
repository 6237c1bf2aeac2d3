/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits.c - descriptors and what they are enough for. */
#include "config.h"

#include "proxy/limits.h"

#include <sys/resource.h>

#define OWN_DESCRIPTORS 64 /* what the proxy needs besides two for each client */

guint
sbx_proxy_limits_raise (guint wanted, guint reserve)
{
  struct rlimit limit;
  guint64 own = (guint64) OWN_DESCRIPTORS + reserve;

  if (getrlimit (RLIMIT_NOFILE, &limit) < 0)
    return wanted;
  if (limit.rlim_cur != limit.rlim_max)
    {
      limit.rlim_cur = limit.rlim_max;
      (void) setrlimit (RLIMIT_NOFILE, &limit);
      if (getrlimit (RLIMIT_NOFILE, &limit) < 0)
        return wanted;
    }
  if (limit.rlim_cur == RLIM_INFINITY)
    return wanted;
  guint64 place = limit.rlim_cur > own ? (limit.rlim_cur - own) / 2 : 0;
  return (guint) CLAMP (place, 1, wanted);
}
