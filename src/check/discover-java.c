/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* discover-java.c - repositories of Maven, and what can be known of Gradle's: its build files and init scripts are programs. */
#include "config.h"

#include "check/discover.h"

#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/text.h"

/* --- Maven --------------------------------------------------------------------------------------------------------- */

/* The file as far as it was read: the elements around, and what the mirror or proxy among them says of itself. */
typedef struct
{
  SbxDiscovery *discovery;
  const char *path;
  GPtrArray *elements; /* char*: names */
  GString *text;
  GHashTable *values; /* char* to char* */
  guint line;         /* of the mirror's URL */
} Xml;

static gboolean
is_in (const Xml *xml, const char *parent, const char *name)
{
  guint depth = xml->elements->len;

  return depth >= 2 && strcmp (xml->elements->pdata[depth - 1], name) == 0
         && strcmp (xml->elements->pdata[depth - 2], parent) == 0;
}

static void
start_element (GMarkupParseContext *context, const char *name, const char **names, const char **values, gpointer data,
               GError **error)
{
  Xml *xml = data;

  g_ptr_array_add (xml->elements, g_strdup (name));
  g_string_truncate (xml->text, 0);
  if (is_in (xml, "proxies", "proxy") || is_in (xml, "mirrors", "mirror"))
    g_hash_table_remove_all (xml->values);
}

static void
take_text (GMarkupParseContext *context, const char *text, gsize length, gpointer data, GError **error)
{
  Xml *xml = data;

  g_string_append_len (xml->text, text, (gssize) length);
}

static const char *
value_of (const Xml *xml, const char *name, const char *fallback)
{
  const char *value = g_hash_table_lookup (xml->values, name);

  return value != NULL ? value : fallback;
}

/* A mirror that is blocked is there to be reached by nobody. One of everything takes the place of the default repository. */
static void
take_mirror (const Xml *xml)
{
  SbxPlace place = { xml->path, xml->line, "mirror" };
  g_auto (GStrv) words = g_strsplit (value_of (xml, "mirrorOf", ""), ",", -1);

  if (strcmp (value_of (xml, "blocked", ""), "true") == 0)
    return;
  sbx_discovery_add_url (xml->discovery, value_of (xml, "url", ""), &place);
  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *word = g_strstrip (words[i]);

      if (strcmp (word, "*") == 0 || strcmp (word, "external:*") == 0 || strcmp (word, "central") == 0)
        sbx_discovery_settles (xml->discovery, "default", &place);
    }
}

static void
take_proxy (const Xml *xml, guint line)
{
  SbxPlace place = { xml->path, line, "proxy" };
  g_autofree char *proxy = g_strdup_printf ("%s:%s", value_of (xml, "host", ""), value_of (xml, "port", "8080"));

  if (strcmp (value_of (xml, "active", ""), "false") != 0)
    sbx_discovery_add_proxy (xml->discovery, proxy, &place);
}

static gboolean
is_repository_url (const Xml *xml)
{
  return is_in (xml, "repository", "url") || is_in (xml, "pluginRepository", "url")
         || is_in (xml, "snapshotRepository", "url");
}

static void
end_element (GMarkupParseContext *context, const char *name, gpointer data, GError **error)
{
  Xml *xml = data;
  g_autofree char *text = g_strstrip (g_strdup (xml->text->str));
  guint depth = xml->elements->len;
  const char *parent = depth >= 2 ? g_ptr_array_index (xml->elements, depth - 2) : "";
  int line = 0;

  g_markup_parse_context_get_position (context, &line, NULL);
  if (is_repository_url (xml))
    sbx_discovery_add_url (xml->discovery, text, &(SbxPlace){ xml->path, (guint) line, parent });
  else if (is_in (xml, "mirrors", "mirror"))
    take_mirror (xml);
  else if (is_in (xml, "proxies", "proxy"))
    take_proxy (xml, (guint) line);
  else if (strcmp (parent, "mirror") == 0 || strcmp (parent, "proxy") == 0)
    {
      xml->line = strcmp (name, "url") == 0 ? (guint) line : xml->line;
      g_hash_table_replace (xml->values, g_strdup (name), g_steal_pointer (&text));
    }
  g_string_truncate (xml->text, 0);
  g_ptr_array_set_size (xml->elements, (gint) depth - 1);
}

static void
read_xml (SbxDiscovery *discovery, const char *path)
{
  static const GMarkupParser parser = { start_element, end_element, take_text, NULL, NULL };
  g_autofree char *text = sbx_discovery_read (discovery, path);
  g_autoptr (GPtrArray) elements = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GMarkupParseContext) context = NULL;
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  Xml xml = { discovery, path, elements, NULL, values, 0 };
  int line = 0;

  if (text == NULL)
    return;
  xml.text = g_string_new (NULL);
  context = g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &xml, NULL);
  /* The message of the parser would quote the file. */
  if (!g_markup_parse_context_parse (context, text, (gssize) strlen (text), NULL)
      || !g_markup_parse_context_end_parse (context, NULL))
    {
      g_markup_parse_context_get_position (context, &line, NULL);
      sbx_discovery_fail (discovery, &(SbxPlace){ path, (guint) line, NULL }, "it is not understood from here on");
    }
  g_string_free (xml.text, TRUE);
}

