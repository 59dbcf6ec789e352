//! Legal forms of companies, and the countries whose law knows them.
//!
//! The form itself says nothing about whose name it is, but two forms with no country in common are two companies.
//! The list is general; none of it is taken from a data set.
//!
//! **Invariant:** [`FORMS`] is sorted by the folded word, so that a lookup is a binary search; a test says so.

/// Countries whose law knows a legal form, as a set of bits: two forms with no country in common are two companies.
pub(super) type Countries = u32;

const US: Countries = 1;
const GB: Countries = 1 << 1;
const CA: Countries = 1 << 2;
const IN: Countries = 1 << 27;
const ZA: Countries = 1 << 28;
/// Other countries that register companies in English: Ireland, New Zealand, Nigeria and so on.
const EN: Countries = 1 << 29;
/// East Asian countries whose companies carry English forms abroad.
const ASIA: Countries = 1 << 3;
const DE: Countries = 1 << 4;
const FR: Countries = 1 << 5;
const ES: Countries = 1 << 6;
const IT: Countries = 1 << 7;
const NL: Countries = 1 << 8;
const SE: Countries = 1 << 9;
const FI: Countries = 1 << 10;
const NO: Countries = 1 << 11;
const DK: Countries = 1 << 12;
const CZ: Countries = 1 << 13;
const PL: Countries = 1 << 14;
const HU: Countries = 1 << 15;
const RO: Countries = 1 << 16;
const BALTIC: Countries = 1 << 17;
const BALKAN: Countries = 1 << 18;
const RU: Countries = 1 << 19;
const JP: Countries = 1 << 20;
const MY: Countries = 1 << 21;
const ID: Countries = 1 << 22;
const TR: Countries = 1 << 23;
const PT: Countries = 1 << 24;
const AU: Countries = 1 << 25;
const LATIN: Countries = 1 << 26;
/// Every country: a word that is a form in some languages and says nothing about which.
const ANY: Countries = u32::MAX;
/// Where "Company" and "Limited" are everyday forms.
const ENGLISH: Countries = US | GB | CA | IN | ZA | EN | AU | ASIA | JP | MY;

