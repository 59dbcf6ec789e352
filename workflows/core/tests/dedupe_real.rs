//! The floors on real data, in one setting, the defaults. `DREAM_DATA` names the folder; without it nothing is measured.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its data should fail loudly")]
#![expect(clippy::disallowed_methods, reason = "real data is read from the folder that DREAM_DATA names")]
#![expect(clippy::print_stdout, reason = "the measured figures, and why a test was skipped")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dream_core::realm::graph::dedupe::eval::{EvalReport, LabelledRecord, evaluate};
use dream_core::realm::graph::dedupe::{
    DedupePlan, DedupePlanner, DedupeSettings, EmbeddingState, EntityInput, KeptApartReason, Score, Veto,
};
use serde_json::Value;
use uuid::Uuid;

/// The folder of the real data, or a line that says why nothing is measured.
fn data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DREAM_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("{test}: skipped, DREAM_DATA is not set");
    }
    folder
}

/// One record of a real set.
struct Record {
    id: Uuid,
    name: String,
    entity_type: String,
    mentions: i64,
    created_at: String,
    chunks: Vec<Uuid>,
    attributes: Vec<(String, String)>,
    label: String,
}

/// A real set, as it is fed.
#[derive(Default)]
struct Set {
    records: Vec<Record>,
    edges: Vec<(Uuid, Uuid, String)>,
    vectors: BTreeMap<Uuid, Vec<f32>>,
}

impl Set {
    fn plan(&self) -> DedupePlan {
        let mut planner = DedupePlanner::new(DedupeSettings::default());
        // Times are only compared, so their order stands for them.
        let mut times: Vec<&str> = self.records.iter().map(|record| record.created_at.as_str()).collect();
        times.sort_unstable();
        for record in &self.records {
            let attributes: Vec<(&str, &str)> =
                record.attributes.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let vector = self.vectors.get(&record.id);
            planner.feed_entity(&EntityInput {
                id: record.id,
                name: &record.name,
                entity_type: &record.entity_type,
                mention_count: record.mentions,
                created_at_us: i64::try_from(times.partition_point(|time| *time < record.created_at.as_str())).unwrap(),
                embedding: vector.map_or(EmbeddingState::Absent, |vector| EmbeddingState::Present {
                    model: "one",
                    dimension: u32::try_from(vector.len()).unwrap(),
                }),
                attributes: &attributes,
                source_chunk_ids: &record.chunks,
                in_scope: true,
                verdict_key: None,
            });
        }
        for (source, target, relationship_type) in &self.edges {
            planner.feed_edge(*source, *target, relationship_type);
        }
        let mut scorer = planner.propose().unwrap();
        for id in scorer.need_vectors().to_vec() {
            scorer.feed_vector(id, &self.vectors[&id]);
        }
        scorer.finish()
    }

    fn measure(&self, name: &str) -> (DedupePlan, EvalReport) {
        let plan = self.plan();
        let records: Vec<LabelledRecord<'_>> = self
            .records
            .iter()
            .map(|record| LabelledRecord { id: record.id, name: &record.name, label: &record.label })
            .collect();
        let report = evaluate(&records, &plan);
        println!(
            "{name}: precision {:?}, recall {:?}, F1 {:?}, homographs kept apart {:?}, {} merges of {} records",
            report.precision(),
            report.recall(),
            report.f1(),
            report.homograph_split_rate(),
            report.merges,
            report.records,
        );
        (plan, report)
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn uuid(value: &Value, key: &str) -> Uuid {
    text(value, key).parse().unwrap()
}

fn companies(folder: &Path) -> Set {
    let truth = read(&folder.join("companies_dev_truth.tsv"));
    let labels: BTreeMap<&str, &str> = truth.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut set = Set::default();
    for line in read(&folder.join("companies_dev.jsonl")).lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        match value["kind"].as_str() {
            Some("entity") => set.records.push(Record {
                id: uuid(&value, "id"),
                name: text(&value, "name"),
                entity_type: text(&value, "entity_type"),
                mentions: value["mention_count"].as_i64().unwrap(),
                created_at: text(&value, "created_at"),
                chunks: value["source_chunk_ids"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| id.as_str().unwrap().parse().unwrap())
                    .collect(),
                attributes: Vec::new(),
                label: labels[text(&value, "id").as_str()].to_owned(),
            }),
            Some("relationship") => set.edges.push((
                uuid(&value, "source_entity_id"),
                uuid(&value, "target_entity_id"),
                text(&value, "relationship_type"),
            )),
            _ => {}
        }
    }
    let numbers = std::fs::read(folder.join("companies_dev_embeddings.f16")).unwrap();
    let rows = numbers.chunks_exact(384 * 2);
    for (record, row) in set.records.iter().zip(rows) {
        let vector = row.chunks_exact(2).map(|bytes| half::f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()).collect();
        set.vectors.insert(record.id, vector);
    }
    set
}

/// The fields of one CSV line; a quoted field may hold the separator and doubled quotes.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut().unwrap();
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                field.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            _ if letter == separator && !quoted => fields.push(String::new()),
            _ => field.push(letter),
        }
    }
    fields.into_iter().map(|field| field.trim().to_owned()).collect()
}

