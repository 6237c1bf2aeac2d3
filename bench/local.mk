# SPDX-License-Identifier: LGPL-2.1-or-later
# Tools for people, no part of "make check": they are only distributed.

EXTRA_DIST += \
	bench/README \
	bench/common.sh \
	bench/egress \
	bench/floor.c \
	bench/inside \
	bench/load.c \
	bench/origin.c \
	bench/questions \
	bench/relay.c \
	bench/spawn-timer.c \
	bench/start
