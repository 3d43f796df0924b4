#!/bin/sh
# What building txop needs from the system: a C linker, Python with venv, a Rust toolchain. Installs what is missing
# (Debian, Ubuntu), after saying what and why; elsewhere, or without the right to, says what to do and fails.
set -eu
cd "$(dirname "$0")"
. ./apt.sh

# newest_cargo: the newest version of which there are packages named after it, such as cargo-1.91.
newest_cargo() {
    apt-cache search --names-only '^cargo-[0-9]+\.[0-9]+$' 2>/dev/null | sed 's/^cargo-\([0-9.]*\) .*/\1/' | sort -V | tail -n 1 | grep .
}

if ! command -v cc >/dev/null 2>&1; then
    apt_install "because Rust needs a C compiler to link" gcc libc6-dev
fi

if ! ./find-python.sh >/dev/null; then
    apt_install "because txop is a Python program in a virtual environment" python3 python3-venv
    if ! ./find-python.sh >/dev/null; then
        echo "The Python here is older than 3.11, or cannot make virtual environments: $(python3 --version 2>&1)." >&2
        echo "Install Python 3.11 or later (python3.11, python3.12 or python3.13 on PATH), then: make setup" >&2
        exit 3
    fi
fi

if ! ./find-rust.sh >/dev/null; then
    minimum=$(./minimum-rust.sh)
    why="because parts of txop are written in Rust ($minimum or later)"
    apt_refresh
    if command -v rustup >/dev/null 2>&1; then
        :
    elif apt_offers cargo "$minimum"; then
        apt_install "$why" cargo rustc
    elif apt_offers cargo-web "$minimum"; then # Debian 12: the toolchain that it keeps up to date for browsers
        apt_install "$why" cargo-web rustc-web
    elif versioned=$(newest_cargo) && apt_offers "cargo-$versioned" "$minimum"; then # Ubuntu 24.04
        apt_install "$why" "cargo-$versioned" "rustc-$versioned"
    elif apt_offers rustup; then
        apt_install "$why" rustup
    fi
    if ! ./find-rust.sh >/dev/null && command -v rustup >/dev/null 2>&1; then
        echo "Getting the stable Rust toolchain for this user (rustup toolchain install stable); a default there is stays"
        rustup toolchain install stable --profile minimal --no-self-update </dev/null
    fi
    if ! ./find-rust.sh >/dev/null; then
        echo "No Rust toolchain of version $minimum or later, and this distribution has none to install." >&2
        echo "Install rustup as https://rustup.rs describes, then: make setup" >&2
        exit 3
    fi
fi
