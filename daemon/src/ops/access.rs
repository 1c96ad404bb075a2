//! Whether a caller may make a request: the decision in words. Contract: `identity.md` section 3.

use super::Caller;
use crate::domain::access::{self, Denial, Holder};
use crate::domain::permission::{Target, Who};
use mfa_shared::api::groups::PermittableMethod;
use mfa_shared::api::roles::Permission;
use mfa_shared::endpoint::{Meta, Method, segments};
use mfa_shared::fault::{self, Fault};

/// The method of a row as permittables have it.
pub fn method_of(method: Method, head: bool) -> PermittableMethod {
    match method {
        Method::Get if head => PermittableMethod::Head,
        Method::Get => PermittableMethod::Get,
        Method::Post => PermittableMethod::Post,
        Method::Put => PermittableMethod::Put,
        Method::Delete => PermittableMethod::Delete,
    }
}

/// Whether a caller may make the request of a row on a path.
pub fn decide(caller: &Caller, row: &Meta, head: bool, segments: &[&str]) -> Result<(), Fault> {
    let wanted = Target { application: row.application(), method: method_of(row.method, head), segments };
    let user = caller.user.as_deref();
    let application = caller.application.as_deref();
    let who = Who { user, application, intended: caller.intended() };
    let must_change_password = caller.must_change_password;
    let must_set_up_factor = caller.must_set_up_factor;
    let holder = Holder { who, must_change_password, must_set_up_factor, reach: &caller.reach };
    let decided = access::decide(&wanted, &holder);
    decided.map_err(|denial| denied(denial, &caller.actor, row))
}

/// Whether a caller may see all records of a kind, by the row that lists them.
pub fn may_list(caller: &Caller, row: &Meta) -> bool {
    let path: Vec<_> = segments(row.path).collect();
    caller.is_unchecked() || decide(caller, row, false, &path).is_ok()
}

fn denied(denial: Denial, caller: &str, meta: &Meta) -> Fault {
    let what = format!("{} {}", meta.method, meta.path);
    match denial {
        Denial::PasswordChangeRequired => {
            let detail = format!("{caller} has to set a new password before anything else");
            Fault::new(fault::PASSWORD_CHANGE_REQUIRED, detail)
        }
        Denial::FactorRequired => {
            let detail = format!("{caller} has to set up a second factor before anything else");
            Fault::new(fault::SECOND_FACTOR_SETUP_REQUIRED, detail)
        }
        Denial::NotOwnRecord => {
            let detail = format!("{caller} can do {what} for their own record only");
            Fault::new(fault::NOT_OWN_RECORD, detail)
        }
        Denial::LoginTokenRequired => {
            let detail = format!("{caller} has a token of an application, and {what} needs a login");
            Fault::new(fault::LOGIN_TOKEN_REQUIRED, detail)
        }
        Denial::Forbidden(any) => {
            let detail = format!("{caller} holds no permission for {what}{}", any_of(&any));
            Fault::new(fault::FORBIDDEN, detail).missing(any)
        }
    }
}

fn any_of(missing: &[Permission]) -> String {
    let groups: Vec<_> = missing.iter().map(|p| p.permittable_endpoint_group_identifier.as_str()).collect();
    let Some(operation) = missing.first().and_then(|p| p.allowed_operations.first()) else {
        return "; no group covers it".to_owned();
    };
    format!("; {operation} on {} would do", groups.join(" or "))
}
