//! What keeps a host on this machine: git may use no protocol but `file`, and the proxy of everything else is a closed
//! port of loopback. Seen with `strace -f -e trace=connect` over the tests of both real hosts and over `bookend probe`: no
//! address but 127.0.0.1, no DNS. (With plugins enabled Codex 0.171.0 asks for its plugin catalogue at every start, by
//! `git ls-remote` and by HTTPS.)

const NOWHERE: &str = "http://127.0.0.1:9";
const LOOPBACK: &str = "127.0.0.1,localhost";

/// Variables for a host's environment.
pub const OFFLINE: [(&str, &str); 9] = [
    ("GIT_ALLOW_PROTOCOL", "file"),
    ("HTTPS_PROXY", NOWHERE),
    ("https_proxy", NOWHERE),
    ("HTTP_PROXY", NOWHERE),
    ("http_proxy", NOWHERE),
    ("ALL_PROXY", NOWHERE),
    ("all_proxy", NOWHERE),
    ("NO_PROXY", LOOPBACK),
    ("no_proxy", LOOPBACK),
];