static gboolean
write_empty_settings (const char *path)
{
  static const char text[] = "<settings/>\n";
  sbx_autofd int fd = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  return fd >= 0 && sbx_fd_write_all (fd, text, strlen (text));
}

/* Offline, and asked for what is not there, Maven says which repository it did not ask. */
static void
ask_maven (SbxDiscovery *discovery)
{
  char *scratch = sbx_discovery_make_scratch (discovery);
  g_autofree char *settings = g_build_filename (scratch != NULL ? scratch : "", "settings.xml", NULL);
  g_autofree char *local = g_strconcat ("-Dmaven.repo.local=", scratch, NULL);
  const char *const question[] = { "mvn", "-B", "-o", "-s", settings, local, "test.invalid:none:1:none", NULL };
  SbxPlace place = { "mvn --offline", 0, "Maven's default" };
  g_autofree char *answer = NULL;
  const char *failed;
  g_autofree char *url = NULL;

  if (scratch != NULL && write_empty_settings (settings))
    answer = sbx_discovery_ask (discovery, question, NULL, TRUE);
  sbx_discovery_remove_scratch (scratch);
  failed = answer != NULL ? strstr (answer, "central (") : NULL;
  url = failed != NULL ? sbx_discovery_first_url (failed) : NULL;
  if (url != NULL)
    sbx_discovery_add_url (discovery, url, &place);
  else if (answer != NULL)
    sbx_discovery_remark (discovery,
                          "mvn did not say what its default repository is; its host has to be added by hand.");
}

void
sbx_discover_maven (SbxDiscovery *discovery)
{
  const char *install = g_getenv ("MAVEN_HOME");
  g_autofree char *user = sbx_discovery_home_path (discovery, ".m2/settings.xml");
  g_autofree char *machine = sbx_discovery_system_path (discovery, "/etc/maven/settings.xml");
  g_autofree char *installed = install != NULL ? g_build_filename (install, "conf/settings.xml", NULL) : NULL;
  g_autofree char *project = sbx_discovery_project_path (discovery, "pom.xml");

  read_xml (discovery, user);
  read_xml (discovery, installed);
  read_xml (discovery, machine);
  read_xml (discovery, project);
  if (!sbx_discovery_is_settled (discovery, "default"))
    ask_maven (discovery);
  if (project == NULL)
    sbx_discovery_remark (discovery,
                          "Projects may name further repositories: --project reads the pom.xml of the workspace.");
}

/* --- Gradle ---------------------------------------------------------------------------------------------------------- */

static void
take_property (SbxDiscovery *discovery, const char *section, const char *key, const char *value, const SbxPlace *place)
{
  g_auto (GStrv) parts = g_strsplit (value, "\\", -1); /* "https\://..." */
  g_autofree char *plain = g_strjoinv ("", parts);

  if (strcmp (key, "distributionUrl") == 0)
    sbx_discovery_add_url (discovery, plain, place);
  else if (strcmp (key, "systemProp.http.proxyHost") == 0 || strcmp (key, "systemProp.https.proxyHost") == 0)
    sbx_discovery_add_proxy (discovery, plain, place);
}

static void
name_script (SbxDiscovery *discovery, const char *path)
{
  g_autofree char *shown = sbx_text_escape (path);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    sbx_discovery_remark (discovery, "%s is a program and was not read: look there for repositories.", shown);
}

void
sbx_discover_gradle (SbxDiscovery *discovery)
{
  static const char *const suffixes[] = { ".gradle", ".gradle.kts" };
  const char *named = g_getenv ("GRADLE_USER_HOME");
  g_autofree char *home =
      named != NULL && g_path_is_absolute (named) ? g_strdup (named) : sbx_discovery_home_path (discovery, ".gradle");
  g_autofree char *wrapper = sbx_discovery_project_path (discovery, "gradle/wrapper/gradle-wrapper.properties");
  g_autofree char *properties = home != NULL ? g_build_filename (home, "gradle.properties", NULL) : NULL;
  g_autofree char *scripts = home != NULL ? g_build_filename (home, "init.d", NULL) : NULL;

  sbx_discovery_read_ini (discovery, properties, SBX_INI_COLON, take_property);
  sbx_discovery_read_ini (discovery, wrapper, SBX_INI_COLON, take_property);
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++)
    {
      g_autoptr (GPtrArray) found = sbx_discovery_list (discovery, scripts, suffixes[i]);
      g_autofree char *script = home != NULL ? g_strconcat (home, "/init", suffixes[i], NULL) : NULL;

      if (script != NULL)
        name_script (discovery, script);
      for (guint j = 0; j < found->len; j++)
        name_script (discovery, found->pdata[j]);
    }
  sbx_discovery_remark (
      discovery,
      "The repositories of a build are named in its build files, which are programs: add their hosts by hand.");
}
