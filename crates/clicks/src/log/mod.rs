//! Readers of click logs, one file a format.

mod yandex_pages;

pub use yandex_pages::read_yandex_pages;
