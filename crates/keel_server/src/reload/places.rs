//! By what a path leads to its file. Editors and scripts put another file, directory or link in the place of the one that
//! was, so that it is the directories around it that have to be watched, and not the file.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Links that are followed before it is taken for a circle, as the system does.
const MOST_LINKS: usize = 40;

/// The entries of directories that decide which file a path leads to: the file, the directory that it is in, and each link
/// on the way with what that leads to. None of their directories is reached by a link.
///
/// A file that is not there, or the end of a link that leads nowhere, is one too: it may come.
pub(super) fn places(path: &Path) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    let Ok(path) = std::path::absolute(path) else { return places };
    let mut ahead: VecDeque<OsString> = parts(&path);
    let (mut here, mut links) = (PathBuf::from("/"), 0);
    // How many parts are left when the end of the last link is reached.
    let mut after_link = None;
    while let Some(part) = ahead.pop_front() {
        if part == ".." {
            here.pop();
            continue;
        }
        let entry = here.join(part);
        let link = std::fs::read_link(&entry).ok().filter(|_| links < MOST_LINKS);
        // The file, and the directory that it is in: others farther up are not swapped without stopping a server.
        if link.is_some() || after_link == Some(ahead.len()) || ahead.len() <= 1 {
            places.insert(entry.clone());
        }
        if let Some(to) = link {
            links += 1;
            after_link = Some(ahead.len());
            if to.is_absolute() {
                here = PathBuf::from("/");
            }
            let mut rest = parts(&to);
            rest.append(&mut ahead);
            ahead = rest;
        } else {
            here = entry;
        }
    }
    places
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_counts_and_so_does_what_it_leads_to() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let names = |path: &str| -> Vec<String> {
            let places = places(&root.join(path));
            let inside = places.iter().filter_map(|place| place.strip_prefix(&root).ok());
            inside.map(|place| place.display().to_string()).filter(|place| !place.is_empty()).collect()
        };
        std::fs::create_dir_all(root.join("a/one")).unwrap();
        assert_eq!(names("a/b.ron"), ["a", "a/b.ron"], "it need not be there");
        std::fs::write(root.join("a/one/b.ron"), "").unwrap();
        assert_eq!(names("a/one/b.ron"), ["a/one", "a/one/b.ron"]);
        symlink("one", root.join("a/now")).unwrap();
        symlink("now/b.ron", root.join("a/b.ron")).unwrap();
        assert_eq!(names("a/b.ron"), ["a", "a/b.ron", "a/now", "a/one", "a/one/b.ron"]);
        symlink(root.join("a"), root.join("c")).unwrap();
        assert_eq!(names("a/../c/now/b.ron"), ["a", "a/now", "a/one", "a/one/b.ron", "c"]);
        symlink("circle", root.join("circle")).unwrap();
        assert_eq!(names("circle/b.ron"), ["circle", "circle/b.ron"]);
    }
}
