# SPDX-License-Identifier: LGPL-2.1-or-later
# The profile for systems that restrict user namespaces; AppArmor attaches it by the program's path.

EXTRA_DIST += apparmor/sandbox-run.in
CLEANFILES += apparmor/sandbox-run
noinst_DATA += apparmor/sandbox-run
if INSTALL_APPARMOR
apparmor_DATA = apparmor/sandbox-run
endif

apparmor/sandbox-run: apparmor/sandbox-run.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's|@bindir[@]|$(bindir)|' $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
