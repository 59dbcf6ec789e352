//! Khora's own locks, taken as Khora takes them.
//!
//! Ingestion holds one lock per namespace while it writes entities and relationships; without it, a group and an ingesting
//! batch lock the same rows in different orders and deadlock. A dream of Khora's holds one keyed by whichever of the two ids of
//! the namespace it was given, so both are tried.

use blake2::Blake2b;
use blake2::digest::consts::U8;
use blake2::digest::{Digest as _, Output};
use dream_core::id::{NamespaceId, StableNamespaceId};
use dream_ports::StoreError;
use sqlx::Row as _;
use uuid::Uuid;

use crate::error::ResultExt;
use crate::tx::Tx;
use crate::{query, sql};

/// Waits for the lock of ingestion, and keeps it until the transaction ends.
pub(crate) async fn exclude_ingestion(tx: &mut Tx, namespace: NamespaceId) -> Result<(), StoreError> {
    let (high, low) = ingest_keys(namespace.0);
    query(sql!("locks/ingest")).bind(high).bind(low).execute(&mut **tx).await.doing("wait for ingestion")?;
    Ok(())
}

/// Tries for both locks of Khora's dreams; false if Khora dreams over this namespace.
pub(crate) async fn exclude_khoras_dreams(
    tx: &mut Tx,
    namespace: NamespaceId,
    stable: StableNamespaceId,
) -> Result<bool, StoreError> {
    const OPERATION: &str = "look whether Khora dreams";
    let mut keys = [dream_key(namespace.0), dream_key(stable.0)];
    keys.sort_unstable();
    let row = query(sql!("locks/dreams")).bind(keys[0]).bind(keys[1]).fetch_one(&mut **tx).await.doing(OPERATION)?;
    row.try_get("is_ours").doing(OPERATION)
}

/// Each half of the row id, folded to 32 bits.
fn ingest_keys(namespace: Uuid) -> (i32, i32) {
    let (high, low) = namespace.as_u64_pair();
    #[expect(clippy::cast_possible_truncation, reason = "folding is what Khora does")]
    let fold = |half: u64| ((half ^ (half >> 32)) as u32).cast_signed();
    (fold(high), fold(low))
}

/// `BLAKE2b` with 8 bytes over `khora.dream` and the id.
fn dream_key(id: Uuid) -> i64 {
    let digest: Output<Blake2b<U8>> =
        Blake2b::<U8>::new().chain_update(b"khora.dream").chain_update(id.as_bytes()).finalize();
    i64::from_be_bytes(digest.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_dreams_are_khoras() {
        for (id, key) in [
            ("00000000-0000-0000-0000-000000000000", 8_304_637_760_187_777_907),
            ("48140776-f36b-40e5-8e98-a60e4a594578", -5_504_846_028_104_013_185),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", 821_025_171_943_902_335),
        ] {
            assert_eq!(dream_key(id.parse().unwrap()), key, "{id}");
        }
    }

    #[test]
    fn the_keys_of_ingestion_fold_both_halves_of_the_id() {
        assert_eq!(ingest_keys(Uuid::nil()), (0, 0));
        let id: Uuid = "48140776-f36b-40e5-8e98-a60e4a594578".parse().unwrap();
        assert_eq!(ingest_keys(id), (-1_149_286_509, -993_926_282));
    }
}
