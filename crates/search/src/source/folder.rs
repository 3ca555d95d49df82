//! A folder of `*.txt`, `*.md`, `*.html` and `*.htm` files, each of which is a document.
//!
//! Files are read in the order of their paths, so that an index does not depend on the file system.
//! The id is the path inside the folder with `/`; whitespace, control characters and `%` in it are
//! encoded as `%20` and so on, since runs are split at whitespace. Links to folders are not
//! followed. Files of other kinds, and links that lead to no file, are skipped and counted.
//!
//! A text has `text`, and `title` where its first line is short. A page has `title`, `text`, `url`
//! (its id) and `links`: ids of the pages of the folder that it refers to, and other addresses as
//! written.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, WarningKind, Warnings};

use super::{DocumentReader, html, id};
use crate::document::{Document, Value};
use crate::error::SearchError;

/// Largest number of bytes of a first line that is taken as the title.
const MAX_TITLE_BYTES: usize = 120;

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Text,
    Markdown,
    Html,
}

struct FolderEntry {
    id: String,
    path: PathBuf,
    kind: FileKind,
    size: u64,
}

pub(super) struct Folder {
    entries: std::vec::IntoIter<FolderEntry>,
    ids: HashSet<String>,
    read: u64,
    total: u64,
    /// Files and links that are skipped, until they are reported.
    skipped: Vec<(WarningKind, PathBuf)>,
}

impl Folder {
    pub(super) fn open(root: &Path) -> Result<Folder, SearchError> {
        let (mut entries, mut skipped) = (Vec::new(), Vec::new());
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            let failed = |e| DataError::io("read", folder.display().to_string(), e);
            for item in fs::read_dir(&folder).map_err(failed)? {
                let item = item.map_err(failed)?;
                if item.file_type().map_err(failed)?.is_dir() {
                    folders.push(item.path());
                    continue;
                }
                let path = item.path();
                match (kind_of(&path), fs::metadata(&path)) {
                    (Some(kind), Ok(meta)) if meta.is_file() => {
                        let (id, size) = (id_of(root, &path), meta.len());
                        entries.push(FolderEntry { id, path, kind, size });
                    }
                    (_, Ok(meta)) if !meta.is_dir() => {
                        skipped.push((WarningKind::SkippedFiles, path));
                    }
                    _ => skipped.push((WarningKind::SkippedLinks, path)),
                }
            }
        }
        // The first one is named, whatever the order of the file system.
        skipped.sort_by(|a, b| a.1.cmp(&b.1));
        entries.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
        let ids = entries.iter().map(|entry| entry.id.clone()).collect();
        let total = entries.iter().map(|entry| entry.size).sum();
        Ok(Folder { entries: entries.into_iter(), ids, read: 0, total, skipped })
    }

    fn document(
        &self,
        entry: FolderEntry,
        warnings: &mut Warnings,
    ) -> Result<Document, SearchError> {
        let input = Input::open(&entry.path)?;
        let location = || SourceLocation::file(&input.name);
        let bytes = input.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input.bytes);
        let text = warnings.text(bytes, location);
        let mut document = Document::new(id::checked(entry.id, location)?);
        let mut add = |name: &str, text: String| {
            if !text.is_empty() {
                document.fields.push((name.to_owned(), Value::Text(text)));
            }
        };
        if entry.kind != FileKind::Html {
            add("title", first_line(&text, entry.kind).to_owned());
            add("text", text.trim().to_owned());
            return Ok(document);
        }
        let page = html::page(&text);
        add("title", page.title);
        add("text", page.text);
        let url = document.id.clone();
        document.fields.push(("url".into(), Value::Text(url)));
        let links = self.links(&document.id, page.links);
        if !links.is_empty() {
            document.fields.push(("links".into(), Value::Texts(links)));
        }
        Ok(document)
    }

    /// Links of a page, as ids if they point into the folder, each once, in order.
    fn links(&self, page: &str, written: Vec<String>) -> Vec<String> {
        let mut seen = HashSet::new();
        let resolved = written.into_iter().filter_map(|href| {
            let lower = href.get(..11).unwrap_or(&href).to_ascii_lowercase();
            let nowhere = href.is_empty()
                || href.starts_with('#')
                || lower.starts_with("javascript:")
                || lower.starts_with("mailto:");
            if nowhere {
                return None;
            }
            Some(self.resolve(page, &href).unwrap_or(href))
        });
        resolved.filter(|link| link != page && seen.insert(link.clone())).collect()
    }

    /// The id of the file that a page refers to, if the folder has it.
    fn resolve(&self, page: &str, href: &str) -> Option<String> {
        let path = href.split(['#', '?']).next().unwrap_or_default();
        let (base, path) = match path.strip_prefix('/') {
            Some(path) => ("", path),
            None => (page.rsplit_once('/').map_or("", |(folder, _)| folder), path),
        };
        let mut steps: Vec<String> =
            base.split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect();
        for step in path.split('/') {
            match step {
                "" | "." => {}
                ".." => {
                    steps.pop()?;
                }
                step => steps.push(encoded(&decoded(step))),
            }
        }
        let path = steps.join("/");
        let index = format!("{path}/index.html");
        let index = index.trim_start_matches('/').to_owned();
        [path, index].into_iter().find(|id| self.ids.contains(id))
    }
}

