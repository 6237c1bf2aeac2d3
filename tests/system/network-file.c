/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* network-file.c - for the tests of sandbox-proxy: a policy file on standard input becomes what sandbox-run would hand over of it, on
 * standard output. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/loader.h"
#include "policy/network-transfer.h"

static gboolean
convert (const char *session, GError **error)
{
  gsize length, size;
  g_autofree char *text = sbx_fd_read_all (STDIN_FILENO, 1 << 20, &length);
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  SbxLoaderInput input = { text, length, "/etc/test.conf", SBX_LEVEL_SYSTEM, SBX_LEVEL_SYSTEM };
  SbxLayer *layer = sbx_loader_parse (&input, NULL, error);

  if (layer == NULL)
    return FALSE;
  g_ptr_array_add (layers, layer);
  g_autoptr (SbxPolicy) policy = sbx_policy_merge (layers, error);
  sbx_autofd int fd = policy != NULL ? sbx_network_transfer_write (policy, session, error) : -1;
  g_autofree char *bytes = fd >= 0 ? sbx_fd_read_all (fd, 1 << 24, &size) : NULL;
  return bytes != NULL && sbx_fd_write_all (STDOUT_FILENO, bytes, size);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;

  if (convert (argc > 1 ? argv[1] : "test", &error))
    return EXIT_SUCCESS;
  fprintf (stderr, "%s\n", error != NULL ? error->message : "input or output failed");
  return EXIT_FAILURE;
}
