#!/bin/sh
# Builds Bookend and installs it: the executables, then the hooks in every host that is found here.
#
#   ./install.sh [arguments of `bookend install`]      e.g. --dry-run, --trust, claude-code
#
# HOME (with XDG_DATA_HOME, as the platform has it) and BOOKEND_DATA_DIR decide where things go; `bookend install`
# says where. It may be run again at any time, also over an older version and while hooks run.
set -eu

cd "$(dirname "$0")"
umask 077

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

command -v cargo >/dev/null 2>&1 || fail "cargo is not on PATH: install Rust (https://rustup.rs), then run this again"
[ -n "${HOME:-}" ] || [ -n "${BOOKEND_DATA_DIR:-}" ] || fail "neither HOME nor BOOKEND_DATA_DIR is set: set one of them"

# Static musl hooks start in a third of the time; a machine without that target still works.
target=
if [ "$(uname -s)" = Linux ]; then
    musl=$(uname -m)-unknown-linux-musl
    installed() { [ -d "$(rustc --print sysroot)/lib/rustlib/$musl/lib" ]; }
    if ! installed && command -v rustup >/dev/null 2>&1; then
        say "Adding the Rust target $musl ..."
        rustup target add "$musl" >/dev/null 2>&1 || say "It cannot be added: the hooks are built for this machine's own libc."
    fi
    if installed; then target=$musl; fi
fi

build=${CARGO_TARGET_DIR:-target}
say "Building the hooks${target:+ for $target}; the first time this takes a minute or two ..."
cargo build --release --quiet --no-default-features --bins ${target:+--target "$target"} --target-dir "$build/install"
say "Building the command ..."
cargo build --release --quiet --bin bookend --target-dir "$build/install-command"

# All in one directory, from which `bookend install` places them.
stage=$build/install/stage
mkdir -p "$stage"
for hook in session-start turn-start pre-delegation post-tool stop; do
    ln -f "$build/install/${target:+$target/}release/$hook" "$stage/$hook" 2>/dev/null ||
        cp -f "$build/install/${target:+$target/}release/$hook" "$stage/$hook"
done
ln -f "$build/install-command/release/bookend" "$stage/bookend" 2>/dev/null ||
    cp -f "$build/install-command/release/bookend" "$stage/bookend"

say ""
status=0
"$stage/bookend" install "$@" || status=$?
[ "$status" != 2 ] || exit 2 # a wrong argument
for argument in "$@"; do
    # Only shown: there is nothing to look at yet.
    case $argument in --dry-run | -n | --help | -h) exit "$status" ;; esac
done
say ""
say "== bookend doctor"
say ""
# What it finds is said there, and is no failure of the installation.
"$stage/bookend" doctor || true
exit "$status"
