/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test-loader.c - policy text into layers: what is accepted, what is refused and at which line. */
#include "config.h"

#include "policy/loader.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static SbxLayer *
parse_at (SbxLevel level, const char *text, GError **error)
{
  SbxLoaderInput input = { text, strlen (text), "F", level, level };

  return sbx_loader_parse (&input, NULL, error);
}

static SbxLayer *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  SbxLayer *layer = parse_at (SBX_LEVEL_SYSTEM, text, &error);

  ck_assert_msg (layer != NULL, "%s: %s", text, error != NULL ? error->message : "?");
  return layer;
}

static const SbxEntry *
entry (const SbxLayer *layer, SbxKey key, guint i)
{
  ck_assert (layer->values[key].entries != NULL);
  ck_assert_uint_lt (i, layer->values[key].entries->len);
  return g_ptr_array_index (layer->values[key].entries, i);
}

START_TEST (every_keyword)
{
  g_autoptr (SbxLayer) l =
      parse ("version = 1;\nmode = \"disabled\";\nlock = [ \"mode\", \"network\", \"filesystem.deny_read\" ];\n"
             "requires = [ \"userns\", \"landlock>=6\" ];\n"
             "when : { command = [ \"npm\", \"npx\" ]; user = [ \"ci\" ]; group = [ \"dev\" ]; interactive = false; "
             "workspace = [ \"~/src\" ]; };\n"
             "stack = ( { control = \"required\"; policy = \"secrets\"; }, { control = \"include\"; service = "
             "\"common\"; } );\n"
             "workspace : { enforce = false; };\n"
             "filesystem : { view = \"minimal\"; allow_read = [ \"a\" ]; deny_read = ( \"b\", \"glob:**/.env\" ); "
             "allow_write = [ \"c\" ];\n"
             " deny_write = [ \"d\" ]; protect = [ \"e\" ]; unprotect = [ ]; tmp = \"host\"; devices = [ \"dri\", "
             "\"/dev/ttyS0\" ]; scan = \"off\"; };\n"
             "network : { mode = \"scoped\"; allow = ( \"example.com\", \"*.example.org:443\", { host = \"db.corp\"; "
             "ports = [ 5432, 6000 ]; private = true; } );\n"
             " deny = [ \"t.example.com\" ]; default_ports = [ 80 ]; transparent = false; connect_local = [ 5432 ]; "
             "publish = [ 3000 ];\n"
             " unix_sockets = [ \"/run/x\" ]; enforce_tools = true; sni = \"match\"; resolver = \"10.0.0.1:53\"; "
             "upstream = \"http://proxy:3128\"; };\n"
             "environment : { mode = \"clean\"; keep = [ \"A\" ]; drop = [ \"*_TOKEN\" ]; set = ( { name = \"CI\"; "
             "value = \"1\"; } ); };\n"
             "process : { nested = \"refuse\"; userns = \"allow\"; new_session = true;\n"
             " limits : { nofile = 4096; nproc = 512; core = 0; fsize = \"2G\"; as = 0x80000000; cpu = 600; }; };\n");

  for (int key = 0; key < SBX_N_KEYS; key++)
    ck_assert_msg (l->values[key].is_set, "%s", sbx_keyword (key)->name);
  ck_assert_int_eq (l->values[SBX_KEY_MODE].number, SBX_MODE_DISABLED);
  ck_assert_str_eq (l->values[SBX_KEY_MODE].text, "disabled");
  ck_assert_uint_eq (l->values[SBX_KEY_MODE].origin.line, 2);
  ck_assert_uint_eq (l->values[SBX_KEY_LOCK].entries->len, 3);
  ck_assert_int_eq (l->values[SBX_KEY_LIMIT_FSIZE].number, (gint64) 2 << 30);
  ck_assert_int_eq (l->values[SBX_KEY_LIMIT_AS].number, (gint64) 1 << 31);
  ck_assert_uint_eq (l->values[SBX_KEY_WHEN].entries->len, 6);
  ck_assert_str_eq (entry (l, SBX_KEY_STACK, 0)->value, "required");
  ck_assert_int_eq (entry (l, SBX_KEY_STACK, 0)->number, 0);
  ck_assert_int_eq (entry (l, SBX_KEY_STACK, 1)->number, 1);
  ck_assert_uint_eq (l->values[SBX_KEY_NET_ALLOW].entries->len, 4);
  ck_assert_str_eq (entry (l, SBX_KEY_NET_ALLOW, 1)->text, "*.example.org");
  ck_assert_str_eq (entry (l, SBX_KEY_NET_ALLOW, 1)->value, "443");
  ck_assert_ptr_null (entry (l, SBX_KEY_NET_ALLOW, 0)->value);
  ck_assert_str_eq (entry (l, SBX_KEY_NET_ALLOW, 3)->value, "6000");
  ck_assert (entry (l, SBX_KEY_NET_ALLOW, 3)->private_ok);
  ck_assert_int_eq (entry (l, SBX_KEY_NET_PUBLISH, 0)->number, 3000);
}
END_TEST

