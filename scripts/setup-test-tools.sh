#!/bin/sh
# What the tests compare with and look through, and the program itself never needs: tshark (the oracle) and a headless
# browser (HTML pages). Tests without them are skipped and say so; under CI a missing oracle is an error.
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
