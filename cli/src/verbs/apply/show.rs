//! A plan for people and for programs, and the differences line by line.

use super::plan::{Field, Plan, Step};
use super::send::Became;
use crate::output::yaml;
use diffy::DiffOptions;
use serde_json::{Value, json};

/// Characters of a value in the plan.
const VALUE_CHARACTERS_MAX: usize = 60;
/// Lines around a difference that are shown with it.
const CONTEXT_LINES: usize = 3;

/// The plan, a line with its mark for each record and for each property that changes.
pub fn lines(plan: &Plan) -> Vec<(char, String)> {
    let mut lines = Vec::new();
    for step in &plan.steps {
        let title = format!("{} ({})", step.document.title(), step.document.place);
        lines.push((if step.new { '+' } else { '~' }, title));
        if !step.new {
            lines.extend(step.fields.iter().map(field));
        }
    }
    lines
}

fn field(Field { name, before, after }: &Field) -> (char, String) {
    match (before.is_null(), after.is_null()) {
        (true, _) => ('+', format!("    {name}: {}", brief(after))),
        (_, true) => ('-', format!("    {name}: {}", brief(before))),
        _ => ('~', format!("    {name}: {} -> {}", brief(before), brief(after))),
    }
}

fn brief(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The plan as records, each with its result.
pub fn rows(plan: &Plan, became: &[Became]) -> Value {
    let row = |(step, became): (&Step, &Became)| {
        let field = |f: &Field| json!({ "field": f.name, "before": f.before, "after": f.after });
        let (code, message) = became.problem();
        json!({
            "action": if step.new { "create" } else { "change" },
            "kind": step.document.kind.name,
            "identifier": step.document.id,
            "result": became.word(step.new),
            "fields": step.fields.iter().map(field).collect::<Vec<_>>(),
            "document": step.document.place,
            "code": code,
            "message": message,
        })
    };
    plan.steps.iter().zip(became).map(row).collect()
}

/// The records of the daemon and of the files as a diff of YAML.
pub fn differences(plan: &Plan, place: &str) -> String {
    let mut out = String::new();
    for step in &plan.steps {
        let text = |value: &Value| match value.as_object() {
            Some(properties) if properties.is_empty() => String::new(),
            _ => yaml::to_text(value),
        };
        let (before, after) = (text(&step.before), text(&step.after));
        let title = step.document.title();
        let heads = (format!("{title} at {place}"), format!("{title} in {}", step.document.place));
        let mut options = DiffOptions::new();
        options.set_context_len(CONTEXT_LINES).set_original_filename(heads.0).set_modified_filename(heads.1);
        let patch = options.create_patch(&before, &after);
        if !patch.hunks().is_empty() {
            out.push_str(&patch.to_string());
        }
    }
    out
}
