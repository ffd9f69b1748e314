use super::super::families::FAMILIES;
use super::super::redact;
#[test]
fn every_family_sample_is_replaced() {
    for f in FAMILIES {
        let token = format!("{}{}", f.prefix, f.sample);
        let want = if f.keep {
            format!("x {}[REDACTED:{}] y", f.prefix, f.rule)
        } else {
            format!("x [REDACTED:{}] y", f.rule)
        };
        assert_eq!(redact(&format!("x {token} y")), want, "{token}");
    }
}
