//! Dates and times of Arrow arrays as texts in ISO form.
//!
//! A date is `2024-05-31`, a time `13:45:00`, a timestamp `2024-05-31T13:45:00`, followed by `Z`
//! if the column has a time zone, since Arrow then stores UTC. A fraction of a second has 3, 6 or
//! 9 digits and is written only if it is not 0. Years outside of 0 to 9999 are absent.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, LargeStringArray};
use arrow_schema::{DataType, TimeUnit};
use time::OffsetDateTime;

const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;
const NANOSECONDS_PER_DAY: i128 = 86_400 * NANOSECONDS_PER_SECOND;

/// Whether a type is a date, a time of the day or a timestamp.
pub(super) fn is_date_or_time(kind: &DataType) -> bool {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    matches!(kind, Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
}

/// The parts of a date or time that are written.
#[derive(Clone, Copy)]
enum DateTimeParts {
    Date,
    Time,
    Timestamp { has_zone: bool },
}

/// Dates and times as texts; `None` for an array of another type.
pub(super) fn texts(array: &dyn Array) -> Option<LargeStringArray> {
    let nanoseconds = |unit: &TimeUnit| match unit {
        TimeUnit::Second => NANOSECONDS_PER_SECOND,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    Some(match array.data_type() {
        DataType::Date32 => {
            format_all::<Date32Type>(array, NANOSECONDS_PER_DAY, DateTimeParts::Date)
        }
        DataType::Date64 => format_all::<Date64Type>(array, 1_000_000, DateTimeParts::Date),
        DataType::Time32(TimeUnit::Second) => {
            format_all::<Time32SecondType>(array, NANOSECONDS_PER_SECOND, DateTimeParts::Time)
        }
        DataType::Time32(_) => {
            format_all::<Time32MillisecondType>(array, 1_000_000, DateTimeParts::Time)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            format_all::<Time64MicrosecondType>(array, 1_000, DateTimeParts::Time)
        }
        DataType::Time64(_) => format_all::<Time64NanosecondType>(array, 1, DateTimeParts::Time),
        DataType::Timestamp(unit, zone) => {
            let parts = DateTimeParts::Timestamp { has_zone: zone.is_some() };
            match unit {
                TimeUnit::Second => {
                    format_all::<TimestampSecondType>(array, nanoseconds(unit), parts)
                }
                TimeUnit::Millisecond => {
                    format_all::<TimestampMillisecondType>(array, nanoseconds(unit), parts)
                }
                TimeUnit::Microsecond => {
                    format_all::<TimestampMicrosecondType>(array, nanoseconds(unit), parts)
                }
                TimeUnit::Nanosecond => {
                    format_all::<TimestampNanosecondType>(array, nanoseconds(unit), parts)
                }
            }
        }
        _ => return None,
    })
}

/// The texts of an array whose values count units of this many nanoseconds.
fn format_all<T>(array: &dyn Array, unit: i128, parts: DateTimeParts) -> LargeStringArray
where
    T: ArrowPrimitiveType,
    T::Native: Into<i64>,
{
    let text = |value: Option<T::Native>| format_one(i128::from(value?.into()) * unit, parts);
    array.as_primitive::<T>().iter().map(text).collect()
}

/// The text of a date or time, given in nanoseconds since 1970 or, for a time, since midnight;
/// `None` if it is out of range.
fn format_one(nanoseconds: i128, parts: DateTimeParts) -> Option<String> {
    let date_time = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).ok()?;
    if !(0..=9999).contains(&date_time.year()) {
        return None;
    }
    let date = || {
        format!("{:04}-{:02}-{:02}", date_time.year(), u8::from(date_time.month()), date_time.day())
    };
    let time = || {
        let seconds =
            format!("{:02}:{:02}:{:02}", date_time.hour(), date_time.minute(), date_time.second());
        match date_time.nanosecond() {
            0 => seconds,
            part if part % 1_000_000 == 0 => format!("{seconds}.{:03}", part / 1_000_000),
            part if part % 1_000 == 0 => format!("{seconds}.{:06}", part / 1_000),
            part => format!("{seconds}.{part:09}"),
        }
    };
    Some(match parts {
        DateTimeParts::Date => date(),
        DateTimeParts::Time if (0..NANOSECONDS_PER_DAY).contains(&nanoseconds) => time(),
        DateTimeParts::Time => return None,
        DateTimeParts::Timestamp { has_zone } => {
            format!("{}T{}{}", date(), time(), if has_zone { "Z" } else { "" })
        }
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, Date64Array, Time32MillisecondArray, Time64NanosecondArray,
        TimestampMicrosecondArray, TimestampNanosecondArray, TimestampSecondArray,
    };

    use super::*;

    fn all_texts(array: &dyn Array) -> Vec<Option<String>> {
        let texts = texts(array).unwrap();
        texts.iter().map(|text| text.map(str::to_owned)).collect()
    }

    fn first_text(array: &dyn Array) -> String {
        all_texts(array)[0].clone().unwrap()
    }

    #[test]
    fn dates_and_times_are_written_in_iso_form() {
        // 2024-02-29 is day 19,782 since 1970.
        assert_eq!(first_text(&Date32Array::from(vec![19_782])), "2024-02-29");
        assert_eq!(first_text(&Date32Array::from(vec![-1])), "1969-12-31");
        assert_eq!(first_text(&Date64Array::from(vec![19_782 * 86_400_000])), "2024-02-29");
        assert_eq!(first_text(&Time32MillisecondArray::from(vec![3_600_500])), "01:00:00.500");
        assert_eq!(first_text(&Time64NanosecondArray::from(vec![1])), "00:00:00.000000001");
        assert_eq!(first_text(&TimestampSecondArray::from(vec![0])), "1970-01-01T00:00:00");
        assert_eq!(
            first_text(&TimestampMicrosecondArray::from(vec![-1])),
            "1969-12-31T23:59:59.999999"
        );
        let utc = TimestampNanosecondArray::from(vec![0]).with_timezone("UTC");
        assert_eq!(first_text(&utc), "1970-01-01T00:00:00Z");
    }

    #[test]
    fn nulls_and_dates_outside_of_the_calendar_are_absent() {
        assert_eq!(
            all_texts(&Date32Array::from(vec![None, Some(i32::MAX), Some(-800_000)])),
            [None, None, None]
        );
        assert_eq!(all_texts(&Time32MillisecondArray::from(vec![-1, 86_400_000])), [None, None]);
        assert_eq!(all_texts(&TimestampSecondArray::from(vec![i64::MAX])), [None]);
        assert!(texts(&arrow_array::Int32Array::from(vec![1])).is_none());
    }
}
