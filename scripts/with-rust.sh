#!/bin/sh
# Runs a command with a Rust toolchain that is new enough in front of PATH: scripts/with-rust.sh cargo test
set -eu
folder=$("$(dirname "$0")/find-rust.sh") || {
    echo "No Rust toolchain of version 1.85 or later was found. Run: make setup" >&2
    exit 3
}
PATH="$folder:$PATH"
export PATH
exec "$@"
