# SPDX-License-Identifier: LGPL-2.1-or-later
# Protocols and the connections that are carried: no namespaces, no policy files.

noinst_LIBRARIES += libegress.a
FLOOR_LIBS += libegress.a
libegress_a_SOURCES = \
	src/egress/address.c \
	src/egress/address.h \
	src/egress/dns-message.c \
	src/egress/dns-message.h \
	src/egress/http1-chunked.c \
	src/egress/http1-head.c \
	src/egress/http1-head.h \
	src/egress/http1-write.c \
	src/egress/http1.c \
	src/egress/http1.h \
	src/egress/loop.c \
	src/egress/loop.h \
	src/egress/socks5.c \
	src/egress/socks5.h \
	src/egress/tls-hello.c \
	src/egress/tls-hello.h
