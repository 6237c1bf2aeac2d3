# SPDX-License-Identifier: LGPL-2.1-or-later
# One file for a shell has all programs; shells look for a file by the program's name, so that there are links to it.

COMPLETIONS = \
	completions/_sandbox-utils \
	completions/sandbox-utils.bash \
	completions/sandbox-utils.fish
EXTRA_DIST += $(COMPLETIONS:=.in)
CLEANFILES += $(COMPLETIONS)
noinst_DATA += $(COMPLETIONS)

# Where policies are.
$(COMPLETIONS): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's|@vendordir[@]|$(vendordir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
	  -e 's|@policyrundir[@]|$(policyrundir)|g' $(srcdir)/$@.in >$@.tmp && mv $@.tmp $@
completions/_sandbox-utils: completions/_sandbox-utils.in
completions/sandbox-utils.bash: completions/sandbox-utils.bash.in
completions/sandbox-utils.fish: completions/sandbox-utils.fish.in

INSTALL_DATA_LOCAL += install-completions
UNINSTALL_LOCAL += uninstall-completions

install-completions: $(COMPLETIONS)
	$(MKDIR_P) "$(DESTDIR)$(bashcompletiondir)" "$(DESTDIR)$(zshcompletiondir)" "$(DESTDIR)$(fishcompletiondir)"
	$(INSTALL_DATA) completions/sandbox-utils.bash "$(DESTDIR)$(bashcompletiondir)/sandbox-run"
	$(INSTALL_DATA) completions/sandbox-utils.fish "$(DESTDIR)$(fishcompletiondir)/sandbox-run.fish"
	$(INSTALL_DATA) completions/_sandbox-utils "$(DESTDIR)$(zshcompletiondir)/_sandbox-utils"
	@for program in $(bin_PROGRAMS); do \
	  test $$program = sandbox-run && continue; \
	  $(LN_S) -f sandbox-run "$(DESTDIR)$(bashcompletiondir)/$$program" && \
	  $(LN_S) -f sandbox-run.fish "$(DESTDIR)$(fishcompletiondir)/$$program.fish" || exit 1; \
	done

uninstall-completions:
	@for program in $(bin_PROGRAMS); do \
	  rm -f "$(DESTDIR)$(bashcompletiondir)/$$program" "$(DESTDIR)$(fishcompletiondir)/$$program.fish"; \
	done
	@rm -f "$(DESTDIR)$(zshcompletiondir)/_sandbox-utils"

.PHONY: install-completions uninstall-completions
