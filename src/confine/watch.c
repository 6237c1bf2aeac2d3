/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* watch.c - see watch.h. Events only say "look again": what is there is decided by lstat(2), parents before what lies below them, so
 * that lost, merged or forged events (the sandbox shares directories with us) cost time and nothing else. */
#include "config.h"

#include "confine/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"

#define LOOK_INTERVAL 500
#define EVENTS (IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

typedef struct
{
  gboolean absent;
  guint index;
  const char *path;
  dev_t dev;
  ino_t ino; /* 0: not there */
} Item;

struct _SbxWatch
{
  const SbxMountPlan *plan;
  GArray *items;     /* Item, sorted by path */
  GHashTable *names; /* last components that matter */
  int fd;
};

static void
identify (Item *item)
{
  struct stat st;

  item->dev = 0;
  item->ino = 0;
  if (lstat (item->path, &st) == 0)
    {
      item->dev = st.st_dev;
      item->ino = st.st_ino;
    }
}

static void
add_item (SbxWatch *watch, gboolean absent, guint index, const char *path)
{
  Item item = { .absent = absent, .index = index, .path = path };

  identify (&item);
  g_array_append_val (watch->items, item);
  g_hash_table_add (watch->names, strrchr (path, '/') + 1);
}

/* The directory in which an absent name's first missing component will appear is its parent; it exists. */
static gboolean
watch_parents (SbxWatch *watch)
{
  g_autoptr (GString) last = g_string_new (NULL);

  for (guint i = 0; i < watch->items->len; i++)
    {
      const char *path = g_array_index (watch->items, Item, i).path;
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
compare_items (gconstpointer a, gconstpointer b)
{
  return sbx_path_compare (((const Item *) a)->path, ((const Item *) b)->path);
}

SbxWatch *
sbx_watch_new (const SbxMountPlan *plan)
{
  SbxWatch *watch = g_new0 (SbxWatch, 1);

  watch->plan = plan;
  watch->items = g_array_new (FALSE, FALSE, sizeof (Item));
  watch->names = g_hash_table_new (g_str_hash, g_str_equal);
  watch->fd = inotify_init1 (IN_CLOEXEC | IN_NONBLOCK);
  return watch;
}

void
sbx_watch_begin (SbxWatch *watch)
{
  const SbxMountPlan *plan = watch->plan;

  for (guint i = 0; i < plan->mounts->len; i++)
    {
      const SbxMount *mount = g_ptr_array_index (plan->mounts, i);

      if (mount->watched)
        add_item (watch, FALSE, i, mount->path);
    }
  for (guint i = 0; i < plan->absents->len; i++)
    {
      const SbxAbsent *absent = g_ptr_array_index (plan->absents, i);

      if (!absent->in_writable)
        add_item (watch, TRUE, i, absent->path);
    }
  g_array_sort (watch->items, compare_items);
  if (watch->fd >= 0 && !watch_parents (watch))
    sbx_fd_clear (&watch->fd);
}

void
sbx_watch_free (SbxWatch *watch)
{
  if (watch == NULL)
    return;
  sbx_fd_clear (&watch->fd);
  g_array_unref (watch->items);
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
  return watch->fd < 0 && watch->items->len > 0 ? LOOK_INTERVAL : -1;
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

void
sbx_watch_look (SbxWatch *watch, SbxWatchFunc changed, gpointer data)
{
  gboolean anew = FALSE;

  if (watch->fd >= 0 && !read_events (watch))
    return;
  for (guint i = 0; i < watch->items->len; i++)
    {
      Item *item = &g_array_index (watch->items, Item, i);
      Item before = *item;

      identify (item);
      if (item->dev == before.dev && item->ino == before.ino)
        continue;
      anew = TRUE;
      if (item->ino != 0)
        changed (item->absent, item->index, data);
    }
  /* A replaced directory is another object: its watch went with the old one. */
  if (anew && watch->fd >= 0 && !watch_parents (watch))
    sbx_fd_clear (&watch->fd);
}
