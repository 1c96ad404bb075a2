//! Identifiers that begin with a text, out of lists of any length. A list answers pages in the order of its
//! identifiers, so a place in it is found by looking at few of its records.

use crate::client::Client;
use mfa_shared::endpoint::Meta;
use mfa_shared::wire::Outgoing;
use serde_json::Value;

/// Identifiers that are offered, one more where there are others between.
const OFFERED_MAX: u32 = 100;
/// Reads of a list up to which every second one is a guess.
const GUESSES_MAX: u32 = 8;
/// Sorts after every identifier that has this prefix.
const LAST: char = char::MAX;

/// A page of a list: identifiers in their order, and how many the whole list has.
struct Part {
    identifiers: Vec<String>,
    total: u32,
}

/// The identifiers of a list that begin with a text. Of more than can be offered it returns the first ones
/// and the last one; what these have in common, all of them have in common.
pub async fn identifiers(
    client: &Client,
    list: &'static Meta,
    asked: &[(&'static str, String)],
    typed: &str,
) -> Vec<String> {
    let page = async |index: u32, size: u32| {
        let mut query = asked.to_vec();
        query.extend([("pageIndex", index.to_string()), ("size", size.to_string())]);
        let answer = client.send_row((list, &[]), Outgoing { query, body: None }).await.ok()?.value;
        let identifiers =
            elements(&answer).iter().filter_map(|record| Some(record["identifier"].as_str()?.to_owned()));
        let total = u32::try_from(answer["totalElements"].as_u64()?).ok()?;
        Some(Part { identifiers: identifiers.collect(), total })
    };
    beginning(page, typed).await.unwrap_or_default()
}

async fn beginning(page: impl AsyncFn(u32, u32) -> Option<Part>, typed: &str) -> Option<Vec<String>> {
    let first = page(0, OFFERED_MAX).await?;
    let fits = |identifier: &String| identifier.starts_with(typed);
    if first.total <= OFFERED_MAX {
        return Some(first.identifiers.into_iter().filter(fits).collect());
    }
    let last = page(first.total - 1, 1).await?.identifiers.pop()?;
    let ends = [first.identifiers.first()?.as_str(), &last];
    let from = place(&page, first.total, ends, typed).await?;
    let mut found = Vec::new();
    let mut index = from / OFFERED_MAX;
    while found.len() < OFFERED_MAX as usize {
        let part =
            if index == 0 { first.identifiers.clone() } else { page(index, OFFERED_MAX).await?.identifiers };
        let whole = part.len() == OFFERED_MAX as usize;
        let skipped = if index == from / OFFERED_MAX { from % OFFERED_MAX } else { 0 };
        let had = found.len();
        let more = part.len() - skipped as usize;
        found.extend(part.into_iter().skip(skipped as usize).take_while(fits));
        if !whole || found.len() < had + more {
            let very_last = found.last().filter(|_| found.len() > OFFERED_MAX as usize).cloned();
            found.truncate(OFFERED_MAX as usize);
            found.extend(very_last);
            return Some(found);
        }
        index += 1;
    }
    let until = place(&page, first.total, ends, &format!("{typed}{LAST}")).await?;
    let very_last = page(until.checked_sub(1)?, 1).await?.identifiers.pop()?;
    found.truncate(OFFERED_MAX as usize);
    if found.last() < Some(&very_last) {
        found.push(very_last);
    }
    Some(found)
}

/// How many identifiers of a list are before a text. `ends` are its first and its last identifier.
async fn place(
    page: &impl AsyncFn(u32, u32) -> Option<Part>,
    total: u32,
    ends: [&str; 2],
    text: &str,
) -> Option<u32> {
    let [mut below, mut above] = ends.map(str::to_owned);
    if below.as_str() >= text || above.as_str() < text {
        return Some(if below.as_str() >= text { 0 } else { total });
    }
    // The identifier before `low` is below the text, the one at `high` is not.
    let mut low = 1;
    let mut high = total - 1;
    let mut looks = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        // Where guesses are far off, halving still finds the place.
        let at = if looks < GUESSES_MAX && looks % 2 == 0 {
            low + guess(&below, &above, text, high - low)
        } else {
            middle
        };
        looks += 1;
        let at = at.min(high - 1);
        let found = page(at, 1).await?.identifiers.pop()?;
        if found.as_str() < text {
            (low, below) = (at + 1, found);
        } else {
            (high, above) = (at, found);
        }
    }
    Some(low)
}

/// Estimates the position of a text among `width` identifiers between two, assuming that they are spread
/// evenly: identifiers often count.
fn guess(below: &str, above: &str, text: &str, width: u32) -> u32 {
    let same = below.bytes().zip(above.bytes()).take_while(|(a, b)| a == b).count();
    let tail = |text: &str| text.as_bytes().get(same..).unwrap_or_default().to_vec();
    let counts = [below, above].iter().all(|text| tail(text).iter().all(u8::is_ascii_digit));
    let greatest = if counts { b'9' } else { b'z' };
    let number = |text: &str| {
        let bytes = tail(text).into_iter().chain(std::iter::repeat(b'0')).take(8);
        let digits = bytes.map(|byte| u128::from(byte.clamp(b'0', greatest) - b'0'));
        digits.fold(0_u128, |number, digit| number * u128::from(greatest - b'0' + 1) + digit)
    };
    let (below, above, text) = (number(below), number(above), number(text));
    let whole = above.saturating_sub(below).max(1);
    let part = text.saturating_sub(below);
    u32::try_from(part * u128::from(width) / whole).unwrap_or(width)
}

/// The records of a list: a plain array, or the one array of a page.
pub fn elements(answer: &Value) -> &[Value] {
    let array = match answer {
        Value::Object(page) => page.values().find_map(Value::as_array),
        list => list.as_array(),
    };
    array.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// What is offered out of a list, and how many pages were read for it.
    fn offered(list: &[String], typed: &str) -> (Vec<String>, u32) {
        let read = Cell::new(0);
        let page = async |index: u32, size: u32| {
            read.set(read.get() + 1);
            let (index, size) = (index as usize, size as usize);
            let identifiers = list.iter().skip(index * size).take(size).cloned().collect();
            Some(Part { identifiers, total: u32::try_from(list.len()).unwrap() })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        (runtime.block_on(beginning(page, typed)).unwrap(), read.get())
    }

    #[test]
    fn what_begins_with_a_text_is_found_in_lists_of_any_length() {
        for length in [0, 1, 99, 100, 101, 200, 1_234, 20_000] {
            let mut list: Vec<_> = (0..length).map(|n| format!("c-{n:05}")).collect();
            list.extend(["a", "zebra", "c-0001-x", "über"].map(str::to_owned));
            list.sort();
            for typed in
                ["", "a", "b", "c", "c-", "c-0001", "c-00", "c-01", "c-01999", "c-1", "c-9", "z", "zz", "ü"]
            {
                let (found, read) = offered(&list, typed);
                let all: Vec<_> = list.iter().filter(|id| id.starts_with(typed)).cloned().collect();
                let mut expected: Vec<_> = all.iter().take(OFFERED_MAX as usize).cloned().collect();
                if all.len() > expected.len() {
                    expected.extend(all.last().cloned());
                }
                assert_eq!(found, expected, "{typed:?} of {length}");
                assert!(read <= 45, "{typed:?} of {length}: {read} pages");
            }
        }
    }

    #[test]
    fn one_of_a_million_is_found_with_few_pages() {
        let list: Vec<_> = (0..1_000_000).map(|n| format!("c-{n:07}")).collect();
        let (found, read) = offered(&list, "c-073451");
        assert_eq!(found.len(), 10);
        assert!(read <= 20, "{read} pages");
    }
}