START_TEST (lines_are_exact)
{
  g_autoptr (SbxLayer) l = parse (
      "filesystem : {\n  deny_read = [\n    \"one\",\n    \"two\"\n    ,\n /* a\n comment */\n    \"three\" # x\n  ];\n"
      "  view = \"minimal\"\n};\nprocess : { limits : {\n\n nofile = 100; }; };\n"
      "network : { publish = [ 1,\n2 ]; allow = ( {\n host = \"h\"; },\n \"g\"\n ) };");

  ck_assert_uint_eq (entry (l, SBX_KEY_DENY_READ, 0)->origin.line, 3);
  ck_assert_uint_eq (entry (l, SBX_KEY_DENY_READ, 1)->origin.line, 4);
  ck_assert_uint_eq (entry (l, SBX_KEY_DENY_READ, 2)->origin.line, 8);
  ck_assert_uint_eq (l->values[SBX_KEY_VIEW].origin.line, 10);
  ck_assert_uint_eq (l->values[SBX_KEY_LIMIT_NOFILE].origin.line, 14);
  ck_assert_uint_eq (entry (l, SBX_KEY_NET_PUBLISH, 1)->origin.line, 16);
  ck_assert_uint_eq (entry (l, SBX_KEY_NET_ALLOW, 1)->origin.line, 18);
}
END_TEST

START_TEST (entry_texts)
{
  g_autoptr (SbxLayer) l =
      parse ("filesystem : { deny_read = [ \"  secret/  \", \"\", \"   \", \"~\", \"~/x\", \"a b\", \"./~f\", "
             "\"\\xff\\x41\", \"q\\\"\\\\\","
             " \"# no // comment /* @include\", \"glob:[$]x\" ]; };\n# the end without a line break");

  ck_assert_uint_eq (l->values[SBX_KEY_DENY_READ].entries->len, 9);
  ck_assert_str_eq (entry (l, SBX_KEY_DENY_READ, 0)->text, "secret/");
  ck_assert_str_eq (entry (l, SBX_KEY_DENY_READ, 5)->text, "\xff"
                                                           "A");
  ck_assert_str_eq (entry (l, SBX_KEY_DENY_READ, 6)->text, "q\"\\");
}
END_TEST

static const char *const nothing[] = { "", " \n", "# x", "# x\n", "/* x */", "// x" };

START_TEST (says_nothing)
{
  g_autoptr (SbxLayer) l = parse (nothing[_i]);

  for (int key = 0; key < SBX_N_KEYS; key++)
    ck_assert (!l->values[key].is_set);
}
END_TEST

