# SPDX-License-Identifier: LGPL-2.1-or-later
# Unit tests (Check), golden policy cases, system tests: all of them speak TAP to automake.
