//! A TOML document as tables and values that know where they were written, so that documents can be laid over each other
//! and an error still names the line.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::key::{Key, Part};
use super::problem::{Place, Problem};

/// Bytes of a document at most.
const MOST_BYTES: usize = 1 << 20;

/// A table, an array or a value, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Table(BTreeMap<String, Node>),
    List(Vec<Node>),
    Scalar(Value),
}

/// Line numbers of byte offsets.
struct Lines {
    source: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn new(source: &str, text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        Self { source: source.into(), starts: std::iter::once(0).chain(ends).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|&start| start <= offset);
        Place { source: Arc::clone(&self.source), line: u32::try_from(line).unwrap_or(u32::MAX) }
    }
}

impl Node {
    pub(super) fn table(place: Place) -> Self {
        Self { place, kind: Kind::Table(BTreeMap::new()) }
    }

    /// Reads a TOML document; `source` is what it is called in errors.
    pub(super) fn parse(source: &str, text: &str) -> Result<Self, Problem> {
        let lines = Lines::new(source, text);
        if text.len() > MOST_BYTES {
            let what = format!("{} bytes are too many for a scenario ({MOST_BYTES} at most)", text.len());
            return Err(Problem::of_source(Place { line: 0, ..lines.place(0) }, what));
        }
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Problem::of_source(lines.place(at), format!("not TOML: {}", error.message()))
        })?;
        let start = document.span().start;
        table(&lines, start, document.get_ref(), &Key::default())
    }

    /// A JSON document, all of it at one place.
    pub(super) fn of_json(place: &Place, document: &Value) -> Self {
        let kind = match document {
            Value::Object(table) => {
                Kind::Table(table.iter().map(|(name, inner)| (name.clone(), Self::of_json(place, inner))).collect())
            }
            Value::Array(list) => Kind::List(list.iter().map(|element| Self::of_json(place, element)).collect()),
            scalar => Kind::Scalar(scalar.clone()),
        };
        Self { place: place.clone(), kind }
    }

    /// Reads one TOML value, as in `--set key=value`; a bare word is a text, `null` is not a value: what is optional is left
    /// out.
    pub(super) fn parse_value(place: &Place, text: &str) -> Result<Self, Problem> {
        let refuse = |what: String| Problem::of_source(place.clone(), what);
        if text.len() > MOST_BYTES {
            return Err(refuse("the value is too long".to_owned()));
        }
        let parsed = DeValue::parse(text.trim());
        let lines = Lines { source: Arc::clone(&place.source), starts: Vec::new() };
        match parsed {
            Ok(found) => value(&lines, 0, found.get_ref(), &Key::default()),
            Err(_) if text.trim() == "null" => Ok(Self { place: place.clone(), kind: Kind::Scalar(Value::Null) }),
            Err(_) if is_bare_word(text.trim()) => {
                Ok(Self { place: place.clone(), kind: Kind::Scalar(Value::String(text.trim().to_owned())) })
            }
            Err(error) => Err(refuse(format!("{text:?} is not a TOML value: {}", error.message()))),
        }
    }

    /// Lays `over` over this: tables are merged key by key, everything else is replaced.
    pub(super) fn lay(&mut self, over: Self) {
        match (&mut self.kind, over.kind) {
            (Kind::Table(below), Kind::Table(above)) => {
                for (name, node) in above {
                    match below.get_mut(&name) {
                        Some(there) => there.lay(node),
                        None => {
                            below.insert(name, node);
                        }
                    }
                }
                self.place = over.place;
            }
            (_, kind) => *self = Self { place: over.place, kind },
        }
    }

    /// Puts `new` at `key`; tables on the way are made, elements of arrays must be there.
    pub(super) fn set(&mut self, key: &Key, new: &Self) -> Result<(), String> {
        self.set_parts(&key.0, new)
    }

    fn set_parts(&mut self, parts: &[Part], new: &Self) -> Result<(), String> {
        let Some((part, rest)) = parts.split_first() else {
            *self = if self.is_switched_off_by(new) {
                Self { place: new.place.clone(), kind: Kind::Scalar(Value::Null) }
            } else {
                new.clone()
            };
            return Ok(());
        };
        match (part, &mut self.kind) {
            (Part::Name(name), Kind::Table(table)) => {
                let node = table.entry(name.clone()).or_insert_with(|| Self::table(new.place.clone()));
                node.set_parts(rest, new)
            }
            (Part::Index(index), Kind::List(list)) => {
                let count = list.len();
                let node = list.get_mut(*index).ok_or(format!("there are {count} elements, counted from 0"))?;
                node.set_parts(rest, new)
            }
            (Part::Every, Kind::List(list)) => list.iter_mut().try_for_each(|node| node.set_parts(rest, new)),
            (Part::Index(index), Kind::Table(table)) => {
                let node = table.entry(index.to_string()).or_insert_with(|| Self::table(new.place.clone()));
                node.set_parts(rest, new)
            }
            (Part::Name(name), Kind::List(list)) => {
                // An element may be named by its key `name`.
                let node = list.iter_mut().find(|node| node.name() == Some(name));
                node.ok_or(format!("no element has the name {name}; use a number from 0, or * for all"))?
                    .set_parts(rest, new)
            }
            (Part::Every, Kind::Table(_)) => Err("* stands for the elements of an array, and this is a table".into()),
            (_, Kind::Scalar(_)) => Err("there is a value, not a table, on the way to this key".into()),
        }
    }

    /// Whether this is a table that was written and `new` says that it is not to be there: `none`, or `false`.
    fn is_switched_off_by(&self, new: &Self) -> bool {
        let is_off = matches!(&new.kind, Kind::Scalar(Value::Bool(false)))
            || matches!(&new.kind, Kind::Scalar(Value::String(word)) if word == "none");
        is_off && matches!(&self.kind, Kind::Table(table) if !table.is_empty())
    }

    fn name(&self) -> Option<&str> {
        match self.get("name").map(|node| &node.kind) {
            Some(Kind::Scalar(Value::String(name))) => Some(name),
            _ => None,
        }
    }

    /// The value of a key of this table.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Table(table) => table.get(name),
            _ => None,
        }
    }

    /// Takes a key away.
    pub(super) fn take(&mut self, name: &str) -> Option<Self> {
        match &mut self.kind {
            Kind::Table(table) => table.remove(name),
            _ => None,
        }
    }

    /// Takes a key of a table in this table away.
    pub(super) fn take_below(&mut self, table: &str, name: &str) {
        if let Kind::Table(tables) = &mut self.kind {
            tables.get_mut(table).and_then(|table| table.take(name));
        }
    }

    /// Where the innermost thing around `key` stands, and whether that is the key itself.
    pub(super) fn place_of(&self, key: &Key) -> Option<&Place> {
        let mut node = self;
        let mut found = None;
        for part in &key.0 {
            let next = match (part, &node.kind) {
                (Part::Name(name), Kind::Table(table)) => table.get(name),
                (Part::Index(index), Kind::Table(table)) => table.get(&index.to_string()),
                (Part::Index(index), Kind::List(list)) => list.get(*index),
                _ => None,
            };
            let Some(next) = next else { break };
            found = Some(&next.place);
            node = next;
        }
        found
    }

    /// Without the places.
    pub(super) fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Table(table) => {
                let entries = table.iter().map(|(name, node)| (name.clone(), node.to_json()));
                Value::Object(entries.collect::<Map<String, Value>>())
            }
            Kind::List(list) => Value::Array(list.iter().map(Self::to_json).collect()),
            Kind::Scalar(value) => value.clone(),
        }
    }
}