static const struct
{
  const char *text, *place, *part;
} refused[] = {
  /* the text as such */
  { "mode = \"enforce\";\n\xff", "F:2: ", "UTF-8" },
  { "filesystem : { deny_read = [ \"a\\x00b\" ]; };", "F:1: ", "NUL" },
  { "\n@include \"x\"", "F:2: ", "@include" },
  { "  @include \"/etc/passwd\"\n", "F:1: ", "@include" },
  { "mode = \"enforce\"; \"", "F:1: ", "does not end" },
  { "mode = \"enforce\n\";", "F:1: ", "does not end" },
  { "mode = \"enforce\";\n/* x\n\n", "F:2: ", "does not end" },
  { "filesystem : { deny_read = [ \"a\" \"b\" ]; };", "F:1: ", "comma" },
  { "filesystem : { deny_read = [ \"a\"\n\n\"b\" ]; };", "F:3: ", "comma" },
  { "filesystem : { deny_read = [ \"a\\q\" ]; };", "F:1: ", "escape" },
  { "filesystem : { deny_read = [ \"a\\", "F:1: ", "escape" },
  { "filesystem : { deny_read = [ \"\\x4\" ]; };", "F:1: ", "hexadecimal" },
  { "a = (((((((((((((((((1)))))))))))))))))", "F:1: ", "deep" },
  { "mode = \"enforce\"; }", "F:1: ", "closes nothing" },
  { "mode = \"enforce\"; %", "F:1: ", "no meaning" },
  { "mode = \"enforce\"; \x01", "F:1: ", "0x01" },
  { "mode = 'enforce';", "F:1: ", "no meaning" },
  /* numbers */
  { "process : { limits : { fsize = 9223372036854775808; }; };", "F:1: ", "64 bits" },
  { "process : { limits : { fsize = 0xffffffffffffffffff; }; };", "F:1: ", "64 bits" },
  { "process : { limits : { nofile = 4294967396; }; };", "F:1: ", "not possible" },
  { "process : { limits : { nofile = 010; }; };", "F:1: ", "begin with 0" },
  { "process : { limits : { nofile = 1.5; }; };", "F:1: ", "whole" },
  { "process : { limits : { nofile = 12abc; }; };", "F:1: ", "behind a number" },
  { "process : { limits : { nofile = 0x; }; };", "F:1: ", "no number" },
  { "process : { limits : { nofile = -1; }; };", "F:1: ", "from 8" },
  { "process : { limits : { nofile = 1; }; };", "F:1: ", "from 8" },
  { "process : { limits : { as = 1; }; };", "F:1: ", "at least" },
  { "process : { limits : { core = \"8X\"; }; };", "F:1: ", "no size" },
  { "process : { limits : { core = \"8GB\"; }; };", "F:1: ", "no size" },
  { "process : { limits : { core = \"\"; }; };", "F:1: ", "no size" },
  { "process : { limits : { core = \"-1\"; }; };", "F:1: ", "no size" },
  { "process : { limits : { core = \"99999999999999999999\"; }; };", "F:1: ", "no size" },
  { "process : { limits : { core = \"9000000P\"; }; };", "F:1: ", "no size" },
  { "version = 2;", "F:1: ", "must be 1" },
  { "version = 4294967297;", "F:1: ", "must be 1" },
  /* names and structure */
  { "filesystem : {\n  deny_reed = [ ];\n};\n",
    "F:2: ", "unknown keyword \"deny_reed\" in \"filesystem\" (did you mean \"deny_read\"?)" },
  { "zzzzzzzzz = 1;", "F:1: ", "unknown keyword \"zzzzzzzzz\"" },
  { "fylesystem : { };", "F:1: ", "did you mean \"filesystem\"" },
  { "deny_read = [ \"x\" ];", "F:1: ", "unknown keyword" },
  { "process : { limits : { nofiles = 1; }; };", "F:1: ", "in \"process.limits\" (did you mean \"nofile\"" },
  { "mode = \"enforce\";\nmode = \"enforce\";", "F:2: ", "duplicate" },
  { "filesystem : { };\nfilesystem : { };", "F:2: ", "duplicate" },
  { "filesystem = 1;", "F:1: ", "must be a group" },
  { "filesystem = [ ];", "F:1: ", "must be a group" },
  { "filesystem : { deny_read = [ \"src\" }", "F:1: ", "syntax error" },
  { "mode", "F:1: ", "syntax error" },
  { "mode = ;", "F:1: ", "syntax error" },
  /* types */
  { "mode = 1;", "F:1: ", "must be a string" },
  { "mode = [ \"enforce\" ];", "F:1: ", "must be a string" },
  { "mode = \"Enforce\";", "F:1: ", "did you mean \"enforce\"" },
  { "mode = \"off\";", "F:1: ", "must be one of \"enforce\", \"disabled\"" },
  { "mode = \"\";", "F:1: ", "must be one of" },
  { "workspace : { enforce = 1; };", "F:1: ", "true or false" },
  { "workspace : { enforce = \"true\"; };", "F:1: ", "true or false" },
  { "process : { limits : { nofile = \"100\"; }; };", "F:1: ", "must be a number" },
  { "process : { limits : { nofile = true; }; };", "F:1: ", "must be a number" },
  { "process : { limits : { core = true; }; };", "F:1: ", "size such as" },
  { "filesystem : { deny_read = \"x\"; };", "F:1: ", "must be a list" },
  { "filesystem : { deny_read : { a = \"x\"; }; };", "F:1: ", "must be a list" },
  { "filesystem : { deny_read = [ 1 ]; };", "F:1: ", "must be a string" },
  { "filesystem : { deny_read = ( \"a\", [ \"b\" ] ); };", "F:1: ", "must be a string" },
  { "filesystem : { deny_read = ( \"a\", { x = 1; } ); };", "F:1: ", "must be a string" },
  { "filesystem : { deny_read = [ \"a\", 1 ]; };", "F:1: ", "mismatched" },
  /* paths */
  { "filesystem : { deny_read = [ \"$HOME/x\" ]; };", "F:1: ", "variables are not expanded" },
  { "filesystem : { deny_read = [ \"a\",\n \"x/${Y}\" ]; };", "F:2: ", "variables are not expanded" },
  { "filesystem : { protect = [ \"glob:$X/*\" ]; };", "F:1: ", "variables are not expanded" },
  { "filesystem : { protect = [ \"glob:[$X\" ]; };", "F:1: ", "variables are not expanded" },
  { "filesystem : { deny_read = [ \"~bob/x\" ]; };", "F:1: ", "only ~ and ~/" },
  { "filesystem : { allow_write = [ \"~bob\" ]; };", "F:1: ", "only ~ and ~/" },
  { "filesystem : { deny_read = [ \"glob:~bob/*\" ]; };", "F:1: ", "only ~ and ~/" },
  { "filesystem : { devices = [ \"a\\nb\" ]; };", "F:1: ", "control character" },
  { "environment : { drop = [ \"a\\x7f\" ]; };", "F:1: ", "control character" },
  { "filesystem : { deny_read = [ \"glob:\" ]; };", "F:1: ", "no pattern" },
  { "network : { unix_sockets = [ \"glob:/run/*\" ]; };", "F:1: ", "not matched" },
  { "filesystem : { devices = [ \"drj\" ]; };", "F:1: ", "did you mean \"dri\"" },
  { "filesystem : { devices = [ \"/etc/x\" ]; };", "F:1: ", "below /dev" },
  { "filesystem : { devices = [ \"/dev/../etc\" ]; };", "F:1: ", "below /dev" },
  { "filesystem : { devices = [ \"/dev/\" ]; };", "F:1: ", "below /dev" },
  /* network */
  { "network : { allow = [ \"exa mple.com\" ]; };", "F:1: ", "no host" },
  { "network : { allow = [ \"https://example.com\" ]; };", "F:1: ", "not a URL" },
  { "network : { allow = [ \"example.com:0\" ]; };", "F:1: ", "port" },
  { "network : { allow = ( { ports = [ 1 ]; } ); };", "F:1: ", "\"host\" is missing" },
  { "network : { allow = ( { host = \"h\"; port = 1; } ); };", "F:1: ", "did you mean \"ports\"" },
  { "network : { allow = ( { host = \"h\"; ports = 1; } ); };", "F:1: ", "list of at least one" },
  { "network : { allow = ( { host = \"h\"; ports = [ ]; } ); };", "F:1: ", "list of at least one" },
  { "network : { allow = ( { host = \"h\"; ports = [ true ]; } ); };", "F:1: ", "a port is" },
  { "network : { allow = ( { host = \"h\"; ports = [ 65536 ]; } ); };", "F:1: ", "port" },
  { "network : { allow = ( { host = \"h:1\"; } ); };", "F:1: ", "no host" },
  { "network : { allow = ( { host = 1; } ); };", "F:1: ", "must be a string" },
  { "network : { allow = ( { host = \"h\"; private = 1; } ); };", "F:1: ", "true or false" },
  { "network : { deny = ( { host = \"h\"; private = true; } ); };", "F:1: ", "can be private" },
  { "network : { publish = [ 0 ]; };", "F:1: ", "65535" },
  { "network : { publish = [ 70000 ]; };", "F:1: ", "65535" },
  { "network : { publish = [ \"80\" ]; };", "F:1: ", "must be a number" },
  { "network : { resolver = \"dns.example\"; };", "F:1: ", "ADDRESS:PORT" },
  { "network : { resolver = \"dns.example:53\"; };", "F:1: ", "ADDRESS:PORT" },
  { "network : { resolver = \"10.0.0.0/8:53\"; };", "F:1: ", "ADDRESS:PORT" },
  { "network : { upstream = \"https://proxy:1\"; };", "F:1: ", "http://HOST:PORT" },
  { "network : { upstream = \"http://proxy\"; };", "F:1: ", "http://HOST:PORT" },
  { "network : { upstream = \"http://proxy:1-9\"; };", "F:1: ", "http://HOST:PORT" },
  { "network : { upstream = \"http://proxy:1/\"; };", "F:1: ", "http://HOST:PORT" },
  /* environment */
  { "environment : { drop = [ \"A=B\" ]; };", "F:1: ", "name of a variable" },
  { "environment : { keep = [ \"$A\" ]; };", "F:1: ", "name of a variable" },
  { "environment : { set = [ \"A=B\" ]; };", "F:1: ", "an element must be" },
  { "environment : { set = ( { name = \"A\"; } ); };", "F:1: ", "\"value\" is missing" },
  { "environment : { set = ( { name = \"1A\"; value = \"x\"; } ); };", "F:1: ", "name of a variable" },
  { "environment : { set = ( { name = \"A\"; value = \"$PATH:x\"; } ); };", "F:1: ", "not expanded" },
  { "environment : { set = ( { name = \"A\"; value = \"1\"; },\n{ name = \"A\"; value = \"2\"; } ); };",
    "F:2: ", "set twice" },
  { "environment : { set = ( { name = \"A\"; valeu = \"1\"; } ); };", "F:1: ", "did you mean \"value\"" },
  /* lock, requires, when, stack */
  { "lock = [ \"filesystem.deny_reed\" ];", "F:1: ", "did you mean \"filesystem.deny_read\"" },
  { "lock = [ \"qqqqqqqqqqqq\" ];", "F:1: ", "no keyword" },
  { "lock = [ \"stack\" ];", "F:1: ", "cannot be locked" },
  { "lock = [ \"lock\" ];", "F:1: ", "cannot be locked" },
  { "requires = [ \"landlok\" ];", "F:1: ", "did you mean \"landlock\"" },
  { "requires = [ \"landlock>6\" ];", "F:1: ", "FEATURE>=NUMBER" },
  { "requires = [ \"landlock>=x\" ];", "F:1: ", "FEATURE>=NUMBER" },
  { "requires = [ \"userns>=2\" ];", "F:1: ", "only landlock" },
  { "when = [ ];", "F:1: ", "must be a group" },
  { "when : { comand = [ \"x\" ]; };", "F:1: ", "did you mean \"command\"" },
  { "when : { user = [ ]; };", "F:1: ", "at least one" },
  { "when : { user = \"x\"; };", "F:1: ", "at least one" },
  { "when : { user = [ \" \" ]; };", "F:1: ", "not blank" },
  { "when : { user = [ 1 ]; };", "F:1: ", "not blank" },
  { "when : { interactive = 1; };", "F:1: ", "true or false" },
  { "when : { workspace = [ \"src\" ]; };", "F:1: ", "absolute" },
  { "when : { workspace = [ \"~bob\" ]; };", "F:1: ", "only ~ and ~/" },
  { "stack = [ \"x\" ];", "F:1: ", "an element must be" },
  { "stack = ( { policy = \"x\"; } );", "F:1: ", "\"control\" is missing" },
  { "stack = ( { control = \"required\"; } );", "F:1: ", "either" },
  { "stack = ( { control = \"required\"; policy = \"a\"; service = \"b\"; } );", "F:1: ", "either" },
  { "stack = ( { control = \"perhaps\"; policy = \"a\"; } );", "F:1: ", "unknown control \"perhaps\"" },
  { "stack = ( { control = \"require\"; policy = \"a\"; } );", "F:1: ", "did you mean \"required\"" },
  { "stack = ( { control = \"required\"; policy = \"../a\"; } );", "F:1: ", "no name of a policy" },
  { "stack = ( { control = \"required\"; policy = \"\"; } );", "F:1: ", "no name of a policy" },
  { "stack = ( { control = \"required\"; policy = \"A\"; } );", "F:1: ", "no name of a policy" },
};

