//! Actions, product definitions and their commands.

use super::{ACTIONS, ACTIONS_BY_IDENTIFIER, DEFINITION_COMMANDS, DEFINITIONS};
use crate::store::engine::Space;
use crate::store::record::{Record, key, numbered};
use mfa_shared::api::actions::Action;
use mfa_shared::api::definitions::{Definition, DefinitionCommandRecord};
use serde::{Deserialize, Serialize};

/// An action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredAction {
    /// Its place in the order of creation, from 1.
    pub number: u64,
    /// The action as reads show it.
    pub action: Action,
}

impl Record for StoredAction {
    const SPACE: Space = ACTIONS;
    fn key(&self) -> Vec<u8> {
        numbered(&[], self.number)
    }
    fn index(&self) -> Vec<(Space, Vec<u8>)> {
        vec![(ACTIONS_BY_IDENTIFIER, key(&[&self.action.identifier]))]
    }
}

/// A product definition is stored as reads show it.
impl Record for Definition {
    const SPACE: Space = DEFINITIONS;
    fn key(&self) -> Vec<u8> {
        key(&[&self.identifier])
    }
}

/// A command that was given to a product definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredDefinitionCommand {
    /// The definition.
    pub definition: String,
    /// Its place among the commands of the definition, from 1.
    pub number: u64,
    /// The command as reads show it.
    pub record: DefinitionCommandRecord,
}

impl Record for StoredDefinitionCommand {
    const SPACE: Space = DEFINITION_COMMANDS;
    fn key(&self) -> Vec<u8> {
        numbered(&[&self.definition], self.number)
    }
}
