# SPDX-License-Identifier: LGPL-2.1-or-later

bin_PROGRAMS += sandbox-bridge
sandbox_bridge_SOURCES = \
	src/bridge/call.c \
	src/bridge/call.h \
	src/bridge/carry-dns.c \
	src/bridge/carry-dns.h \
	src/bridge/carry.c \
	src/bridge/carry.h \
	src/bridge/command.c \
	src/bridge/command.h \
	src/bridge/connect.c \
	src/bridge/connect.h \
	src/bridge/doors.c \
	src/bridge/doors.h \
	src/bridge/loopback.c \
	src/bridge/loopback.h \
	src/bridge/main.c \
	src/bridge/offer.c \
	src/bridge/offer.h \
	src/bridge/options.c \
	src/bridge/options.h \
	src/bridge/place.c \
	src/bridge/place.h \
	src/bridge/pump.c \
	src/bridge/pump.h
sandbox_bridge_LDADD = $(FLOOR_LIBS) $(GLIB_LIBS) $(LIBCONFIG_LIBS)
