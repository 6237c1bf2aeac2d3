# SPDX-License-Identifier: LGPL-2.1-or-later
# Protocols and the connections that are carried: no namespaces, no policy files.

noinst_LIBRARIES += libegress.a
FLOOR_LIBS += libegress.a
libegress_a_SOURCES = \
	src/egress/access-log.c \
	src/egress/access-log.h \
	src/egress/address.c \
	src/egress/address.h \
	src/egress/client.c \
	src/egress/client.h \
	src/egress/closer.c \
	src/egress/closer.h \
	src/egress/dial.c \
	src/egress/dial.h \
	src/egress/dns-front.c \
	src/egress/dns-message.c \
	src/egress/dns-message.h \
	src/egress/door.c \
	src/egress/door.h \
	src/egress/forward.c \
	src/egress/http-exchange.c \
	src/egress/http-front.c \
	src/egress/http1-chunked.c \
	src/egress/http1-head.c \
	src/egress/http1-head.h \
	src/egress/http1-write.c \
	src/egress/http1.c \
	src/egress/http1.h \
	src/egress/link-guest.c \
	src/egress/link-session.c \
	src/egress/link-session.h \
	src/egress/listen.c \
	src/egress/listen.h \
	src/egress/loop.c \
	src/egress/loop.h \
	src/egress/metrics.c \
	src/egress/name-table.c \
	src/egress/name-table.h \
	src/egress/peer.c \
	src/egress/peer.h \
	src/egress/pipe-pool.c \
	src/egress/pipe-pool.h \
	src/egress/proxy-private.h \
	src/egress/proxy.c \
	src/egress/proxy.h \
	src/egress/publish.c \
	src/egress/publish.h \
	src/egress/reach.c \
	src/egress/reach.h \
	src/egress/refusals.c \
	src/egress/refusals.h \
	src/egress/relay.c \
	src/egress/relay.h \
	src/egress/resolver.c \
	src/egress/resolver.h \
	src/egress/socks-front.c \
	src/egress/socks5.c \
	src/egress/socks5.h \
	src/egress/tls-hello.c \
	src/egress/tls-hello.h \
	src/egress/transparent-front.c \
	src/egress/upstream.c \
	src/egress/upstream.h
