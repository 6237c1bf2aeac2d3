# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzzing of everything that reads bytes from the confined process: `make fuzz` needs clang, and is no part of "make check".
# The parsers do no I/O, so that an entry is a few lines and links nothing but them.

FUZZ_CC = clang
FUZZ_CFLAGS = -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_NAMES = dns-message hostname http1-chunked http1-request http1-response socks5 tls-hello
FUZZ_CODE = \
	src/egress/dns-message.c \
	src/egress/http1-chunked.c \
	src/egress/http1-head.c \
	src/egress/http1-write.c \
	src/egress/http1.c \
	src/egress/socks5.c \
	src/egress/tls-hello.c

EXTRA_DIST += \
	tests/fuzz/corpus \
	tests/fuzz/fuzz-dns-message.c \
	tests/fuzz/fuzz-hostname.c \
	tests/fuzz/fuzz-http1-chunked.c \
	tests/fuzz/fuzz-http1-request.c \
	tests/fuzz/fuzz-http1-response.c \
	tests/fuzz/fuzz-socks5.c \
	tests/fuzz/fuzz-tls-hello.c \
	tests/fuzz/fuzz.h \
	tests/fuzz/run

FUZZ_CPPFLAGS = -I. -I$(top_srcdir)/tests/fuzz $(DEFS) $(AM_CPPFLAGS) -U_FORTIFY_SOURCE

fuzz: config.h
	@$(MKDIR_P) tests/fuzz/bin
	@rm -f tests/fuzz/bin/*.o
	@set -e; \
	for source in $(FUZZ_CODE) `cd $(top_srcdir) && echo src/base/*.c src/policy/*.c`; do \
	  object=tests/fuzz/bin/`echo $$source | tr / -`.o; \
	  $(FUZZ_CC) -std=gnu11 $(FUZZ_CFLAGS) $(FUZZ_CPPFLAGS) -c -o $$object $(top_srcdir)/$$source; \
	done; \
	for name in $(FUZZ_NAMES); do \
	  $(FUZZ_CC) -std=gnu11 $(FUZZ_CFLAGS) $(FUZZ_CPPFLAGS) -o tests/fuzz/bin/fuzz-$$name \
	    $(top_srcdir)/tests/fuzz/fuzz-$$name.c tests/fuzz/bin/*.o $(GLIB_LIBS) $(LIBCONFIG_LIBS); \
	done
	@set --; for name in $(FUZZ_NAMES); do set -- "$$@" tests/fuzz/bin/fuzz-$$name; done; \
	$(SHELL) $(top_srcdir)/tests/fuzz/run "$$@"

clean-local:
	-rm -rf tests/fuzz/bin

.PHONY: fuzz
