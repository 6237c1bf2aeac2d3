/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-policy-random.c - random layers, made from the table of keywords, so that a new keyword is among them by itself: a project never
 * widens, whatever the levels above say and lock, and no result depends on the order of the entries in a list. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy-oracle.h"

#define ROUNDS 600
#define LAYERS_MAX 6

/* --- random layers ------------------------------------------------------------------------------------------ */

static const char *
pick (GRand *random, const char *const *words)
{
  guint n = 0;

  while (words[n] != NULL)
    n++;
  return words[g_rand_int_range (random, 0, (gint32) n)];
}

/* A few values each, so that levels often say the same or the opposite. (transfer full) */
static char *
random_entry (GRand *random, SbxType type)
{
  static const char *const paths[] = { "/", "/srv", "/srv/a", "~/x", "sub", "sub/deep", "glob:**/.env", NULL };
  static const char *const hosts[] = { "a.test", "*.a.test", "=b.test:22", "10.0.0.0/8", "c.test:1-99", "*", NULL };
  static const char *const words[] = { "A", "B", "*_TOKEN", "dri", "kvm", NULL };
  static const char *const sets[] = { "A=1", "A=2", "B=1", "C=", NULL };

  switch (type)
    {
    case SBX_TYPE_PATHS:
      return g_strdup (pick (random, paths));
    case SBX_TYPE_HOSTS:
      return g_strdup (pick (random, hosts));
    case SBX_TYPE_PORTS:
      return g_strdup_printf ("%d", g_rand_int_range (random, 1, 5));
    case SBX_TYPE_STRINGS:
      return g_strdup (pick (random, words));
    case SBX_TYPE_SETS:
      return g_strdup (pick (random, sets));
    default:
      ck_abort_msg ("a list of a type that this test does not know: teach it");
    }
  return NULL;
}

/* (transfer full) */
static char *
random_scalar (GRand *random, const SbxKeyword *keyword)
{
  static const char *const addresses[] = { "127.0.0.1:53", "10.0.0.1:5353", NULL };
  static const char *const proxies[] = { "http://p.test:3128", "http://q.test:8080", NULL };

  switch (keyword->type)
    {
    case SBX_TYPE_BOOL:
      return g_strdup (g_rand_boolean (random) ? "true" : "false");
    case SBX_TYPE_INT:
    case SBX_TYPE_SIZE:
      return g_strdup_printf ("%" G_GINT64_FORMAT,
                              MIN (keyword->minimum + g_rand_int_range (random, 0, 4), keyword->maximum));
    case SBX_TYPE_ENUM:
      return g_strdup (pick (random, keyword->words));
    case SBX_TYPE_STRING:
      return g_strdup (pick (random, strcmp (keyword->name, "network.upstream") == 0 ? proxies : addresses));
    default:
      ck_abort_msg ("\"%s\" has a type that this test does not know: teach it", keyword->name);
    }
  return NULL;
}

/* Two of environment.set of one name in one list have an order, and are not made; nor is anything said twice in one file. */
static gboolean
is_there (SbxKey key, const SbxValue *value, const char *text)
{
  gsize length = key == SBX_KEY_ENV_SET ? strcspn (text, "=") : strlen (text);

  for (guint i = 0; value->entries != NULL && i < value->entries->len; i++)
    {
      const SbxEntry *entry = g_ptr_array_index (value->entries, i);
      g_autofree char *shown = sbx_entry_show (key, entry);
      if (strncmp (shown, text, length) == 0 && (shown[length] == '\0' || shown[length] == '='))
        return TRUE;
    }
  return FALSE;
}

static guint n_said[SBX_N_KEYS][SBX_N_LEVELS];

static void
fill_key (GRand *random, SbxLayer *layer, SbxKey key)
{
  const SbxKeyword *keyword = sbx_keyword (key);
  g_autoptr (GError) error = NULL;

  if (!sbx_type_is_list (keyword->type))
    {
      g_autofree char *text = random_scalar (random, keyword);
      ck_assert_msg (sbx_layer_set_text (layer, key, text, layer->file, &error), "%s",
                     error != NULL ? error->message : "");
      return;
    }
  for (gint32 n = g_rand_int_range (random, 0, 4); n > 0; n--)
    {
      g_autofree char *text = random_entry (random, keyword->type);
      if (is_there (key, &layer->values[key], text))
        continue;
      /* Some keywords take only some of these. */
      (void) sbx_layer_add_option (layer, key, text, layer->file, NULL);
    }
}

