//! stub
use super::args::Prune;
use super::machine::Machine;
use super::out::Out;
use super::{Failed, Run};
impl Run for Prune {
    fn run(&self, _machine: &mut Machine, _out: &mut Out) -> Result<(), Failed> {
        Err(Failed::new("not yet"))
    }
}
