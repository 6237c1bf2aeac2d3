# SPDX-License-Identifier: LGPL-2.1-or-later
# The ground floor: errors, descriptors, log, program start-up.

noinst_LIBRARIES += libbase.a
FLOOR_LIBS += libbase.a
libbase_a_SOURCES = \
	src/base/chunk.c \
	src/base/chunk.h \
	src/base/error.c \
	src/base/error.h \
	src/base/exec.c \
	src/base/exec.h \
	src/base/fd.c \
	src/base/fd.h \
	src/base/link.c \
	src/base/link.h \
	src/base/log.c \
	src/base/log.h \
	src/base/memory.c \
	src/base/memory.h \
	src/base/options.c \
	src/base/options.h \
	src/base/program.c \
	src/base/program.h \
	src/base/proxy-variables.c \
	src/base/proxy-variables.h \
	src/base/text.c \
	src/base/text.h
