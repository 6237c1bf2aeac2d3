# SPDX-License-Identifier: LGPL-2.1-or-later
# The Linux mechanisms.

noinst_LIBRARIES += libconfine.a
FLOOR_LIBS += libconfine.a
libconfine_a_SOURCES = \
	src/confine/arena.c \
	src/confine/arena.h \
	src/confine/connect-caller.c \
	src/confine/connect-caller.h \
	src/confine/connect-gate.c \
	src/confine/connect-gate.h \
	src/confine/connect-path.c \
	src/confine/connect-path.h \
	src/confine/connect-socketcall.c \
	src/confine/connect-socketcall.h \
	src/confine/control.h \
	src/confine/environ.c \
	src/confine/environ.h \
	src/confine/failure.c \
	src/confine/failure.h \
	src/confine/init.c \
	src/confine/init.h \
	src/confine/journal.c \
	src/confine/journal.h \
	src/confine/landlock.c \
	src/confine/landlock.h \
	src/confine/launch.c \
	src/confine/launch.h \
	src/confine/limits.c \
	src/confine/limits.h \
	src/confine/mount-apply.c \
	src/confine/mount-apply.h \
	src/confine/mount-cover.c \
	src/confine/mount-cover.h \
	src/confine/mount-plan.c \
	src/confine/mount-plan.h \
	src/confine/net-plan.c \
	src/confine/net-plan.h \
	src/confine/netns.c \
	src/confine/netns.h \
	src/confine/placeholder.c \
	src/confine/placeholder.h \
	src/confine/prepare.c \
	src/confine/prepare.h \
	src/confine/probe-explain.c \
	src/confine/probe.c \
	src/confine/probe.h \
	src/confine/proxy-child.c \
	src/confine/proxy-child.h \
	src/confine/resolv.c \
	src/confine/resolv.h \
	src/confine/seccomp.c \
	src/confine/seccomp.h \
	src/confine/session.c \
	src/confine/session.h \
	src/confine/socket-rules.h \
	src/confine/spread.c \
	src/confine/spread.h \
	src/confine/strict-dir.c \
	src/confine/strict-dir.h \
	src/confine/supervise.c \
	src/confine/supervise.h \
	src/confine/sys.h \
	src/confine/terminal.c \
	src/confine/terminal.h \
	src/confine/watch.c \
	src/confine/watch.h

# The system call filter is made by libseccomp on the build machine, for every architecture at once.
EXTRA_DIST += src/confine/seccomp-generate.c
BUILT_SOURCES += src/confine/seccomp-filter.h
CLEANFILES += src/confine/seccomp-filter.h src/confine/seccomp-generate

src/confine/seccomp-generate: $(srcdir)/src/confine/seccomp-generate.c $(srcdir)/src/confine/socket-rules.h config.h
	$(AM_V_at)$(MKDIR_P) src/confine
	$(AM_V_GEN)$(CC_FOR_BUILD) $(CFLAGS_FOR_BUILD) -std=gnu11 -O1 -I. -I$(top_srcdir)/src -o $@ \
	  $(srcdir)/src/confine/seccomp-generate.c $(LIBSECCOMP_LIBS_FOR_BUILD)

src/confine/seccomp-filter.h: src/confine/seccomp-generate
	$(AM_V_GEN)src/confine/seccomp-generate >$@.tmp && mv $@.tmp $@

src/confine/seccomp.$(OBJEXT): src/confine/seccomp-filter.h
