# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests (Check), golden policy cases and system tests: all of them speak TAP to automake.
# A test that cannot run here prints "1..0 # SKIP reason" and ends with 0.

# What a unit test links unless it says otherwise; its source is its name with .c.
LDADD = $(FLOOR_LIBS) $(CHECK_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)

UNIT_TESTS = \
	tests/unit/test-fd \
	tests/unit/test-log \
	tests/unit/test-text

if HAVE_CHECK
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
endif

# Of the tree itself.
SOURCE_TESTS = \
	tests/source/includes.sh \
	tests/source/potfiles.sh

dist_check_SCRIPTS += $(SOURCE_TESTS)
TESTS += $(SOURCE_TESTS)

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
