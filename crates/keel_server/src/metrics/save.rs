//! What there is to tell of the save, read when somebody asks.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

use crate::saves::Status;

/// How the save is, once there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Save(pub(super) Arc<OnceLock<Arc<Status>>>);

impl Collector for Save {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(status) = self.0.get() else { return Ok(()) };
        let (report, mut tell) = (status.report(), Teller(encoder));
        tell.seconds("save_lag", "The age of the last change that is not saved", report.lag.as_secs_f64())?;
        tell.count("save_failures", "Saves that did not come about", report.failures)?;
        tell.count("save_outages", "Times that saving began to fail", report.outages)?;
        tell.count("save_commits", "Cuts of the world that were saved", report.commits)?;
        tell.count("save_written_rows", "Rows that these wrote or removed", report.rows_written)?;
        tell.number("save_rows", "Rows of the save", report.rows as f64)?;
        tell.gauge("save", "Bytes of the save, with its log", &Unit::Bytes, report.bytes as f64)?;
        let took = report.last_commit.as_secs_f64();
        tell.seconds("save_last_commit", "How long the last commit took until it was on disk", took)?;
        tell.moment("save_last_commit_timestamp", "When the save was last written", report.saved_at)?;
        tell.count("save_copies", "Copies of the save that were kept", report.copies)?;
        let is_failing = report.copy_error.is_some();
        tell.number("save_copy_failing", "Whether the last copy of the save could not be kept", is_failing.into())?;
        tell.moment("save_last_copy_timestamp", "When the newest copy of the save was kept", report.copied_at)?;
        let help = "Whether the save was broken at the start, and a copy took its place";
        tell.number("save_fell_back", help, report.fell_back.into())
    }
}

struct Teller<'a>(DescriptorEncoder<'a>);

impl Teller<'_> {
    fn count(&mut self, name: &str, help: &str, count: u64) -> fmt::Result {
        ConstCounter::new(count).encode(self.0.encode_descriptor(name, help, None, MetricType::Counter)?)
    }

    fn number(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        ConstGauge::new(value).encode(self.0.encode_descriptor(name, help, None, MetricType::Gauge)?)
    }

    fn gauge(&mut self, name: &str, help: &str, unit: &Unit, value: f64) -> fmt::Result {
        ConstGauge::new(value).encode(self.0.encode_descriptor(name, help, Some(unit), MetricType::Gauge)?)
    }

    fn seconds(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.gauge(name, help, &Unit::Seconds, value)
    }

    /// A time of the wall's clock; nothing where there has been none.
    fn moment(&mut self, name: &str, help: &str, at: Option<SystemTime>) -> fmt::Result {
        let Some(since) = at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()) else { return Ok(()) };
        self.seconds(name, help, since.as_secs_f64())
    }
}
