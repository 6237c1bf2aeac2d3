# SPDX-License-Identifier: LGPL-2.1-or-later
# Protocols and the connections that are carried: no namespaces, no policy files.

noinst_LIBRARIES += libegress.a
FLOOR_LIBS += libegress.a
libegress_a_SOURCES = \
	src/egress/address.h \
	src/egress/dns-message.h \
	src/egress/http1.h \
	src/egress/loop.c \
	src/egress/loop.h \
	src/egress/socks5.h \
	src/egress/tls-hello.h
