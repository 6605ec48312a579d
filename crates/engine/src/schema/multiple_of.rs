//! `multipleOf`, exactly and in constant time: both numbers are read as the decimals that they are written as, so 0.3 is
//! a multiple of 0.1, and neither 1e308 nor 1e-300 makes a long number.

use serde_json::Number;

/// `mantissa` times ten to the `exponent`; a sign makes no multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    mantissa: u64,
    exponent: i32,
}

impl Decimal {
    pub(super) fn of(number: &Number) -> Option<Self> {
        if let Some(whole) = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)) {
            return Some(Decimal { mantissa: whole, exponent: 0 });
        }
        // The shortest digits that name the float, at most 17 of them: `1.2345e-7`.
        let text = format!("{:e}", number.as_f64()?.abs());
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        Some(Decimal { mantissa, exponent })
    }

    pub(super) const fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// Whether it is a whole number of times `of`, which is not 0.
    pub(super) fn is_multiple_of(self, of: Decimal) -> bool {
        assert!(!of.is_zero(), "nothing is a multiple of 0");
        let (mantissa, of_mantissa) = (u128::from(self.mantissa), u128::from(of.mantissa));
        match u32::try_from(self.exponent - of.exponent) {
            Ok(zeros) => {
                (mantissa % of_mantissa * power_of_ten(zeros, of_mantissa)).is_multiple_of(of_mantissa)
            }
            Err(_) => match self.exponent.abs_diff(of.exponent) {
                // No `u64` has so many digits.
                20.. => mantissa == 0,
                zeros => mantissa.is_multiple_of(of_mantissa * 10_u128.pow(zeros)),
            },
        }
    }
}

/// Ten to the power, modulo a number of 64 bits, so that no product leaves 128.
fn power_of_ten(mut power: u32, modulus: u128) -> u128 {
    let (mut result, mut base) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power % 2 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        power /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::of(&serde_json::from_str(text).expect("it is a number")).expect("it is finite")
    }

    #[test]
    fn a_multiple_is_one_of_the_decimals_as_they_are_written() {
        for (number, of, is) in [
            ("0", "0.1", true),
            ("-0.0", "3", true),
            ("0.3", "0.1", true),
            ("-0.3", "0.1", true),
            ("0.35", "0.1", false),
            ("1070468.14", "0.01", true),
            ("19.99", "0.01", true),
            ("19.995", "0.01", false),
            ("7", "3.5", true),
            ("7.5", "3.5", false),
            ("4.0", "2", true),
            ("3", "2", false),
            ("0.5", "1", false),
            ("18446744073709551615", "5", true),
            ("18446744073709551615", "18446744073709551615", true),
            ("-9223372036854775808", "2", true),
            ("1e308", "1e-300", true),
            ("1e308", "3", false),
            ("3e300", "3", true),
            ("1.7976931348623157e308", "7", false),
            ("5e-324", "5e-324", true),
            ("1e-300", "1e308", false),
            ("1e22", "0.1", true),
        ] {
            assert_eq!(decimal(number).is_multiple_of(decimal(of)), is, "{number} of {of}");
        }
    }

    proptest! {
        #[test]
        fn whole_numbers_are_multiples_as_the_remainder_says(number in any::<i64>(), of in 1_u64..1000) {
            let expected = number.unsigned_abs().is_multiple_of(of);
            prop_assert_eq!(decimal(&number.to_string()).is_multiple_of(decimal(&of.to_string())), expected);
        }

        #[test]
        fn cents_are_multiples_of_a_cent(cents in any::<u32>()) {
            let text = format!("{}.{:02}", cents / 100, cents % 100);
            prop_assert!(decimal(&text).is_multiple_of(decimal("0.01")));
            prop_assert!(!decimal(&[text.as_str(), "5"].concat()).is_multiple_of(decimal("0.01")));
        }

        #[test]
        fn any_two_floats_are_one_or_not(number in any::<f64>(), of in any::<f64>()) {
            let decimals = [number, of].map(|float| Number::from_f64(float).and_then(|float| Decimal::of(&float)));
            if let [Some(number), Some(of)] = decimals && !of.is_zero() {
                number.is_multiple_of(of);
            }
        }
    }
}
