//! The files in `contrib/` and the metrics of a daemon, checked with the real programs of Prometheus.

use crate::support::servers::Authority;
use crate::support::world::World;
use mfa_daemon::http::metrics::families::{
    ALL, BACKUP_BYTES, BACKUP_MADE, CHECKPOINT_AGE, OF_EMBEDDED, OF_POSTGRES,
};
use mfa_daemon::http::metrics::{Family, Kind};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for Prometheus to start and to scrape often enough for rates.
const WAIT: Duration = Duration::from_secs(60);
/// Words of a query that look like names of metrics.
const WORDS: &[&str] = &["and", "bool", "by", "ignoring", "offset", "on", "or", "unless", "without"];

fn contrib(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib").join(name)
}

/// The queries of the dashboard, with the name of their panel.
fn dashboard() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(contrib("grafana-dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            found.push((text(&panel["title"]), text(&target["expr"])));
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

/// The queries of the rules, with the name of their alert.
fn rules() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(contrib("prometheus-rules.yml")).unwrap();
    let rules: Value = serde_saphyr::from_str(&text).unwrap();
    let groups = rules["groups"].as_array().unwrap().iter();
    let rules = groups.flat_map(|group| group["rules"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found: Vec<_> = rules.map(|rule| (text(&rule["alert"]), text(&rule["expr"]))).collect();
    assert!(found.len() > 10, "{found:?}");
    found
}

/// A query without the text between two marks.
fn without(query: &str, open: char, close: char) -> String {
    let (mut left, mut inside) = (String::new(), false);
    for c in query.chars() {
        match (inside, c) {
            (false, c) if c == open => inside = true,
            (true, c) if c == close => inside = false,
            (false, c) => left.push(c),
            (true, _) => {}
        }
    }
    left
}

/// The names of metrics in a query: words that are no function, no keyword and no label.
fn metrics_of(query: &str) -> BTreeSet<String> {
    let mut text = without(&without(&without(query, '"', '"'), '{', '}'), '[', ']');
    for word in ["by", "without", "on", "ignoring"] {
        let parts: Vec<_> = text.split(&format!(" {word} (")).map(str::to_owned).collect();
        let rest = parts[1..].iter().map(|part| part.split_once(')').unwrap().1);
        text = [parts[0].as_str()].into_iter().chain(rest).collect::<Vec<_>>().join(" ");
    }
    let mut found = BTreeSet::new();
    let (mut rest, is_word) = (text.as_str(), |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
    while let Some(start) = rest.find(is_word) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if !is_number && !WORDS.contains(&word) && !after.trim_start().starts_with('(') {
            found.insert(word.to_owned());
        }
        rest = after;
    }
    found
}

/// The names of the values of a metric.
fn names(family: &Family) -> Vec<String> {
    match family.kind {
        Kind::Histogram => ["_bucket", "_sum", "_count"].map(|end| format!("{}{end}", family.name)).into(),
        Kind::Counter | Kind::Gauge => vec![family.name.to_owned()],
    }
}

#[test]
fn queries_are_taken_apart() {
    let query =
        "histogram_quantile(0.9, sum by (le, job) (rate(a_bucket{x=~\"y|z\"}[5m]))) > 2 * b unless c < 1";
    assert_eq!(metrics_of(query), ["a_bucket", "b", "c"].map(str::to_owned).into());
}

#[test]
fn dashboard_and_rules_name_existing_metrics_and_the_dashboard_all() {
    let exist: BTreeSet<_> = ALL.iter().flat_map(names).chain(["up".to_owned()]).collect();
    for (place, query) in dashboard().into_iter().chain(rules()) {
        let named = metrics_of(&query);
        assert!(!named.is_empty(), "{place}: {query}");
        let unknown: Vec<_> = named.difference(&exist).collect();
        assert!(unknown.is_empty(), "{place}: {unknown:?}");
    }
    let shown: BTreeSet<_> = dashboard().iter().flat_map(|(_, query)| metrics_of(query)).collect();
    let missing = ALL.iter().filter(|family| names(family).iter().all(|name| !shown.contains(name)));
    assert_eq!(missing.map(|family| family.name).collect::<Vec<_>>(), [""; 0]);
}

fn promtool(arguments: &[&str], input: &str) -> String {
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().unwrap_or_else(|error| panic!("promtool is needed for this test: {error}"));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    assert!(output.status.success(), "promtool {arguments:?}: {said}");
    said
}

#[test]
fn promtool_finds_nothing_wrong_with_the_page() {
    let world = World::start();
    world.get("/offices").is(200);
    let page = world.get("/metrics").is(200).text();
    assert_eq!(promtool(&["check", "metrics"], &page), "");
}

#[test]
fn promtool_takes_the_rules_and_they_fire_when_they_should() {
    let said = promtool(&["check", "rules", contrib("prometheus-rules.yml").to_str().unwrap()], "");
    assert!(said.contains(&format!("{} rules found", rules().len())), "{said}");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/contrib-rules.yml");
    promtool(&["test", "rules", cases.to_str().unwrap()], "");
    let cases = std::fs::read_to_string(cases).unwrap();
    for (alert, _) in rules() {
        assert!(cases.contains(&format!("alertname: {alert}\n")), "{alert} is not tried");
    }
}

/// A Prometheus of its own, which scrapes each daemon of a world once a second.
struct Prometheus {
    process: Child,
    url: String,
    _dir: tempfile::TempDir,
}

impl Prometheus {
    fn start(daemons: &[String]) -> Self {
        let config = std::fs::read_to_string(contrib("prometheus.yml")).unwrap();
        Self::with(&config, daemons)
    }

    /// With the lines for daemons with TLS, whose authority is in a file.
    fn over_tls(daemons: &[String], authority: &Path) -> Self {
        let config = std::fs::read_to_string(contrib("prometheus.yml")).unwrap();
        let config = ["scheme", "tls_config"].iter().fold(config, |config, name| {
            let (hidden, shown) = (format!("# {name}:"), format!("{name}:"));
            assert!(config.contains(&hidden));
            config.replace(&hidden, &shown)
        });
        Self::with(&config.replace("/etc/mfa/tls/authority.pem", authority.to_str().unwrap()), daemons)
    }

    fn with(config: &str, daemons: &[String]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let target = format!("\"{}\"", daemons.join("\", \""));
        let config = config.replace("\"127.0.0.1:6320\"", &target).replace("15s", "1s");
        assert!(config.contains(&target));
        std::fs::write(dir.path().join("prometheus.yml"), config).unwrap();
        std::fs::copy(contrib("prometheus-rules.yml"), dir.path().join("prometheus-rules.yml")).unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", dir.path().join("prometheus.yml").display()));
        command.arg(format!("--storage.tsdb.path={}", dir.path().join("data").display()));
        command.arg(format!("--web.listen-address={free}")).stdin(Stdio::null());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.unwrap_or_else(|error| panic!("prometheus is needed for this test: {error}"));
        Self { process, url: format!("http://{free}"), _dir: dir }
    }

    /// Queries its interface; nothing while it does not answer yet.
    fn ask(&self, world: &World, path: &str, query: &[(&str, &str)]) -> Option<Value> {
        let query: Vec<_> =
            query.iter().map(|(k, v)| format!("{k}={}", mfa_shared::endpoint::percent_encode(v))).collect();
        let request = world.http().get(format!("{}/api/v1/{path}?{}", self.url, query.join("&")));
        world.block_on(async { serde_json::from_slice(&request.send().await.ok()?.bytes().await.ok()?).ok() })
    }

    fn results(&self, world: &World, query: &str) -> Vec<Value> {
        let answer = self.ask(world, "query", &[("query", query)]).unwrap_or_default();
        answer["data"]["result"].as_array().cloned().unwrap_or_default()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_real_prometheus_scrapes_a_daemon_with_tls() {
    let dir = tempfile::tempdir().unwrap();
    let authority = Authority::new(dir.path());
    let own = authority.certificate("localhost", 2098);
    let world = World::guarded_with(|config| {
        config.metrics_public = true;
        (config.tls_cert, config.tls_key) = (Some(own.certificate.clone()), Some(own.key.clone()));
    });
    let address = world.url().replace("https://127.0.0.1", "localhost");
    let prometheus = Prometheus::over_tls(&[address], &authority.file());
    let since = Instant::now();
    while prometheus.results(&world, "up{job=\"mfa\"} == 1").is_empty() {
        assert!(since.elapsed() < WAIT, "nothing was scraped");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn a_real_prometheus_scrapes_a_daemon_and_every_panel_shows_something() {
    let world = World::guarded_with(|config| config.metrics_public = true);
    let address = world.url().replace("http://", "");
    let prometheus = Prometheus::start(std::slice::from_ref(&address));
    let since = Instant::now();
    let ask_for = format!("count_over_time(mfa_http_requests_total{{instance=\"{address}\"}}[1m]) >= 4");
    while prometheus.results(&world, &ask_for).is_empty() {
        assert!(since.elapsed() < WAIT, "nothing was scraped");
        // Something to show: a login, and an answer of each class that is easy to get.
        world
            .send(
                world
                    .request_at(0, "POST", "/token")
                    .header("content-type", "application/json")
                    .body(r#"{"grant_type":"password","username":"olga","password":"blue kettle 7"}"#),
            )
            .is(200);
        std::thread::sleep(Duration::from_millis(500));
    }
    assert_eq!(prometheus.results(&world, "up{job=\"mfa\"} == 1").len(), 1);
    let other = if world.config().store.postgres().is_some() { OF_EMBEDDED } else { OF_POSTGRES };
    // A young store has no checkpoint and no backup, and nothing fails here.
    let absent: BTreeSet<_> =
        other.iter().chain([&CHECKPOINT_AGE, &BACKUP_MADE, &BACKUP_BYTES]).flat_map(names).collect();
    for (panel, query) in dashboard() {
        let asked = query.replace("$instance", ".+").replace("$__rate_interval", "1m");
        let answer = prometheus.ask(&world, "query", &[("query", &asked)]).unwrap();
        assert_eq!(answer["status"], "success", "{panel}: {answer}");
        let expected = metrics_of(&query).is_disjoint(&absent);
        let found = !answer["data"]["result"].as_array().unwrap().is_empty();
        assert_eq!(found, expected, "{panel}: {asked}: {answer}");
    }
    let loaded = prometheus.ask(&world, "rules", &[]).unwrap();
    let loaded = loaded["data"]["groups"][0]["rules"].as_array().unwrap().clone();
    assert_eq!(loaded.len(), rules().len());
    for rule in loaded {
        assert!(rule["health"] != "err" && rule["state"] != "firing", "{rule}");
    }
}
