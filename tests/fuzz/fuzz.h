/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz.h - what the fuzz entries share: a claim that does not hold ends the run. */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define CLAIM(condition)                                                                                               \
  do                                                                                                                   \
    if (!(condition))                                                                                                  \
      abort ();                                                                                                        \
  while (0)

/* The first @size bytes in a block of just that size, so that reading on is noticed. */
static inline guint8 *
fuzz_copy (const uint8_t *data, size_t size)
{
  guint8 *copy = g_malloc (size + (size == 0));
  if (size > 0)
    memcpy (copy, data, size);
  return copy;
}
