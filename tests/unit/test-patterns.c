/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-patterns.c - a workspace cut into what may be read and what may not, and each language in which that is said. */
#include "config.h"

#include "check/patterns.h"

#include "tree-fixture.h"

static SbxContext *context;
static SbxResolver *resolver;
static SbxPolicy *policy;
static SbxPathTable *table;

static void
set_up (void)
{
  tree_set_up ();
  context = tree_context ();
  resolver = sbx_resolver_new ();
}

static void
tear_down (void)
{
  g_clear_pointer (&table, sbx_path_table_free);
  g_clear_pointer (&policy, sbx_policy_free);
  sbx_resolver_free (resolver);
  sbx_context_free (context);
  tree_tear_down ();
}

#define DR SBX_KEY_DENY_READ
#define AR SBX_KEY_ALLOW_READ

/* "path:+" may be read, "path:-" may not, with the index of the area around, a blank between areas. (transfer full) */
static char *
cut (const Setting *settings, guint n)
{
  g_autoptr (GPtrArray) areas = NULL;
  GString *out = g_string_new (NULL);

  g_clear_pointer (&table, sbx_path_table_free);
  g_clear_pointer (&policy, sbx_policy_free);
  sbx_resolver_reset (resolver);
  policy = tree_policy (settings, n);
  table = tree_table (policy, context, resolver);
  areas = sbx_areas_new (table, context, resolver, context->workspace);
  for (guint i = 0; i < areas->len; i++)
    {
      const SbxArea *area = g_ptr_array_index (areas, i);
      g_string_append_printf (out, "%s%s:%c%u%s", i > 0 ? " " : "", area->path, area->denied ? '-' : '+', area->outer,
                              area->has_inner ? "*" : "");
      ck_assert_int_eq (sbx_area_is_outermost (area),
                        area->denied && (i == 0 || !((SbxArea *) g_ptr_array_index (areas, 0))->denied)
                            && area->outer == 0);
    }
  return g_string_free (out, FALSE);
}

static const struct
{
  Setting settings[4];
  const char *areas;
} cuts[] = {
  { { { 0 } }, ":+0" },
  { { { DR, "a", 0 } }, ":+0* a:-0" },
  { { { DR, "TOP/out", 0 }, { DR, "/etc", 0 } }, ":+0" },
  { { { DR, "a", 0 }, { DR, "a/b", 0 } }, ":+0* a:-0" },
  { { { DR, "a", 0 }, { AR, "a", 0 } }, ":+0" },
  { { { DR, "a", 0 }, { AR, "a/b", 0 } }, ":+0* a:-0* a/b:+1" },
  { { { DR, "a", 0 }, { AR, "a/b", 0 }, { DR, "a/b/c", 0 } }, ":+0* a:-0* a/b:+1* a/b/c:-2" },
  { { { DR, "a", 0 }, { AR, "a/b", 0 }, { DR, "z", 0 } }, ":+0* a:-0* a/b:+1 z:-0" },
  { { { DR, "a", 0 }, { AR, "a/missing", 0 } }, ":+0* a:-0" },
  { { { DR, "missing/too", 0 } }, ":+0* missing/too:-0" },
  { { { DR, "TOP/home", 0 } }, ":-0" },
  { { { DR, "TOP/home", 0 }, { AR, "a", 0 }, { DR, "a/b", 0 } }, ":-0* a:+0* a/b:-1" },
  { { { DR, "ab", 0 }, { DR, "a-b", 0 } }, ":+0* a-b:-0 ab:-0" },
  { { { DR, "link", 0 } }, ":+0* a:-0 link:-0" },
  { { { DR, "link", 0 }, { AR, "a/b", 0 } }, ":+0* a:-0* a/b:+1 link:-0" },
  { { { DR, "outlink", 0 } }, ":+0* outlink:-0" },
  { { { DR, "glob:**/c", 0 } }, ":+0* a/b/c:-0" },
  { { { DR, "pipe", 0 } }, ":+0* pipe:-0" },
  { { { SBX_KEY_DENY_WRITE, "pipe", 0 } }, ":+0* pipe:-0" },
  { { { SBX_KEY_DENY_WRITE, "a", 0 }, { SBX_KEY_PROTECT, "z", 0 } }, ":+0" },
};

