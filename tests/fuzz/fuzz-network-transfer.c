/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz-network-transfer.c - the memory file with the network part of a policy: what is not whole is an error, and what is read holds
 * nothing that a policy could not hold. */
#include "config.h"

#include "policy/network-transfer.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "fuzz.h"

static void
check_ports (const GPtrArray *list)
{
  for (guint i = 0; i < list->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (list, i);
      CLAIM (entry->number >= 1 && entry->number <= G_MAXUINT16);
      CLAIM (entry->text != NULL && entry->origin.level < SBX_N_LEVELS);
    }
}

/* The rules can be asked, and what is allowed at a port is allowed at some port. */
static void
check_rules (const SbxHostRules *rules)
{
  static const char *const hosts[] = { "example.com", "a.in.example", "10.1.2.3", "::1" };

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++)
    {
      SbxHostVerdict verdict;
      SbxHost host;
      CLAIM (sbx_host_canonical (hosts[i], strlen (hosts[i]), &host) == SBX_HOST_OK);
      sbx_host_rules_ask (rules, NULL, &host, 443, &verdict);
      CLAIM (!verdict.allowed || sbx_host_rules_ask_any_port (rules, NULL, &host, NULL));
      CLAIM (!verdict.allowed || !sbx_host_rules_is_empty (rules));
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  sbx_autofd int fd = memfd_create ("fuzz", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;

  CLAIM (fd >= 0 && sbx_fd_write_all (fd, data, size));
  g_autoptr (SbxNetwork) network = sbx_network_transfer_read (fd, &error);
  CLAIM ((network == NULL) == (error != NULL));
  if (network == NULL)
    return 0;
  CLAIM (network->session != NULL && network->resolver != NULL && network->upstream != NULL);
  check_ports (network->connect_local);
  check_ports (network->publish);
  check_rules (network->rules);
  return 0;
}
