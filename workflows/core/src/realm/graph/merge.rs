//! Merging entities: what a survivor takes over, and by which rule.
//!
//! | of the absorbed | the survivor |
//! |---|---|
//! | mention counts | are summed |
//! | source ids | united; over Khora's caps the newest of each member are kept, in turn |
//! | description | is taken if the survivor has none |
//! | attributes | are added; where both have a key the survivor's value stays, and the other goes to `metadata.attribute_alternatives` |
//! | name | goes to `metadata.aliases` and to a table of ours |
//! | confidence | the greatest |
//! | edges | see [`super::edges`] |
//!
//! The absorbed rows keep all they had and are retired by `valid_until`, so that "what did we believe on day X" still has
//! an answer.
//!
//! **Invariant:** the sum of the mention counts of live entities is the same before and after.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use uuid::Uuid;

use crate::apply::{Applied, Context, EffectNumbers};
use crate::change::{Column, Row, RowKey, Table, Value};
use crate::clock::Moment;
use crate::id::OpId;
use crate::realm::graph::edges::{self, SOURCE_CHUNK_IDS_MAX, SOURCE_DOCUMENT_IDS_MAX};
use crate::rows::{Editor, Needs, NotLoaded, Rows};
use crate::verdict::{NamePair, Ruling, Verdict, every_pair, row_name_key};

/// Aliases that `metadata` of one survivor lists. Beyond it a name is still found in our own table, and recall, which loads
/// metadata with every hit, does not grow without end.
pub const METADATA_ALIASES_MAX: usize = 200;

/// Alternative values that `metadata` keeps for one attribute, for the same reason.
pub const ATTRIBUTE_ALTERNATIVES_MAX: usize = 20;

/// What a merge has to see. The second round, once edges are there, asks for the edges they will be parallel to.
pub fn needs(rows: &Rows, keep: Uuid, absorb: &[Uuid], needs: &mut Needs) {
    needs.rows.insert(RowKey::entity(keep));
    for absorbed in absorb {
        needs.rows.insert(RowKey::entity(*absorbed));
        needs.rows.insert(RowKey { table: Table::Aliases, id: *absorbed });
        needs.edges_touching.insert(*absorbed);
    }
    let edges = rows.edges_at(Table::Relationships, absorb.iter().copied());
    needs.edges_between.extend(edges::ends_to_come(edges, keep, absorb));
}

/// Makes `keep` of itself and the `absorb` entities.
pub fn apply(
    editor: &mut Editor<'_>,
    context: &Context,
    op: OpId,
    keep: Uuid,
    absorb: &[Uuid],
) -> Result<Applied, NotLoaded> {
    let mentions = absorb.iter().map(|id| Ok(mention_count(entity(editor, *id)?))).collect::<Result<Vec<_>, _>>()?;
    let numbers = take_over(editor, context.now, op, keep, absorb, &mentions)?;
    let verdicts = same_as(editor, context, keep, absorb)?;
    Ok(Applied { numbers, verdicts })
}

/// The part that a merge and a re-absorption share: everything the survivor takes over, with `mentions` new ones each.
pub fn take_over(
    editor: &mut Editor<'_>,
    now: Moment,
    op: OpId,
    keep: Uuid,
    absorb: &[Uuid],
    mentions: &[i64],
) -> Result<EffectNumbers, NotLoaded> {
    let key = RowKey::entity(keep);
    let survivor = entity(editor, keep)?.clone();
    let mut members = absorb.iter().map(|id| entity(editor, *id).cloned()).collect::<Result<Vec<_>, _>>()?;
    members.sort_by_key(|row| (std::cmp::Reverse(mention_count(row)), row.get(Column::CreatedAt).time(), row.id));
    let members: Vec<&Row> = members.iter().collect();

    let mut numbers =
        EffectNumbers { absorbed: u32::try_from(members.len()).unwrap_or(u32::MAX), ..Default::default() };
    numbers.mentions_added = mentions.iter().sum();
    editor.set(key, Column::MentionCount, Value::Int(mention_count(&survivor) + numbers.mentions_added))?;
    unite_sources(editor, &survivor, &members, &mut numbers)?;
    fill_text(editor, key, Column::Description, &members)?;
    take_attributes(editor, &survivor, &members, &mut numbers)?;
    take_confidence(editor, &survivor, &members)?;
    editor.set(key, Column::UpdatedAt, Value::Time(now))?;
    numbers.edges = edges::follow(editor, keep, absorb, op, now)?;
    for member in members {
        remember_alias(editor, member, keep, op)?;
        if is_live(member, now) {
            editor.set(member.key(), Column::ValidUntil, Value::Time(now))?;
            editor.set(member.key(), Column::UpdatedAt, Value::Time(now))?;
        }
    }
    Ok(numbers)
}

/// The rulings on the survivor's name and each absorbed one.
fn same_as(editor: &Editor<'_>, context: &Context, keep: Uuid, absorb: &[Uuid]) -> Result<Vec<Verdict>, NotLoaded> {
    let survivor = row_name_key(&context.text_key, entity(editor, keep)?);
    let on =
        |id: &Uuid| Ok(Verdict::on(survivor, row_name_key(&context.text_key, entity(editor, *id)?), Ruling::SameAs));
    absorb.iter().map(on).collect()
}

