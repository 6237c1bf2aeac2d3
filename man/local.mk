# SPDX-License-Identifier: LGPL-2.1-or-later

MAN_PAGES = \
	man/sandbox-bridge.1 \
	man/sandbox-policy-check.1 \
	man/sandbox-proxy.8 \
	man/sandbox-run.1 \
	man/sandbox-services.5 \
	man/sandbox.7 \
	man/sandbox.conf.5

dist_man_MANS += $(MAN_PAGES)
