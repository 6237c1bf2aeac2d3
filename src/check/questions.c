/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* questions.c - one buffer, in which the names are terminated where they lie. */
#include "config.h"

#include "check/questions.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (256 * 1024) /* what is at hand at once is answered from one look at the directories */

struct _SbxQuestions
{
  int fd;
  char separator;
  gboolean eof;
  gboolean skipping; /* the rest of a question that was too long */
  gsize start, end;  /* of what is unread in the buffer */
  char buffer[BUFFER + 1];
};

SbxQuestions *
sbx_questions_new (int fd, char separator)
{
  SbxQuestions *q = g_new (SbxQuestions, 1);

  q->fd = fd;
  q->separator = separator;
  q->eof = q->skipping = FALSE;
  q->start = q->end = 0;
  return q;
}

void
sbx_questions_free (SbxQuestions *questions)
{
  g_free (questions);
}

/* Drops bytes up to and with the separator that ends an overlong question. */
static void
skip_rest (SbxQuestions *q)
{
  char *stop = memchr (q->buffer + q->start, q->separator, q->end - q->start);

  if (stop == NULL)
    {
      q->start = q->end;
      return;
    }
  q->start = (gsize) (stop - q->buffer) + 1;
  q->skipping = FALSE;
}

gboolean
sbx_questions_next (SbxQuestions *questions, const char **name, gsize *length)
{
  SbxQuestions *q = questions;
  gsize unread, taken;
  char *stop;

  if (q->skipping)
    skip_rest (q);
  unread = q->end - q->start;
  if (unread == 0)
    return FALSE;

  stop = memchr (q->buffer + q->start, q->separator, unread);
  if (stop == NULL && !q->eof && unread < SBX_QUESTION_MAX)
    return FALSE;

  *name = q->buffer + q->start;
  *length = stop != NULL ? (gsize) (stop - *name) : unread;
  taken = stop != NULL ? *length + 1 : *length;
  if (stop == NULL && !q->eof)
    q->skipping = TRUE;
  q->buffer[q->start + *length] = '\0'; /* at the end of the buffer there is a byte to spare */
  q->start += taken;
  return TRUE;
}

gboolean
sbx_questions_ended (const SbxQuestions *questions)
{
  return questions->eof && questions->start == questions->end;
}

gboolean
sbx_questions_ready (const SbxQuestions *questions)
{
  struct pollfd p = { .fd = questions->fd, .events = POLLIN };

  return poll (&p, 1, 0) > 0;
}

gboolean
sbx_questions_read (SbxQuestions *questions)
{
  SbxQuestions *q = questions;
  ssize_t n;

  if (q->start > 0)
    {
      memmove (q->buffer, q->buffer + q->start, q->end - q->start);
      q->end -= q->start;
      q->start = 0;
    }
  for (;;)
    {
      struct pollfd p = { .fd = q->fd, .events = POLLIN };

      n = read (q->fd, q->buffer + q->end, BUFFER - q->end);
      if (n >= 0)
        break;
      if (errno == EAGAIN) /* somebody made the pipe non-blocking: wait all the same */
        (void) poll (&p, 1, -1);
      else if (errno != EINTR)
        return FALSE;
    }
  q->end += (gsize) n;
  q->eof = n == 0;
  return TRUE;
}
