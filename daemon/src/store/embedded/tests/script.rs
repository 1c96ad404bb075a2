//! A script of work with everything in it, and the comparison of what is there afterwards.

use super::super::{Embedded, OpenError};
use super::sim::SimDisk;
use super::world::*;
use crate::store::engine::{Change, Engine, Pending};
use mfa_shared::fault::{DISK_FULL, Fault, UNAVAILABLE};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub(super) type Model = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) enum Step {
    /// One transaction.
    Write(Vec<Change>),
    /// Transactions of one group.
    Group(Vec<Vec<Change>>),
    Checkpoint,
    /// Packs what is closed of the journal.
    Pack,
    CleanStop,
}

fn value(byte: u8, bytes: usize) -> Option<Vec<u8>> {
    Some((0..bytes).map(|at| byte.wrapping_add(at as u8)).collect())
}

/// Creates, overwrites, removals, long values, groups, new and packed journal files, checkpoints, a clean
/// stop.
pub(super) fn script() -> Vec<Step> {
    let mut steps = Vec::new();
    for round in 0..4u8 {
        steps.push(Step::Write(vec![
            change([b'a', round], value(round, 30)),
            change("same", value(round, 700)),
        ]));
        steps.push(Step::Write(vec![change("long", value(round, 3_000 + 2_500 * usize::from(round)))]));
        let jobs = (0..3u8).map(|job| vec![change([b'g', round, job], value(job, 40))]).collect();
        steps.push(Step::Group(jobs));
        if round == 1 {
            steps.push(Step::CleanStop);
        }
        if round % 2 == 0 {
            steps.push(Step::Pack);
        }
        if round > 0 {
            steps.push(Step::Checkpoint);
            steps.push(Step::Write(vec![
                change([b'a', round - 1], None),
                change([b'g', round], value(9, 900)),
            ]));
        }
    }
    steps.push(Step::Write(vec![change("long", value(1, 10))]));
    steps
}

pub(super) fn apply(model: &mut Model, changes: &[Change]) {
    for change in changes {
        match &change.value {
            Some(value) => model.insert(change.key.clone(), value.clone()),
            None => model.remove(&change.key),
        };
    }
}

/// How a run ended.
pub(super) struct Run {
    /// What was acknowledged.
    pub(super) acknowledged: Model,
    /// The same with the step that was under way when the disk failed.
    pub(super) perhaps: Model,
    /// Steps that were taken back.
    pub(super) refused: u64,
}

/// Writes several transactions so that the writer takes them as one group.
fn write_group(engine: &Embedded, jobs: &[Vec<Change>]) -> Vec<Result<(), Fault>> {
    let queued = Arc::new(AtomicBool::new(false));
    let submit = |changes: &Vec<Change>| -> Pending<()> {
        let (changes, queued) = (changes.clone(), queued.clone());
        engine.write(Box::new(move |_| {
            while !queued.load(SeqCst) {
                std::thread::yield_now();
            }
            Some(commit(changes.clone()))
        }))
    };
    let pending: Vec<_> = jobs.iter().map(submit).collect();
    queued.store(true, SeqCst);
    pending.into_iter().map(block_on).collect()
}

/// Runs the script until it ends or the engine cannot be opened. `stopped` is called after a clean stop.
pub(super) fn run(
    dir: &Path,
    disk: &SimDisk,
    steps: &[Step],
    mut stopped: impl FnMut(),
) -> (Run, Option<OpenError>) {
    let mut run = Run { acknowledged: Model::new(), perhaps: Model::new(), refused: 0 };
    let open = || open_on(dir, Arc::new(disk.clone()));
    let mut engine = match open() {
        Ok(engine) => engine,
        Err(error) => return (run, Some(error)),
    };
    let mut failed = false;
    for step in steps {
        let jobs: &[Vec<Change>] = match step {
            Step::Checkpoint => {
                // Without one, nothing but time is lost.
                let _ = engine.checkpoint();
                continue;
            }
            Step::Pack => {
                // A folder that cannot be synced is final, like a file.
                let _ = engine.pack();
                failed |= engine.final_fault().is_some();
                continue;
            }
            Step::CleanStop => {
                let _ = block_on(engine.close());
                drop(engine);
                stopped();
                engine = match open() {
                    Ok(engine) => engine,
                    Err(error) => return (run, Some(error)),
                };
                let seen: Model = all(&engine).expect("an engine that opens can read").into_iter().collect();
                assert!(seen == run.acknowledged || seen == run.perhaps, "a stop loses nothing");
                (run.acknowledged, run.perhaps, failed) = (seen.clone(), seen, false);
                continue;
            }
            Step::Write(changes) => std::slice::from_ref(changes),
            Step::Group(jobs) => jobs,
        };
        let results = write_group(&engine, jobs);
        assert!(results.iter().all(|result| result.is_ok() == results[0].is_ok()), "a group is one");
        let taken_back = results[0].is_err() && engine.final_fault().is_none();
        if let Err(fault) = &results[0] {
            assert!([UNAVAILABLE, DISK_FULL].contains(&fault.kind));
            assert!(taken_back || fault.kind == UNAVAILABLE, "a full disk is not final");
        }
        if taken_back {
            assert!(!failed, "what is final stays so");
            run.refused += 1;
            let seen: Model = all(&engine).expect("reads go on").into_iter().collect();
            assert!(seen == run.acknowledged, "nothing is left of what was taken back");
            continue;
        }
        assert!(!failed || results[0].is_err(), "after a failure nothing is written any more");
        if !failed {
            jobs.iter().for_each(|changes| apply(&mut run.perhaps, changes));
        }
        match results[0] {
            Ok(()) => run.acknowledged = run.perhaps.clone(),
            Err(_) => failed = true,
        }
        let seen: Model = all(&engine).expect("reads go on").into_iter().collect();
        assert!(seen == run.acknowledged, "what is read is what was acknowledged");
    }
    (run, None)
}

/// Opens after a failure and compares; also shows that work goes on. The error is the finding.
pub(super) fn check(dir: &Path, disk: &SimDisk, run: &Run) -> Result<Model, String> {
    let engine = open_on(dir, Arc::new(disk.clone())).map_err(|error| format!("refused: {error}"))?;
    let seen: Model = all(&engine).map_err(|fault| fault.to_string())?.into_iter().collect();
    if seen != run.acknowledged && seen != run.perhaps {
        let wrong = |(key, value): &(&Vec<u8>, &Vec<u8>)| seen.get(*key) != Some(*value);
        let wrong: Vec<_> = run.acknowledged.iter().filter(wrong).map(|(key, _)| key).collect();
        return Err(format!("neither before nor after: {} pairs, wrong {wrong:?}", seen.len()));
    }
    let found = engine.journal(0).try_fold(Model::new(), |mut model, commit| {
        apply(&mut model, &commit?.1.changes);
        Ok::<_, Fault>(model)
    });
    if found.map_err(|fault| fault.to_string())? != seen {
        return Err("the journal differs from the index".to_owned());
    }
    write(&engine, vec![change("later", Some(vec![1]))]).map_err(|fault| fault.to_string())?;
    let mut expected = seen;
    apply(&mut expected, &[change("later", Some(vec![1]))]);
    let seen: Model = all(&engine).map_err(|fault| fault.to_string())?.into_iter().collect();
    if seen == expected { Ok(expected) } else { Err("a later write is not seen".to_owned()) }
}
