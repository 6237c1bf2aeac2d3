/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-dump.c - the policy as text, as JSON, and as a file that means the same when it is read back. */
#include "config.h"

#include "policy/dump.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policy/loader.h"

static SbxPolicy *
merge_text (SbxLevel level, const char *text)
{
  SbxLoaderInput input = { text, strlen (text), "FILE", level, level };
  g_autoptr (GPtrArray) layers = g_ptr_array_new_with_free_func ((GDestroyNotify) sbx_layer_free);
  g_autoptr (GError) error = NULL;
  SbxLayer *layer = sbx_loader_parse (&input, NULL, &error);

  ck_assert_msg (layer != NULL, "%s in:\n%s", error != NULL ? error->message : "?", text);
  g_ptr_array_add (layers, layer);
  return sbx_policy_merge (layers, NULL);
}

static char *
dump (const SbxPolicy *policy, SbxDumpFormat format)
{
  SbxContext context = { .workspace = (char *) "/w\"s", .home = NULL, .service = (char *) "npm" };
  GString *out = g_string_new (NULL);

  sbx_policy_dump (policy, &context, format, out);
  return g_string_free (out, FALSE);
}

/* Without the comments that tell origins; a "#" in a string of these tests is never followed by a blank. */
static char *
strip (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *comment = strstr (lines[i], "  # ");
      if (comment != NULL)
        *comment = '\0';
    }
  return g_strjoinv ("\n", lines);
}

static const char *const texts[] = {
  "",
  "filesystem : { deny_read = [ \"secret\", \"a b\", \"q\\\"\\\\\", \"\\xff\", \"#x\", \"//y\", \"/*z\", \"\xc3\xbc\", "
  "\"glob:**/.env\" ];\n"
  " allow_read = [ \"secret/public\" ]; allow_write = [ \"/x\" ]; deny_write = [ \"src\" ]; protect = [ \"p\" ]; "
  "unprotect = [ \"u\" ]; };",
  "lock = [ \"mode\", \"network\" ]; mode = \"disabled\"; workspace : { enforce = false; };",
  "filesystem : { view = \"minimal\"; tmp = \"host\"; devices = [ \"dri\", \"/dev/x\" ]; scan = \"off\"; };",
  "network : { mode = \"scoped\"; allow = ( \"*.a.org:1-9\", \"=b\", \"*:*\", \"[fd00::/8]:443\", { host = \"c\"; "
  "ports = ( 1, \"2-3\", \"*\" ); private = true; },\n"
  " { host = \"d\"; private = true; } ); deny = [ \"e:5\" ]; default_ports = [ ]; connect_local = [ 1, 65535 ]; "
  "publish = [ 2 ];\n"
  " unix_sockets = [ \"~/s\" ]; transparent = false; enforce_tools = true; sni = \"match\"; resolver = \"[::1]:53\"; "
  "upstream = \"http://h:1\"; };",
  "network : { default_ports = [ 80, 443 ]; };",
  "environment : { mode = \"clean\"; keep = [ \"A*\" ]; drop = [ \"*_T[!x]\" ]; set = ( { name = \"N\"; value = "
  "\"l1\\nl2\\t\\x01 = \\\"$ 5\"; }, { name = \"E\"; value = \"\"; } ); };",
  "process : { nested = \"refuse\"; userns = \"allow\"; new_session = true; limits : { nofile = 9; nproc = 9; core = "
  "5; fsize = \"8T\"; as = \"3G\"; cpu = 9; }; };",
  "process : { limits : { core = 0; fsize = 9223372036854775807; }; };",
};

START_TEST (conf_is_a_fixpoint)
{
  g_autoptr (SbxPolicy) one = merge_text (SBX_LEVEL_SYSTEM, texts[_i]);
  g_autofree char *first = dump (one, SBX_DUMP_CONF);
  g_autoptr (SbxPolicy) two = merge_text (SBX_LEVEL_COMMAND, first);
  g_autofree char *second = dump (two, SBX_DUMP_CONF);
  g_autofree char *first_plain = strip (first);
  g_autofree char *second_plain = strip (second);

  ck_assert_str_eq (first_plain, second_plain);
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      const GPtrArray *a = sbx_policy_entries (one, key), *b = sbx_policy_entries (two, key);

      ck_assert_int_eq (sbx_policy_number (one, key), sbx_policy_number (two, key));
      ck_assert_pstr_eq (sbx_policy_text (one, key), sbx_policy_text (two, key));
      ck_assert_int_eq (one->locked[key], two->locked[key]);
      ck_assert_msg (a->len == b->len, "%s", sbx_keyword (key)->name);
      for (guint i = 0; i < a->len; i++)
        {
          g_autofree char *x = sbx_entry_show (key, a->pdata[i]);
          g_autofree char *y = sbx_entry_show (key, b->pdata[i]);
          ck_assert_str_eq (x, y);
        }
    }
}
END_TEST

