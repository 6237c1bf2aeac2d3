# SPDX-License-Identifier: LGPL-2.1-or-later

bin_PROGRAMS += sandbox-run
sandbox_run_SOURCES = \
	src/run/admit.c \
	src/run/admit.h \
	src/run/aftermath.c \
	src/run/aftermath.h \
	src/run/direct.c \
	src/run/direct.h \
	src/run/dry-run.c \
	src/run/dry-run.h \
	src/run/main.c \
	src/run/names.c \
	src/run/names.h \
	src/run/narrow-network.c \
	src/run/narrow-paths.c \
	src/run/narrow.c \
	src/run/narrow.h \
	src/run/options.c \
	src/run/options.h
sandbox_run_LDADD = $(FLOOR_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)
