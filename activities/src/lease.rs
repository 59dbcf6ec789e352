//! Keeping a lease alive while an activity works.

use std::future::Future;
use std::time::Duration;

use dream_core::failure::Failure;
use dream_ports::Store;
use dream_ports::run::Fence;

use crate::failure::ResultExt;

/// How often a lease is renewed: a quarter of its term, so that three renewals may fail.
const RENEW_EVERY: Duration = Duration::from_secs(15);

/// Works while the lease is renewed beside; gives up at once when the lease is lost.
pub async fn while_renewing<T>(
    store: &dyn Store,
    fence: &Fence,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let renewing = async {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            match store.renew(fence).await {
                Ok(()) => {}
                // The next renewal may succeed; the term has room for it.
                Err(error) if error.is_transient() => {
                    tracing::warn!(run.id = %fence.run, "renewing the lease of run {} failed, trying again", fence.run);
                }
                Err(error) => return Err::<T, _>(error).or_fail(),
            }
        }
    };
    tokio::pin!(work);
    tokio::pin!(renewing);
    match futures::future::select(work, renewing).await {
        futures::future::Either::Left((done, _)) => done,
        futures::future::Either::Right((lost, _)) => lost,
    }
}