START_TEST (is_refused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SbxLayer) l = parse_at (SBX_LEVEL_SYSTEM, refused[_i].text, &error);

  ck_assert_msg (l == NULL, "accepted: %s", refused[_i].text);
  ck_assert (g_error_matches (error, SBX_ERROR, SBX_ERROR_POLICY));
  ck_assert_msg (g_str_has_prefix (error->message, refused[_i].place), "%s: %s", refused[_i].text, error->message);
  ck_assert_msg (strstr (error->message, refused[_i].part) != NULL, "%s: %s", refused[_i].text, error->message);
}
END_TEST

START_TEST (nul_byte)
{
  static const char text[] = "mode = \"enforce\";\n\0mode = 1;";
  SbxLoaderInput input = { text, sizeof text - 1, "F", SBX_LEVEL_USER, SBX_LEVEL_USER };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_loader_parse (&input, NULL, &error));
  ck_assert (g_str_has_prefix (error->message, "F:2: "));
}
END_TEST

/* Cut anywhere, a file is refused or says a prefix of what it said: never does the parser read past the end. */
START_TEST (cut_anywhere)
{
  static const char text[] = "filesystem : { deny_read = [ \"a\\x41\", \"b\" ]; }; /* c */ process : { limits : { as = "
                             "\"1G\"; cpu = 0x10L; }; };";

  for (gsize length = 0; length < sizeof text; length++)
    {
      g_autofree char *copy = g_strndup (text, length);
      g_autoptr (GError) error = NULL;
      g_autoptr (SbxLayer) l = parse_at (SBX_LEVEL_PROJECT, copy, &error);
      ck_assert ((l == NULL) == (error != NULL));
    }
}
END_TEST

