//! TLS towards the database, with a real server that takes nothing else: the words of `sslmode`.

use crate::support::servers::{Authority, PostgresServer};
use crate::support::world::World;
use mfa_daemon::store::postgres::{Options, Postgres};
use tempfile::TempDir;

/// Why the store of these settings cannot be opened, or nothing if it can.
fn refused(server: &PostgresServer, settings: &str) -> Option<String> {
    Postgres::open(Options::new(server.address(settings), &[])).err().map(|error| error.to_string())
}

#[test]
fn the_identity_of_the_server_is_looked_at_as_far_as_sslmode_says() {
    let (ours, theirs) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (authority, other) = (Authority::new(ours.path()), Authority::new(theirs.path()));
    let Some(server) = PostgresServer::start(Some(&authority.certificate("127.0.0.1", 2090))) else { return };
    let (right, wrong) = (authority.file().display().to_string(), other.file().display().to_string());
    for settings in [
        "sslmode=require".to_owned(),
        "sslmode=prefer".to_owned(),
        String::new(),
        format!("sslmode=require&sslrootcert={right}"),
        format!("sslmode=verify-ca&sslrootcert={right}"),
        format!("sslmode=verify-full&sslrootcert={right}"),
    ] {
        assert_eq!(refused(&server, &settings), None, "{settings}");
    }
    for (settings, why) in [
        ("sslmode=disable".to_owned(), "no encryption"),
        (format!("sslmode=require&sslrootcert={wrong}"), "no authority in sslrootcert has signed it"),
        (format!("sslmode=verify-ca&sslrootcert={wrong}"), "no authority in sslrootcert has signed it"),
        (format!("sslmode=verify-full&sslrootcert={wrong}"), "no authority in sslrootcert has signed it"),
        ("sslmode=verify-full".to_owned(), "sslmode verify-ca and verify-full need sslrootcert=FILE"),
        (format!("sslmode=verify-full&sslrootcert={right}x"), "cannot be read"),
    ] {
        let found = refused(&server, &settings).unwrap_or_else(|| panic!("{settings} was taken"));
        assert!(found.contains(why), "{settings}: {found}");
    }
}

#[test]
fn a_certificate_must_name_the_host_for_verify_full_and_be_valid_at_all() {
    let dir = TempDir::new().unwrap();
    let authority = Authority::new(dir.path());
    let right = authority.file().display().to_string();
    let Some(server) = PostgresServer::start(Some(&authority.certificate("db.example.org", 2090))) else {
        return;
    };
    assert_eq!(refused(&server, &format!("sslmode=verify-ca&sslrootcert={right}")), None);
    let found = refused(&server, &format!("sslmode=verify-full&sslrootcert={right}")).unwrap();
    assert!(found.contains("invalid peer certificate: certificate not valid for name"), "{found}");
    drop(server);
    let Some(server) = PostgresServer::start(Some(&authority.certificate("127.0.0.1", 2021))) else { return };
    let found = refused(&server, &format!("sslmode=verify-ca&sslrootcert={right}")).unwrap();
    assert!(found.contains("expired"), "{found}");
}

#[test]
fn a_daemon_works_over_tls() {
    let dir = TempDir::new().unwrap();
    let authority = Authority::new(dir.path());
    let Some(server) = PostgresServer::start(Some(&authority.certificate("127.0.0.1", 2090))) else { return };
    let settings = format!("sslmode=verify-full&sslrootcert={}", authority.file().display());
    let world = World::with(|config| config.store = server.address(&settings).into());
    world.post("/customers", r#"{"identifier":"ann","type":"PERSON"}"#).is(202);
    world.get("/customers/ann").is(200);
}
