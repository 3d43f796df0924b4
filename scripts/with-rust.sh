#!/bin/sh
# Runs a command with a Rust toolchain that is new enough in front of PATH: scripts/with-rust.sh cargo test
set -eu
scripts=$(dirname "$0")
folder=$("$scripts/find-rust.sh") || {
    echo "No Rust toolchain of version $("$scripts/minimum-rust.sh") or later was found. Run: make setup" >&2
    exit 3
}
PATH="$folder:$PATH"
export PATH
exec "$@"
