/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* spread.c - has two processes begin at the same time.
 *
 * Linux puts a new process on an idle processor where it balances load; where it does not (some virtual machines, isolated processors) the
 * process waits on its parent's until that one sleeps, or the parent for it, and nothing happens at the same time. There is no call that
 * says "elsewhere", but a mask that leaves the own processor out for a moment does it: the kernel moves what is ready to run at once, and
 * what sleeps when it is woken.
 * A mask that was set once is kept by the kernel, and by all children, also when their cgroup is given more processors later. So what is set
 * in the end is "all that there will ever be", of which the cgroup leaves what it allows; only where that is more than the caller may use,
 * because it was restricted in this way itself, is it the caller's mask. */
#include "config.h"

#include "confine/spread.h"

#include <sched.h>
#include <string.h>

gboolean
sbx_spread (pid_t pid, gboolean (*go) (gpointer data), gpointer data)
{
  cpu_set_t own, others, all;
  int here = sched_getcpu ();

  /* More processors than a set holds: EINVAL. Then there is a scheduler that knows what to do with them. */
  if (here < 0 || sched_getaffinity (0, sizeof own, &own) < 0 || CPU_COUNT (&own) < 2)
    return go (data);
  others = own;
  CPU_CLR (here, &others);
  if (sched_setaffinity (pid, sizeof others, &others) < 0)
    return go (data);
  if (!go (data))
    return FALSE;
  memset (&all, 0xff, sizeof all);
  if (sched_setaffinity (pid, sizeof all, &all) == 0 && sched_getaffinity (pid, sizeof all, &all) == 0
      && CPU_EQUAL (&all, &own))
    return TRUE;
  return sched_setaffinity (pid, sizeof own, &own) == 0;
}
