# SPDX-License-Identifier: LGPL-2.1-or-later
# What is installed: the distribution's policy into the vendor directory, which belongs to the
# package, and into /etc a file of comments that belongs to the administrator from then on. While
# it holds only comments it says nothing, so it does not replace the vendor's file of that name.

vendorservicesdir = $(vendordir)/services
vendorfragmentsdir = $(vendordir)/policy.d
policyconfdir = $(sysconfdir)/sandbox
POLICY_SUBDIRS = sandbox.conf.d services policy.d

# A file that is there already is the administrator's: it is left alone, and only a file
# that is still as shipped is taken away again.
EXTRA_DIST += etc/sandbox.conf
INSTALL_DATA_LOCAL += install-policyconf
UNINSTALL_LOCAL += uninstall-policyconf
localconf = $(policyconfdir)/sandbox.conf

install-policyconf:
	@for dir in $(POLICY_SUBDIRS); do \
	  $(MKDIR_P) "$(DESTDIR)$(policyconfdir)/$$dir" || exit 1; \
	done
	@if test -e "$(DESTDIR)$(localconf)"; then \
	  echo "keeping $(DESTDIR)$(localconf) as it is"; \
	else \
	  echo "$(INSTALL_DATA) $(srcdir)/etc/sandbox.conf $(DESTDIR)$(localconf)"; \
	  $(INSTALL_DATA) "$(srcdir)/etc/sandbox.conf" "$(DESTDIR)$(localconf)"; \
	fi

uninstall-policyconf:
	@if cmp -s "$(srcdir)/etc/sandbox.conf" "$(DESTDIR)$(localconf)"; then \
	  rm -f "$(DESTDIR)$(localconf)"; \
	fi
	@for dir in $(POLICY_SUBDIRS:%=$(policyconfdir)/%) $(policyconfdir) \
	    $(vendorservicesdir) $(vendorfragmentsdir) $(vendordir); do \
	  rmdir "$(DESTDIR)$$dir" 2>/dev/null || :; \
	done

.PHONY: install-policyconf uninstall-policyconf

dist_vendor_DATA = \
	etc/vendor/sandbox.conf

dist_vendorservices_DATA = \
	etc/vendor/services/other.conf