/// A record of a plain table, which has no context.
fn plain(number: usize, name: &str, entity_type: &str, label: &str) -> Record {
    Record {
        id: Uuid::from_u128(number as u128 + 1),
        name: name.to_owned(),
        entity_type: entity_type.to_owned(),
        mentions: 1,
        created_at: String::new(),
        chunks: Vec::new(),
        attributes: Vec::new(),
        label: label.to_owned(),
    }
}

fn with_attributes(mut record: Record, attributes: &[(&str, &str)]) -> Record {
    record.attributes = attributes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    record
}

fn table(path: &Path, separator: char, record: impl Fn(usize, &[String]) -> Record) -> Set {
    let lines = read(path);
    let rows = lines.lines().skip(1).enumerate();
    Set { records: rows.map(|(number, line)| record(number, &fields(line, separator))).collect(), ..Set::default() }
}

#[test]
fn companies_are_merged_precisely() {
    let Some(folder) = data("companies_dev") else { return };
    let (_, report) = companies(&folder).measure("companies_dev");
    assert!(report.reaches(Score(9_600), Score(2_000)), "{report:?}");
}

#[test]
fn the_same_companies_in_another_order_give_the_same_plan() {
    let Some(folder) = data("companies_dev in another order") else {
        return;
    };
    let mut set = companies(&folder);
    let plan = set.plan();
    set.records.reverse();
    set.edges.rotate_left(1_000);
    assert!(plan == set.plan());
}

#[test]
fn companies_are_merged_precisely_by_their_names_alone() {
    let Some(folder) = data("companies_dev without vectors and edges") else {
        return;
    };
    let set = Set { records: companies(&folder).records, ..Set::default() };
    let (_, report) = set.measure("companies_dev without vectors and edges");
    assert!(report.reaches(Score(9_500), Score(1_700)), "{report:?}");
}

#[test]
fn mentions_are_merged_by_name_and_type() {
    let Some(folder) = data("er_kg_bench") else { return };
    let set = table(&folder.join("er_kg_bench.csv"), ',', |number, row| plain(number, &row[1], &row[2], &row[4]));
    let (_, report) = set.measure("er_kg_bench");
    assert!(report.reaches(Score(8_500), Score(3_000)), "{report:?}");
}

#[test]
fn restaurants_are_measured() {
    let Some(folder) = data("restaurants") else { return };
    let set = table(&folder.join("restaurants.csv"), ',', |number, row| {
        with_attributes(
            plain(number, &row[0], "RESTAURANT", &row[4]),
            &[("address", &row[1]), ("city", &row[2]), ("cuisine", &row[3])],
        )
    });
    let (_, report) = set.measure("restaurants");
    assert!(report.precision().is_some());
}

