# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests (Check), golden policy cases and system tests: all of them speak TAP to automake.
# A test that cannot run here prints "1..0 # SKIP reason" and ends with 0.

# What a unit test links unless it says otherwise; its source is its name with .c.
LDADD = $(FLOOR_LIBS) $(CHECK_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)

UNIT_TESTS = \
	tests/unit/test-access-log \
	tests/unit/test-address \
	tests/unit/test-base-options \
	tests/unit/test-bridge-options \
	tests/unit/test-check-options \
	tests/unit/test-chunk \
	tests/unit/test-connect-gate \
	tests/unit/test-context \
	tests/unit/test-dns-message \
	tests/unit/test-dump \
	tests/unit/test-environ \
	tests/unit/test-exec \
	tests/unit/test-fd \
	tests/unit/test-glob \
	tests/unit/test-host-rules \
	tests/unit/test-hostname \
	tests/unit/test-http1 \
	tests/unit/test-http1-chunked \
	tests/unit/test-keyword \
	tests/unit/test-landlock \
	tests/unit/test-link \
	tests/unit/test-loader \
	tests/unit/test-log \
	tests/unit/test-loop \
	tests/unit/test-memory \
	tests/unit/test-mount-plan \
	tests/unit/test-name-table \
	tests/unit/test-narrow \
	tests/unit/test-net-plan \
	tests/unit/test-netns \
	tests/unit/test-network-transfer \
	tests/unit/test-options \
	tests/unit/test-path-table \
	tests/unit/test-path \
	tests/unit/test-patterns \
	tests/unit/test-placeholder \
	tests/unit/test-policy \
	tests/unit/test-policy-random \
	tests/unit/test-probe \
	tests/unit/test-refusals \
	tests/unit/test-proxy-variables \
	tests/unit/test-repo-scan \
	tests/unit/test-run \
	tests/unit/test-seccomp \
	tests/unit/test-session \
	tests/unit/test-snapshot \
	tests/unit/test-socks5 \
	tests/unit/test-source \
	tests/unit/test-spread \
	tests/unit/test-stack \
	tests/unit/test-text \
	tests/unit/test-tls-hello \
	tests/unit/test-trust \
	tests/unit/test-verdict \
	tests/unit/test-verdict-host

UNIT_HELPERS = \
	tests/unit/policy-fixture.h \
	tests/unit/policy-oracle.h \
	tests/unit/tree-fixture.h

EXTRA_DIST += $(UNIT_HELPERS)
if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

# Files of a program that a unit test looks into: a program is no library.
tests_unit_test_bridge_options_SOURCES = tests/unit/test-bridge-options.c \
	src/bridge/options.c src/bridge/place.c
tests_unit_test_check_options_SOURCES = tests/unit/test-check-options.c \
	src/check/options.c src/check/questions.c
tests_unit_test_narrow_SOURCES = tests/unit/test-narrow.c \
	src/run/narrow-network.c src/run/narrow-paths.c src/run/narrow.c
tests_unit_test_options_SOURCES = tests/unit/test-options.c src/run/options.c
tests_unit_test_patterns_SOURCES = tests/unit/test-patterns.c \
	src/check/areas.c src/check/patterns.c
tests_unit_test_run_SOURCES = tests/unit/test-run.c \
	src/run/admit.c src/run/direct.c src/run/dry-run.c

# Of the tree itself, its manuals and the policy that it ships.
SOURCE_TESTS = \
	tests/source/apparmor.sh \
	tests/source/includes.sh \
	tests/source/lists.sh \
	tests/source/manuals.sh \
	tests/source/potfiles.sh \
	tests/source/release.sh \
	tests/source/units.sh \
	tests/test-man.sh \
	tests/test-vendor.sh

dist_check_SCRIPTS += $(SOURCE_TESTS)
TESTS += $(SOURCE_TESTS)

# The completions, in the shells themselves.
dist_check_SCRIPTS += tests/source/completions.py
if HAVE_PYTHON3
TESTS += tests/source/completions.py
endif

