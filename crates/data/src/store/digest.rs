//! Digests of files that are replaced together (a switch, see `switch.rs`): the process that
//! finishes an interrupted switch recognises by the digest which files were already replaced. The
//! hash is fast and not cryptographic: it guards against accidents, not against forgery.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::str::FromStr;

use xxhash_rust::xxh3::Xxh3;

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 20;

/// The length and the hash (xxh3, 128 bits) of a file's content. As text: `LENGTH-HASH`, such as
/// `12-0af3...`, the hash in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileDigest {
    length: u64,
    hash: u128,
}

impl FileDigest {
    /// Whether a path leads to an ordinary file of this length.
    pub(super) fn matches_length(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == self.length)
    }

    /// Whether a path leads to an ordinary file with this content; false if it cannot be read.
    pub(super) fn matches_content(&self, path: &Path) -> bool {
        self.matches_length(path) && digest_of_file(path).is_ok_and(|digest| digest == *self)
    }
}

fn digest_of_file(path: &Path) -> io::Result<FileDigest> {
    let (mut file, mut block) = (File::open(path)?, vec![0; BLOCK_BYTES]);
    let mut digest = DigestWriter::new(io::sink());
    loop {
        match file.read(&mut block)? {
            0 => return Ok(digest.digest()),
            length => digest.write_all(&block[..length])?,
        }
    }
}

impl fmt::Display for FileDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:032x}", self.length, self.hash)
    }
}

impl FromStr for FileDigest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (length, hash) = text.split_once('-').ok_or(())?;
        let length = length.parse().map_err(|_| ())?;
        Ok(FileDigest { length, hash: u128::from_str_radix(hash, 16).map_err(|_| ())? })
    }
}

/// Writes bytes to `out` and computes their digest.
pub(super) struct DigestWriter<W> {
    out: W,
    length: u64,
    hash: Box<Xxh3>,
}

impl<W> DigestWriter<W> {
    pub(super) fn new(out: W) -> Self {
        DigestWriter { out, length: 0, hash: Box::new(Xxh3::new()) }
    }

    /// The digest of the bytes so far.
    pub(super) fn digest(&self) -> FileDigest {
        FileDigest { length: self.length, hash: self.hash.digest128() }
    }
}

impl<W: Write> Write for DigestWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_parses_back_from_its_text_and_matches_the_same_content_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut out = DigestWriter::new(Vec::new());
        (0..3).for_each(|_| out.write_all(&vec![7; BLOCK_BYTES - 1]).unwrap());
        let digest = out.digest();
        assert_eq!(digest.to_string().parse(), Ok(digest));
        std::fs::write(&path, &out.out).unwrap();
        assert!(digest.matches_length(&path) && digest.matches_content(&path));
        out.out[5] = 8;
        std::fs::write(&path, &out.out).unwrap();
        assert!(digest.matches_length(&path) && !digest.matches_content(&path));
        assert!(!digest.matches_content(&folder.path().join("none")));
        for text in ["", "1", "1-", "x-00", "1-g", "-1-0"] {
            assert!(text.parse::<FileDigest>().is_err(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_has_no_digest() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::os::unix::fs::symlink("a", at("link")).unwrap();
        let digest = digest_of_file(&at("a")).unwrap();
        assert!(digest.matches_content(&at("a")) && !digest.matches_content(&at("link")));
    }
}