START_TEST (conf_of_nothing)
{
  g_autoptr (SbxPolicy) p = merge_text (SBX_LEVEL_SYSTEM, "");
  g_autofree char *text = dump (p, SBX_DUMP_CONF);

  ck_assert_str_eq (text, "version = 1;\n");
}
END_TEST

START_TEST (conf_tells_origins)
{
  g_autoptr (SbxPolicy) p = merge_text (SBX_LEVEL_USER, "filesystem : {\n deny_read = [\n\"x\"\n]; };");
  g_autofree char *text = dump (p, SBX_DUMP_CONF);

  ck_assert_str_eq (text, "version = 1;\nfilesystem :\n{\n  deny_read = (\n    \"x\"  # user FILE:3\n  );\n};\n");
}
END_TEST

START_TEST (text_is_aligned)
{
  g_autoptr (SbxPolicy) p =
      merge_text (SBX_LEVEL_SYSTEM,
                  "lock = [ \"mode\" ];\nfilesystem : { deny_read = [ \"\xc3\xbc\\xe2\\x80\\xae[31m\",\n\"xx\" ]; };");
  g_autofree char *text = dump (p, SBX_DUMP_TEXT);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  glong column = 0;

  ck_assert_ptr_null (strstr (text, "\xe2\x80\xae"));
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      const char *level = strstr (lines[i], "  builtin  ");
      level = level != NULL ? level : strstr (lines[i], "  system   ");
      ck_assert_msg (level != NULL, "%s", lines[i]);
      if (column == 0)
        column = g_utf8_pointer_to_offset (lines[i], level);
      ck_assert_int_eq (g_utf8_pointer_to_offset (lines[i], level), column);
    }
  ck_assert_ptr_nonnull (strstr (text, "mode "));
  ck_assert_ptr_nonnull (strstr (text, "builtin  -  locked\n"));
  ck_assert_ptr_nonnull (strstr (text, "system   FILE:3\n"));
}
END_TEST

/* Enough of a JSON parser to know that brackets, strings and separators are in order. */
static const char *
skip_json (const char *p)
{
  p += strspn (p, " \n");
  if (*p == '"')
    {
      for (p++; *p != '"'; p++)
        {
          ck_assert ((guchar) *p >= 0x20);
          if (*p == '\\')
            p++;
        }
      return p + 1;
    }
  if (*p == '{' || *p == '[')
    {
      char close = *p == '{' ? '}' : ']';
      gboolean object = *p == '{';
      p++;
      p += strspn (p, " \n");
      while (*p != close)
        {
          if (object)
            {
              ck_assert_int_eq (*p, '"');
              p = skip_json (p);
              ck_assert_int_eq (*p++, ':');
            }
          p = skip_json (p);
          p += strspn (p, " \n");
          if (*p == ',')
            {
              p++;
              p += strspn (p, " \n");
              ck_assert_int_ne (*p, close);
            }
          else
            ck_assert_int_eq (*p, close);
        }
      return p + 1;
    }
  ck_assert_msg (strspn (p, "-0123456789truefalsn") > 0, "%s", p);
  return p + strspn (p, "-0123456789truefalsn");
}

START_TEST (json_is_json)
{
  g_autoptr (SbxPolicy) p = merge_text (SBX_LEVEL_SYSTEM, texts[_i]);
  g_autofree char *text = dump (p, SBX_DUMP_JSON);

  ck_assert_str_eq (skip_json (text), "\n");
  ck_assert (g_utf8_validate (text, -1, NULL));
  ck_assert_ptr_nonnull (strstr (text, "\"workspace\": \"/w\\\"s\", \"home\": null, \"service\": \"npm\""));
  for (int key = 0; key < SBX_N_KEYS; key++)
    {
      g_autofree char *member = g_strdup_printf ("\n    \"%s\": {", sbx_keyword (key)->name);
      ck_assert_int_eq (strstr (text, member) != NULL, sbx_keyword (key)->combine != SBX_COMBINE_FILE);
    }
}
END_TEST

START_TEST (json_holds_notes_and_requests)
{
  g_autoptr (SbxPolicy) p =
      merge_text (SBX_LEVEL_PROJECT, "mode = \"disabled\";\nfilesystem : { allow_read = [ \"a\\xe2\\x80\\xae\" ]; };");
  g_autofree char *text = dump (p, SBX_DUMP_JSON);

  ck_assert_str_eq (skip_json (text), "\n");
  ck_assert_ptr_nonnull (strstr (
      text,
      "{ \"keyword\": \"mode\", \"text\": \"disabled\", \"level\": \"project\", \"file\": \"FILE\", \"line\": 1 }"));
  ck_assert_ptr_nonnull (strstr (text, "\"text\": \"a\\\\u202E\""));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("dump");
  TCase *tests = tcase_create ("dump");

  tcase_add_loop_test (tests, conf_is_a_fixpoint, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tests, conf_of_nothing);
  tcase_add_test (tests, conf_tells_origins);
  tcase_add_test (tests, text_is_aligned);
  tcase_add_loop_test (tests, json_is_json, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tests, json_holds_notes_and_requests);
  suite_add_tcase (suite, tests);

  SRunner *runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