# Golden cases of the policy: a directory each.
POLICY_TESTS = tests/policy/run-cases
POLICY_CASES = \
	tests/policy/connect-levels \
	tests/policy/connect-rules \
	tests/policy/export-formats \
	tests/policy/file-errors \
	tests/policy/file-policy-option \
	tests/policy/level-drop-in-order \
	tests/policy/level-locks \
	tests/policy/level-owner-and-mode \
	tests/policy/level-replace-and-mask \
	tests/policy/level-service \
	tests/policy/level-user-reopens \
	tests/policy/path-nesting \
	tests/policy/path-policy-places \
	tests/policy/project-cannot-borrow \
	tests/policy/project-cannot-grant-in-base \
	tests/policy/project-cannot-grant-in-drop-in \
	tests/policy/project-cannot-grant-in-other \
	tests/policy/project-cannot-grant-in-service \
	tests/policy/project-forbidden-keywords \
	tests/policy/project-narrows \
	tests/policy/project-objects \
	tests/policy/project-trust \
	tests/policy/search-exclusions \
	tests/policy/shown-text \
	tests/policy/stack-optional-user \
	tests/policy/stack-outcomes

dist_check_SCRIPTS += $(POLICY_TESTS)
TESTS += $(POLICY_TESTS)
EXTRA_DIST += $(POLICY_CASES)

# The programs from outside, in real namespaces; they share a module and a script that runs inside.
SYSTEM_TESTS = \
	tests/system/narrowing.py \
	tests/system/property.py \
	tests/system/test-bridge.py \
	tests/system/test-check-cli.py \
	tests/system/test-database-clients.py \
	tests/system/test-discover.py \
	tests/system/test-edit.py \
	tests/system/test-env.py \
	tests/system/test-export.py \
	tests/system/test-faults.py \
	tests/system/test-files.py \
	tests/system/test-git-clients.py \
	tests/system/test-inside.py \
	tests/system/test-life.py \
	tests/system/test-limits.py \
	tests/system/test-narrow.py \
	tests/system/test-nesting.py \
	tests/system/test-package-clients.py \
	tests/system/test-policy-files.py \
	tests/system/test-privilege.py \
	tests/system/test-proxy-link.py \
	tests/system/test-proxy-relay.py \
	tests/system/test-proxy-session.py \
	tests/system/test-proxy.py \
	tests/system/test-replace.py \
	tests/system/test-scoped.py \
	tests/system/test-seccomp-programs.py \
	tests/system/test-search.py \
	tests/system/test-services.py \
	tests/system/test-sockets.py \
	tests/system/test-terminal.py \
	tests/system/test-tools.py \
	tests/system/test-view.py \
	tests/system/test-web-clients.py

SYSTEM_HELPERS = \
	tests/system/clienttest.py \
	tests/system/inside.py \
	tests/system/linktest.py \
	tests/system/proxytest.py \
	tests/system/sbxtest.py \
	tests/system/worlds.py

dist_check_SCRIPTS += $(SYSTEM_TESTS)
EXTRA_DIST += $(SYSTEM_HELPERS)
# What sandbox-run would hand to the proxy, for a test that takes its place.
check_PROGRAMS += tests/system/network-file
tests_system_network_file_LDADD = $(FLOOR_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)
if HAVE_PYTHON3
TESTS += $(SYSTEM_TESTS)
endif

# These ask the programs too, or look at what is made.
tests/source/completions.log tests/source/manuals.log tests/source/release.log tests/source/units.log tests/test-man.log \
tests/test-vendor.log: sandbox-run$(EXEEXT) sandbox-policy-check$(EXEEXT) sandbox-proxy$(EXEEXT) sandbox-bridge$(EXEEXT)
tests/source/completions.log: $(COMPLETIONS)
tests/source/units.log: $(MADE_UNITS)
tests/source/apparmor.log: apparmor/sandbox-run

# Of the Debian packages; ./bootstrap package runs it.
EXTRA_DIST += tests/package/check-packages.sh tests/package/throw-away.sh

# --- how they are run ---------------------------------------------------

TEST_EXTENSIONS = .sh .py
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
PY_LOG_DRIVER = $(TAP_DRIVER)
PY_LOG_COMPILER = $(PYTHON3)

AM_TESTS_ENVIRONMENT = \
	SBX_SRCDIR='$(abs_top_srcdir)'; export SBX_SRCDIR; \
	SBX_BUILDDIR='$(abs_top_builddir)'; export SBX_BUILDDIR; \
	SBX_SANITIZED='$(enable_sanitizers)'; export SBX_SANITIZED; \
	CK_TAP_LOG_FILE_NAME=-; export CK_TAP_LOG_FILE_NAME; \
	CK_VERBOSITY=silent; export CK_VERBOSITY; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	LC_ALL=C.UTF-8; export LC_ALL; \
	unset SANDBOXED SANDBOX_BACKEND XDG_CONFIG_HOME XDG_STATE_HOME;
