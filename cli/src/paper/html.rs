//! A paper as a page for a browser, complete in itself: it loads nothing, and its style knows the size of the
//! paper on which it is printed.

use super::table::fits;
use super::text::{self, Columns};
use super::{Paper, Part, Size, Table};
use crate::words::in_markup;
use std::fmt::Write;

/// What every page looks like.
const STYLE: &str = include_str!("style.css");

/// Forbids a browser everything but that style.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
/// Words of a table that are not wrapped, such as a day.
const SHORT: usize = 12;
/// Height of a line on a roll, and what is free above and below, in millimetres.
const ROLL_LINE: usize = 5;
const ROLL_EDGES: usize = 20;

pub fn page(paper: &Paper, size: Size) -> String {
    let mut body = String::new();
    heading(&mut body, paper);
    for part in &paper.parts {
        match part {
            Part::Facts(facts) => {
                let pairs = facts.iter().map(|(name, value)| (*name, value.as_str()));
                list(&mut body, "facts", pairs);
            }
            Part::Totals(totals) => {
                let pairs = totals.iter().map(|(name, value)| (name.as_str(), value.as_str()));
                list(&mut body, "totals", pairs);
            }
            Part::Table(shown) => table(&mut body, shown, size),
            Part::Signatures(names) => {
                let lines = names.iter().map(|name| format!("<span>{}</span>", in_markup(name)));
                write(&mut body, format_args!("<p class=\"signatures\">{}</p>\n", lines.collect::<String>()));
            }
        }
    }
    if !paper.letterhead.footer.is_empty() {
        let lines: Vec<_> = paper.letterhead.footer.iter().map(|line| in_markup(line)).collect();
        write(&mut body, format_args!("<footer>{}</footer>\n", lines.join("<br>\n")));
    }
    let title = in_markup(&paper.headline());
    let sheet = sheet(paper, size);
    let name = class(size);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{POLICY}\
         <title>{title}</title>\n<style>\n{sheet}{STYLE}</style>\n</head>\n\
         <body class=\"{name}\">\n{body}</body>\n</html>\n"
    )
}

fn class(size: Size) -> &'static str {
    match size {
        Size::A4 => "a4",
        Size::A5 => "a5",
        Size::Roll => "roll",
    }
}

/// The rule for the sheets on which the page is printed.
fn sheet(paper: &Paper, size: Size) -> String {
    let numbered = |size: &str, margin: u32| {
        format!(
            "@page {{ size: {size}; margin: {margin}mm; @bottom-right {{ \
             content: \"Page \" counter(page) \" of \" counter(pages); font: 8pt sans-serif; }} }}\n"
        )
    };
    match size {
        Size::A4 => numbered("A4", 18),
        Size::A5 => numbered("A5", 12),
        Size::Roll => {
            // One page as long as its text, which on a roll has about as many lines as in columns.
            let lines = text::lines(paper, size.columns()).lines().count();
            format!("@page {{ size: 80mm {}mm; margin: 4mm; }}\n", lines * ROLL_LINE + ROLL_EDGES)
        }
    }
}

fn heading(body: &mut String, paper: &Paper) {
    let letterhead = &paper.letterhead;
    let mut lines = Vec::new();
    if !letterhead.institution.is_empty() {
        lines.push(format!("<strong>{}</strong>", in_markup(&letterhead.institution)));
    }
    lines.extend(letterhead.lines.iter().map(|line| in_markup(line)));
    if !paper.office.is_empty() {
        lines.push(in_markup(&paper.office));
    }
    if !lines.is_empty() {
        write(body, format_args!("<header>{}</header>\n", lines.join("<br>\n")));
    }
    let mark = paper.mark.map_or_else(String::new, |mark| format!(" <span class=\"mark\">{mark}</span>"));
    write(body, format_args!("<h1>{}{mark}</h1>\n", in_markup(&paper.headline())));
}

fn list<'p>(body: &mut String, name: &str, pairs: impl Iterator<Item = (&'p str, &'p str)>) {
    let pair = |(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", in_markup(name), in_markup(value));
    write(body, format_args!("<dl class=\"{name}\">\n{}</dl>\n", pairs.map(pair).collect::<String>()));
}

fn table(body: &mut String, table: &Table, size: Size) {
    let is_stacked = !fits(table, &Columns(size.columns()));
    body.push_str(if is_stacked { "<table class=\"stacked\">\n<thead><tr>" } else { "<table>\n<thead><tr>" });
    for column in &table.columns {
        let class = if column.right { " class=\"right\"" } else { "" };
        write(body, format_args!("<th{class}>{}</th>", in_markup(&column.name)));
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    let row = |cells: &[String], total: &str| {
        let cell = |(text, column): (&String, &super::Column)| {
            let hidden = if is_stacked && text.is_empty() { " hidden" } else { "" };
            let class = match column.right {
                true => format!(" class=\"right\" data-name=\"{}\"", in_markup(&column.name)),
                false if text.chars().count() <= SHORT => " class=\"short\"".to_owned(),
                false => String::new(),
            };
            format!("<td{class}{hidden}>{}</td>", in_markup(text))
        };
        let cells: String = cells.iter().zip(&table.columns).map(cell).collect();
        format!("<tr{total}>{cells}</tr>\n")
    };
    if table.rows.is_empty() {
        let columns = table.columns.len();
        write(body, format_args!("<tr><td colspan=\"{columns}\">{}</td></tr>\n", in_markup(table.empty)));
    }
    table.rows.iter().for_each(|cells| body.push_str(&row(cells, "")));
    // Not a foot, which would be repeated on each page.
    table.total.iter().for_each(|cells| body.push_str(&row(cells, " class=\"total\"")));
    body.push_str("</tbody>\n</table>\n");
}

fn write(body: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = body.write_fmt(text);
}
