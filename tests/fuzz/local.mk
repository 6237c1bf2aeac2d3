# SPDX-License-Identifier: LGPL-2.1-or-later
# Fuzzing of everything that reads bytes from the confined process: `make fuzz` needs clang with libFuzzer, and is no
# part of "make check", but a stage of ./bootstrap check.
# The parsers do no I/O, so that an entry is a few lines and links nothing but them.

FUZZ_CC = clang
FUZZ_CFLAGS = -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_NAMES = dns-message host-rule hostname http1-chunked http1-request http1-response link network-transfer socks5 tls-hello
# How many files are compiled at a time; how long each entry is run is FUZZ_SECONDS in the environment.
FUZZ_JOBS = 2
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
	tests/fuzz/fuzz-host-rule.c \
	tests/fuzz/fuzz-hostname.c \
	tests/fuzz/fuzz-http1-chunked.c \
	tests/fuzz/fuzz-http1-request.c \
	tests/fuzz/fuzz-http1-response.c \
	tests/fuzz/fuzz-link.c \
	tests/fuzz/fuzz-network-transfer.c \
	tests/fuzz/fuzz-socks5.c \
	tests/fuzz/fuzz-tls-hello.c \
	tests/fuzz/fuzz.h \
	tests/fuzz/run

FUZZ_CPPFLAGS = -I. -I$(top_srcdir)/tests/fuzz $(DEFS) $(AM_CPPFLAGS) -U_FORTIFY_SOURCE

fuzz: config.h
	@echo 'int LLVMFuzzerTestOneInput (void) { return 0; }' | $(FUZZ_CC) $(FUZZ_CFLAGS) -x c -o /dev/null - || \
	{ echo "fuzz: $(FUZZ_CC) has no libFuzzer: install clang and its libclang-rt-dev" >&2; exit 1; }
	@rm -rf tests/fuzz/bin && $(MKDIR_P) tests/fuzz/bin
	@for source in $(FUZZ_CODE) `cd $(top_srcdir) && echo src/base/*.c src/policy/*.c`; do \
	  echo "-c -o tests/fuzz/bin/`echo $$source | tr / -`.o $(top_srcdir)/$$source"; \
	done | xargs -P $(FUZZ_JOBS) -n 4 $(FUZZ_CC) -std=gnu11 $(FUZZ_CFLAGS) $(FUZZ_CPPFLAGS)
	@for name in $(FUZZ_NAMES); do \
	  echo "-o tests/fuzz/bin/fuzz-$$name $(top_srcdir)/tests/fuzz/fuzz-$$name.c"; \
	done | xargs -P $(FUZZ_JOBS) -I ENTRY sh -c '$(FUZZ_CC) -std=gnu11 $(FUZZ_CFLAGS) $(FUZZ_CPPFLAGS) ENTRY tests/fuzz/bin/*.o $(GLIB_LIBS) $(LIBCONFIG_LIBS)'
	@set --; for name in $(FUZZ_NAMES); do set -- "$$@" tests/fuzz/bin/fuzz-$$name; done; \
	$(SHELL) $(top_srcdir)/tests/fuzz/run "$$@"

clean-local:
	-rm -rf tests/fuzz/bin

.PHONY: fuzz
