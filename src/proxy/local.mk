# SPDX-License-Identifier: LGPL-2.1-or-later

bin_PROGRAMS += sandbox-proxy
sandbox_proxy_SOURCES = \
	src/proxy/limits.c \
	src/proxy/limits.h \
	src/proxy/main.c \
	src/proxy/notify.c \
	src/proxy/notify.h \
	src/proxy/options.c \
	src/proxy/options.h \
	src/proxy/session.c \
	src/proxy/session.h
sandbox_proxy_LDADD = $(FLOOR_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS) $(CARES_LIBS)
