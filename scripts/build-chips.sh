#!/bin/sh
# Builds the virtual devices: txop-vusb, one program without libraries for guests and for other machines, and the library
# that a guest's QEMU loads. Puts both where `txop guest` looks for them. Run with the Rust toolchain in PATH (scripts/with-rust.sh).
set -eu
cd "$(dirname "$0")/.."

[ -d crates/vusb ] || exit 0
# Guests are x86-64 machines, whatever this one is. musl where this toolchain has it or can get it; on x86-64 else glibc,
# linked statically: a guest has neither's libraries. Elsewhere the toolchain's own linker takes the place of a cross one.
target=x86_64-unknown-linux-musl
program_flags=
machine=${TXOP_CHIPS_BUILT_ON:-$(uname -m)}
have_musl() {
    toolchain=$(rustc --print sysroot)
    # rustup's default toolchain need not be the one that builds: rustup names toolchains after their folders.
    [ -d "$toolchain/lib/rustlib/$target" ] ||
        { command -v rustup >/dev/null 2>&1 && rustup target add "$target" --toolchain "${toolchain##*/}" </dev/null; }
}
if [ "$machine" != x86_64 ]; then
    if ! have_musl; then
        echo "Not building the virtual chips: on $machine that takes a Rust toolchain with $target (rustup target add)." >&2
        exit 0
    fi
    program_flags="-C linker=rust-lld -C link-self-contained=yes"
elif ! have_musl; then
    target=x86_64-unknown-linux-gnu
    program_flags="-C target-feature=+crt-static"
fi

echo "Building the virtual chips, for guests"

# The program is part of what an exact guest does, so it names no folder of this machine: the same toolchain makes the same
# bytes wherever the sources, the packages and the toolchain are. (Encoded: a folder's name may have a space.)
separator=$(printf '\037')
add() { flags="${flags:+$flags$separator}$1"; }
build() { # build FLAGS ARGUMENT...
    flags=
    for flag in ${RUSTFLAGS:-} $1; do add "$flag"; done
    shift
    add "--remap-path-prefix=$(rustc --print sysroot)=/rust"
    add "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    add "--remap-path-prefix=$PWD=/txop"
    CARGO_ENCODED_RUSTFLAGS=$flags cargo build --release --locked --quiet "$@"
}
target_folder=${CARGO_TARGET_DIR:-target}
mkdir -p python/txop/guest/bin

put() { # put FILE MODE: beside the module that looks for it, whole or not at all
    part=$(mktemp "python/txop/guest/bin/.${1##*/}.XXXXXX")
    trap 'rm -f "$part"' EXIT
    cp "$1" "$part"
    strip "$part" 2>/dev/null || true
    chmod "$2" "$part"
    mv -f "$part" "python/txop/guest/bin/${1##*/}"
}

build "$program_flags" -p txop-vusb --target "$target"
put "$target_folder/$target/release/txop-vusb" 755

# The same devices for the QEMU of a guest, which has the C library of Debian 13 whatever this machine has.
qemu_target=x86_64-unknown-linux-gnu
if [ "$machine" = x86_64 ] && [ -d "$(rustc --print sysroot)/lib/rustlib/$qemu_target" ]; then
    build "" -p txop-qemu --lib --target "$qemu_target"
    put "$target_folder/$qemu_target/release/libtxop_qemu.so" 644
else
    echo "Not building the devices of QEMU: that takes an x86-64 machine, and a Rust toolchain with $qemu_target." >&2
fi
