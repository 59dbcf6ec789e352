//! The machine a figure was measured on, and how much memory this process ever held.

use serde::Serialize;

/// What a figure depends on besides the program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_mib: u64,
    /// Work that other processes had when the bench began; figures of a busy machine are worth little.
    pub(crate) load: f64,
    /// Whether this program is built with debug assertions, as `cargo build` builds it.
    pub(crate) is_dev_build: bool,
}

impl Machine {
    pub(crate) fn look() -> Self {
        let processors = read("/proc/cpuinfo");
        let processor = value_of(&processors, "model name").unwrap_or("unknown").trim_start_matches([':', ' ', '\t']);
        let load = read("/proc/loadavg");
        Self {
            processor: processor.to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_mib: kibibytes(&read("/proc/meminfo"), "MemTotal:") / 1024,
            load: load.split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default(),
            is_dev_build: cfg!(debug_assertions),
        }
    }

    pub(crate) fn sentence(&self) -> String {
        let build = if self.is_dev_build { "dev" } else { "release" };
        let Self { processor, cores, memory_mib, load, .. } = self;
        format!("{processor}, {cores} cores, {memory_mib} MiB, load {load:.2} at the start, {build} build")
    }
}

/// The most memory that this process ever held, in millions of bytes.
pub(super) fn peak_megabytes() -> f64 {
    let kibibytes = u32::try_from(kibibytes(&read("/proc/self/status"), "VmHWM:")).unwrap_or(u32::MAX);
    f64::from(kibibytes) * 1024.0 / 1e6
}

/// The memory that this process holds now, in millions of bytes. What it held before is forgotten: from now on
/// [`peak_megabytes`] answers the most that it holds from now on, where the system can forget.
pub(super) fn megabytes_from_now() -> f64 {
    // By this number the system sets the mark back to what is held now.
    let _unable = std::fs::write("/proc/self/clear_refs", "5");
    let kibibytes = u32::try_from(kibibytes(&read("/proc/self/status"), "VmRSS:")).unwrap_or(u32::MAX);
    f64::from(kibibytes) * 1024.0 / 1e6
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn kibibytes(text: &str, name: &str) -> u64 {
    value_of(text, name).and_then(|value| value.split(' ').next()?.parse().ok()).unwrap_or_default()
}
