//! What a server does, in numbers, for Prometheus.
//!
//! The loop adds to counters and histograms that are there from the start: it takes no memory and waits for nobody, but for the
//! moment in which a histogram is read. They are written out when somebody asks, on the asker's thread.

mod save;

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::boundary::LastNet;
use crate::saves::Status;
use crate::{LoginCounts, LoginRefusal, stages};
use save::Save;

/// A label and its value.
type Label = [(&'static str, &'static str); 1];

type Float = Gauge<f64, std::sync::atomic::AtomicU64>;
type Seconds = Counter<f64, std::sync::atomic::AtomicU64>;

/// Upper bounds of the histograms' buckets, in seconds: a step is to take at most 0.025 and is due each 0.05.
const SPANS: [f64; 15] = [1e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

/// Makes the histograms of a family.
#[derive(Clone, Copy, Debug)]
struct Spans;

impl MetricConstructor<Histogram> for Spans {
    fn new_metric(&self) -> Histogram {
        Histogram::new(SPANS)
    }
}

/// What the socket takes and gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) received: Flow,
    pub(crate) sent: Flow,
}

/// Datagrams one way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    datagrams: Counter,
    bytes: Counter,
}

impl Flow {
    pub(crate) fn count(&self, bytes: usize) {
        self.datagrams.inc();
        self.bytes.inc_by(bytes as u64);
    }
}

/// What became of logins, which keeps its own counts.
#[derive(Debug)]
struct Logins(Arc<LoginCounts>);

impl Collector for Logins {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let (name, help) = ("logins", "What became of logins");
        let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        let refused = LoginRefusal::ALL.map(|refusal| (refusal.name(), self.0.refused(refusal)));
        for (result, count) in [("accepted", self.0.accepted())].into_iter().chain(refused) {
            let labels = [("result", result)];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

/// What there is in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) pilot_ships: usize,
    pub(crate) npc_ships: usize,
    pub(crate) structures: usize,
    pub(crate) pilots: usize,
    pub(crate) squads: usize,
    pub(crate) wrecks: usize,
    pub(crate) wormholes: usize,
    pub(crate) incursions: usize,
}

/// What is looked at once a second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) census: Census,
    /// Connections, and those of them who play.
    pub(crate) connections: usize,
    pub(crate) players: usize,
    /// Speed of the world, in percent of the clock.
    pub(crate) pace: u8,
    /// The share of datagrams to clients that were not acknowledged.
    pub(crate) lost: f64,
    /// Orders that wait for the next step, and bytes that wait for clients to acknowledge them.
    pub(crate) orders: usize,
    pub(crate) unacknowledged: usize,
}

/// What a server does, in numbers.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    steps: Counter,
    step: Histogram,
    stages: Vec<Histogram>,
    slipped: Seconds,
    pace: Float,
    connections: Gauge,
    players: Gauge,
    pub(crate) traffic: Traffic,
    lost: Float,
    accepted: Counter,
    refused: Family<Label, Counter>,
    entities: Family<Label, Gauge>,
    queues: Family<Label, Gauge>,
    greetings: Family<Label, Counter>,
    faults: Counter,
    queries: Family<Label, Counter>,
    balances: Family<Label, Counter>,
    log_lost: Counter,
    save: Save,
}

impl Metrics {
    /// Numbers of a server with room for so many clients.
    pub(crate) fn new(max_clients: u16, logins: Arc<LoginCounts>, net: &LastNet) -> Self {
        let mut registry = Registry::with_prefix("keel");
        let step = Histogram::new(SPANS);
        let stages: Family<Label, Histogram, Spans> = Family::new_with_constructor(Spans);
        let each = stages::NAMES.map(|stage| stages.get_or_create_owned(&[("stage", stage)]));
        let metrics = Self {
            steps: Counter::default(),
            step: step.clone(),
            stages: each.into(),
            slipped: Seconds::default(),
            pace: Float::default(),
            connections: Gauge::default(),
            players: Gauge::default(),
            traffic: Traffic::default(),
            lost: Float::default(),
            accepted: Counter::default(),
            refused: Family::default(),
            entities: Family::default(),
            queues: Family::default(),
            greetings: Family::default(),
            faults: net.falls().clone(),
            queries: Family::default(),
            balances: Family::default(),
            log_lost: Counter::default(),
            save: Save::default(),
            registry: Registry::default(),
        };
        let m = &metrics;
        registry.register("steps", "Steps that were run", m.steps.clone());
        registry.register_with_unit("step", "What a whole step takes", Unit::Seconds, step);
        registry.register_with_unit("step_stage", "What the stages of a step take", Unit::Seconds, stages);
        let slipped = "Time by which the world has fallen behind the clock";
        registry.register_with_unit("slipped", slipped, Unit::Seconds, m.slipped.clone());
        registry.register("pace_ratio", "Speed of the world: 1 is that of the clock", m.pace.clone());
        registry.register("connections", "Connections, greeted or not", m.connections.clone());
        registry.register("players", "Pilots who play", m.players.clone());
        let most: Gauge = Gauge::default();
        most.set(max_clients.into());
        registry.register("max_players", "Pilots who can play at once", most);
        let (received, sent) = (&m.traffic.received, &m.traffic.sent);
        registry.register("received_datagrams", "Datagrams from the socket", received.datagrams.clone());
        registry.register("received_payload_bytes", "What was in them", received.bytes.clone());
        registry.register("sent_datagrams", "Datagrams to the socket", sent.datagrams.clone());
        registry.register("sent_payload_bytes", "What was in them", sent.bytes.clone());
        let lost = "The share of datagrams to clients of the last seconds that was not acknowledged";
        registry.register("lost_ratio", lost, m.lost.clone());
        registry.register("ops_accepted", "Orders of pilots that were accepted", m.accepted.clone());
        registry.register("ops_refused", "Orders of pilots that were refused, and why", m.refused.clone());
        registry.register("entities", "What there is in the world", m.entities.clone());
        registry.register("queue_depth", "What waits: orders for a step, bytes for acknowledgement", m.queues.clone());
        registry.register("greetings", "What became of connections that greeted", m.greetings.clone());
        let faults = "Faults of the server's own at what a client sent: each has cost that client its connection";
        registry.register("faults", faults, m.faults.clone());
        registry.register_collector(Box::new(Logins(logins)));
        registry.register("status_queries", "What became of queries for the status by UDP", m.queries.clone());
        registry.register("balance_files", "What became of the balance file each time it was read", m.balances.clone());
        registry.register("log_lines_lost", "Lines of the log that nobody took in time", m.log_lost.clone());
        registry.register_collector(Box::new(m.save.clone()));
        Self { registry, ..metrics }
    }