/// Legal forms and the countries that know them.
const FORMS: &[(&str, Countries)] = &[
    ("ab", SE | FI | BALTIC),
    ("ad", BALKAN),
    ("ag", DE),
    ("aktiebolag", SE | FI),
    ("aktiengesellschaft", DE),
    ("aktieselskab", DK),
    ("ao", RU),
    ("aps", DK),
    ("as", NO | DK | CZ | BALTIC | TR),
    ("asa", NO),
    ("berhad", MY),
    ("bhd", MY),
    ("bt", HU),
    ("bv", NL),
    ("bvba", NL),
    ("cjsc", RU),
    ("co", ENGLISH | DE | DK),
    ("comp", ENGLISH),
    ("company", ENGLISH),
    ("corp", US | CA | ASIA | JP),
    ("corporation", US | CA | ASIA | JP),
    ("cv", NL | LATIN),
    ("dd", BALKAN),
    ("doo", BALKAN),
    ("ead", BALKAN),
    ("eg", DE),
    ("ehf", NO),
    ("eirl", LATIN),
    ("ek", DE),
    ("eood", BALKAN),
    ("ev", DE),
    ("gaisha", JP),
    ("gesellschaft", DE),
    ("gesmbh", DE),
    ("gk", JP),
    ("gmbh", DE),
    ("hf", NO),
    ("inc", US | CA | ASIA | JP),
    ("incorporated", US | CA | ASIA | JP),
    ("jsc", RU | BALTIC | ASIA),
    ("kabushiki", JP),
    ("kaisha", JP),
    ("kd", BALKAN),
    ("kft", HU),
    ("kg", DE),
    ("kgaa", DE),
    ("kk", JP),
    ("ks", CZ | NO | DK),
    ("limitada", PT | LATIN),
    ("limited", ENGLISH),
    ("llc", US | RU | ASIA),
    ("llp", US | GB | CA | IN | EN),
    ("lp", US | GB | CA),
    ("ltd", ENGLISH),
    ("ltda", PT | LATIN),
    ("mbh", DE),
    ("na", US),
    ("nv", NL),
    ("nyrt", HU),
    ("oao", RU),
    ("ohg", DE),
    ("ojsc", RU),
    ("ood", BALKAN),
    ("ooo", RU),
    ("osakeyhtio", FI),
    ("ou", BALTIC),
    ("oy", FI),
    ("oyj", FI),
    ("pao", RU),
    ("pc", US),
    ("persero", ID),
    ("pjsc", RU | ASIA),
    ("plc", GB | EN),
    ("pllc", US),
    ("private", IN | EN | ASIA),
    ("pt", ID),
    ("pte", ASIA),
    ("pty", AU | ZA),
    ("pvt", IN | ASIA),
    ("rt", HU),
    ("sa", FR | ES | PT | LATIN | PL | RO),
    ("sab", LATIN),
    ("sae", ASIA),
    ("saog", ASIA),
    ("sapa", IT),
    ("sapi", LATIN),
    ("sarl", FR),
    ("sas", FR | LATIN | IT),
    ("sasu", FR),
    ("sau", ES),
    ("sc", FR | LATIN),
    ("sca", FR),
    ("scpa", IT),
    ("sdn", MY),
    ("se", ANY),
    ("sgps", PT),
    ("sia", BALTIC),
    ("sl", ES),
    ("slu", ES),
    ("snc", FR | IT),
    ("spa", IT | LATIN),
    ("spol", CZ),
    ("spolka", PL),
    ("spzoo", PL),
    ("srl", IT | RO | LATIN | ES),
    ("sro", CZ),
    ("sti", TR),
    ("tbk", ID),
    ("too", RU),
    ("uab", BALTIC),
    ("ug", DE),
    ("ulc", CA),
    ("vof", NL),
    ("vos", CZ),
    ("yk", JP),
    ("zao", RU),
    ("zoo", PL),
    ("zrt", HU),
    ("ад", BALKAN),
    ("ао", RU),
    ("зао", RU),
    ("оао", RU),
    ("ооо", RU),
    ("пао", RU),
    ("тов", RU),
];

/// Forms that also stand in front of a name: "AS Eesti Gaas", "PT Astra", "ООО Газпром".
const LEADING: &[&str] =
    &["ab", "as", "oao", "ooo", "ou", "oy", "pao", "pt", "sia", "uab", "zao", "ао", "ооо", "оао", "пао", "тов", "зао"];

/// Legal forms that are written without a space before or after the name, longest first where one contains another.
pub(super) const GLUED: &[(&str, Countries)] = &[
    ("股份有限公司", ASIA),
    ("有限责任公司", ASIA),
    ("有限責任公司", ASIA),
    ("株式会社", JP),
    ("株式會社", JP),
    ("有限会社", JP),
    ("合同会社", JP),
    ("有限公司", ASIA),
    ("주식회사", ASIA),
];

/// The countries of a legal form; `None` for any other word.
pub(super) fn form(word: &str) -> Option<Countries> {
    FORMS.binary_search_by_key(&word, |(key, _)| key).ok().map(|at| FORMS[at].1)
}

/// Whether a form is also an everyday word, which small letters make of it.
pub(super) fn is_everyday_word(word: &str) -> bool {
    matches!(word, "ad" | "as" | "eg" | "ev" | "na" | "sia" | "spa" | "too")
}

/// Whether a legal form also stands in front of names.
pub(super) fn is_leading(word: &str) -> bool {
    LEADING.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_holds_a_form_once() {
        assert!(FORMS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn every_leading_form_is_a_form() {
        assert!(LEADING.iter().all(|word| form(word).is_some()));
    }
}
