//! A scenario before it is checked: the file, those it is based on, and what was set over them.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::key::{Key, Part};
use super::problem::{Place, Problem};
use super::settings::{Head, ScenarioFile};
use super::tree::{Kind, Node};
use super::words;

/// Files that may stand on each other.
const MOST_BASES: usize = 8;

/// A scenario as it was written, bases and settings laid over each other, not yet checked.
#[derive(Clone, Debug)]
pub struct Draft {
    name: String,
    tree: Node,
}

impl Draft {
    /// Reads the scenario called `name`, and the files that it is based on. `read` gives the text of a file, or says in a
    /// few words why it cannot; it is asked for `name` itself and for names relative to the folder of the file that names
    /// them.
    ///
    /// # Errors
    /// A file that cannot be read or is not TOML; bases in a circle, or more than eight of them.
    pub fn read(name: &str, read: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<Self, Problem> {
        let tree = with_base(name, read, &mut Vec::new(), None)?;
        Ok(Self { name: name.to_owned(), tree })
    }

    /// Reads the JSON form of a document that is part of another one, which is called `name` in errors and has no lines here;
    /// otherwise as [`Self::read`]: a `base` is relative to the folder of `name`.
    ///
    /// # Errors
    /// Not a table; bases in a circle, too many of them, or such that cannot be read.
    pub fn from_json(
        name: &str,
        document: &Value,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, Problem> {
        let place = Place { source: name.into(), line: 0 };
        if !document.is_object() {
            return Err(Problem::of_source(place, words::NOT_A_TABLE));
        }
        let tree = on_its_base(Node::of_json(&place, document), name, read, &mut Vec::new())?;
        Ok(Self { name: name.to_owned(), tree })
    }

    /// A scenario that is based on nothing; `name` is what it is called in errors.
    ///
    /// # Errors
    /// As for [`Self::read`]; a `base` cannot be read.
    pub fn from_text(name: &str, text: &str) -> Result<Self, Problem> {
        let mut text = Some(text.to_owned());
        Self::read(name, &mut |_| text.take().ok_or_else(|| "there are no other files to base it on".to_owned()))
    }

    /// Sets a key, as the command line does: `key` is dotted, `value` is TOML or a bare word. Elements of arrays are named
    /// by number, by their `name`, or all with `*`. A key without dots that is not one of the document's own stands for every
    /// key of that name in the link's table.
    ///
    /// # Errors
    /// A key that no place can be found for, a value that is invalid.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        let place = Place { source: format!("{key}={value}").into(), line: 0 };
        let refuse = |what: String| Problem::of_source(place.clone(), what);
        let parsed = Key::parse(key).map_err(refuse)?;
        if parsed.0.first() == Some(&Part::Name("base".to_owned())) {
            return Err(refuse("what a scenario is based on is written in its file; it cannot be set".to_owned()));
        }
        let node = Node::parse_value(&place, value)?;
        for key in self.meant(&parsed).map_err(refuse)? {
            self.tree.set(&key, &node).map_err(|what| Problem::of_key(Some(place.clone()), key.to_string(), what))?;
        }
        Ok(())
    }

    /// The keys that a key stands for.
    fn meant(&self, key: &Key) -> Result<Vec<Key>, String> {
        let [Part::Name(name)] = &key.0[..] else { return Ok(vec![key.clone()]) };
        if ScenarioFile::KEYS.contains(&name.as_str()) {
            return Ok(vec![key.clone()]);
        }
        let whole = self.check_link().map_err(|problem| problem.to_string())?.to_json();
        let mut found = Vec::new();
        for table in ScenarioFile::LINKS {
            if let Some(inner) = whole.get(table) {
                named(inner, name, &Key(vec![Part::Name((*table).to_owned())]), &mut found);
            }
        }
        if found.is_empty() {
            return Err(format!("no key of the link is called {name}; write it with its table, as in wlan.ap.mcs"));
        }
        Ok(found)
    }

    /// The scenario, when everything in it can be.
    ///
    /// # Errors
    /// The first thing that cannot, with its place.
    pub fn check(&self) -> Result<ScenarioFile, Problem> {
        let file = ScenarioFile::read(self.tree.to_json()).map_err(|(key, what)| self.problem(&key, what))?;
        file.check().map_err(|error| {
            let key = Key::parse(&error.key).unwrap_or_default();
            self.problem(&key, error.what)
        })?;
        Ok(file)
    }

    /// Everything but the traffic, when that can be: for those who bring traffic of their own.
    ///
    /// # Errors
    /// The first thing that cannot, with its place.
    pub fn check_link(&self) -> Result<Head, Problem> {
        let mut document = self.tree.to_json();
        if let Some(table) = document.as_object_mut() {
            table.remove("traffic");
        }
        let file = ScenarioFile::read(document).map_err(|(key, what)| self.problem(&key, what))?;
        file.head.check().map_err(|error| {
            let key = Key::parse(&error.key).unwrap_or_default();
            self.problem(&key, error.what)
        })?;
        Ok(file.head)
    }

    /// `what` at `key`, with the place that is nearest to it.
    fn problem(&self, key: &Key, what: String) -> Problem {
        let whole = || Place { source: Arc::from(self.name.as_str()), line: 0 };
        let place = self.tree.place_of(key).cloned().unwrap_or_else(whole);
        if key.0.is_empty() {
            return Problem::of_source(place, what);
        }
        Problem::of_key(Some(place), key.to_string(), what)
    }
}

/// Keys called `name` anywhere in `value`.
fn named(value: &Value, name: &str, here: &Key, found: &mut Vec<Key>) {
    match value {
        Value::Object(table) => {
            for (key, inner) in table {
                let inner_key = here.then(Part::Name(key.clone()));
                if key == name {
                    found.push(inner_key);
                } else {
                    named(inner, name, &inner_key, found);
                }
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                named(inner, name, &here.then(Part::Index(index)), found);
            }
        }
        _ => {}
    }
}

/// The document `name` laid over what it is based on. `above`: the files that led here. `asked`: the place of the `base`
/// that named it.
fn with_base(
    name: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
    above: &mut Vec<String>,
    asked: Option<&Place>,
) -> Result<Node, Problem> {
    let here = || asked.cloned().unwrap_or_else(|| Place { source: name.into(), line: 0 });
    if above.iter().any(|file| file == name) {
        above.push(name.to_owned());
        return Err(Problem::of_key(Some(here()), "base", format!("it is based on itself: {}", above.join(" -> "))));
    }
    if above.len() > MOST_BASES {
        return Err(Problem::of_key(Some(here()), "base", format!("more than {MOST_BASES} files on each other")));
    }
    let text = read(name).map_err(|what| match asked {
        Some(_) => Problem::of_key(Some(here()), "base", format!("{name}: {what}")),
        None => Problem::of_source(here(), what),
    })?;
    on_its_base(Node::parse(name, &text)?, name, read, above)
}

/// `tree`, the document `name`, laid over what it is based on.
fn on_its_base(
    mut tree: Node,
    name: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
    above: &mut Vec<String>,
) -> Result<Node, Problem> {
    let Some(base) = tree.take("base") else { return Ok(tree) };
    let Kind::Scalar(Value::String(base_name)) = &base.kind else {
        return Err(Problem::of_key(Some(base.place), "base", "is not the name of a file in quotation marks"));
    };
    let base_name = beside(name, base_name).map_err(|what| Problem::of_key(Some(base.place.clone()), "base", what))?;
    above.push(name.to_owned());
    let mut below = with_base(&base_name, read, above, Some(&base.place))?;
    // A link of another kind replaces the base's: two links are one too many.
    let own = ScenarioFile::LINKS.iter().find(|link| tree.get(link).is_some());
    if own.is_some() {
        for other in ScenarioFile::LINKS.iter().filter(|link| Some(*link) != own) {
            if tree.get(other).is_none() {
                below.take(other);
            }
        }
    }
    // So does another kind of stations.
    for (own, other) in [("stations", "dut"), ("dut", "stations")] {
        if tree.get("wlan").is_some_and(|wlan| wlan.get(own).is_some() && wlan.get(other).is_none()) {
            below.take_below("wlan", other);
        }
    }
    below.lay(tree);
    Ok(below)
}

/// The name of a file relative to the folder of another, without `..` where that can be done.
fn beside(file: &str, relative: &str) -> Result<String, String> {
    let relative = Path::new(relative);
    if relative.as_os_str().is_empty() || relative.is_absolute() {
        return Err("must be the name of a file, relative to the folder of this one".to_owned());
    }
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut joined = PathBuf::new();
    for component in folder.join(relative).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(joined.components().next_back(), Some(Component::Normal(_))) => {
                joined.pop();
            }
            other => joined.push(other),
        }
    }
    if joined.as_os_str().is_empty() {
        return Err("is a folder, not a file".to_owned());
    }
    joined.into_os_string().into_string().map_err(|_| "is not text".to_owned())
}
