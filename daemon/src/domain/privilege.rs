//! No one grants more than they hold. Contract: `identity.md` section 5.
//!
//! A pair is one operation on one group. To create, change or delete what carries pairs (a user, a role, a
//! permission of an application, an application), a caller needs every pair that it carries before and after.

use super::permission::permission;
use mfa_shared::api::roles::{PHARAOH, Permission, unite};
use std::sync::Arc;

/// What the caller may grant.
#[derive(Debug, Clone, PartialEq)]
pub enum Holding {
    /// Everything, because authentication is off.
    Unchecked,
    /// Everything: a login of a user with the role `pharaoh`.
    Pharaoh,
    /// These pairs. An application never counts as pharaoh, even when acting for one.
    Only(Arc<[Permission]>),
}

/// Why something may not be granted.
#[derive(Debug, Clone, PartialEq)]
pub struct Exceeds {
    /// All pairs that the caller lacks.
    pub missing: Vec<Permission>,
    /// Whether only a login of a user with the role `pharaoh` may do it, whatever the pairs.
    pub pharaoh_only: bool,
}

impl Holding {
    /// Whether the caller may grant everything.
    pub fn is_everything(&self) -> bool {
        !matches!(self, Self::Only(_))
    }

    /// The pairs among those needed that the caller lacks.
    pub fn lacking<'a>(&self, needed: impl IntoIterator<Item = &'a Permission>) -> Vec<Permission> {
        let Self::Only(held) = self else { return Vec::new() };
        let lacking = |needed: Permission| {
            let group = &needed.permittable_endpoint_group_identifier;
            let holds = |operation| {
                held.iter().any(|held| {
                    held.permittable_endpoint_group_identifier == *group
                        && held.allowed_operations.contains(operation)
                })
            };
            let operations: Vec<_> =
                needed.allowed_operations.iter().filter(|o| !holds(o)).copied().collect();
            (!operations.is_empty()).then(|| permission(group, &operations))
        };
        unite(needed.into_iter().cloned()).into_iter().filter_map(lacking).collect()
    }

    /// Something carries these pairs before and those after.
    pub fn may_change(&self, before: &[Permission], after: &[Permission]) -> Result<(), Exceeds> {
        match self.lacking(before.iter().chain(after)) {
            missing if missing.is_empty() => Ok(()),
            missing => Err(Exceeds { missing, pharaoh_only: false }),
        }
    }

    /// A user is created, changed or deleted: the roles before and after, with their permissions.
    pub fn may_change_user(&self, roles: &[(&str, &[Permission])]) -> Result<(), Exceeds> {
        let missing = self.lacking(roles.iter().flat_map(|(_, permissions)| permissions.iter()));
        let pharaoh_only = roles.iter().any(|(role, _)| *role == PHARAOH) && !self.is_everything();
        if pharaoh_only || !missing.is_empty() {
            return Err(Exceeds { missing, pharaoh_only });
        }
        Ok(())
    }

    /// Something would widen what others hold: a new group that is named already, or a changed group.
    pub fn may_widen(&self) -> Result<(), Exceeds> {
        if self.is_everything() { Ok(()) } else { Err(Exceeds { missing: Vec::new(), pharaoh_only: true }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mfa_shared::api::roles::Operation::{Change, Delete, Read};

    #[test]
    fn every_pair_before_and_after_is_needed() {
        let caller = Holding::Only([permission("g1", &[Read, Change]), permission("g2", &[Read])].into());
        let wide = [permission("g1", &[Read, Delete]), permission("g3", &[Change])];
        let narrow = [permission("g1", &[Read])];
        let missing = vec![permission("g1", &[Delete]), permission("g3", &[Change])];
        let refused = Err(Exceeds { missing, pharaoh_only: false });
        assert_eq!(caller.may_change(&narrow, &narrow), Ok(()));
        assert_eq!(caller.may_change(&wide, &narrow), refused);
        assert_eq!(caller.may_change(&narrow, &wide), refused);
        assert_eq!(caller.may_change(&[], &[permission("g9", &[])]), Ok(()));
        for holding in [Holding::Pharaoh, Holding::Unchecked] {
            assert_eq!(holding.may_change(&wide, &wide), Ok(()));
        }
    }

    #[test]
    fn only_pharaoh_touches_pharaoh() {
        let pairs = [permission("g1", &[Read])];
        let roles: [(&str, &[Permission]); 2] = [("clerk", &[]), (PHARAOH, &pairs)];
        let caller = Holding::Only(pairs.to_vec().into());
        let refused = Err(Exceeds { missing: Vec::new(), pharaoh_only: true });
        assert_eq!(caller.may_change_user(&roles), refused);
        assert_eq!(caller.may_change_user(&roles[..1]), Ok(()));
        assert_eq!(Holding::Pharaoh.may_change_user(&roles), Ok(()));
        assert_eq!(caller.may_widen(), refused);
        assert_eq!(Holding::Unchecked.may_widen(), Ok(()));
    }
}
