# SPDX-License-Identifier: LGPL-2.1-or-later
# What is asked for, and what the answer is: no fork, no namespaces, no sockets.

noinst_LIBRARIES += libpolicy.a
FLOOR_LIBS += libpolicy.a
libpolicy_a_SOURCES = \
	src/policy/address.c \
	src/policy/address.h \
	src/policy/builtin-rules.c \
	src/policy/builtin-rules.h \
	src/policy/condition.c \
	src/policy/condition.h \
	src/policy/context.c \
	src/policy/context.h \
	src/policy/dump.c \
	src/policy/dump.h \
	src/policy/git-rules.c \
	src/policy/git-rules.h \
	src/policy/glob-rules.c \
	src/policy/glob-rules.h \
	src/policy/glob.c \
	src/policy/glob.h \
	src/policy/host-rule.c \
	src/policy/host-rule.h \
	src/policy/host-rules.c \
	src/policy/host-rules.h \
	src/policy/hostname.c \
	src/policy/hostname.h \
	src/policy/keyword.c \
	src/policy/keyword.h \
	src/policy/layer.c \
	src/policy/layer.h \
	src/policy/link-grants.c \
	src/policy/link-grants.h \
	src/policy/loader.c \
	src/policy/loader.h \
	src/policy/merge.c \
	src/policy/network-transfer.c \
	src/policy/network-transfer.h \
	src/policy/origin.c \
	src/policy/origin.h \
	src/policy/path-listing.c \
	src/policy/path-listing.h \
	src/policy/path-memory.c \
	src/policy/path-memory.h \
	src/policy/path-state.c \
	src/policy/path-table.c \
	src/policy/path-table.h \
	src/policy/path.c \
	src/policy/path.h \
	src/policy/policy.c \
	src/policy/policy.h \
	src/policy/repo-cache.c \
	src/policy/repo-scan.c \
	src/policy/repo-scan.h \
	src/policy/scan.c \
	src/policy/scan.h \
	src/policy/source-file.c \
	src/policy/source-file.h \
	src/policy/source-trust.c \
	src/policy/source-trust.h \
	src/policy/source.c \
	src/policy/source.h \
	src/policy/stack.c \
	src/policy/stack.h \
	src/policy/table-builder.c \
	src/policy/table-builder.h \
	src/policy/trust.c \
	src/policy/trust.h \
	src/policy/value.c \
	src/policy/value.h \
	src/policy/verdict-host.c \
	src/policy/verdict-host.h \
	src/policy/verdict.c \
	src/policy/verdict.h \
	src/policy/workspace.c \
	src/policy/workspace.h
