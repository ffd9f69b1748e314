#!/bin/sh
# Builds the hooks and the command, places them, and assembles the Claude Code plugin.
#
#   <data dir>/bin/                 the five hooks and the command
#   <data dir>/plugin/claude-code/  the plugin: manifest, registration, bin -> ../../bin
#   ~/.local/bin/bookend            a link to the command
#
# HOME (with XDG_DATA_HOME, as the platform has it) and BOOKEND_DATA_DIR decide where. It may be run again at
# any time: executables are replaced whole, also while hooks run.
set -eu

cd "$(dirname "$0")"
umask 077

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

command -v cargo >/dev/null 2>&1 || fail "cargo is not on PATH: install Rust (https://rustup.rs), then run this again"
[ -n "${HOME:-}" ] || [ -n "${BOOKEND_DATA_DIR:-}" ] || fail "neither HOME nor BOOKEND_DATA_DIR is set: set one of them"

if [ -n "${BOOKEND_DATA_DIR:-}" ]; then
    data=$BOOKEND_DATA_DIR
else
    case $(uname -s) in
        Darwin) data=$HOME/Library/Application\ Support/bookend ;;
        *) case ${XDG_DATA_HOME:-} in /*) data=$XDG_DATA_HOME/bookend ;; *) data=$HOME/.local/share/bookend ;; esac ;;
    esac
fi
case $data in /*) ;; *) fail "BOOKEND_DATA_DIR is a relative path ($data): give an absolute one" ;; esac

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

mkdir -p "$data/bin" "$data/plugin/claude-code/.claude-plugin" "$data/plugin/claude-code/hooks"
chmod 700 "$data"
place() { # whole or not at all, also over an executable that runs
    cp "$1" "$2.new" && chmod 755 "$2.new" && mv -f "$2.new" "$2"
}
for hook in session-start turn-start pre-delegation post-tool stop; do
    place "$build/install/${target:+$target/}release/$hook" "$data/bin/$hook"
done
place "$build/install-command/release/bookend" "$data/bin/bookend"

plugin=$data/plugin/claude-code
cp plugin.json "$plugin/.claude-plugin/plugin.json"
cp hooks/hooks.json "$plugin/hooks/hooks.json"
ln -sfn ../../bin "$plugin/bin"

say ""
say "Placed in $data/bin."
if [ -n "${BOOKEND_DATA_DIR:-}" ]; then
    say "BOOKEND_DATA_DIR is not the default: set it for Claude Code and for bookend too, e.g. in your shell's profile:"
    say "    export BOOKEND_DATA_DIR=\"$data\""
fi
if [ -n "${HOME:-}" ] && [ -d "$HOME/.local/bin/bookend" ] && [ ! -L "$HOME/.local/bin/bookend" ]; then
    say "$HOME/.local/bin/bookend is a directory, so no link to the command was made: call $data/bin/bookend."
elif [ -n "${HOME:-}" ]; then
    mkdir -p "$HOME/.local/bin"
    ln -sfn "$data/bin/bookend" "$HOME/.local/bin/bookend"
    case ":$PATH:" in
        *":$HOME/.local/bin:"*) ;;
        *) say "The command is $HOME/.local/bin/bookend; that directory is not on your PATH: add it, or call it by its path." ;;
    esac
fi
say "Start Claude Code with the hooks:"
say ""
say "    claude --plugin-dir \"$plugin\""
say ""
say "After your first prompt, look: bookend show"
