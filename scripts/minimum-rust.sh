#!/bin/sh
# Prints the oldest Rust that builds txop: the rust-version of Cargo.toml, which is the only place that decides it.
set -eu
sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' "$(dirname "$0")/../Cargo.toml"
