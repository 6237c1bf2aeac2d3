# SPDX-License-Identifier: LGPL-2.1-or-later

bin_PROGRAMS += sandbox-policy-check
sandbox_policy_check_SOURCES = \
	src/check/areas.c \
	src/check/areas.h \
	src/check/can.c \
	src/check/cat.c \
	src/check/check.c \
	src/check/check.h \
	src/check/discover-apt.c \
	src/check/discover-ask.c \
	src/check/discover-cargo.c \
	src/check/discover-found.c \
	src/check/discover-git.c \
	src/check/discover-go.c \
	src/check/discover-java.c \
	src/check/discover-npm.c \
	src/check/discover-pip.c \
	src/check/discover-read.c \
	src/check/discover-toml.c \
	src/check/discover.c \
	src/check/discover.h \
	src/check/edit-editor.c \
	src/check/edit-file.c \
	src/check/edit.c \
	src/check/edit.h \
	src/check/exclusions.c \
	src/check/export-bwrap.c \
	src/check/export-seatbelt.c \
	src/check/export.c \
	src/check/export.h \
	src/check/filter.c \
	src/check/find-program.c \
	src/check/find-program.h \
	src/check/findings.c \
	src/check/findings.h \
	src/check/inside.c \
	src/check/judge.c \
	src/check/judge.h \
	src/check/lint-hosts.c \
	src/check/lint-hosts.h \
	src/check/lint-layer.c \
	src/check/lint-layer.h \
	src/check/lint-stack.c \
	src/check/lint-stack.h \
	src/check/lint.c \
	src/check/main.c \
	src/check/options.c \
	src/check/options.h \
	src/check/patterns.c \
	src/check/patterns.h \
	src/check/probe.c \
	src/check/questions.c \
	src/check/questions.h \
	src/check/requests.c \
	src/check/show.c \
	src/check/trust.c \
	src/check/wide.c \
	src/check/wide.h
sandbox_policy_check_LDADD = $(FLOOR_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)
