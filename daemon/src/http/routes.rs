//! Which row of the table a path names. Literal segments win over parameters.

use super::route::Route;
use mfa_shared::api::without_prefix;
use mfa_shared::endpoint::{Method, segments};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

type Methods = BTreeMap<Method, Arc<Route>>;

/// The table as a tree of segments.
#[derive(Debug, Default)]
pub struct Routes {
    root: Node,
    by_name: HashMap<&'static str, Arc<Route>>,
}

#[derive(Debug, Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    parameter: Option<Box<Node>>,
    methods: Methods,
}

/// A path of the table with the parameters it was given.
#[derive(Debug)]
pub struct Found<'r> {
    methods: &'r Methods,
    /// The values of the parameters, in the order of the path.
    pub params: Vec<String>,
    /// The segments without an old prefix.
    pub segments: Vec<String>,
}

impl Found<'_> {
    /// The row for a method.
    pub fn route(&self, method: Method) -> Option<&Arc<Route>> {
        self.methods.get(&method)
    }

    /// The path as the table has it.
    pub fn path(&self) -> &'static str {
        self.methods.values().next().map_or("/", |route| route.meta.path)
    }

    /// The methods of the path, as the `Allow` header lists them.
    pub fn allow(&self) -> String {
        let mut allow: Vec<_> = self.methods.keys().map(|method| method.as_str()).collect();
        if self.methods.contains_key(&Method::Get) {
            allow.insert(1, "HEAD");
        }
        allow.push("OPTIONS");
        allow.join(", ")
    }
}

impl Routes {
    /// Puts the rows into the tree. Two rows for one path and method are a mistake in the table.
    pub fn new(rows: Vec<Route>) -> Self {
        let mut routes = Self::default();
        for row in rows.into_iter().map(Arc::new) {
            let mut node = &mut routes.root;
            for segment in segments(row.meta.path) {
                node = if segment.starts_with('{') {
                    node.parameter.get_or_insert_default()
                } else {
                    node.literals.entry(segment).or_default()
                };
            }
            let before = node.methods.insert(row.meta.method, row.clone());
            assert!(before.is_none(), "{} {} is in the table twice", row.meta.method, row.meta.path);
            routes.by_name.insert(row.meta.name, row);
        }
        routes
    }

    /// The names of all endpoints.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// The row of an endpoint.
    pub fn by_name(&self, name: &str) -> Option<&Arc<Route>> {
        self.by_name.get(name)
    }

    /// Looks a path up: as it is, then without an old prefix.
    pub fn find(&self, segments: Vec<String>) -> Option<Found<'_>> {
        if let Some((methods, params)) = self.root.find(&segments) {
            return Some(Found { methods, params, segments });
        }
        let rest = without_prefix(&segments)?;
        let (methods, params) = self.root.find(rest)?;
        Some(Found { methods, params, segments: rest.to_vec() })
    }
}

impl Node {
    fn find(&self, path: &[String]) -> Option<(&Methods, Vec<String>)> {
        let Some((segment, rest)) = path.split_first() else {
            return (!self.methods.is_empty()).then(|| (&self.methods, Vec::new()));
        };
        if let Some(found) = self.literals.get(segment.as_str()).and_then(|node| node.find(rest)) {
            return Some(found);
        }
        let (methods, mut params) = self.parameter.as_ref()?.find(rest)?;
        params.insert(0, segment.clone());
        Some((methods, params))
    }
}
