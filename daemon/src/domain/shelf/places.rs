//! Orders: sequences of slots, from which some are taken out and into which others are put.

use std::cmp::Ordering;

/// So many changes of an order are made one by one; of more the rest of the order is written anew.
const ONE_BY_ONE: usize = 8;

/// Removes the elements at these places, which are sorted.
pub(super) fn leave_out(order: &mut Vec<u32>, places: &[usize]) {
    if places.len() <= ONE_BY_ONE {
        for place in places.iter().rev() {
            order.remove(*place);
        }
        return;
    }
    let mut at = 0;
    let mut next = places.iter().peekable();
    order.retain(|_| {
        let goes = next.next_if(|place| **place == at).is_some();
        at += 1;
        !goes
    });
}

/// Puts slots, which are sorted, where they belong.
pub(super) fn put_in(order: &mut Vec<u32>, slots: &[u32], compare: impl Fn(u32, u32) -> Ordering) {
    let place = |order: &[u32], slot: u32| order.partition_point(|other| compare(*other, slot).is_lt());
    if slots.len() <= ONE_BY_ONE {
        for slot in slots {
            order.insert(place(order, *slot), *slot);
        }
        return;
    }
    // What comes before all of them stays where it is: nearly everything, where an order is made from its
    // beginning.
    let moved = order.split_off(place(order, slots[0]));
    order.reserve(slots.len() + moved.len());
    let mut rest = moved.as_slice();
    for slot in slots {
        let (before, behind) = rest.split_at(place(rest, *slot));
        order.extend_from_slice(before);
        order.push(*slot);
        rest = behind;
    }
    order.extend_from_slice(rest);
}
