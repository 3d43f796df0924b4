#!/bin/sh
# rustfmt, clippy and rustdoc over the whole workspace, with the one toolchain that .ci/rust-version names: other versions warn
# about other things. Changes nothing; with --format, formats instead. Only this asks for that toolchain; building and testing take any new enough one.
set -eu
cd "$(dirname "$0")/.."
version=$(cat .ci/rust-version)
folder=$(scripts/exact-rust.sh "$version" rustfmt clippy) || {
    echo "NOT LINTED: Rust is linted and formatted with version $version only, so that everyone gets the same warnings." >&2
    echo "Install rustup (apt-get install rustup, or as https://rustup.rs describes), then try again." >&2
    exit 3
}
PATH="$folder:$PATH"
export PATH
unset RUSTUP_TOOLCHAIN
if [ "${1-}" = --format ]; then
    exec cargo fmt --all
fi
echo "Linting with $(rustc --version)"
cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