START_TEST (not_in_a_project)
{
  static const char *const texts[] = { "lock = [ \"mode\" ];", "network : { resolver = \"1.1.1.1:53\"; };",
                                       "network : { upstream = \"http://h:1\"; };" };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (SbxLayer) good = parse_at (SBX_LEVEL_USER, texts[i], NULL);
      ck_assert_ptr_nonnull (good);
      ck_assert_ptr_null (parse_at (SBX_LEVEL_PROJECT, texts[i], &error));
      ck_assert_ptr_nonnull (strstr (error->message, "level \"project\""));
    }
}
END_TEST

START_TEST (all_errors_of_a_file)
{
  static const char text[] = "mode = 1;\nnope = 2;\nfilesystem : { view = \"x\"; deny_read = [ \"$A\",\n \"~b\" ]; };";
  SbxLoaderInput input = { text, sizeof text - 1, "F", SBX_LEVEL_USER, SBX_LEVEL_USER };
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (sbx_loader_parse (&input, all, &error));
  ck_assert_uint_eq (all->len, 5);
  ck_assert_str_eq (((GError *) all->pdata[0])->message, error->message);
  ck_assert (g_str_has_prefix (((GError *) all->pdata[4])->message, "F:4: "));
}
END_TEST

START_TEST (foreign_text_is_escaped)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (parse_at (SBX_LEVEL_PROJECT, "mode = \"\\x1b[2J\";", &error));
  ck_assert_ptr_null (strchr (error->message, '\x1b'));
  ck_assert_ptr_nonnull (strstr (error->message, "\\x1B"));
}
END_TEST

