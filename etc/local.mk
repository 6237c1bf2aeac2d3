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
	etc/vendor/services/apt-get.conf \
	etc/vendor/services/apt.conf \
	etc/vendor/services/cargo.conf \
	etc/vendor/services/chromium.conf \
	etc/vendor/services/cmake.conf \
	etc/vendor/services/ctest.conf \
	etc/vendor/services/firefox-esr.conf \
	etc/vendor/services/firefox.conf \
	etc/vendor/services/git.conf \
	etc/vendor/services/gmake.conf \
	etc/vendor/services/go.conf \
	etc/vendor/services/google-chrome.conf \
	etc/vendor/services/gradle.conf \
	etc/vendor/services/gradlew.conf \
	etc/vendor/services/make.conf \
	etc/vendor/services/meson.conf \
	etc/vendor/services/mvn.conf \
	etc/vendor/services/mvnw.conf \
	etc/vendor/services/ninja.conf \
	etc/vendor/services/node.conf \
	etc/vendor/services/npm.conf \
	etc/vendor/services/npx.conf \
	etc/vendor/services/other.conf \
	etc/vendor/services/pip.conf \
	etc/vendor/services/pip3.conf \
	etc/vendor/services/pnpm.conf \
	etc/vendor/services/pnpx.conf \
	etc/vendor/services/python.conf \
	etc/vendor/services/python3.conf \
	etc/vendor/services/scp.conf \
	etc/vendor/services/sftp.conf \
	etc/vendor/services/ssh.conf \
	etc/vendor/services/uv.conf \
	etc/vendor/services/uvx.conf \
	etc/vendor/services/yarn.conf \
	etc/vendor/services/yarnpkg.conf

dist_vendorfragments_DATA = \
	etc/vendor/policy.d/browser.conf \
	etc/vendor/policy.d/dev-caches.conf \
	etc/vendor/policy.d/java.conf \
	etc/vendor/policy.d/locked.conf \
	etc/vendor/policy.d/node.conf \
	etc/vendor/policy.d/python.conf \
	etc/vendor/policy.d/secrets.conf
