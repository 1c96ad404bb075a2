//! A daemon that asks who calls: initialised, with a `pharaoh` and an `administrator`.

use crate::support::world::{Seen, World};
use mfa_daemon::{Auth, Config, NewLogin, init};
use mfa_shared::api::roles::{Operation, Permission};
use serde_json::{Value, json};

/// The password of every user that a test makes.
pub const PASSWORD: &str = "blue kettle 7";

/// A client with a token.
pub struct As<'w> {
    pub world: &'w World,
    pub token: String,
}

impl As<'_> {
    pub fn call(&self, method: &str, path: &str, body: impl Into<String>) -> Seen {
        let request = self.world.request(method, path).bearer_auth(&self.token);
        let request = if method == "GET" || method == "HEAD" { request } else { request.body(body.into()) };
        self.world.send(request)
    }
    pub fn get(&self, path: &str) -> Seen {
        self.call("GET", path, "")
    }
    pub fn post(&self, path: &str, body: Value) -> Seen {
        self.call("POST", path, body.to_string())
    }
    pub fn put(&self, path: &str, body: Value) -> Seen {
        self.call("PUT", path, body.to_string())
    }
    pub fn delete(&self, path: &str) -> Seen {
        self.call("DELETE", path, "")
    }

    /// Whether the token is still good.
    pub fn lives(&self) -> bool {
        self.get("/token/_current").status == 200
    }
}

fn login(name: &str) -> NewLogin {
    NewLogin { name: name.to_owned(), password: Some(PASSWORD.to_owned()) }
}

impl World {
    /// A daemon that asks who calls, with the users `admin` (pharaoh) and `olga` (administrator).
    pub fn guarded() -> Self {
        Self::guarded_with(|_| {})
    }

    /// As [`World::guarded`], with changed settings.
    pub fn guarded_with(change: impl FnOnce(&mut Config)) -> Self {
        let on = |config: &mut Config| {
            config.auth = Auth::On;
            change(config);
        };
        Self::prepared(on, |runtime, config| {
            let made = runtime.block_on(init(config, &login("admin"), Some(&login("olga")))).unwrap();
            assert!(!made.made.before && made.passwords.is_empty());
        })
    }

    /// The token of `olga` where this daemon asks for one, for requests that set something up.
    pub fn as_olga(&self) -> Option<String> {
        let asks = self.get("/version").json()["auth"] == "on";
        asks.then(|| self.login("olga").token)
    }

    /// `POST /token` with a JSON body.
    pub fn token(&self, body: &Value) -> Seen {
        self.post("/token", body.to_string())
    }

    /// A login by password, as it is answered.
    pub fn try_login(&self, name: &str, password: &str) -> Seen {
        self.token(&json!({ "grant_type": "password", "username": name, "password": password }))
    }

    /// A login by password.
    #[track_caller]
    pub fn login(&self, name: &str) -> As<'_> {
        self.bearer(&self.try_login(name, PASSWORD).is(200).json()["access_token"])
    }

    /// A client with a token.
    pub fn bearer(&self, token: &Value) -> As<'_> {
        As { world: self, token: token.as_str().unwrap().to_owned() }
    }

    /// Makes a user with a role, who has set the own password, and logs in.
    #[track_caller]
    pub fn user(&self, name: &str, role: &str) -> As<'_> {
        let admin = self.login("admin");
        let body = json!({ "identifier": name, "role": role, "password": "first password" });
        admin.post("/users", body).is(202);
        let first = self.try_login(name, "first password").is(200).json();
        let first = self.bearer(&first["access_token"]);
        first.put(&format!("/users/{name}/password"), json!({ "password": PASSWORD })).is(202);
        self.login(name)
    }

    /// Makes a role, and a user with it.
    #[track_caller]
    pub fn user_with(&self, name: &str, permissions: &[Permission]) -> As<'_> {
        let role = format!("role-{name}");
        let admin = self.login("admin");
        admin.post("/roles", json!({ "identifier": role, "permissions": permissions })).is(202);
        self.user(name, &role)
    }
}

/// A permission: a group with `R`, `C`, `D`.
pub fn may(group: &str, letters: &str) -> Permission {
    let operations = [Operation::Read, Operation::Change, Operation::Delete];
    let allowed_operations = operations.into_iter().filter(|o| letters.contains(&o.as_str()[..1])).collect();
    Permission { permittable_endpoint_group_identifier: group.to_owned(), allowed_operations }
}

/// The groups of `missing` in a refusal, with their operations: `g1 RC`.
pub fn missing(seen: &Seen) -> Vec<String> {
    let list = seen.json()["missing"].as_array().unwrap_or_else(|| panic!("{}", seen.text())).clone();
    let shown = |permission: &Value| {
        let letters = permission["allowedOperations"].as_array().unwrap().iter();
        let letters: String = letters.map(|o| o.as_str().unwrap()[..1].to_owned()).collect();
        format!("{} {letters}", permission["permittableEndpointGroupIdentifier"].as_str().unwrap())
    };
    list.iter().map(shown).collect()
}