/// Every pair of names among these entities, as far as they are there.
pub fn name_pairs(rows: &Rows, context: &Context, entities: impl IntoIterator<Item = Uuid>) -> BTreeSet<NamePair> {
    let rows = entities.into_iter().filter_map(|id| rows.entity(id));
    let keys: Vec<_> = rows.map(|row| row_name_key(&context.text_key, row)).collect();
    every_pair(&keys)
}

/// Mentions of an entity; a migrated store may hold null, which Khora reads as one.
pub fn mention_count(row: &Row) -> i64 {
    row.get(Column::MentionCount).int().unwrap_or(1)
}

/// Whether an entity is live at a moment.
pub fn is_live(row: &Row, now: Moment) -> bool {
    row.get(Column::ValidUntil).time().is_none_or(|until| until > now)
}

fn entity<'a>(editor: &'a Editor<'_>, id: Uuid) -> Result<&'a Row, NotLoaded> {
    editor.rows().entity(id).ok_or(NotLoaded(RowKey::entity(id)))
}

fn unite_sources(
    editor: &mut Editor<'_>,
    survivor: &Row,
    members: &[&Row],
    numbers: &mut EffectNumbers,
) -> Result<(), NotLoaded> {
    for (column, cap) in
        [(Column::SourceDocumentIds, SOURCE_DOCUMENT_IDS_MAX), (Column::SourceChunkIds, SOURCE_CHUNK_IDS_MAX)]
    {
        let others: Vec<&[Uuid]> = members.iter().map(|member| member.get(column).ids()).collect();
        let union = union_ids(survivor.get(column).ids(), &others, cap);
        numbers.sources_dropped += union.dropped;
        if union.changed {
            editor.set(survivor.key(), column, Value::Ids(union.ids))?;
        }
    }
    Ok(())
}

fn take_attributes(
    editor: &mut Editor<'_>,
    survivor: &Row,
    members: &[&Row],
    numbers: &mut EffectNumbers,
) -> Result<(), NotLoaded> {
    let mut attributes = survivor.get(Column::Attributes).clone();
    let mut alternatives: BTreeMap<String, Vec<Box<RawValue>>> = BTreeMap::new();
    for member in members {
        let union = union_objects(&attributes, member.get(Column::Attributes));
        if let Some(json) = union.changed {
            attributes = Value::Json(json);
        }
        for (name, value) in union.conflicts {
            alternatives.entry(name).or_default().push(value);
            numbers.attributes_conflicting += 1;
        }
    }
    editor.set(survivor.key(), Column::Attributes, attributes)?;
    let names: Vec<&str> = members.iter().filter_map(|member| member.get(Column::Name).text()).collect();
    let own_name = survivor.get(Column::Name).text().unwrap_or_default();
    if let Some(json) = annotate(survivor.get(Column::Metadata), own_name, &names, alternatives) {
        editor.set(survivor.key(), Column::Metadata, Value::Json(json))?;
    }
    Ok(())
}

fn take_confidence(editor: &mut Editor<'_>, survivor: &Row, members: &[&Row]) -> Result<(), NotLoaded> {
    let number = |row: &Row| row.get(Column::Confidence).float().unwrap_or(1.0);
    let greatest = members.iter().map(|row| number(row)).fold(number(survivor), f64::max);
    if greatest > number(survivor) {
        editor.set(survivor.key(), Column::Confidence, Value::Float(greatest))?;
    }
    Ok(())
}

fn remember_alias(editor: &mut Editor<'_>, member: &Row, keep: Uuid, op: OpId) -> Result<(), NotLoaded> {
    let key = RowKey { table: Table::Aliases, id: member.id };
    let seen = Value::Int(mention_count(member));
    if editor.rows().get(key).is_some() {
        editor.set(key, Column::CanonicalId, Value::Id(keep))?;
        editor.set(key, Column::AbsorbedBy, Value::Id(op.0))?;
        return editor.set(key, Column::MentionCountSeen, seen);
    }
    let alias = Row::empty(Table::Aliases, member.id)
        .with(Column::Name, member.get(Column::Name).clone())
        .with(Column::EntityType, member.get(Column::EntityType).clone())
        .with(Column::CanonicalId, Value::Id(keep))
        .with(Column::MentionCountSeen, seen)
        .with(Column::AbsorbedBy, Value::Id(op.0));
    editor.create(alias);
    Ok(())
}

/// Fills an empty text from the first of the others that has one.
pub fn fill_text(editor: &mut Editor<'_>, key: RowKey, column: Column, others: &[&Row]) -> Result<(), NotLoaded> {
    let row = editor.rows().get(key).ok_or(NotLoaded(key))?;
    let is_filled = |row: &Row| row.get(column).text().is_some_and(|text| !text.trim().is_empty());
    if is_filled(row) {
        return Ok(());
    }
    match others.iter().find(|other| is_filled(other)) {
        Some(other) => editor.set(key, column, other.get(column).clone()),
        None => Ok(()),
    }
}

