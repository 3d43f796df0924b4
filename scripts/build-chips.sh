#!/bin/sh
# Builds txop-vusb, the virtual chips that run inside a guest, as one program without libraries, and puts it where
# `txop guest` looks for it. Run with the Rust toolchain in PATH (scripts/with-rust.sh).
set -eu
cd "$(dirname "$0")/.."

[ -d crates/vusb ] || exit 0
# Guests are x86-64 machines, whatever this one is. musl where this toolchain has it or can get it; on x86-64 else glibc,
# linked statically: a guest has neither's libraries. Elsewhere the toolchain's own linker takes the place of a cross one.
target=x86_64-unknown-linux-musl
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
    RUSTFLAGS="${RUSTFLAGS:-} -C linker=rust-lld -C link-self-contained=yes"
elif ! have_musl; then
    target=x86_64-unknown-linux-gnu
    RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static"
fi

# The program is part of what an exact guest does, so it names no folder of this machine: the same toolchain makes the same
# bytes wherever the sources, the packages and the toolchain are. (Encoded: a folder's name may have a space.)
flags=
separator=$(printf '\037')
add() { flags="${flags:+$flags$separator}$1"; }
for flag in ${RUSTFLAGS:-}; do add "$flag"; done
add "--remap-path-prefix=$(rustc --print sysroot)=/rust"
add "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
add "--remap-path-prefix=$PWD=/txop"
CARGO_ENCODED_RUSTFLAGS=$flags
export CARGO_ENCODED_RUSTFLAGS
cargo build --release --locked --quiet -p txop-vusb --target "$target"
built="${CARGO_TARGET_DIR:-target}/$target/release/txop-vusb"
mkdir -p python/txop/guest/bin
part=$(mktemp python/txop/guest/bin/.txop-vusb.XXXXXX)
trap 'rm -f "$part"' EXIT
cp "$built" "$part"
strip "$part" 2>/dev/null || true
chmod 755 "$part"
mv -f "$part" python/txop/guest/bin/txop-vusb
