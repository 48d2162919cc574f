//! A prediction: a range between two numbers, and how people read it.

use crate::text;

/// A range of times in seconds or of any other measure, its ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Forecast {
    /// The range between two numbers in any order.
    pub fn between(one: f64, other: f64) -> Self {
        Self { least: one.min(other), most: one.max(other) }
    }

    /// Seconds as people read them: `5 min`, `20 s to 3 min`. No more than two digits, as none of it is known better.
    pub fn seconds(self) -> String {
        let (least, most) = (seconds(self.least), seconds(self.most));
        match (least.split_once(' '), most.split_once(' ')) {
            _ if least == most => most,
            (Some((number, unit)), Some((_, other))) if unit == other => format!("{number} to {most}"),
            _ => format!("{least} to {most}"),
        }
    }

    /// Ratios as people read them: `1 to 6`.
    pub fn ratio(self) -> String {
        let (least, most) = (two_digits(self.least), two_digits(self.most));
        if least == most { most } else { format!("{least} to {most}") }
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        few if few < 1.0 => "1 s".to_owned(),
        few if few < 99.5 => format!("{} s", two_digits(few)),
        some if some < 5970.0 => format!("{} min", two_digits(some / 60.0)),
        some if some < 99.5 * 3600.0 => format!("{} h", two_digits(some / 3600.0)),
        many => format!("{} days", two_digits(many / 86_400.0)),
    }
}

fn two_digits(figure: f64) -> String {
    if figure < 9.95 {
        format!("{figure:.1}").trim_end_matches(".0").to_owned()
    } else {
        text::rounded(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_with_one_unit_where_they_have_one() {
        for (least, most, told) in [
            (300.0, 300.0, "5 min"),
            (20.0, 190.0, "20 s to 3.2 min"),
            (61.4, 75.0, "61 to 75 s"),
            (0.01, 0.2, "1 s"),
            (7200.0, 3600.0, "60 min to 2 h"),
            (1e6, 2e6, "12 to 23 days"),
        ] {
            assert_eq!(Forecast::between(least, most).seconds(), told);
        }
        assert_eq!(Forecast::between(1.0, 5.97).ratio(), "1 to 6");
    }
}