START_TEST (options)
{
  g_autoptr (SbxLayer) l = sbx_layer_new (SBX_LEVEL_COMMAND, "command line");
  g_autoptr (GError) error = NULL;

  ck_assert (sbx_layer_add_option (l, SBX_KEY_DENY_READ, " x ", "--deny-read", NULL));
  ck_assert (sbx_layer_add_option (l, SBX_KEY_DENY_READ, "  ", "--deny-read", NULL));
  ck_assert_uint_eq (l->values[SBX_KEY_DENY_READ].entries->len, 1);
  ck_assert_str_eq (entry (l, SBX_KEY_DENY_READ, 0)->origin.file, "--deny-read");
  ck_assert_uint_eq (entry (l, SBX_KEY_DENY_READ, 0)->origin.line, 0);
  ck_assert (sbx_layer_add_option (l, SBX_KEY_ENV_SET, "A=1=2", "--set-env", NULL));
  ck_assert (sbx_layer_add_option (l, SBX_KEY_ENV_SET, "AB=x", "--set-env", NULL));
  ck_assert (sbx_layer_add_option (l, SBX_KEY_ENV_SET, "A=", "--set-env", NULL));
  ck_assert_uint_eq (l->values[SBX_KEY_ENV_SET].entries->len, 2);
  ck_assert_str_eq (entry (l, SBX_KEY_ENV_SET, 1)->value, "");
  ck_assert (sbx_layer_add_option (l, SBX_KEY_NET_PUBLISH, "80", "--publish", NULL));
  ck_assert (sbx_layer_add_option (l, SBX_KEY_NET_ALLOW, "[::1]:80", "--allow-host", NULL));
  ck_assert_str_eq (entry (l, SBX_KEY_NET_ALLOW, 0)->text, "[::1]");
  ck_assert (sbx_layer_set_text (l, SBX_KEY_NET_MODE, "allow", "--network", NULL));
  ck_assert (sbx_layer_set_text (l, SBX_KEY_NET_MODE, "deny", "--network", NULL));
  ck_assert_int_eq (l->values[SBX_KEY_NET_MODE].number, SBX_NET_DENY);
  ck_assert (sbx_layer_set_text (l, SBX_KEY_NEW_SESSION, "true", "--new-session", NULL));
  ck_assert (sbx_layer_set_text (l, SBX_KEY_LIMIT_NOFILE, "64", "x", NULL));
  ck_assert (!sbx_layer_set_text (l, SBX_KEY_LIMIT_NOFILE, "64x", "x", NULL));
  ck_assert (!sbx_layer_set_text (l, SBX_KEY_NEW_SESSION, "yes", "x", NULL));
  for (guint i = 0; i < 4; i++)
    {
      static const SbxKey keys[] = { SBX_KEY_NET_PUBLISH, SBX_KEY_ENV_SET, SBX_KEY_ALLOW_READ, SBX_KEY_NET_ALLOW };
      static const char *const texts[] = { "080", "NOVALUE", "~bob", "::1" };
      g_autoptr (GError) local = NULL;
      ck_assert (!sbx_layer_add_option (l, keys[i], texts[i], "--opt", &local));
      ck_assert (g_error_matches (local, SBX_ERROR, SBX_ERROR_USAGE));
      ck_assert (g_str_has_prefix (local->message, "--opt: "));
    }
  ck_assert (!sbx_layer_set_text (l, SBX_KEY_NET_MODE, "alow", "--network", &error));
  ck_assert_ptr_nonnull (strstr (error->message, "--network: \"alow\""));
  ck_assert (!sbx_layer_add_entry (l, SBX_KEY_ENV_DROP, "a\x1b", 3, NULL));
  ck_assert (sbx_layer_add_entry (l, SBX_KEY_DENY_READ, "b", 3, NULL));
  ck_assert_uint_eq (entry (l, SBX_KEY_DENY_READ, 1)->origin.line, 3);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("loader");
  TCase *tests = tcase_create ("loader");
  SRunner *runner;

  tcase_add_test (tests, every_keyword);
  tcase_add_test (tests, lines_are_exact);
  tcase_add_test (tests, entry_texts);
  tcase_add_loop_test (tests, says_nothing, 0, G_N_ELEMENTS (nothing));
  tcase_add_loop_test (tests, is_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tests, nul_byte);
  tcase_add_test (tests, cut_anywhere);
  tcase_add_test (tests, not_in_a_project);
  tcase_add_test (tests, all_errors_of_a_file);
  tcase_add_test (tests, foreign_text_is_escaped);
  tcase_add_test (tests, options);
  suite_add_tcase (suite, tests);
  runner = srunner_create (suite);
  srunner_run_all (runner, CK_ENV);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
