//! What only PostgreSQL can do: several daemons on one store, and queries beside the daemon. These tests
//! need `MFA_TEST_POSTGRES`; `tests/postgres.sh run cargo test` sets it.
