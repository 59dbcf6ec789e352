//! How a process is told to stop: SIGINT by a person at the terminal, SIGTERM by everything else.

use tokio::signal::unix::{SignalKind, signal};

/// Waits until this process is told to stop; answers by which signal.
pub(crate) async fn told_to_stop() -> std::io::Result<&'static str> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = interrupt.recv() => Ok("SIGINT"),
        _ = terminate.recv() => Ok("SIGTERM"),
    }
}
