#!/bin/sh
# What the tests compare with and look through, and the program itself never needs: tshark (the oracle), tcpdump, a headless
# browser (HTML pages), pandoc (wiki pages), SSH servers and a BusyBox userland (targets). Tests without them are skipped
# and say so; under CI a missing oracle is an error.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

if ! command -v tshark >/dev/null 2>&1; then
    if ! apt_install "because the tests compare txop with Wireshark" tshark; then
        [ "${CI-}" != true ] || exit 3
        echo "Going on without tshark: the tests that compare with it will be skipped." >&2
    fi
fi

if ! command -v chromium >/dev/null 2>&1 && ! command -v chromium-browser >/dev/null 2>&1 \
    && ! command -v google-chrome >/dev/null 2>&1; then
    apt_refresh
    if ! apt_offers chromium || ! apt_install "because the tests look at the HTML pages" chromium fonts-dejavu-core; then
        echo "Going on without chromium: the tests that look at HTML pages will be skipped." >&2
    fi
fi

if ! command -v pandoc >/dev/null 2>&1 && ! apt_install "because the tests render DokuWiki pages" pandoc; then
    echo "Going on without pandoc: the tests that render DokuWiki pages will be skipped." >&2
fi

if ! command -v tcpdump >/dev/null 2>&1 && ! apt_install "because the tests capture with it" tcpdump; then
    echo "Going on without tcpdump: the tests that capture with it will be skipped." >&2
fi

# What the tests reach over SSH: servers of their own, in namespaces of their own. openssh-server comes with a service
# that starts by itself; so it is installed only where no service manager runs (containers) or the machine is CI's.
for tool in busybox:busybox-static ssh-keygen:openssh-client ip:iproute2 dropbear:dropbear-bin sshd:openssh-server; do
    package=${tool#*:}
    tool=${tool%%:*}
    PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null 2>&1 && continue
    if [ "$tool" = sshd ] && [ -d /run/systemd/system ] && [ "${CI-}" != true ]; then
        echo "Not installing openssh-server, which would start an SSH server on this machine." >&2
    elif apt_install "because the tests reach a machine over SSH" "$package"; then
        continue
    fi
    [ "${CI-}" != true ] || exit 3
    echo "Going on without $tool: tests that go over SSH will be skipped." >&2
done

# An archive of Debian packages in the tests is signed with a key of its own: Debian 13's apt brings no gpg along.
if ! command -v gpg >/dev/null 2>&1 || ! command -v gpg-agent >/dev/null 2>&1; then
    if ! apt_install "because the tests sign an archive of packages of their own" gpg gpg-agent; then
        [ "${CI-}" != true ] || exit 3
        echo "Going on without gpg: tests of guests' package archives will be skipped." >&2
    fi
fi
