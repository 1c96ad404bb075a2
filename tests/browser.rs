//! `GET /docs` in a headless Chromium, driven by ChromeDriver: every operation is listed, and one is sent with a
//! token, without a complaint in the console.

use crate::support::guarded::PASSWORD;
use crate::support::world::World;
use mfa_shared::api::rows;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

/// The driver looks for a port that is free and binds it afterwards: a test beside this one may be quicker.
const DRIVER_STARTS: u32 = 5;
const NEEDED: &str = "chromedriver and chromium are needed for this test";

/// A driver and its port, unless it has ended.
fn started() -> Option<(Child, String)> {
    let mut driver = Command::new("chromedriver");
    driver.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null());
    let mut driver = driver.spawn().unwrap_or_else(|error| panic!("{NEEDED}: {error}"));
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let port = line.unwrap().split_once("started successfully on port ")?.1.to_owned();
        Some(port.trim_end_matches('.').to_owned())
    });
    if port.is_none() {
        let _ = driver.kill();
        let _ = driver.wait();
    }
    port.map(|port| (driver, port))
}

/// A browser with one window.
struct Browser<'w> {
    world: &'w World,
    client: reqwest::Client,
    driver: Child,
    url: String,
    _profile: tempfile::TempDir,
}

impl<'w> Browser<'w> {
    fn open(world: &'w World) -> Self {
        let (driver, port) = (0..DRIVER_STARTS).find_map(|_| started()).expect(NEEDED);
        let url = format!("http://127.0.0.1:{port}/session");
        let profile = tempfile::tempdir().unwrap();
        let arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            format!("--user-data-dir={}", profile.path().display()),
        ]);
        let options = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }}});
        let mut browser = Self { world, client: reqwest::Client::new(), driver, url, _profile: profile };
        let session = browser.post("", &options);
        browser.url += &format!("/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.url)).body(body.to_string());
        let answer = async { request.send().await?.text().await };
        let answer: Value = serde_json::from_str(&self.world.block_on(answer).unwrap()).unwrap();
        assert!(answer["value"]["error"].is_null(), "{path}: {answer}");
        answer["value"].clone()
    }

    fn element(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }));
        found.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_owned()
    }

    fn click(&self, selector: &str) {
        self.post(&format!("/element/{}/click", self.element(selector)), &json!({}));
    }

    /// Types in place of what a field holds.
    fn enter(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.post(&format!("/element/{element}/clear"), &json!({}));
        self.post(&format!("/element/{element}/value"), &json!({ "text": text }));
    }

    fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": format!("return {script}"), "args": [] }))
    }

    fn wait_for(&self, script: &str) {
        let begun = Instant::now();
        while self.run(script) != json!(true) {
            assert!(begun.elapsed() < PATIENCE, "{script}: {}", self.run("document.body.innerText"));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Opens an operation.
    fn unfold(&self, operation: &str) {
        self.click(&format!("#{operation} summary"));
        self.wait_for(&format!("document.querySelector('#{operation} button') !== null"));
    }

    /// Sends an operation and returns the answer as it is shown.
    fn send(&self, operation: &str) -> String {
        self.click(&format!("#{operation} button"));
        self.wait_for(&format!("!document.querySelector('#{operation} button').disabled"));
        let shown = self.run(&format!("document.querySelector('#{operation} pre').textContent"));
        shown.as_str().unwrap().to_owned()
    }

    /// The messages in the console since the last look.
    fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().unwrap().iter();
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Browser<'_> {
    fn drop(&mut self) {
        let ended = self.client.delete(&self.url).send();
        let _ = self.world.block_on(ended);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

#[test]
fn an_operation_is_found_filled_in_and_sent_with_a_token() {
    let world = World::guarded();
    let olga = world.login("olga");
    let hostile = r#"<img src=x onerror="document.title='taken'">"#;
    let customer = json!({ "identifier": "c-1", "surname": hostile });
    olga.post("/customers", customer).is(202);
    let browser = Browser::open(&world);
    browser.post("/url", &json!({ "url": format!("{}/docs", world.url()) }));
    let listed = browser.run("[...document.querySelectorAll('details')].map((one) => one.id)");
    let mut listed: Vec<&str> = listed.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    let mut expected: Vec<_> = rows().map(|row| row.name).collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);

    // A token by the page itself.
    browser.unfold("CreateToken");
    let login = json!({ "grant_type": "password", "username": "olga", "password": PASSWORD });
    browser.enter("#CreateToken textarea", &login.to_string());
    let answer = browser.send("CreateToken");
    assert!(answer.starts_with("200 "), "{answer}");
    browser.wait_for("document.getElementById('token').value.startsWith('mfaa_')");

    browser.enter("#filter", "getcustomer /customers/{customer}");
    let visible = "[...document.querySelectorAll('details')].filter((one) => one.offsetParent).length";
    assert_eq!(browser.run(visible), json!(1));
    browser.unfold("GetCustomer");
    browser.enter("#GetCustomer input[name=customer]", "c-1");
    let answer = browser.send("GetCustomer");
    assert!(answer.starts_with("200 ") && answer.contains("\"surname\": \"<img src=x"), "{answer}");
    assert_eq!(browser.run("document.images.length"), json!(0));

    browser.enter("#filter", "CreateOffice");
    browser.unfold("CreateOffice");
    browser.enter("#CreateOffice textarea", r#"{"identifier":"wa","name":"Wa"}"#);
    browser.enter("#CreateOffice input[name=Dry-Run]", "true");
    assert!(browser.send("CreateOffice").starts_with("202 "));
    olga.get("/offices/wa").refused(404, "office_not_found");
    browser.enter("#CreateOffice input[name=Dry-Run]", "");
    assert!(browser.send("CreateOffice").starts_with("202 "));
    olga.get("/offices/wa").is(200);
    assert_eq!(browser.console(), Vec::<String>::new());

    // The token was in the page only.
    browser.post("/refresh", &json!({}));
    assert_eq!(browser.run("document.getElementById('token').value + document.cookie"), json!(""));
    assert_eq!(browser.run("localStorage.length + sessionStorage.length"), json!(0));
    assert_eq!(browser.console(), Vec::<String>::new());
}
