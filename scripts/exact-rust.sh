#!/bin/sh
# exact-rust.sh VERSION [COMPONENT...]: prints the folder of a cargo of exactly that version (1.95.0, or 1.85 for any 1.85.x)
# which has the components (clippy, rustfmt). Where there is none but rustup is there, gets one for this user, saying so.
# Fails, saying what there is, where it cannot be obtained. The toolchain that builds txop stays as it is.
set -u
version=$1
shift

# is_that FOLDER COMPONENT...: whether the programs in the folder are of the version, and the components are there.
is_that() {
    folder=$1
    shift
    for program in cargo rustc; do
        case "$("$folder/$program" --version 2>/dev/null)." in
            "$program $version"[.\ ]*) ;;
            *) return 1 ;;
        esac
    done
    for component in "$@"; do
        "$folder/cargo-$(command_of "$component")" --version >/dev/null 2>&1 || return 1
    done
}

# The name under which cargo runs a component.
command_of() {
    [ "$1" = rustfmt ] && echo fmt || echo "$1"
}

for cargo in "$(command -v cargo || true)" "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" /usr/bin/cargo /usr/lib/rust-*/bin/cargo; do
    if [ -x "$cargo" ] && is_that "$(dirname "$cargo")" "$@"; then
        dirname "$cargo"
        exit 0
    fi
done

PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
if command -v rustup >/dev/null 2>&1; then
    # Under whatever name rustup has it: `stable` may be that version.
    for toolchain in $(rustup toolchain list 2>/dev/null | sed 's/ .*//'); do
        found=$(rustup which --toolchain "$toolchain" cargo 2>/dev/null) || continue
        if is_that "$(dirname "$found")" "$@"; then
            dirname "$found"
            exit 0
        fi
    done
    components=
    for component in "$@"; do components="$components --component $component"; done
    echo "Getting Rust $version for this user (rustup toolchain install $version --profile minimal$components)" >&2
    # shellcheck disable=SC2086
    rustup toolchain install "$version" --profile minimal $components --no-self-update </dev/null >&2 || exit 1
    found=$(rustup which --toolchain "$version" cargo) && is_that "$(dirname "$found")" "$@" || exit 1
    dirname "$found"
    exit 0
fi
echo "Rust $version${*:+ with $*} is not here (found: $(cargo --version 2>/dev/null || echo no cargo)), and no rustup to get it with." >&2
exit 1
