//! The codes of the second factor beside those of another program, and as someone guesses them: `identity.md`
//! section 13.

use crate::support::guarded::PASSWORD;
use crate::support::run::run;
use crate::support::world::{Seen, World};
use serde_json::json;
use std::process::Command;

const PATH: &str = "/users/anna/second-factor";
const STEP: i64 = 30;

/// What `oathtool` shows for the secret, some steps from now.
fn oathtool(world: &World, secret: &str, steps: i64) -> String {
    let seconds = world.clock.now().millis() / 1000 + STEP * steps;
    let mut command = Command::new("oathtool");
    command.args(["--totp", "--base32", &format!("--now=@{seconds}"), secret]);
    run(command).ok().trim().to_owned()
}

/// A login with the right password and this code.
fn with_code(world: &World, code: &str) -> reqwest::RequestBuilder {
    let body = json!({ "grant_type": "password", "username": "anna", "password": PASSWORD, "otp": code });
    world.request("POST", "/token").header("content-type", "application/json").body(body.to_string())
}

fn log_in(world: &World, code: &str) -> Seen {
    world.send(with_code(world, code))
}

/// A user anna with a factor, by a code of `oathtool`; her secret.
fn anna(world: &World) -> String {
    let anna = world.user("anna", "clerk");
    let secret = anna.post(PATH, json!({})).is(200).json()["secret"].as_str().unwrap().to_owned();
    anna.put(PATH, json!({ "code": oathtool(world, &secret, 0) })).is(200);
    secret
}

#[test]
fn codes_of_oathtool_let_in_at_their_step_and_its_neighbours() {
    let world = World::guarded();
    let secret = anna(&world);
    for (steps, status) in [(0, 200), (-1, 200), (1, 200), (-2, 401), (2, 401), (0, 200)] {
        // Any second of a step, and none that an earlier code was good for.
        world.clock.advance(6 * STEP + 7);
        log_in(&world, &oathtool(&world, &secret, steps)).is(status);
    }
    world.clock.advance(3 * STEP);
    let code = oathtool(&world, &secret, 0);
    log_in(&world, &format!("{} {}", &code[..3], &code[3..])).is(200);
    log_in(&world, &code).refused(401, "second_factor_invalid");
}

#[test]
fn ten_thousand_wrong_codes_let_no_one_in() {
    const GUESSES: u32 = 10_000;
    // Guessed while a lock lasts, and before it begins.
    const EACH: u32 = 500;
    // So many of one address may wait for a password.
    const AT_ONCE: usize = 4;
    let world = World::guarded();
    let secret = anna(&world);
    let (mut compared, mut refused) = (0, 0);
    for round in 0..GUESSES / EACH {
        world.clock.advance(3_700);
        let right = [-1, 0, 1].map(|steps| oathtool(&world, &secret, steps));
        let numbers = round * EACH..(round + 1) * EACH;
        let guesses = numbers.map(|number| format!("{:06}", (number * 97 + 13) % 1_000_000));
        let wrong = guesses.map(|code| if right.contains(&code) { "no code".to_owned() } else { code });
        let guesses: Vec<_> = wrong.map(|code| with_code(&world, &code)).collect();
        let mut guesses = guesses.into_iter().peekable();
        while guesses.peek().is_some() {
            for seen in world.send_all(guesses.by_ref().take(AT_ONCE).collect()) {
                match seen.status {
                    401 => compared += usize::from(seen.json()["code"] == "second_factor_invalid"),
                    status => refused += usize::from(status == 429),
                }
            }
        }
        // The right code helps no more than a wrong one while the lock lasts.
        log_in(&world, &right[1]).refused(429, "too_many_attempts");
    }
    assert_eq!(compared + refused, GUESSES as usize, "{compared} wrong, {refused} not looked at");
    assert!(compared >= 5 * (GUESSES / EACH) as usize, "{compared}");
    assert!(compared <= 2 * 5 * (GUESSES / EACH) as usize, "{compared}");
    world.clock.advance(3_700);
    log_in(&world, &oathtool(&world, &secret, 0)).is(200);
}