fn is_bare_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./: ".contains(c))
}

fn table(lines: &Lines, at: usize, table: &DeTable<'_>, key: &Key) -> Result<Node, Problem> {
    let mut found = BTreeMap::new();
    for (name, inner) in table {
        let text = name.get_ref().to_string();
        let node = value(lines, name.span().start, inner.get_ref(), &key.then(Part::Name(text.clone())))?;
        found.insert(text, node);
    }
    Ok(Node { place: lines.place(at), kind: Kind::Table(found) })
}

fn value(lines: &Lines, at: usize, found: &DeValue<'_>, key: &Key) -> Result<Node, Problem> {
    let place = lines.place(at);
    let refuse = |what: &str| Err(Problem::of_key(Some(place.clone()), key.to_string(), what));
    let scalar = match found {
        DeValue::Table(inner) => return table(lines, at, inner, key),
        DeValue::Array(inner) => {
            let list = inner.iter().enumerate().map(|(index, element)| {
                value(lines, element.span().start, element.get_ref(), &key.then(Part::Index(index)))
            });
            return Ok(Node { place, kind: Kind::List(list.collect::<Result<_, _>>()?) });
        }
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(number) => Value::Number(number.into()),
            Err(_) => match u64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => Value::Number(number.into()),
                Err(_) => return refuse("the number is too large"),
            },
        },
        DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
            Some(number) => Value::Number(number),
            None => return refuse(&format!("{} is not a finite number", float.as_str())),
        },
        DeValue::Datetime(_) => return refuse("a date or time is a value that no key has"),
    };
    Ok(Node { place, kind: Kind::Scalar(scalar) })
}
