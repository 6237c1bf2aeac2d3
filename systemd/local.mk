# SPDX-License-Identifier: LGPL-2.1-or-later
# Units for systemd, of the system and of a user. Installing them enables nothing.

dist_systemdsystemunit_DATA = systemd/system/sandbox-proxy@.socket
nodist_systemdsystemunit_DATA = systemd/system/sandbox-proxy@.service
dist_systemduserunit_DATA = systemd/user/sandbox-proxy@.socket
nodist_systemduserunit_DATA = systemd/user/sandbox-proxy@.service

MADE_UNITS = $(nodist_systemdsystemunit_DATA) $(nodist_systemduserunit_DATA)
EXTRA_DIST += systemd/system/sandbox-proxy@.service.in systemd/user/sandbox-proxy@.service.in
CLEANFILES += $(MADE_UNITS)

# Where the program is, is known only here.
$(MADE_UNITS): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed 's|@bindir[@]|$(bindir)|' $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
systemd/system/sandbox-proxy@.service: systemd/system/sandbox-proxy@.service.in
systemd/user/sandbox-proxy@.service: systemd/user/sandbox-proxy@.service.in
