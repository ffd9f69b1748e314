//! The `session-start` hook: see `bookend::frame` and `bookend::handlers`.

fn main() {
    bookend::frame::run(bookend::hook::Hook::SessionStart);
}
