/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c - see watch.h. Events only say "look again", and init decides by what is mounted where: inode numbers are used again at
 * once, and events can be lost, merged or provoked (the sandbox shares directories with us), which costs time and nothing else. */
#include "config.h"

#include "confine/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"

#define BEGIN_DELAY (G_USEC_PER_SEC / 10)
#define LOOK_INTERVAL (G_USEC_PER_SEC / 2)
#define EVENTS (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

struct _SbxWatch
{
  const SbxMountPlan *plan;
  gboolean begun;
  gint64 next_look;  /* monotonic: when to begin, or, without a descriptor, to look again */
  GPtrArray *paths;  /* const char* */
  GHashTable *names; /* components that matter */
  int fd;
};

/* Every component of @path may be what is replaced. */
static void
add_path (SbxWatch *watch, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path + 1, "/", -1);

  g_ptr_array_add (watch->paths, (gpointer) path);
  for (guint i = 0; parts[i] != NULL; i++)
    if (!g_hash_table_contains (watch->names, parts[i]))
      g_hash_table_add (watch->names, g_strdup (parts[i]));
}

/* TRUE if only other users can replace what is in @directory: nothing above it is watched then. */
static gboolean
belongs_to_others (const char *directory)
{
  struct stat st;

  return lstat (directory, &st) == 0 && st.st_uid != getuid () && access (directory, W_OK) < 0;
}

/* Watches the directory that @path lies in, and those above it. FALSE if a watch cannot be had. */
static gboolean
watch_above (SbxWatch *watch, const char *path, GHashTable *seen)
{
  g_autofree char *at = g_path_get_dirname (path);

  while (!g_hash_table_contains (seen, at))
    {
      char *above = g_path_get_dirname (at);
      gboolean last = belongs_to_others (at) || strcmp (at, "/") == 0;

      if (inotify_add_watch (watch->fd, at, EVENTS) < 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        {
          g_free (above);
          return FALSE;
        }
      g_hash_table_add (seen, at);
      at = above;
      if (last)
        break;
    }
  return TRUE;
}

static gboolean
watch_all (SbxWatch *watch)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < watch->paths->len; i++)
    if (!watch_above (watch, g_ptr_array_index (watch->paths, i), seen))
      return FALSE;
  return TRUE;
}

SbxWatch *
sbx_watch_new (const SbxMountPlan *plan)
{
  SbxWatch *watch = g_new0 (SbxWatch, 1);

  watch->plan = plan;
  watch->fd = -1;
  watch->paths = g_ptr_array_new ();
  watch->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  watch->next_look = g_get_monotonic_time () + BEGIN_DELAY;
  return watch;
}

static void
begin (SbxWatch *watch)
{
  const SbxMountPlan *plan = watch->plan;

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, i);

      if (mount->watched)
        add_path (watch, mount->path);
    }
  for (guint i = 0; i < plan->absents->len; i++)
    {
      const SbxAbsent *absent = g_ptr_array_index (plan->absents, i);

      if (!absent->in_writable)
        add_path (watch, absent->path);
    }
  if (watch->paths->len > 0)
    watch->fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  if (watch->fd >= 0 && !watch_all (watch))
    sbx_fd_clear (&watch->fd);
  watch->begun = TRUE;
}

void
sbx_watch_free (SbxWatch *watch)
{
  if (watch == NULL)
    return;
  sbx_fd_clear (&watch->fd);
  g_ptr_array_unref (watch->paths);
  g_hash_table_unref (watch->names);
  g_free (watch);
}

int
sbx_watch_fd (const SbxWatch *watch)
{
  return watch->fd;
}

int
sbx_watch_interval (const SbxWatch *watch)
{
  gint64 left = watch->next_look - g_get_monotonic_time ();

  if (watch->fd >= 0 || (watch->begun && watch->paths->len == 0))
    return -1;
  return left <= 0 ? 0 : (int) (left / 1000 + 1);
}

/* Whether any event read concerns a name of ours. */
static gboolean
read_events (SbxWatch *watch)
{
  char buffer[8192] __attribute__ ((aligned (_Alignof(struct inotify_event))));
  gboolean relevant = FALSE;
  ssize_t n;

  while ((n = read (watch->fd, buffer, sizeof buffer)) > 0)
    for (char *at = buffer; at < buffer + n;)
      {
        const struct inotify_event *event = (const struct inotify_event *) at;

        if (event->len == 0 || (event->mask & IN_Q_OVERFLOW) || g_hash_table_contains (watch->names, event->name))
          relevant = TRUE;
        at += sizeof *event + event->len;
      }
  return relevant;
}

gboolean
sbx_watch_look (SbxWatch *watch)
{
  if (watch->fd < 0)
    {
      gint64 now = g_get_monotonic_time ();

      if (now < watch->next_look || (watch->begun && watch->paths->len == 0))
        return FALSE;
      watch->next_look = now + LOOK_INTERVAL;
      if (!watch->begun)
        begin (watch);
      return watch->paths->len > 0;
    }
  if (!read_events (watch))
    return FALSE;
  /* A replaced directory is another object: its watch went with the old one. */
  if (!watch_all (watch))
    sbx_fd_clear (&watch->fd);
  return TRUE;
}