START_TEST (areas_of_a_tree)
{
  g_autofree char *fifo = at ("home/ws/pipe");
  g_autofree char *link = at ("home/ws/link");
  g_autofree char *outlink = at ("home/ws/outlink");
  g_autofree char *outside = at ("out");
  g_autofree char *got = NULL;
  guint n = 0;

  put ("home/ws/a/b/c", "");
  put ("home/ws/z/f", "");
  put ("home/ws/ab", "");
  put ("home/ws/a-b", "");
  make_dir ("out");
  ck_assert_int_eq (mkfifo (fifo, 0600), 0);
  ck_assert_int_eq (symlink ("a", link), 0);
  ck_assert_int_eq (symlink (outside, outlink), 0);
  while (n < G_N_ELEMENTS (cuts[_i].settings) && cuts[_i].settings[n].text != NULL)
    n++;
  got = cut (cuts[_i].settings, n);
  ck_assert_str_eq (got, cuts[_i].areas);
}
END_TEST

/* --- languages ------------------------------------------------------------------ */

typedef void (*Make) (const SbxSearch *search, GPtrArray *out);

/* Says the areas "PATH+OUTER" and "PATH-OUTER", in order, by @make; the texts with "|" between them. (transfer full) */
static char *
say (Make make, const char *const *areas)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);
  SbxArea made[8] = { { 0 } };
  SbxSearch search = { "/w*s", g_ptr_array_new () };
  char *text;

  for (guint i = 0; areas[i] != NULL; i++)
    {
      gsize n = strlen (areas[i]) - 2;
      made[i].path = g_strndup (areas[i], n);
      g_ptr_array_add (list, made[i].path);
      made[i].denied = areas[i][n] == '-';
      made[i].outer = (guint) (areas[i][n + 1] - '0');
      made[i].type = SBX_PATH_DIR;
      if (i > 0)
        made[made[i].outer].has_inner = TRUE;
      g_ptr_array_add (search.areas, &made[i]);
    }
  make (&search, out);
  g_ptr_array_add (out, NULL);
  text = g_strjoinv ("|", (char **) out->pdata);
  g_ptr_array_set_size (out, (gint) out->len - 1);
  g_ptr_array_unref (search.areas);
  return text;
}

