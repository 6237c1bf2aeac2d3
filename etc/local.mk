# SPDX-License-Identifier: LGPL-2.1-or-later
# What is installed: the distribution's policy into the vendor directory, which belongs to the
# package, and into /etc a commented file that belongs to the administrator from then on.

vendorservicesdir = $(vendordir)/services
vendorfragmentsdir = $(vendordir)/policy.d
policyconfdir = $(sysconfdir)/sandbox
POLICY_SUBDIRS = sandbox.conf.d services policy.d

# A file that is there already is the administrator's: it is left alone, and only a file
# that is still as shipped is taken away again.
EXTRA_DIST += etc/sandbox.conf
INSTALL_DATA_LOCAL += install-policyconf
UNINSTALL_LOCAL += uninstall-policyconf

install-policyconf:
	$(MKDIR_P) '$(DESTDIR)$(policyconfdir)'
	for dir in $(POLICY_SUBDIRS); do \
	  $(MKDIR_P) '$(DESTDIR)$(policyconfdir)'/$$dir || exit 1; \
	done
	if test -e '$(DESTDIR)$(policyconfdir)/sandbox.conf'; then \
	  echo 'keeping $(DESTDIR)$(policyconfdir)/sandbox.conf as it is'; \
	else \
	  $(INSTALL_DATA) '$(srcdir)/etc/sandbox.conf' '$(DESTDIR)$(policyconfdir)/sandbox.conf'; \
	fi

uninstall-policyconf:
	if cmp -s '$(srcdir)/etc/sandbox.conf' '$(DESTDIR)$(policyconfdir)/sandbox.conf'; then \
	  rm -f '$(DESTDIR)$(policyconfdir)/sandbox.conf'; \
	fi
	for dir in $(POLICY_SUBDIRS) .; do \
	  rmdir '$(DESTDIR)$(policyconfdir)'/$$dir 2>/dev/null || :; \
	done
	rmdir '$(DESTDIR)$(policyconfdir)' '$(DESTDIR)$(vendorservicesdir)' '$(DESTDIR)$(vendorfragmentsdir)' \
	  '$(DESTDIR)$(vendordir)' 2>/dev/null || :

.PHONY: install-policyconf uninstall-policyconf
