//! A world at rest, of which there are as many copies as tests want.

use crate::support::world::World;
use mfa_daemon::{Auth, Config, StorePlace};
use std::path::Path;

/// What a daemon on the embedded store and its client have left.
pub struct Template {
    world: World,
    url: String,
    auth: Auth,
}

impl Template {
    /// Stops the daemon of a world.
    pub fn new(mut world: World) -> Self {
        let auth = if world.get("/version").json()["auth"] == "on" { Auth::On } else { Auth::Off };
        let url = world.url();
        world.stop();
        Self { world, url, auth }
    }

    /// A daemon over a copy, at the present, and a home in which the same users are logged in.
    pub fn copy(&self) -> World {
        let settings = |config: &mut Config| (config.auth, config.store) = (self.auth, StorePlace::Embedded);
        let world = World::prepared(settings, |_, config| {
            copy_folder(self.world.dir.path(), config.data_dir.parent().unwrap());
        });
        world.to_present();
        let logins = world.dir.path().join("state/mfa/logins.json");
        if let Ok(text) = std::fs::read_to_string(&logins) {
            std::fs::write(logins, text.replace(&self.url, &world.url())).unwrap();
        }
        world
    }
}

pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target)
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
