//! Why ops did not run, or not in full, in words, with what to do about it.

use dream_core::op::{OpKind, Reason};
use dream_core::report::plain::grouped;
use dream_core::report::words;
use dream_core::run::SkipReason;

/// One line for each reason and remedy, with the ops that they are about.
pub(crate) fn lines(skipped: &[SkipReason]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for skip in skipped {
        let count = skip.count.map(|count| format!(" ({})", grouped(count))).unwrap_or_default();
        let op = format!("{}{count}", skip.op_kind.title());
        let why = match remedy(skip) {
            Some(remedy) => format!("{}; {remedy}", words::reason(skip.reason)),
            None => words::reason(skip.reason).to_owned(),
        };
        match groups.iter_mut().find(|(known, _)| *known == why) {
            Some((_, ops)) => ops.push(op),
            None => groups.push((why, vec![op])),
        }
    }
    groups.into_iter().map(|(why, ops)| format!("{} {}: {why}", verb(&why), ops.join(", "))).collect()
}

/// Entities without vectors are decided all the same; everything else was left out.
fn verb(why: &str) -> &'static str {
    if why.starts_with(words::reason(Reason::MissingEntityEmbedding)) { "limited" } else { "skipped" }
}

/// What to do; nothing where there is nothing to do.
fn remedy(skip: &SkipReason) -> Option<String> {
    let remedy = match skip.reason {
        Reason::OpDisabledByConfig => return switch_of(skip.op_kind).map(|switch| format!("set {switch}=true")),
        Reason::OpRequiresExpertise => "name a file of them with --expertise",
        Reason::VectorsInLancedb => "keep vectors in PostgreSQL to have them used",
        Reason::MissingEntityEmbedding => "give them vectors to have more found",
        Reason::LivenessSuspicious => "look at the chunk tables, then pass --force-liveness if they are gone indeed",
        Reason::PlanCapReached => "run again when this plan is carried out",
        Reason::OutOfScope => "widen the scope to have them looked at",
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// The variable that switches an op on.
const fn switch_of(kind: OpKind) -> Option<&'static str> {
    match kind {
        OpKind::Reabsorb | OpKind::DedupeEntities => Some("KHORA_DREAM_DEDUPE_ENTITIES_ENABLED"),
        OpKind::CentroidRecompute => Some("KHORA_DREAM_CENTROID_RECOMPUTE_ENABLED"),
        OpKind::SourceChunkIdsGc => Some("KHORA_DREAM_SOURCE_CHUNK_IDS_GC_ENABLED"),
        OpKind::SchemaDriftReport
        | OpKind::OrphanReport
        | OpKind::SourceChunkIdsAudit
        | OpKind::MirrorRepair
        | OpKind::SpaceExpire
        | OpKind::SpaceStaleScratch
        | OpKind::SpaceDedupeExact
        | OpKind::SpaceMerge
        | OpKind::SpacePromote
        | OpKind::SpaceDigest
        | OpKind::SpaceProfile
        | OpKind::SpaceProposal
        | OpKind::SpaceContradiction => None,
    }
}

/// Every variable that switches ops on, for whoever wants all of them.
pub(crate) fn switches() -> Vec<&'static str> {
    let mut switches: Vec<&str> = OpKind::ALL.iter().filter_map(|kind| switch_of(*kind)).collect();
    switches.dedup();
    switches
}

#[cfg(test)]
mod tests {
    use dream_core::settings::Settings;

    use super::*;

    fn skip(op_kind: OpKind, reason: Reason, count: Option<u64>) -> SkipReason {
        SkipReason { op_kind, reason, count }
    }

    #[test]
    fn the_same_reason_is_said_once_with_what_to_do() {
        let lines = lines(&[
            skip(OpKind::SchemaDriftReport, Reason::OpRequiresExpertise, None),
            skip(OpKind::Reabsorb, Reason::OpDisabledByConfig, None),
            skip(OpKind::DedupeEntities, Reason::OpDisabledByConfig, None),
            skip(OpKind::SourceChunkIdsGc, Reason::OpDisabledByConfig, None),
            skip(OpKind::DedupeEntities, Reason::MissingEntityEmbedding, Some(1_204)),
        ]);
        assert_eq!(
            lines,
            [
                "skipped schema drift: it needs declared types (an expertise); name a file of them with --expertise",
                "skipped reabsorb, dedupe: switched off; set KHORA_DREAM_DEDUPE_ENTITIES_ENABLED=true",
                "skipped gc: switched off; set KHORA_DREAM_SOURCE_CHUNK_IDS_GC_ENABLED=true",
                "limited dedupe (1,204): entities without a vector were decided by their names alone; give them vectors to \
                 have more found",
            ]
        );
    }

    #[test]
    fn a_switch_that_is_named_switches_the_op_on() {
        for kind in OpKind::ALL {
            let Some(switch) = switch_of(*kind) else { continue };
            let mut settings = Settings::default();
            assert!(!settings.is_on(*kind));
            settings.set(&switch.strip_prefix("KHORA_DREAM_").unwrap().to_lowercase(), "true").unwrap();
            assert!(settings.is_on(*kind), "{switch}");
        }
    }
}
