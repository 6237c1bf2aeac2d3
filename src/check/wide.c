/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wide.c - a table of sockets behind which someone acts for whoever asks, with rights that the sandbox took away. */
#include "config.h"

#include "check/wide.h"

#include <fnmatch.h>

#include "base/program.h"

/* The patterns match whole paths; "*" matches "/" too. What is not found here is not therefore harmless. */
/* clang-format off */
static const struct
{
  const char *pattern;
  const char *whose; /* N_() */
} wide[] = {
  { "*/docker.sock", N_("Docker") },
  { "*/docker.sock.raw", N_("Docker") },
  { "*/podman.sock", N_("Podman") },
  { "*/podman/*.sock", N_("Podman") },
  { "*/containerd.sock*", N_("containerd") },
  { "*/crio.sock", N_("CRI-O") },
  { "*/buildkitd.sock", N_("BuildKit") },
  { "*/lxd/unix.socket", N_("LXD") },
  { "*/incus/unix.socket*", N_("Incus") },
  { "*/libvirt*sock*", N_("libvirt") },
  { "*/virt*d-sock*", N_("libvirt") },
  { "*/snapd.socket", N_("snapd") },
  { "*/nix/daemon-socket/*", N_("the Nix daemon") },
  { "*/dbus/*", N_("D-Bus") },
  { "*/system_bus_socket", N_("D-Bus") },
  { "/run/user/*/bus", N_("D-Bus") },
  { "*/at-spi/bus*", N_("the accessibility bus") },
  { "*/systemd/private", N_("systemd") },
  { "*/systemd/notify", N_("systemd") },
  { "*/systemd/io.*", N_("systemd") },
  { "*/ssh-*/agent.*", N_("ssh-agent") },
  { "*/keyring/*", N_("the keyring") },
  { "*ssh*agent*", N_("ssh-agent") },
  { "*/S.gpg-agent*", N_("gpg-agent") },
  { "*/S.scdaemon", N_("gpg-agent") },
  { "*/S.keyboxd", N_("gpg-agent") },
  { "*/.X11-unix/*", N_("X11") },
  { "*/wayland-[0-9]*", N_("Wayland") },
  { "*/tmux-*/*", N_("tmux") },
  { "*/screen/S-*", N_("screen") },
  { "*/vscode-*.sock", N_("Visual Studio Code") },
  { "*/emacs/*", N_("Emacs") },
  { "*/emacs[0-9]*/*", N_("Emacs") },
  { "*/polkit*", N_("polkit") },
};
/* clang-format on */

const char *
sbx_wide_socket (const char *path)
{
  for (gsize i = 0; i < G_N_ELEMENTS (wide); i++)
    if (fnmatch (wide[i].pattern, path, 0) == 0)
      return _(wide[i].whose);
  return NULL;
}
