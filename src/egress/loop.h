/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loop.h - what carries all connections of one process: epoll, absolute deadlines on the monotonic clock, and tasks for
 * "go on in a moment". Watches, timers and tasks are members of their owner; nothing is allocated per event. Any of them
 * may be removed, and its owner freed, from inside any call-back. */
#pragma once

#include <glib.h>
#include <sys/epoll.h>

G_BEGIN_DECLS

typedef struct _SbxLoop SbxLoop;
typedef struct _SbxWatch SbxWatch;
typedef struct _SbxTimer SbxTimer;
typedef struct _SbxTask SbxTask;

typedef void (*SbxWatchFunc) (SbxWatch *watch, guint32 events);
typedef void (*SbxTimerFunc) (SbxTimer *timer);
typedef void (*SbxTaskFunc) (SbxTask *task);

struct _SbxWatch
{
  SbxWatchFunc func;
  int fd;
  gboolean added;
};

struct _SbxTimer
{
  SbxTimerFunc func;
  gint64 deadline; /* microseconds of sbx_loop_now() */
  guint place;     /* 1 + index in the heap; 0: not set */
};

struct _SbxTask
{
  SbxTaskFunc func;
  SbxTask *next, *previous;
  gboolean queued;
};

/* The object that @member of type @type is part of. */
#define SBX_CONTAINER(pointer, type, member) ((type *) (gpointer) ((char *) (pointer) -G_STRUCT_OFFSET (type, member)))

/* NULL with errno set. */
SbxLoop *sbx_loop_new (void);
/* Everything must have been removed. */
void sbx_loop_free (SbxLoop *loop);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SbxLoop, sbx_loop_free)

/* Watches @fd for epoll's @events. FALSE with errno set. */
gboolean sbx_loop_watch (SbxLoop *loop, SbxWatch *watch, int fd, guint32 events, SbxWatchFunc func);
gboolean sbx_loop_rewatch (SbxLoop *loop, SbxWatch *watch, guint32 events);
/* Before @fd is closed. No-op for one that is not watched. */
void sbx_loop_unwatch (SbxLoop *loop, SbxWatch *watch);

/* Calls @func once, at @deadline or soon after; a timer that is set is moved. */
void sbx_loop_set_timer (SbxLoop *loop, SbxTimer *timer, gint64 deadline, SbxTimerFunc func);
void sbx_loop_clear_timer (SbxLoop *loop, SbxTimer *timer);

/* Calls @func once, after the events that are there now: how a long job lets others have their turn. */
void sbx_loop_queue (SbxLoop *loop, SbxTask *task, SbxTaskFunc func);
void sbx_loop_unqueue (SbxLoop *loop, SbxTask *task);

/* The monotonic clock in microseconds, read once a turn. */
gint64 sbx_loop_now (SbxLoop *loop);

/* Turns until sbx_loop_quit(). FALSE with errno set when epoll fails. */
gboolean sbx_loop_run (SbxLoop *loop);
void sbx_loop_quit (SbxLoop *loop);

/* From now on no call that is made in a turn waits for more than a millisecond or so where it can be interrupted (EINTR): for descriptors
 * that others have made or have too. O_NONBLOCK is no protection from them: it belongs to whoever has the socket as well, and close(2) of
 * a socket with SO_LINGER does not ask for it. Uses SIGALRM and the process's timer; holds until sbx_loop_free(). */
void sbx_loop_guard (SbxLoop *loop);
/* Until the end of this turn calls may take their time again. */
void sbx_loop_relax (SbxLoop *loop);

/* Called at the end of each turn, for what is done better once than for each event. */
void sbx_loop_set_after (SbxLoop *loop, void (*func) (gpointer data), gpointer data);

G_END_DECLS
