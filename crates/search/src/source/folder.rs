//! A folder of `*.txt`, `*.md`, `*.html` and `*.htm` files, each of which is a document.
//!
//! Files are read in the order of their paths, so that an index does not depend on the file system.
//! The id is the path inside the folder with `/`; whitespace, control characters and `%` in it are
//! encoded as `%20` and so on, since lines of runs are split at whitespace. Symbolic links to
//! folders are not followed. Files of other kinds, and symbolic links that lead to no file, are
//! skipped and counted.
//!
//! A text or Markdown file has the fields `text`, and `title` if its first line is short. An HTML
//! page has `title`, `text`, `url` (its id) and `links`: ids of the files of the folder that it
//! refers to, and other web addresses as written. The number fields `images` and `out_links` count
//! its images and its links.

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

/// The kind of a file that becomes a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Text,
    Markdown,
    Html,
}

/// A file that becomes a document.
struct FolderEntry {
    id: String,
    path: PathBuf,
    kind: FileKind,
    /// In bytes.
    size: u64,
}

/// Reads the files of a folder as documents.
pub(super) struct Folder {
    /// The files that are not read yet.
    entries: std::vec::IntoIter<FolderEntry>,
    /// The ids of all files.
    ids: HashSet<String>,
    read_bytes: u64,
    total_bytes: u64,
    /// Files and symbolic links that are skipped, until warnings about them are added.
    skipped: Vec<(WarningKind, PathBuf)>,
}

impl Folder {
    /// Lists the files of a folder and its subfolders.
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
        // The warning names the first of them, which must not depend on the file system.
        skipped.sort_by(|a, b| a.1.cmp(&b.1));
        entries.sort_by(|a, b| (&a.id, &a.path).cmp(&(&b.id, &b.path)));
        let ids = entries.iter().map(|entry| entry.id.clone()).collect();
        let total_bytes = entries.iter().map(|entry| entry.size).sum();
        Ok(Folder { entries: entries.into_iter(), ids, read_bytes: 0, total_bytes, skipped })
    }

    /// Reads a file as a document.
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
            add("title", title_line(&text, entry.kind).to_owned());
            add("text", text.trim().to_owned());
            return Ok(document);
        }
        let page = html::page(&text);
        add("title", page.title);
        add("text", page.text);
        let url = document.id.clone();
        document.fields.push(("url".into(), Value::Text(url)));
        let links = self.links(&document.id, page.links);
        let counts = [("images", page.images), ("out_links", links.len())];
        for (name, count) in counts {
            document.fields.push((name.into(), Value::Number(count as f64)));
        }
        if !links.is_empty() {
            document.fields.push(("links".into(), Value::Texts(links)));
        }
        Ok(document)
    }

    /// The links of a page, each once, in order: ids for files of the folder, other links as
    /// written. `page` is the id of the page, `written` the values of `href`.
    fn links(&self, page: &str, written: Vec<String>) -> Vec<String> {
        let mut seen = HashSet::new();
        let resolved = written.into_iter().filter_map(|href| {
            let start = href.get(.."javascript:".len()).unwrap_or(&href).to_ascii_lowercase();
            let leads_nowhere = href.is_empty()
                || href.starts_with('#')
                || start.starts_with("javascript:")
                || start.starts_with("mailto:");
            if leads_nowhere {
                return None;
            }
            Some(self.resolve(page, &href).unwrap_or(href))
        });
        resolved.filter(|link| link != page && seen.insert(link.clone())).collect()
    }

    /// The id of the file that a page refers to, if the folder has it.
    fn resolve(&self, page: &str, href: &str) -> Option<String> {
        let path = href.split(['#', '?']).next().unwrap_or_default();
        if path.is_empty() {
            // `?page=2` is the page itself.
            return Some(page.to_owned());
        }
        if path.starts_with("//") {
            // The name of another host.
            return None;
        }
        let (base, path) = match path.strip_prefix('/') {
            Some(path) => ("", path),
            None => (page.rsplit_once('/').map_or("", |(folder, _)| folder), path),
        };
        let mut components: Vec<String> =
            base.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        for component in path.split('/') {
            match component {
                "" | "." => {}
                ".." => {
                    components.pop()?;
                }
                name => components.push(encoded(&decoded(name))),
            }
        }
        let path = components.join("/");
        let index_page = format!("{path}/index.html");
        let index_page = index_page.trim_start_matches('/').to_owned();
        [path, index_page].into_iter().find(|id| self.ids.contains(id))
    }
}

