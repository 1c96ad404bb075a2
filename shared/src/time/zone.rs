//! Moments as people read them, where they are.

use super::{Date, Timestamp};
use jiff::tz::{Offset, TimeZone};
use jiff::{ToSpan, civil};

/// UTC in the database of time zones; most servers are set to the first one.
const NAMES_OF_UTC: [&str; 8] =
    ["Etc/UTC", "UTC", "Etc/UCT", "UCT", "Etc/Universal", "Universal", "Etc/Zulu", "Zulu"];

/// A time zone in which people are shown moments. Zones come from the machine; none is linked in.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone(TimeZone);

impl Zone {
    /// The zone of the wire.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// The zone with a name such as `Africa/Accra`, if this machine knows it.
    pub fn named(name: &str) -> Option<Self> {
        TimeZone::get(name).ok().map(Self::of)
    }

    /// The zone of this machine, or of its variable `TZ`; none where neither can be read.
    pub fn of_machine() -> Option<Self> {
        TimeZone::try_system().ok().map(Self::of)
    }

    /// Machines keep UTC under several names, and all of them are shown as Z.
    fn of(zone: TimeZone) -> Self {
        if zone.iana_name().is_some_and(|name| NAMES_OF_UTC.contains(&name)) { Self::UTC } else { Self(zone) }
    }

    /// A moment as people read it, with what the zone is ahead of UTC: `2031-05-06 09:08:09+02:00`.
    pub fn show(&self, moment: Timestamp) -> String {
        let (ahead, local) = self.local(moment);
        let ahead = match ahead.seconds() {
            _ if self.0 == TimeZone::UTC => "Z".to_owned(),
            seconds => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        };
        format!("{}{ahead}", local.strftime("%Y-%m-%d %H:%M:%S"))
    }

    /// The day on which a moment falls here.
    pub fn day(&self, moment: Timestamp) -> Date {
        Date(self.local(moment).1.date())
    }

    /// What the zone is ahead of UTC at a moment, and what its clocks show then.
    fn local(&self, moment: Timestamp) -> (Offset, civil::DateTime) {
        let nearest = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::MAX);
        let ahead = self.0.to_offset(nearest);
        (ahead, moment.civil().saturating_add(i64::from(ahead.seconds()).seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_moments_with_the_offset_of_their_zone() {
        let shown = |moment: &str, zone: &Zone| zone.show(Timestamp::parse(moment).unwrap());
        assert_eq!(shown("2031-05-06T07:08:09.123Z", &Zone::UTC), "2031-05-06 07:08:09Z");
        let east = Zone(TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!(shown("2031-05-06T23:08:09.123Z", &east), "2031-05-07 01:08:09+02:00");
        assert_eq!(east.day(Timestamp::parse("2031-05-06T23:08:09Z").unwrap()).to_string(), "2031-05-07");
        assert_eq!(shown("9999-12-31T20:00:00Z", &Zone::UTC), "9999-12-31 20:00:00Z");
        assert_eq!(shown("9999-12-31T20:00:00Z", &east), "9999-12-31 22:00:00+02:00");
        let west = Zone(TimeZone::fixed(Offset::from_seconds(-12_600).unwrap()));
        assert_eq!(shown("2031-05-06T01:08:09.123Z", &west), "2031-05-05 21:38:09-03:30");
        assert_eq!(Zone::named("UTC"), Some(Zone::UTC));
        if let Some(server) = Zone::named("Etc/UTC") {
            assert_eq!(shown("2031-05-06T07:08:09.123Z", &server), "2031-05-06 07:08:09Z");
        }
        assert_eq!(Zone::named("Nowhere/Land"), None);
    }
}