static gboolean
may_say (SbxKey key, SbxLevel level)
{
  const SbxKeyword *keyword = sbx_keyword (key);

  return key != SBX_KEY_LOCK && (keyword->levels & (1u << level)) != 0 && keyword->combine != SBX_COMBINE_FILE
         && (level != SBX_LEVEL_PROJECT || keyword->project != SBX_PROJECT_FORBIDDEN);
}

/* What a file of this level could say of each keyword, one time in three. */
static SbxLayer *
random_layer (GRand *random, SbxLevel level, guint number)
{
  g_autofree char *name = g_strdup_printf ("%s-%u", sbx_level_name (level), number);
  SbxLayer *layer = sbx_layer_new (level, g_intern_string (name));

  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      if (may_say (key, level) && g_rand_int_range (random, 0, 3) == 0)
        fill_key (random, layer, key);
    }
  for (int key = 0; key < SBX_N_KEYS; key++)
    n_said[key][level] += layer->values[key].is_set;
  /* Names of keywords and of groups. */
  for (gint32 n = level < SBX_LEVEL_COMMAND ? g_rand_int_range (random, 0, 3) : 0; n > 0; n--)
    {
      g_autofree char *locked = g_strdup (sbx_keyword (g_rand_int_range (random, 0, SBX_N_KEYS))->name);
      char *dot = strchr (locked, '.');
      if (dot != NULL && g_rand_boolean (random))
        *dot = '\0';
      (void) sbx_layer_add_option (layer, SBX_KEY_LOCK, locked, layer->file, NULL);
    }
  return layer;
}

typedef struct
{
  GPtrArray *layers; /* all of them, the project's last */
  guint n_trusted;
} World;

static void
world_clear (World *world)
{
  g_ptr_array_unref (world->layers);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

static World
random_world (GRand *random)
{
  static const SbxLevel levels[LAYERS_MAX] = { SBX_LEVEL_SYSTEM,  SBX_LEVEL_SYSTEM,  SBX_LEVEL_USER,
                                               SBX_LEVEL_COMMAND, SBX_LEVEL_PROJECT, SBX_LEVEL_PROJECT };
  World world = { g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free), 0 };

  for (guint i = 0; i < LAYERS_MAX; i++)
    {
      g_ptr_array_add (world.layers, random_layer (random, levels[i], i));
      world.n_trusted += levels[i] != SBX_LEVEL_PROJECT;
    }
  return world;
}

/* The merge of the first @n layers; NULL when the command line asks for what is locked. */
static SbxPolicy *
merge_first (const World *world, guint n)
{
  g_autoptr (GPtrArray) some = g_ptr_array_new ();

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (some, g_ptr_array_index (world->layers, i));
  return sbx_policy_merge (some, NULL);
}

/* --- what must hold ----------------------------------------------------------------------------------------- */

static guint n_merged;

START_TEST (no_project_widens)
{
  n_merged = 0;
  for (guint32 seed = 1; seed <= ROUNDS; seed++)
    {
      GRand *random = g_rand_new_with_seed (seed);
      g_auto (World) world = random_world (random);
      g_autoptr (SbxPolicy) before = merge_first (&world, world.n_trusted);

      g_rand_free (random);
      if (before == NULL)
        continue;
      n_merged++;
      g_autoptr (SbxPolicy) after = merge_first (&world, world.layers->len);
      ck_assert_msg (after != NULL, "seed %u: a project is never an error of the command line", seed);
      ck_assert_msg (!adds_access (before, after), "seed %u: the project widens", seed);
    }
  ck_assert_uint_gt (n_merged, ROUNDS / 10);
  /* No keyword has been left out. */
  for (int key = 0; key < SBX_N_KEYS; key++)
    for (int level = SBX_LEVEL_SYSTEM; level < SBX_N_LEVELS; level++)
      if (may_say (key, (SbxLevel) level))
        ck_assert_msg (n_said[key][level] > 0, "%s was never said by the level %s", sbx_keyword (key)->name,
                       sbx_level_name ((SbxLevel) level));
}
END_TEST

