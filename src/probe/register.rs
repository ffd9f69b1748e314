//! How Bookend gets into the scratch HOME of a probe: exactly as `bookend install` does it, with a data directory in the
//! scratch folder, and with Codex's trust.

use super::error::ProbeError;
use super::sessions::Stage;
use crate::host::Host;
use crate::install::{self, Executables, Goal, InstallError, Lends, Place};

impl Stage<'_> {
    /// Installs Bookend into the HOME of the probe.
    pub(super) fn register(&self) -> Result<(), ProbeError> {
        self.installed().map_err(|error| ProbeError::Register {
            host: self.host.id(),
            said: error.to_string(),
        })
    }

    fn installed(&self) -> Result<(), InstallError> {
        let session = self.base();
        let place = Place {
            home: Some(session.home_folder().to_owned()),
            path: Some(self.path.to_owned()),
            data: self.data_dir(),
            claude: None,
            codex: None,
            system: "/".into(),
            lends: Lends::PathAndHome,
            patience: self.left(),
        };
        Executables::look_from(self.executables, &place).place(&place)?;
        install::apply(&mut install::plan(&place, self.host, Goal::Installed)?, &place)?;
        if self.host == Host::Codex {
            let found = place.find(self.host)?;
            install::trust(&place, &found, session.project_folder())?;
        }
        Ok(())
    }
}