impl DocumentReader for Folder {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        for (kind, path) in self.skipped.drain(..) {
            warnings.add(kind, 1, || SourceLocation::file(path.display().to_string()));
        }
        let entry = self.entries.next()?;
        self.read_bytes += entry.size;
        Some(self.document(entry, warnings))
    }

    fn position(&self) -> (u64, u64) {
        (self.read_bytes, self.total_bytes)
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

/// The id of a file: its encoded path inside the folder `root`.
fn id_of(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let components = inside.iter().map(|component| encoded(&component.to_string_lossy()));
    components.collect::<Vec<String>>().join("/")
}

/// A component of a path in which the characters that an id may not have are encoded.
fn encoded(component: &str) -> String {
    let mut out = String::with_capacity(component.len());
    for c in component.chars() {
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

/// A component of a web address in which `%20` and the like are decoded.
fn decoded(component: &str) -> String {
    let mut out = Vec::with_capacity(component.len());
    let mut unread = component.as_bytes();
    while let Some((&first, tail)) = unread.split_first() {
        let digit = |i: usize| tail.get(i).and_then(|&b| char::from(b).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                unread = tail.get(2..).unwrap_or(&[]);
            }
            _ => {
                out.push(first);
                unread = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The first line that is not blank, if it is short enough for a title; otherwise empty.
fn title_line(text: &str, kind: FileKind) -> &str {
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
    fn links_to_files_of_the_folder_become_ids() {
        let ids = ["a.html", "sub/b.html", "sub/my%20page.html", "sub/index.html"];
        let ids = ids.into_iter().map(str::to_owned).collect();
        let folder = Folder {
            entries: Vec::new().into_iter(),
            ids,
            read_bytes: 0,
            total_bytes: 0,
            skipped: Vec::new(),
        };
        let written = [
            "../a.html#top",
            "my%20page.html",
            "my page.html",
            "/sub/",
            "b.html",
            "#here",
            "",
            "?page=2",
            "//sub/b.html",
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
                "//sub/b.html",
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
        let path_of = |name: &str| root.path().join(name);
        std::fs::create_dir(path_of("sub")).unwrap();
        for name in ["a.txt", "sub/b.MD", "sub/c.pdf", "notes", "d.docx"] {
            std::fs::write(path_of(name), "words").unwrap();
        }
        for (target, link) in [("gone.txt", "e.txt"), ("sub", "f.txt"), ("a.txt", "g.txt")] {
            std::os::unix::fs::symlink(target, path_of(link)).unwrap();
        }
        let (mut folder, mut warnings) = (Folder::open(root.path()).unwrap(), Warnings::default());
        let mut ids = Vec::new();
        while let Some(document) = folder.next(&mut warnings) {
            ids.push(document.unwrap().id);
        }
        assert_eq!(ids, ["a.txt", "g.txt", "sub/b.MD"]);
        let messages: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        let files = "3 files skipped: neither text (.txt, .md) nor a page (.html, .htm) (first: ";
        assert!(messages[0].starts_with(files) && messages[0].ends_with("d.docx)"), "{messages:?}");
        let links = "2 links to a folder or to nothing skipped";
        assert!(messages[1].starts_with(links), "{messages:?}");
    }

    #[test]
    fn a_short_first_line_is_a_title() {
        assert_eq!(title_line("\n# Head \nx", FileKind::Markdown), "Head");
        assert_eq!(title_line("Head\nx", FileKind::Text), "Head");
        assert_eq!(title_line(&"x".repeat(121), FileKind::Text), "");
        assert_eq!(title_line("", FileKind::Text), "");
    }

    #[test]
    fn path_components_are_encoded_and_decoded() {
        assert_eq!(encoded("a b%\u{a0}.txt"), "a%20b%25%C2%A0.txt");
        assert_eq!(decoded("a%20b%25%zz%"), "a b%%zz%");
    }
}
