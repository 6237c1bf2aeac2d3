/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* condition.c - conditions of a policy file. They only say whether a file counts; a project may write them too, since
 * what its files can do does not depend on when they do it. */
#include "config.h"

#include "policy/condition.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "policy/path.h"
#include "policy/value.h"

#define NAME_BUFFER 65536
#define SYSCTL_MAX 64

/* The number in a file below /proc/sys, @fallback if there is none. */
static gint64
read_sysctl (const char *path, gint64 fallback)
{
  sbx_autofd int fd = open (path, O_RDONLY | O_CLOEXEC);
  g_autofree char *text = fd < 0 ? NULL : sbx_fd_read_all (fd, SYSCTL_MAX, NULL);

  return text == NULL ? fallback : g_ascii_strtoll (text, NULL, 10);
}

static gboolean
userns_allowed (void)
{
  return read_sysctl ("/proc/sys/user/max_user_namespaces", 0) > 0
         && read_sysctl ("/proc/sys/kernel/unprivileged_userns_clone", 1) != 0;
}

static char *
user_name (uid_t uid)
{
  g_autofree char *buffer = g_malloc (NAME_BUFFER);
  struct passwd entry, *found = NULL;

  if (getpwuid_r (uid, &entry, buffer, NAME_BUFFER, &found) != 0 || found == NULL)
    return NULL;
  return g_strdup (entry.pw_name);
}

SbxFacts *
sbx_facts_new (const SbxContext *context)
{
  SbxFacts *facts = g_new0 (SbxFacts, 1);
  long landlock = syscall (SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  int n = getgroups (0, NULL);

  facts->uid = context->uid;
  facts->user = user_name (context->uid);
  facts->groups = g_new0 (gid_t, (gsize) MAX (n, 0) + 1);
  if (n > 0)
    n = getgroups (n, facts->groups);
  facts->n_groups = (gsize) MAX (n, 0);
  facts->groups[facts->n_groups++] = context->gid;
  facts->interactive = isatty (STDIN_FILENO) != 0;
  facts->landlock = landlock > 0 ? (guint) landlock : 0;
  facts->seccomp = prctl (PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
  facts->userns = userns_allowed ();
  return facts;
}

void
sbx_facts_free (SbxFacts *facts)
{
  if (facts == NULL)
    return;
  g_free (facts->user);
  g_free (facts->groups);
  g_free (facts);
}

static gboolean
parse_id (const char *text, guint64 *id)
{
  return g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT32 - 1, id, NULL);
}

static gboolean
is_user (const char *word, const SbxFacts *facts)
{
  guint64 id = 0;

  return parse_id (word, &id) ? id == facts->uid : g_strcmp0 (word, facts->user) == 0;
}

static gboolean
is_group (const char *word, const SbxFacts *facts)
{
  g_autofree char *buffer = NULL;
  struct group entry, *found = NULL;
  guint64 id = 0;

  if (!parse_id (word, &id))
    {
      buffer = g_malloc (NAME_BUFFER);
      if (getgrnam_r (word, &entry, buffer, NAME_BUFFER, &found) != 0 || found == NULL)
        return FALSE;
      id = entry.gr_gid;
    }
  for (gsize i = 0; i < facts->n_groups; i++)
    if (facts->groups[i] == id)
      return TRUE;
  return FALSE;
}

/* TRUE if the workspace is @word or lies below it. */
static gboolean
is_workspace (const char *word, const SbxContext *context)
{
  g_autofree char *name = NULL;
  g_autofree char *real = NULL;

  if (context->workspace == NULL || (word[0] == '~' && context->home == NULL))
    return FALSE;
  name = word[0] == '~' ? g_strconcat (context->home, word + 1, NULL) : g_strdup (word);
  real = realpath (name, NULL);
  return real != NULL && sbx_path_is_below (context->workspace, real);
}

static gboolean
word_holds (const SbxEntry *entry, const SbxContext *context, const SbxFacts *facts)
{
  if (strcmp (entry->value, "command") == 0)
    return g_strcmp0 (entry->text, context->command) == 0;
  if (strcmp (entry->value, "user") == 0)
    return is_user (entry->text, facts);
  if (strcmp (entry->value, "group") == 0)
    return is_group (entry->text, facts);
  if (strcmp (entry->value, "workspace") == 0)
    return is_workspace (entry->text, context);
  return (entry->number != 0) == facts->interactive;
}

gboolean
sbx_condition_holds (const SbxLayer *layer, const SbxContext *context, const SbxFacts *facts)
{
  static const char *const kinds[] = { "command", "user", "group", "interactive", "workspace" };
  const SbxValue *when = &layer->values[SBX_KEY_WHEN];

  for (guint kind = 0; when->is_set && kind < G_N_ELEMENTS (kinds); kind++)
    {
      gboolean asked = FALSE, holds = FALSE;

      for (guint i = 0; i < when->entries->len && !holds; i++)
        {
          const SbxEntry *entry = g_ptr_array_index (when->entries, i);
          if (strcmp (entry->value, kinds[kind]) != 0)
            continue;
          asked = TRUE;
          holds = word_holds (entry, context, facts);
        }
      if (asked && !holds)
        return FALSE;
    }
  return TRUE;
}

static gboolean
is_met (const SbxEntry *entry, const SbxFacts *facts)
{
  char name[SBX_FEATURE_MAX];
  guint minimum = 0;

  if (!sbx_value_split_feature (entry->text, name, &minimum))
    return FALSE;
  if (strcmp (name, "landlock") == 0)
    return facts->landlock > 0 && facts->landlock >= minimum;
  if (strcmp (name, "seccomp") == 0)
    return facts->seccomp;
  return strcmp (name, "userns") == 0 && facts->userns;
}

const SbxEntry *
sbx_condition_unmet (const SbxLayer *layer, const SbxFacts *facts)
{
  const SbxValue *requires = &layer->values[SBX_KEY_REQUIRES];

  for (guint i = 0; requires->is_set && i < requires->entries->len; i++)
    if (!is_met (g_ptr_array_index (requires->entries, i), facts))
      return g_ptr_array_index (requires->entries, i);
  return NULL;
}