#[test]
fn bibliographies_are_measured() {
    let Some(folder) = data("dblp_acm") else { return };
    let folder = folder.join("dblp_acm");
    let first = table(&folder.join("dblp.csv"), '%', paper);
    let count = first.records.len();
    let second = table(&folder.join("acm.csv"), '%', |number, row| paper(count + number, row));
    let mut set = Set { records: first.records.into_iter().chain(second.records).collect(), ..Set::default() };
    for line in read(&folder.join("gt.csv")).lines().skip(1) {
        let pair: Vec<usize> = line.split('%').map(|number| number.trim().parse().unwrap()).collect();
        set.records[count + pair[1]].label = set.records[pair[0]].label.clone();
    }
    let (_, report) = set.measure("dblp_acm");
    assert!(report.precision().is_some());
}

fn paper(number: usize, row: &[String]) -> Record {
    with_attributes(plain(number, &row[1], "PAPER", &number.to_string()), &[("authors", &row[2]), ("year", &row[4])])
}

/// The rows of one table of a plain SQL dump, as column and value.
fn dumped(dump: &str, table: &str) -> Vec<BTreeMap<String, String>> {
    let head = format!("COPY public.{table} (");
    let start = dump.find(&head).unwrap() + head.len();
    let (columns, rest) = dump[start..].split_once(") FROM stdin;\n").unwrap();
    let columns: Vec<&str> = columns.split(", ").collect();
    let rows = rest.lines().take_while(|line| *line != "\\.");
    let pairs = |line: &str| {
        columns.iter().map(|column| (*column).to_owned()).zip(line.split('\t').map(str::to_owned)).collect()
    };
    rows.map(pairs).collect()
}

fn khora(folder: &Path) -> Set {
    let dump = read(&folder.join("khora_store/postgres_k1000.sql"));
    let mut set = Set::default();
    for row in dumped(&dump, "entities") {
        let id: Uuid = row["id"].parse().unwrap();
        let metadata: Value = serde_json::from_str(&row["metadata"]).unwrap();
        let listed = |column: &str| {
            row[column].trim_matches(['{', '}', '[', ']']).split(',').map(str::to_owned).collect::<Vec<_>>()
        };
        set.vectors.insert(id, listed("embedding").iter().map(|number| number.parse().unwrap()).collect());
        set.records.push(Record {
            id,
            name: row["name"].clone(),
            entity_type: row["entity_type"].clone(),
            mentions: row["mention_count"].parse().unwrap(),
            created_at: row["created_at"].clone(),
            chunks: listed("source_chunk_ids").iter().filter_map(|id| id.parse().ok()).collect(),
            attributes: Vec::new(),
            label: metadata["dup_of"].as_str().map_or_else(|| id.to_string(), str::to_owned),
        });
    }
    for row in dumped(&dump, "relationships") {
        let end = |column: &str| row[column].parse().unwrap();
        set.edges.push((end("source_entity_id"), end("target_entity_id"), row["relationship_type"].clone()));
    }
    set
}

#[test]
fn of_the_planted_duplicates_all_merge_but_those_with_a_generation() {
    let Some(folder) = data("khora_store") else { return };
    let set = khora(&folder);
    let (plan, report) = set.measure("khora_store");
    assert_eq!(report.precision(), Some(Score::ONE));
    assert_eq!(plan.counts.entities_absorbed, 95);
    assert!(plan.collisions.is_empty());
    let merged: Vec<Uuid> =
        plan.merges.iter().flat_map(|merge| merge.absorb.iter().chain([&merge.keep])).copied().collect();
    let planted = set.records.iter().filter(|record| record.label != record.id.to_string());
    let left: Vec<&Record> = planted.filter(|record| !merged.contains(&record.id)).collect();
    assert_eq!(left.len(), 5);
    for record in left {
        let original: Uuid = record.label.parse().unwrap();
        let pair = (record.id.min(original), record.id.max(original));
        let kept = plan.kept_apart.iter().find(|kept| (kept.evidence.left, kept.evidence.right) == pair).unwrap();
        assert_eq!(
            (kept.reason, kept.evidence.vetoes.as_slice()),
            (KeptApartReason::Vetoed, &[Veto::GenerationalSuffix][..])
        );
    }
}