/* The oracle sees what the user may do and a project may not: else the test above shows nothing. */
START_TEST (the_oracle_sees_what_widens)
{
  guint n_widened = 0;

  for (guint32 seed = 1; seed <= ROUNDS; seed++)
    {
      GRand *random = g_rand_new_with_seed (seed);
      g_auto (World) world = random_world (random);
      g_autoptr (SbxPolicy) before = merge_first (&world, 2);
      g_autoptr (SbxPolicy) after = merge_first (&world, 3);

      g_rand_free (random);
      n_widened += adds_access (before, after);
    }
  ck_assert_uint_gt (n_widened, ROUNDS / 2);
}
END_TEST

static int
compare_texts (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* All that a policy says, whatever the order of its lists. (transfer full) */
static char *
describe (const SbxPolicy *policy)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const char *name = sbx_keyword (key)->name;
      const GPtrArray *entries = sbx_policy_entries (policy, key);
      for (guint i = 0; i < entries->len; i++)
        {
          const SbxEntry *entry = g_ptr_array_index (entries, i);
          g_autofree char *text = sbx_entry_show (key, entry);
          g_ptr_array_add (lines, g_strdup_printf ("%s %s %s", name, text, sbx_level_name (entry->origin.level)));
        }
      if (!sbx_type_is_list (sbx_keyword (key)->type))
        g_ptr_array_add (lines, g_strdup_printf ("%s = %" G_GINT64_FORMAT " %s", name, sbx_policy_number (policy, key),
                                                 sbx_level_name (sbx_policy_origin (policy, key)->level)));
    }
  for (guint i = 0; i < policy->requests->len + policy->notes->len; i++)
    {
      const SbxNote *note =
          i < policy->requests->len ? policy->requests->pdata[i] : policy->notes->pdata[i - policy->requests->len];
      g_ptr_array_add (lines, g_strdup_printf ("note %s", note->text));
    }
  g_ptr_array_sort (lines, compare_texts);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("\n", (char **) lines->pdata);
}

static void
shuffle (GRand *random, GPtrArray *entries)
{
  for (guint i = entries->len; i > 1; i--)
    {
      guint other = (guint) g_rand_int_range (random, 0, (gint32) i);
      gpointer moved = entries->pdata[i - 1];
      entries->pdata[i - 1] = entries->pdata[other];
      entries->pdata[other] = moved;
    }
}

START_TEST (the_order_of_entries_means_nothing)
{
  guint n_shuffled = 0;

  for (guint32 seed = 1; seed <= ROUNDS; seed++)
    {
      GRand *random = g_rand_new_with_seed (seed);
      g_auto (World) world = random_world (random);
      g_autoptr (SbxPolicy) straight = merge_first (&world, world.layers->len);
      g_autofree char *first = straight != NULL ? describe (straight) : NULL;

      for (guint i = 0; i < world.layers->len; i++)
        {
          SbxLayer *layer = g_ptr_array_index (world.layers, i);
          for (int key = 0; key < SBX_N_KEYS; key++)
            if (layer->values[key].entries != NULL)
              shuffle (random, layer->values[key].entries);
        }
      g_autoptr (SbxPolicy) shuffled = merge_first (&world, world.layers->len);
      g_autofree char *second = shuffled != NULL ? describe (shuffled) : NULL;
      g_rand_free (random);
      ck_assert_msg (g_strcmp0 (first, second) == 0, "seed %u:\n%s\n--- shuffled\n%s", seed, first, second);
      n_shuffled += first != NULL;
    }
  ck_assert_uint_gt (n_shuffled, ROUNDS / 10);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("policy-random");
  TCase *tests = tcase_create ("policy-random");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, no_project_widens);
  tcase_add_test (tests, the_oracle_sees_what_widens);
  tcase_add_test (tests, the_order_of_entries_means_nothing);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
