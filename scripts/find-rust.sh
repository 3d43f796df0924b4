#!/bin/sh
# Prints the folder of a cargo that is new enough to build txop, and fails when there is none.
# Looks where PATH points, then where rustup and the versioned packages of distributions put it.
set -u
minimum=$("$(dirname "$0")/minimum-rust.sh")

new_enough() {
    version=$("$1" --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$minimum" "$version" | sort -V | head -n 1)" = "$minimum" ]
}

# A toolchain of rustup's that is not the user's default, and stays so.
stable() { command -v rustup >/dev/null 2>&1 && rustup which --toolchain stable cargo 2>/dev/null; }

for cargo in "$(command -v cargo || true)" "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" /usr/lib/rust-*/bin/cargo "$(stable)"; do
    if [ -x "$cargo" ] && new_enough "$cargo"; then
        dirname "$cargo"
        exit 0
    fi
done
exit 1
