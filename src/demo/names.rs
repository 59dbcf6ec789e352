//! The names of the sample.

const FIRST: [&str; 18] = [
    "Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farouk", "Greta", "Hiroshi", "Inés", "Jonas", "Katya", "Luca",
    "Mei", "Noor", "Oskar", "Priya", "Quentin", "Rosa",
];

const LAST: [&str; 13] = [
    "Adeyemi",
    "Bergström",
    "Castellano",
    "Dubois",
    "Eriksen",
    "Fontaine",
    "Grünwald",
    "Hashimoto",
    "Ivanova",
    "Jankowski",
    "Kowalczyk",
    "Lindqvist",
    "Moreau",
];

/// Two hundred people with names of their own.
pub(super) fn people() -> Vec<String> {
    let pairs = (0..FIRST.len() * LAST.len()).map(|at| (FIRST[at % FIRST.len()], LAST[at % LAST.len()]));
    pairs.take(200).map(|(first, last)| format!("{first} {last}")).collect()
}

/// Employers.
pub(super) fn organizations() -> &'static [&'static str] {
    &[
        "Harbour Freight Analytics",
        "Lumen Tidal Power",
        "Quarry & Vine",
        "Redwood Signal",
        "Saffron Logistics",
        "Tern Robotics",
        "Umbra Games",
        "Verdigris Metals",
        "Willow Clinics",
        "Yonder Maps",
        "Zephyr Rail",
        "Granite Ledger",
    ]
}

/// What people work on.
pub(super) fn projects() -> &'static [&'static str] {
    &[
        "Atlas migration",
        "Beacon search",
        "Cobalt checkout",
        "Drift telemetry",
        "Ember onboarding",
        "Fjord archive",
        "Glacier backups",
        "Heron routing",
        "Indigo billing",
        "Juniper mobile",
        "Kestrel alerts",
        "Lagoon reporting",
        "Meridian sync",
        "Nimbus rollout",
        "Orchard imports",
    ]
}

/// One thing each, under several spellings. The first is the most mentioned.
pub(super) const VARIANTS: &[(&str, &[&str])] = &[
    ("ORGANIZATION", &["OpenAI", "Open AI"]),
    ("ORGANIZATION", &["Acme Robotics GmbH", "ACME Robotics"]),
    ("ORGANIZATION", &["Société Générale", "Societe Generale"]),
    ("ORGANIZATION", &["Blue Heron Partners Ltd", "Blue Heron Partners", "BlueHeron Partners"]),
    ("ORGANIZATION", &["Norddeutsche Energie AG", "Norddeutsche Energie"]),
    ("PRODUCT", &["PostgreSQL", "Postgre SQL"]),
    ("PRODUCT", &["TensorFlow", "Tensorflow"]),
    ("PRODUCT", &["Kubernetes", "kubernetes"]),
    ("PERSON", &["Łukasz Nowakowski", "Lukasz Nowakowski"]),
    ("PERSON", &["Anne-Sophie Keller", "Anne Sophie Keller"]),
    ("CONCEPT", &["retrieval-augmented generation", "Retrieval Augmented Generation"]),
    ("CONCEPT", &["zero-trust network", "Zero Trust Network"]),
];

/// Different things whose names look or fold alike.
pub(super) const STRANGERS: &[(&str, &str)] = &[
    ("ORGANIZATION", "Apple"),
    ("FOOD", "Apple"),
    ("PRODUCT", "ASR1603"),
    ("PRODUCT", "ASR1605"),
    ("EVENT", "FIFA World Cup 2018"),
    ("EVENT", "FIFA World Cup 2022"),
    ("PERSON", "Martin Keller"),
    ("PERSON", "Martin Keller Jr."),
    ("PRODUCT", "libtransit v1.2.3"),
    ("PRODUCT", "libtransit v1.2.4"),
    ("ORGANIZATION", "北京 University"),
    ("ORGANIZATION", "上海 University"),
    ("CONCEPT", "C"),
    ("CONCEPT", "C++"),
    ("CONCEPT", "C#"),
];

/// Types that crept in beside the declared ones.
pub(super) const DRIFTED: &[(&str, &str)] = &[
    ("organisation", "Tidewater Shipping"),
    ("Org", "Pinecone Outfitters"),
    ("company", "Larkspur Dairy"),
    ("Person/Employee", "Simone Achterberg"),
];
