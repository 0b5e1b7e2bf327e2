//! Where conversations are saved, and whether the database is intact.

use std::io::ErrorKind as IoKind;

use ikigai_store::{Error, Health as Checkup, Stats};

use super::{Finding, Health};
use crate::exit::Failure;
use crate::places::Places;
use crate::screen::notice;
use crate::settings::{self, Database};

const AREA: &str = "database";
/// How many problems are listed one by one.
const MOST: usize = 10;
const ELSEWHERE: &str = "Set another place: ikigai config set database …";

/// Examines the database. A missing one is not created.
pub(super) fn look(places: Option<&Places>, offline: bool) -> Result<Vec<Finding>, Failure> {
    let Some(places) = places else { return Ok(Vec::new()) };
    // Broken settings are reported with the files.
    let settings = settings::load_from(places).map(|(settings, _)| settings).unwrap_or_default();
    let database = settings.database(places);
    let shown = database.shown();
    let mut findings = Vec::new();
    if !settings.save {
        findings.push(Finding::new(AREA, Health::Info, "new conversations are not saved (save = false)"));
    }
    let location = match &database {
        Database::Postgres(_) if offline => {
            findings.push(Finding::new(AREA, Health::Info, format!("{shown}: not checked (--offline)")));
            return Ok(findings);
        }
        Database::Postgres(url) => url.clone(),
        Database::File(path) => match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_file() => path.display().to_string(),
            Ok(_) => {
                let finding = Finding::new(AREA, Health::Broken, format!("{shown} is not a file")).hint(ELSEWHERE);
                findings.push(finding);
                return Ok(findings);
            }
            Err(error) if error.kind() == IoKind::NotFound => {
                findings.push(Finding::new(AREA, Health::Info, format!("{shown} does not exist yet")));
                return Ok(findings);
            }
            Err(error) => {
                let finding = Finding::new(AREA, Health::Broken, format!("{shown}: {error}")).hint(ELSEWHERE);
                findings.push(finding);
                return Ok(findings);
            }
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    match runtime.block_on(examine(&location)) {
        Ok((checkup, stats)) => findings.extend(told(&shown, &checkup, &stats)),
        Err(error) => findings.push(broken(&shown, &error)),
    }
    Ok(findings)
}

/// Opens the database and reads all of it.
async fn examine(location: &str) -> Result<(Checkup, Stats), Error> {
    let store = ikigai_store::open(location).await?;
    let looked = async { Ok((store.check().await?, store.stats().await?)) }.await;
    // The findings matter more than a failure to close.
    let _ = store.close().await;
    looked
}

fn told(shown: &str, checkup: &Checkup, stats: &Stats) -> Vec<Finding> {
    let Checkup { engine, schema, problems, .. } = checkup;
    let state = if problems.is_empty() { Health::Good } else { Health::Broken };
    let counted = |number: u64, noun: &str| match number {
        1 => format!("1 {noun}"),
        several => format!("{} {noun}s", notice::count(several)),
    };
    let what = format!(
        "{shown}: {engine}, schema {schema}, {}, {}, {}",
        counted(stats.conversations, "conversation"),
        counted(stats.messages, "message"),
        notice::size(stats.size)
    );
    let mut all = vec![Finding::new(AREA, state, what)];
    all.extend(problems.iter().take(MOST).map(|problem| Finding::new(AREA, Health::Broken, problem.as_str())));
    if let Some(more) = problems.len().checked_sub(MOST).filter(|more| *more > 0) {
        all.push(Finding::new(AREA, Health::Broken, format!("and {more} more")));
    }
    if let Some(last) = all.last_mut().filter(|_| !problems.is_empty()) {
        last.hint = Some("Keep a copy of it. `ikigai history export --all` saves what can be read.".to_owned());
    }
    if stats.partial > 0 {
        let what = format!("{} not finished: still being written, or cut off", counted(stats.partial, "answer"));
        all.push(Finding::new(AREA, Health::Info, what).hint("Opening its conversation closes it."));
    }
    all
}

/// Reports why it cannot be opened, and what to do.
fn broken(shown: &str, error: &Error) -> Finding {
    let words = error.to_string();
    // The store says where, what and what to do; the last is shown separately.
    let hint = words.split_once(&format!("{}. ", error.message())).map(|(_, hint)| hint.to_owned());
    let finding = Finding::new(AREA, Health::Broken, format!("{shown}: {}", error.message()));
    finding.hint(hint.unwrap_or_else(|| ELSEWHERE.to_owned()))
}