static const struct
{
  Make make;
  const char *areas[8];
  const char *said;
} sayings[] = {
  { sbx_patterns_rg, { "+0" }, "" },
  { sbx_patterns_ignore, { "+0" }, "" },
  { sbx_patterns_find, { "+0" }, "" },
  { sbx_patterns_fd, { "+0" }, "" },
  { sbx_patterns_grep, { "+0" }, "" },
  { sbx_patterns_git, { "+0" }, "" },
  { sbx_patterns_list, { "+0" }, "" },

  { sbx_patterns_rg, { "-0" }, "--glob=!*" },
  { sbx_patterns_ignore, { "-0" }, "*" },
  { sbx_patterns_fd, { "-0" }, "--exclude=*" },
  { sbx_patterns_grep, { "-0" }, "--exclude-dir=*|--exclude=*" },
  { sbx_patterns_git, { "-0" }, ":(exclude,literal)." },
  { sbx_patterns_list, { "-0" }, "." },
  { sbx_patterns_find, { "-0" }, "!|(|(|(|-path|*|)|)|(|-prune|)|)" },

  { sbx_patterns_rg, { "+0", "a/b-0", "c-0" }, "--glob=!/a/b|--glob=!/c" },
  { sbx_patterns_ignore, { "+0", "a/b-0", "c-0" }, "/a/b|/c" },
  { sbx_patterns_list, { "+0", "a/b-0", "a/b/c+1", "a/b/c/d-2" }, "a/b" },
  { sbx_patterns_rg, { "+0", "a/b-0", "a/b/c+1", "a/b/c/d-2" }, "--glob=!/a/b" },
  { sbx_patterns_grep, { "+0", "a/b-0", "c/b-0", "d-0" }, "--exclude-dir=b|--exclude-dir=d" },

  { sbx_patterns_ignore, { "+0", "a-0", "a/b+1" }, "/a/*|!/a/b" },
  { sbx_patterns_ignore, { "+0", "a-0", "a/x/b+1", "a/x/c+1", "z-0" }, "/a/*|!/a/x|/a/x/*|!/a/x/b|!/a/x/c|/z" },
  { sbx_patterns_ignore,
    { "+0", "a-0", "a/b+1", "a/b/c-2", "a/b/c/d/e+3" },
    "/a/*|!/a/b|/a/b/c/*|!/a/b/c/d|/a/b/c/d/*|!/a/b/c/d/e" },
  { sbx_patterns_ignore, { "-0", "a/b+0", "a/b/c-1" }, "/*|!/a|/a/*|!/a/b|/a/b/c" },

  { sbx_patterns_ignore, { "+0", "*?[]{},\\-0" }, "/\\*\\?\\[\\]\\{\\}\\,\\\\" },
  { sbx_patterns_ignore, { "+0", "!#-0" }, "/!#" },
  { sbx_patterns_ignore, { "+0", "a -0" }, "/a[ ]" },
  { sbx_patterns_ignore, { "+0", "a\r-0" }, "/a[\r]" },
  { sbx_patterns_ignore, { "+0", " a\tb-0" }, "/ a\tb" },
  { sbx_patterns_ignore, { "+0", "a -0", "a /b+1" }, "/a /*|!/a /b" },
  { sbx_patterns_ignore, { "+0", "a\n-0" }, "/a?" },
  { sbx_patterns_ignore, { "+0", "a\xc2\xa0-0" }, "/a??" },
  { sbx_patterns_ignore, { "+0", "a\xe2\x80\xa8-0" }, "/a???" },
  { sbx_patterns_ignore, { "+0", "\xc3\xa9-0" }, "/\xc3\xa9" },
  { sbx_patterns_ignore,
    { "+0", "\xff\xfe"
            "a\xc3-0" },
    "/??a?" },
  { sbx_patterns_git, { "+0", "*\n -0" }, ":(exclude,literal)*\n " },
  { sbx_patterns_grep, { "+0", "x/*?[a]\\-0" }, "--exclude-dir=\\*\\?\\[a]\\\\" },

  { sbx_patterns_find,
    { "+0", "a*-0" },
    "!|(|(|(|-path|./a\\*|-o|-path|./a\\*/*|-o|-path|a\\*|-o|-path|a\\*/*|-o|-path|/w\\*s/a\\*|-o|-path|/w\\*s/a\\*/*|)|)|(|-prune|)|)" },
  { sbx_patterns_find,
    { "-0", "b+0" },
    "!|(|(|(|-path|*|)|!|(|(|-path|./b|-o|-path|./b/*|-o|-path|b|-o|-path|b/*|-o|-path|/w\\*s/b|-o|-path|/w\\*s/b/*|)|)|)"
    "|(|-path|.|-o|-path|/w\\*s|-o|-prune|)|)" },
};

START_TEST (languages)
{
  g_autofree char *said = say (sayings[_i].make, sayings[_i].areas);
  ck_assert_str_eq (said, sayings[_i].said);
}
END_TEST

/* A link and a missing name may be either kind to grep. */
START_TEST (grep_kinds)
{
  static const struct
  {
    SbxPathType type;
    const char *said;
  } kinds[] = { { SBX_PATH_DIR, "--exclude-dir=n" },
                { SBX_PATH_FILE, "--exclude=n" },
                { SBX_PATH_MISSING, "--exclude-dir=n|--exclude=n" },
                { SBX_PATH_LINK, "--exclude-dir=n|--exclude=n" } };

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      SbxArea whole = { .path = (char *) "", .has_inner = TRUE };
      SbxArea one = { .path = (char *) "d/n", .denied = TRUE, .type = kinds[i].type };
      g_autoptr (GPtrArray) list = g_ptr_array_new ();
      g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *said = NULL;
      const SbxSearch search = { "/w", list };

      g_ptr_array_add (list, &whole);
      g_ptr_array_add (list, &one);
      sbx_patterns_grep (&search, out);
      g_ptr_array_add (out, NULL);
      said = g_strjoinv ("|", (char **) out->pdata);
      ck_assert_str_eq (said, kinds[i].said);
    }
}
END_TEST

int
main (void)
{
  TCase *trees = tcase_create ("areas");
  TCase *texts = tcase_create ("languages");
  tcase_add_checked_fixture (trees, set_up, tear_down);
  tcase_add_loop_test (trees, areas_of_a_tree, 0, G_N_ELEMENTS (cuts));
  tcase_add_loop_test (texts, languages, 0, G_N_ELEMENTS (sayings));
  tcase_add_test (texts, grep_kinds);
  TCase *const all[] = { trees, texts };
  return run_cases ("patterns", all, G_N_ELEMENTS (all));
}
