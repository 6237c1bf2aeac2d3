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
  GPtrArray *paths;  /* const char*, sorted */
  GHashTable *names; /* last components that matter */
  int fd;
};

static void
add_path (SbxWatch *watch, const char *path)
{
  g_ptr_array_add (watch->paths, (gpointer) path);
  g_hash_table_add (watch->names, strrchr (path, '/') + 1);
}

/* The directory in which an absent name's first missing component will appear is its parent; it exists. */
static gboolean
watch_parents (SbxWatch *watch)
{
  g_autoptr (GString) last = g_string_new (NULL);

  for (guint i = 0; i < watch->paths->len; i++)
    {
      const char *path = g_ptr_array_index (watch->paths, i);
      gsize length = strrchr (path, '/') - path;

      if (length == 0)
        length = 1;
      if (last->len == length && strncmp (last->str, path, length) == 0)
        continue;
      g_string_truncate (last, 0);
      g_string_append_len (last, path, length);
      if (inotify_add_watch (watch->fd, last->str, EVENTS) < 0 && errno != ENOENT && errno != ENOTDIR
          && errno != EACCES)
        return FALSE;
    }
  return TRUE;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return sbx_path_compare (*(const char *const *) a, *(const char *const *) b);
}

SbxWatch *
sbx_watch_new (const SbxMountPlan *plan)
{
  SbxWatch *watch = g_new0 (SbxWatch, 1);

  watch->plan = plan;
  watch->fd = -1;
  watch->paths = g_ptr_array_new ();
  watch->names = g_hash_table_new (g_str_hash, g_str_equal);
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
  g_ptr_array_sort (watch->paths, compare_paths);
  watch->fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  if (watch->fd >= 0 && !watch_parents (watch))
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
  char buffer[8192] __attribute__ ((aligned (__alignof__(struct inotify_event))));
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
  if (!watch_parents (watch))
    sbx_fd_clear (&watch->fd);
  return TRUE;
}