    /// All numbers as text, as Prometheus takes it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    /// Faults of the server's own at what clients sent: each has cost one client its connection.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.faults.get()
    }

    /// Tells of a save from now on, which is asked itself.
    pub(crate) fn watch_save(&self, status: Arc<Status>) {
        // A server has one.
        let _ = self.save.0.set(status);
    }

    /// Counts a greeting by what became of it.
    pub(crate) fn count_greeting(&self, result: &'static str) {
        self.greetings.get_or_create(&[("result", result)]).inc();
    }

    pub(crate) fn count_query(&self, result: &'static str) {
        self.queries.get_or_create(&[("result", result)]).inc();
    }

    /// Says how many lines of the log were lost since the start.
    pub fn see_log(&self, lost: u64) {
        self.log_lost.inc_by(lost.saturating_sub(self.log_lost.get()));
    }

    /// Counts a balance file by what became of it.
    pub(crate) fn count_balance(&self, result: &'static str) {
        self.balances.get_or_create(&[("result", result)]).inc();
    }

    pub(crate) fn count_accepted(&self) {
        self.accepted.inc();
    }

    /// Counts an op that was refused, by the kind of refusal.
    pub(crate) fn count_refused(&self, reason: &'static str) {
        self.refused.get_or_create(&[("reason", reason)]).inc();
    }

    /// Counts a step: what each of its stages took, and all of it.
    pub(crate) fn count_step(&self, stages: &[Duration], whole: Duration) {
        self.steps.inc();
        self.step.observe(whole.as_secs_f64());
        for (histogram, took) in self.stages.iter().zip(stages) {
            histogram.observe(took.as_secs_f64());
        }
    }

    /// Counts time by which the world has fallen behind.
    pub(crate) fn count_slip(&self, slipped: Duration) {
        self.slipped.inc_by(slipped.as_secs_f64());
    }

    pub(crate) fn see(&self, look: &Look) {
        self.pace.set(f64::from(look.pace) / 100.0);
        self.connections.set(look.connections as i64);
        self.players.set(look.players as i64);
        self.lost.set(look.lost);
        let census = &look.census;
        for (kind, count) in [
            ("pilot_ship", census.pilot_ships),
            ("npc_ship", census.npc_ships),
            ("structure", census.structures),
            ("pilot", census.pilots),
            ("squad", census.squads),
            ("wreck", census.wrecks),
            ("wormhole", census.wormholes),
            ("incursion", census.incursions),
        ] {
            self.entities.get_or_create(&[("kind", kind)]).set(count as i64);
        }
        for (queue, depth) in [("orders", look.orders), ("unacknowledged_bytes", look.unacknowledged)] {
            self.queues.get_or_create(&[("queue", queue)]).set(depth as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::SystemTime;

    use super::*;
    use crate::saves::Report;

    #[test]
    fn what_is_counted_is_told_under_its_name_and_what_has_no_source_is_not() {
        let metrics = Metrics::new(7, Arc::default(), &LastNet::default());
        metrics.count_step(&[Duration::from_micros(20); stages::NAMES.len()], Duration::from_millis(3));
        metrics.count_refused("no_such_map");
        metrics.faults.inc();
        metrics.traffic.sent.count(100);
        metrics.traffic.sent.count(11);
        metrics.see(&Look { pace: 62, players: 3, ..Look::default() });
        let text = metrics.text();
        for line in [
            "keel_steps_total 1",
            "keel_step_seconds_bucket{le=\"0.0025\"} 0",
            "keel_step_seconds_bucket{le=\"0.005\"} 1",
            "keel_step_stage_seconds_count{stage=\"movement\"} 1",
            "keel_step_stage_seconds_count{stage=\"sending\"} 1",
            "keel_ops_refused_total{reason=\"no_such_map\"} 1",
            "keel_faults_total 1",
            "keel_sent_payload_bytes_total 111",
            "keel_sent_datagrams_total 2",
            "keel_pace_ratio 0.62",
            "keel_players 3",
            "keel_max_players 7",
            "keel_entities{kind=\"wreck\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line:?} in\n{text}");
        }
        assert!(!metrics.text().contains("save"), "there is none");
    }

    /// Numbers of a save of which all is known.
    fn saved() -> Metrics {
        let metrics = Metrics::new(7, Arc::default(), &LastNet::default());
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        metrics.watch_save(Arc::new(Status::new(Report {
            saved_at: at(1_800_000_000),
            error: Some("full".to_owned()),
            outages: 1,
            failures: 9,
            rows: 1_200,
            bytes: 345_678,
            commits: 20,
            rows_written: 4_000,
            last_commit: Duration::from_micros(2_500),
            copies: 2,
            copied_at: at(1_700_000_000),
            copy_error: Some("full".to_owned()),
            fell_back: true,
            ..Report::default()
        })));
        metrics
    }

    #[test]
    fn a_save_is_told_in_numbers() {
        let text = saved().text();
        for line in [
            "keel_save_lag_seconds 0.0",
            "keel_save_failures_total 9",
            "keel_save_outages_total 1",
            "keel_save_commits_total 20",
            "keel_save_written_rows_total 4000",
            "keel_save_rows 1200.0",
            "keel_save_bytes 345678.0",
            "keel_save_last_commit_seconds 0.0025",
            "keel_save_last_commit_timestamp_seconds 1800000000.0",
            "keel_save_copies_total 2",
            "keel_save_copy_failing 1.0",
            "keel_save_last_copy_timestamp_seconds 1700000000.0",
            "keel_save_fell_back 1.0",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line:?} in\n{text}");
        }
    }

    #[test]
    fn what_has_been_counted_once_is_counted_again_without_taking_memory() {
        let metrics = Metrics::new(7, Arc::default(), &LastNet::default());
        let count = || {
            metrics.count_step(&[Duration::from_micros(9); stages::NAMES.len()], Duration::from_millis(1));
            metrics.count_accepted();
            metrics.count_refused("no_such_map");
            metrics.traffic.received.count(9);
            metrics.see(&Look::default());
        };
        count();
        let taken = allocation_counter::measure(|| (0..1000).for_each(|_| count()));
        assert_eq!(taken.count_total, 0);
    }

    /// Every metric's name, of a server that has all sources.
    fn names() -> BTreeSet<String> {
        let metrics = saved();
        metrics.count_step(&[Duration::ZERO; stages::NAMES.len()], Duration::ZERO);
        metrics.count_refused("no_such_map");
        metrics.count_greeting("joined");
        metrics.count_query("answered");
        metrics.count_balance("taken");
        metrics.see(&Look::default());
        let text = metrics.text();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.filter_map(|line| line.split(['{', ' ']).next()).map(str::to_owned).collect()
    }

    /// Whether all metrics of ours that expressions name are among those that there are; how many expressions there were.
    #[track_caller]
    fn check(expressions: &[String]) -> usize {
        let names = names();
        for expression in expressions {
            let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            for name in words.filter(|word| word.starts_with("keel_")) {
                assert!(names.contains(name), "{name} of {expression:?} is not among {names:?}");
            }
        }
        expressions.len()
    }

    fn shipped(name: &str) -> String {
        let path = format!("{}/../../assets/deploy/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    #[test]
    fn every_panel_of_the_board_shows_metrics_that_there_are() {
        let board: serde_json::Value = serde_json::from_str(&shipped("grafana.json")).unwrap();
        let mut expressions = Vec::new();
        for panel in board["panels"].as_array().unwrap() {
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{panel}");
            expressions.extend(targets.iter().map(|target| target["expr"].as_str().unwrap().to_owned()));
        }
        let variables = board["templating"]["list"].as_array().unwrap();
        expressions.extend(variables.iter().map(|variable| variable["query"].as_str().unwrap().to_owned()));
        assert!(check(&expressions) > 15);
        assert!(expressions.iter().all(|expression| expression.contains("keel_") || expression == "prometheus"));
    }

    #[test]
    fn every_alert_is_about_metrics_that_there_are() {
        let files = yaml_rust2::YamlLoader::load_from_str(&shipped("alerts.yml")).unwrap();
        let mut expressions = Vec::new();
        for group in files[0]["groups"].as_vec().unwrap() {
            for rule in group["rules"].as_vec().unwrap() {
                assert!(
                    rule["alert"].as_str().is_some() && rule["annotations"]["summary"].as_str().is_some(),
                    "{rule:?}"
                );
                expressions.push(rule["expr"].as_str().unwrap().to_owned());
            }
        }
        assert!(check(&expressions) > 5);
    }
}