impl DocumentReader for Folder {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        for (kind, path) in self.skipped.drain(..) {
            warnings.add(kind, 1, || SourceLocation::file(path.display().to_string()));
        }
        let entry = self.entries.next()?;
        self.read += entry.size;
        Some(self.document(entry, warnings))
    }

    fn position(&self) -> (u64, u64) {
        (self.read, self.total)
    }
}

/// The kind of a file, by its extension, ignoring case.
fn kind_of(path: &Path) -> Option<FileKind> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "txt" => Some(FileKind::Text),
        "md" => Some(FileKind::Markdown),
        "html" | "htm" => Some(FileKind::Html),
        _ => None,
    }
}

fn id_of(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let steps: Vec<String> = inside.iter().map(|step| encoded(&step.to_string_lossy())).collect();
    steps.join("/")
}

/// A component of a path with characters encoded that an id may not have.
fn encoded(step: &str) -> String {
    let mut out = String::with_capacity(step.len());
    for c in step.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string does not fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A component of an address with `%20` and the like decoded.
fn decoded(step: &str) -> String {
    let mut out = Vec::with_capacity(step.len());
    let mut rest = step.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digit = |at: usize| tail.get(at).and_then(|&b| char::from(b).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = tail.get(2..).unwrap_or(&[]);
            }
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The first line with a word, if it is short enough for a title.
fn first_line(text: &str, kind: FileKind) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    let line = match kind {
        FileKind::Markdown => line.trim_start_matches('#').trim(),
        _ => line,
    };
    if line.len() <= MAX_TITLE_BYTES { line } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_into_the_folder_where_they_can() {
        let ids = ["a.html", "sub/b.html", "sub/my%20page.html", "sub/index.html"];
        let ids = ids.into_iter().map(str::to_owned).collect();
        let folder =
            Folder { entries: Vec::new().into_iter(), ids, read: 0, total: 0, skipped: Vec::new() };
        let written = [
            "../a.html#top",
            "my%20page.html",
            "my page.html",
            "/sub/",
            "b.html",
            "#here",
            "",
            "https://example.org/",
            "../../a.html",
            "mailto:x@y",
            "JavaScript:void(0)",
            "gone.html",
        ];
        let links = folder.links("sub/b.html", written.into_iter().map(str::to_owned).collect());
        assert_eq!(
            links,
            [
                "a.html",
                "sub/my%20page.html",
                "sub/index.html",
                "https://example.org/",
                "../../a.html",
                "gone.html"
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn files_of_other_kinds_and_links_to_nothing_are_counted() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        for name in ["a.txt", "sub/b.MD", "sub/c.pdf", "notes", "d.docx"] {
            std::fs::write(at(name), "words").unwrap();
        }
        for (target, link) in [("gone.txt", "e.txt"), ("sub", "f.txt"), ("a.txt", "g.txt")] {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
        let (mut folder, mut warnings) = (Folder::open(root.path()).unwrap(), Warnings::default());
        let mut ids = Vec::new();
        while let Some(document) = folder.next(&mut warnings) {
            ids.push(document.unwrap().id);
        }
        assert_eq!(ids, ["a.txt", "g.txt", "sub/b.MD"]);
        let said: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:?}");
        let files = "3 files skipped: neither text (.txt, .md) nor a page (.html, .htm) (first: ";
        assert!(said[0].starts_with(files) && said[0].ends_with("d.docx)"), "{}", said[0]);
        assert!(said[1].starts_with("2 links to a folder or to nothing skipped"), "{}", said[1]);
    }

    #[test]
    fn a_short_first_line_is_a_title() {
        assert_eq!(first_line("\n# Head \nx", FileKind::Markdown), "Head");
        assert_eq!(first_line("Head\nx", FileKind::Text), "Head");
        assert_eq!(first_line(&"x".repeat(121), FileKind::Text), "");
        assert_eq!(first_line("", FileKind::Text), "");
    }

    #[test]
    fn steps_encode_and_decode() {
        assert_eq!(encoded("a b%\u{a0}.txt"), "a%20b%25%C2%A0.txt");
        assert_eq!(decoded("a%20b%25%zz%"), "a b%%zz%");
    }
}
