#!/bin/sh
# Compiles everything, tests and benches too, with the oldest Rust that txop supports. Where that version is
# neither installed nor obtainable, says so and succeeds; in continuous integration that is an error.
set -eu
cd "$(dirname "$0")/.."
version=$(scripts/minimum-rust.sh)
folder=$(scripts/exact-rust.sh "$version") || {
    echo "NOT CHECKED: whether txop builds with Rust $version, the minimum." >&2
    [ "${CI-}" != true ] || exit 3
    exit 0
}
PATH="$folder:$PATH"
export PATH
unset RUSTUP_TOOLCHAIN
echo "Checking with $(rustc --version)"
# A folder of its own: what the usual toolchain has built stays.
CARGO_TARGET_DIR=target/minimum-rust cargo check --locked --workspace --all-targets --quiet
echo "txop builds with Rust $version"