/// A union of id lists.
pub struct IdUnion {
    /// The survivor's ids in their order, then those of the others in theirs.
    pub ids: Vec<Uuid>,
    /// Whether this differs from the survivor's own list.
    pub changed: bool,
    /// Ids that found no room.
    pub dropped: u32,
}

/// Unites id lists under a cap.
///
/// Lists grow at their end, so the newest of a list are its last. Over the cap each member gives its newest in turn, the
/// survivor first, until the cap is reached; no member's recent sources are pushed out by another's long past. A list that
/// is over the cap already and gains nothing stays as it is.
pub fn union_ids(own: &[Uuid], others: &[&[Uuid]], cap: usize) -> IdUnion {
    let mut seen = BTreeSet::new();
    let ids: Vec<Uuid> =
        own.iter().chain(others.iter().copied().flatten()).copied().filter(|id| seen.insert(*id)).collect();
    let distinct_own = own.iter().collect::<BTreeSet<_>>().len();
    if ids.len() == distinct_own {
        return IdUnion { ids: own.to_vec(), changed: false, dropped: 0 };
    }
    if ids.len() <= cap {
        return IdUnion { ids, changed: true, dropped: 0 };
    }
    let mut chosen = BTreeSet::new();
    let mut tails: Vec<_> = std::iter::once(own).chain(others.iter().copied()).map(|list| list.iter().rev()).collect();
    while chosen.len() < cap {
        let mut gave = false;
        for tail in &mut tails {
            if chosen.len() < cap
                && let Some(id) = tail.find(|id| !chosen.contains(*id))
            {
                chosen.insert(*id);
                gave = true;
            }
        }
        if !gave {
            break;
        }
    }
    let dropped = u32::try_from(ids.len() - chosen.len()).unwrap_or(u32::MAX);
    let ids: Vec<Uuid> = ids.into_iter().filter(|id| chosen.contains(id)).collect();
    IdUnion { changed: ids != own, ids, dropped }
}

/// A union of JSON objects.
pub struct ObjectUnion {
    /// The united object, if it differs from the first.
    pub changed: Option<String>,
    /// Keys that both have with different values, with the second's value.
    pub conflicts: Vec<(String, Box<RawValue>)>,
}

type Object = BTreeMap<String, Box<RawValue>>;

/// Unites two JSON objects; where both have a key, the first's value stays. Numbers keep their spelling.
pub fn union_objects(own: &Value, other: &Value) -> ObjectUnion {
    let mut changed = false;
    let mut conflicts = Vec::new();
    let (Some(mut union), Some(other)) = (object(own), object(other)) else {
        return ObjectUnion { changed: None, conflicts };
    };
    for (name, value) in other {
        match union.get(&name) {
            None => {
                union.insert(name, value);
                changed = true;
            }
            Some(own) => {
                let json = |raw: &RawValue| Value::Json(raw.get().to_owned());
                if !json(own).same(&json(&value)) {
                    conflicts.push((name, value));
                }
            }
        }
    }
    ObjectUnion { changed: changed.then(|| spell(&union)), conflicts }
}

/// The object a column holds; empty for null, none for JSON of another shape, which only a stranger can have written and
/// which is left as it is.
fn object(value: &Value) -> Option<Object> {
    match value.text() {
        None => Some(Object::new()),
        Some(text) => serde_json::from_str(text).ok(),
    }
}

fn spell(object: &impl serde::Serialize) -> String {
    serde_json::to_string(object).unwrap_or_else(|_| unreachable!("a map of JSON texts is JSON"))
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| unreachable!("texts and JSON texts are JSON"))
}

/// The survivor's metadata with the names it absorbed and the attribute values it did not take; none if nothing is new.
fn annotate(
    metadata: &Value,
    own_name: &str,
    names: &[&str],
    alternatives: BTreeMap<String, Vec<Box<RawValue>>>,
) -> Option<String> {
    let mut object = object(metadata)?;
    let before = spell(&object);
    let mut aliases: Vec<String> =
        object.get("aliases").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for name in names {
        if *name != own_name && aliases.len() < METADATA_ALIASES_MAX && aliases.iter().all(|known| known != name) {
            aliases.push((*name).to_owned());
        }
    }
    if !aliases.is_empty() {
        object.insert("aliases".to_owned(), raw(&aliases));
    }
    if !alternatives.is_empty() {
        let mut known: BTreeMap<String, Vec<Box<RawValue>>> = object
            .get("attribute_alternatives")
            .and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default();
        for (name, values) in alternatives {
            let list = known.entry(name).or_default();
            for value in values {
                if list.len() < ATTRIBUTE_ALTERNATIVES_MAX && list.iter().all(|old| old.get() != value.get()) {
                    list.push(value);
                }
            }
        }
        object.insert("attribute_alternatives".to_owned(), raw(&known));
    }
    let after = spell(&object);
    (after != before).then_some(after)
}
