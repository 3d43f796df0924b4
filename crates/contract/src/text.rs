//! A schema as text: fields in the order of their struct, each on a line.

use serde_json::{json, Map, Value};

/// Keywords that say how Rust holds a value, not what the document may have.
const RUSTS_OWN: [&str; 1] = ["format"];

/// The text of the schema of the document `name`.
pub fn of(name: &str, schema: Value) -> String {
    let Value::Object(mut root) = plain(schema) else { return String::new() };
    root.insert("title".to_owned(), json!(name));
    let mut definitions = match root.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        _ => Map::new(),
    };
    close_together(&mut definitions);
    let mut parts = lines(&root, "  ");
    let inner: Vec<String> = definitions
        .iter()
        .filter_map(|(key, definition)| Some((key, definition.as_object()?)))
        .map(|(key, definition)| format!("    {}: {}", json!(key), block(definition, "    ")))
        .collect();
    parts.push(format!("  \"$defs\": {{\n{}\n  }}", inner.join(",\n")));
    format!("{{\n{}\n}}\n", parts.join(",\n"))
}

/// An object that is one of several (an untagged enum, flattened) beside fields of its own: what neither has is refused by the
/// whole, and not by the parts, each of which would refuse the fields of the other.
fn close_together(definitions: &mut Map<String, Value>) {
    let mut parts = Vec::new();
    for definition in definitions.values_mut().filter_map(Value::as_object_mut) {
        let Some(options) =
            definition.get("anyOf").and_then(Value::as_array).filter(|_| definition.contains_key("properties"))
        else {
            continue;
        };
        let targets = options.iter().filter_map(|option| option.get("$ref")?.as_str()?.strip_prefix("#/$defs/"));
        parts.extend(targets.map(ToOwned::to_owned));
        definition.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    for part in parts {
        definitions.get_mut(&part).and_then(Value::as_object_mut).and_then(|part| part.remove("additionalProperties"));
    }
}

fn block(object: &Map<String, Value>, indent: &str) -> String {
    format!("{{\n{}\n{indent}}}", lines(object, &format!("{indent}  ")).join(",\n"))
}

/// The keywords of one object; every property has a line of its own.
fn lines(object: &Map<String, Value>, indent: &str) -> Vec<String> {
    let empty = Map::new();
    let properties = object.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    // Under the contract of a writer every field is required, in the order of the struct.
    let order: Vec<&str> =
        object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let lacking = |key: &&str| properties.get(*key).is_none_or(|field| field.get("default").is_none());
    let required: Vec<&str> = order.iter().copied().filter(lacking).collect();
    let mut found = Vec::new();
    for key in ["$schema", "title", "description", "type"] {
        found.extend(object.get(key).map(|value| format!("{indent}\"{key}\": {value}")));
    }
    for (key, value) in object {
        if !["$schema", "title", "description", "type", "properties", "required"].contains(&key.as_str()) {
            found.push(format!("{indent}{}: {value}", json!(key)));
        }
    }
    if !properties.is_empty() {
        let rest = properties.keys().map(String::as_str).filter(|key| !order.contains(key));
        let fields: Vec<String> = order
            .iter()
            .copied()
            .chain(rest)
            .filter_map(|key| Some(format!("{indent}  {}: {}", json!(key), properties.get(key)?)))
            .collect();
        found.push(format!("{indent}\"properties\": {{\n{}\n{indent}}}", fields.join(",\n")));
        found.push(format!("{indent}\"required\": {}", json!(required)));
    }
    found
}

/// Without what is Rust's own, and with descriptions in the words of JSON.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(object) => object
            .into_iter()
            .filter(|(key, value)| !(RUSTS_OWN.contains(&key.as_str()) && value.is_string()))
            .map(|(key, value)| match value {
                Value::String(text) if key == "description" => (key, json!(words(&text))),
                value => (key, plain(value)),
            })
            .collect(),
        other => other,
    }
}

/// A doc comment in one line, its links as plain code, and absence as JSON says it.
fn words(comment: &str) -> String {
    let line = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = line.as_str();
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((code, behind)) = after.split_once("`]") else { break };
        text.push_str(before);
        text.push_str(&format!("`{}`", code.replace("::", ".")));
        rest = behind.strip_prefix('(').and_then(|target| target.split_once(')')).map_or(behind, |(_, behind)| behind);
    }
    text.push_str(rest);
    text.replace("`None`", "null").replace("`null`", "null")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_plain_words() {
        assert_eq!(
            words("See [`Event::kind`],\n[`x`](crate::x); `None` or `null`."),
            "See `Event.kind`, `x`; null or null."
        );
        assert_eq!(words("An index [`open"), "An index [`open");
    }

    #[test]
    fn fields_keep_their_order_and_older_documents_may_lack_some() {
        let schema = json!({
            "properties": {"a": {"type": "integer", "format": "uint64"}, "b": {"type": ["null"], "default": null}, "format": {"type": "string"}},
            "required": ["format", "b", "a"],
        });
        let made: Value = serde_json::from_str(&of("x", schema.clone())).unwrap();
        assert_eq!(made["required"], json!(["format", "a"]));
        assert_eq!(made["properties"]["a"], json!({"type": "integer"}));
        let text = of("x", schema);
        assert!(
            text.find("\"format\": {") < text.find("\"b\": {") && text.find("\"b\": {") < text.find("\"a\": {"),
            "{text}"
        );
    }

    #[test]
    fn one_of_several_beside_fields_of_its_own_is_closed_as_a_whole() {
        let schema = json!({"$defs": {
            "Flow": {"properties": {"kind": {}}, "anyOf": [{"$ref": "#/$defs/Tcp"}]},
            "Tcp": {"properties": {"bytes": {}}, "additionalProperties": false},
        }});
        let made: Value = serde_json::from_str(&of("x", schema)).unwrap();
        assert_eq!(made["$defs"]["Flow"]["unevaluatedProperties"], json!(false));
        assert_eq!(made["$defs"]["Tcp"].get("additionalProperties"), None);
    }
}
