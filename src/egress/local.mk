# SPDX-License-Identifier: LGPL-2.1-or-later
# Protocols and the connections that are carried: no namespaces, no policy files.

noinst_LIBRARIES += libegress.a
FLOOR_LIBS += libegress.a
libegress_a_SOURCES = \
	src/egress/loop.c \
	src/egress/loop.h
