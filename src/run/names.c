/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* names.c - see names.h. The files are the administrator's; where one is not there, programs ask 127.0.0.1 anyway. */
#include "config.h"

#include "run/names.h"

#include "confine/resolv.h"

static void
add_file (SbxMountPlan *plan, const SbxPathTable *table, const char *path, char *(*make) (const char *host))
{
  g_autofree char *host = NULL;
  g_autofree char *text = NULL;

  (void) g_file_get_contents (path, &host, NULL, NULL);
  text = make (host);
  if (text != NULL)
    sbx_mount_plan_add_file (plan, table, path, text);
}

void
sbx_names_add_files (SbxMountPlan *plan, const SbxPathTable *table)
{
  add_file (plan, table, "/etc/resolv.conf", sbx_resolv_conf);
  add_file (plan, table, "/etc/hosts", sbx_resolv_hosts);
  add_file (plan, table, "/etc/nsswitch.conf", sbx_resolv_nsswitch);
}
