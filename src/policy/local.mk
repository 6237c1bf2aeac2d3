# SPDX-License-Identifier: LGPL-2.1-or-later
# What is asked for, and what the answer is: no fork, no namespaces, no sockets.
