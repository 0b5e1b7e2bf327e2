//! Several programs at once, and programs that are killed.
//!
//! The programs are this one, started again with `--ignored` and the name of a test that is not really one.
//!
//! | variable | what it extends | default |
//! |---|---|---|
//! | `IKIGAI_TEST_KILLS` | how often a writer is killed | 100; on PostgreSQL a quarter of them |
//! | `IKIGAI_TEST_SECONDS` | for how long several programs write | 5 |

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use ikigai_core::{Block, Collector, Event, FinishReason, Message, Role};
use ikigai_store::{Details, Entry, Listing, Recording, State, Stored, open};
use pretty_assertions::assert_eq;

use crate::support::sample::{picture, stream, user};
use crate::support::server::Server;
use crate::support::{Dice, setting, wait};

/// Starts this program again, as one of the children below.
fn start(child: &str, database: &str, number: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", child, "--ignored", "--nocapture", "--test-threads=1"])
        .env("IKIGAI_STORE_DATABASE", database)
        .env("IKIGAI_STORE_NUMBER", number.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

fn database() -> String {
    std::env::var("IKIGAI_STORE_DATABASE").expect("this is a child of another test")
}

/// Reports something to the parent. A parent that is gone is no reason to fail.
fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "> {line}");
    let _ = out.flush();
}

/// What a child reported, up to its end. The last line may be incomplete.
fn told(out: ChildStdout) -> Vec<String> {
    let lines = BufReader::new(out).split(b'\n').map_while(Result::ok);
    let texts = lines.map(|line| String::from_utf8_lossy(&line).into_owned());
    // The test runner has started a line of its own.
    texts.filter_map(|line| line.split_once("> ").map(|(_, told)| told.to_owned())).collect()
}

// ---- A writer that is killed.

/// The word at a place of an answer.
fn word(answer: usize, place: usize) -> String {
    format!("{answer}.{place} ")
}

fn words(answer: usize, count: usize) -> String {
    (0..count).map(|place| word(answer, place)).collect()
}

/// Asks and answers until it is killed, and reports what it has done.
#[test]
#[ignore = "started and killed by the tests of killed writers"]
fn killed_child() {
    let mut dice = Dice(setting("IKIGAI_STORE_NUMBER", 1) as u64 + 1);
    wait(async {
        let store = open(&database()).await.unwrap();
        let chat = store.create(Details::default()).await.unwrap().id;
        tell(&format!("chat {chat}"));
        let began = Instant::now();
        for answer in 0.. {
            let mut question = user(&format!("question {answer}"));
            question.message.content.push(picture(answer as u8, 20_000));
            store.append(chat, question).await.unwrap();
            tell(&format!("asked {answer}"));
            let answers = Message::new(Role::Assistant, Vec::new());
            let mut recording = Recording::begin(Arc::clone(&store), chat, answers).await.unwrap();
            let mut collector = Collector::default();
            let mut events = stream(&[]);
            let ending = events.split_off(2);
            for event in events {
                recording.push(event.clone()).await.unwrap();
                collector.push(event);
            }
            let count = 1 + dice.below(700);
            for place in 0..count {
                let event = Event::TextDelta { index: 0, text: word(answer, place) };
                collector.push(event.clone());
                recording.push(event).await.unwrap();
                tell(&format!("pushed {answer} {place} {}", began.elapsed().as_micros()));
                tokio::time::sleep(Duration::from_millis(dice.below(4) as u64)).await;
            }
            for event in ending {
                recording.push(event.clone()).await.unwrap();
                collector.push(event);
            }
            recording.finish(Entry::answer(collector.finish(), "p")).await.unwrap();
            tell(&format!("finished {answer} {count}"));
        }
    });
}

/// What was seen when a writer was killed.
#[derive(Debug, Default)]
struct Seen {
    finished: usize,
    partial: usize,
    /// The time from the first word that was lost to the last one.
    lost: Duration,
    /// Whether words had arrived for longer than it takes to store them.
    long: bool,
    /// Whether some of it was stored.
    kept: bool,
}

/// Words that arrived longer ago than this are stored, unless the machine is very busy.
const KEPT_AFTER: Duration = Duration::from_millis(500);

/// Kills a writer at some moment and looks at what it left.
fn kill(database: &str, number: u64, dice: &mut Dice) -> Seen {
    let mut child = start("suite::processes::killed_child", database, number);
    let out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || told(out));
    std::thread::sleep(Duration::from_millis(100 + dice.below(1900) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = reader.join().unwrap();
    wait(look(database, &lines))
}

async fn look(database: &str, lines: &[String]) -> Seen {
    let store = open(database).await.unwrap();
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    let mut seen = Seen::default();
    let Some(chat) = lines.iter().find_map(|line| line.strip_prefix("chat ")) else { return seen };
    let thread = store.thread(chat.parse().unwrap()).await.unwrap();

    let mut asked = 0;
    let mut finished: BTreeMap<usize, usize> = BTreeMap::new();
    let mut pushed: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
    for line in lines {
        let parts: Vec<&str> = line.split(' ').collect();
        match parts.as_slice() {
            ["asked", number] => asked = number.parse::<usize>().unwrap() + 1,
            ["finished", number, count] => {
                finished.insert(number.parse().unwrap(), count.parse().unwrap());
            }
            // A time that was cut off is too small: it makes the test stricter, never more lenient.
            ["pushed", number, _, micros] if !micros.is_empty() => {
                pushed.entry(number.parse().unwrap()).or_default().push(micros.parse().unwrap());
            }
            _ => {}
        }
    }
    let questions = thread.iter().filter(|stored| stored.entry.message.role == Role::User).count();
    assert!(questions >= asked, "{questions} of {asked} questions are there");
    let answers: Vec<&Stored> = thread.iter().filter(|stored| stored.entry.message.role == Role::Assistant).collect();
    for (number, count) in &finished {
        let entry = &answers[*number].entry;
        assert_eq!((entry.state, entry.message.text()), (State::Complete, words(*number, *count)));
        assert_eq!(entry.finish_reason, Some(FinishReason::Stop));
    }
    seen.finished = finished.len();
    // The answer it was killed in.
    if let Some(last) = answers.get(finished.len()) {
        let number = finished.len();
        let text = last.entry.message.text();
        let count = text.matches(' ').count();
        assert_eq!(text, words(number, count), "what is kept is the beginning of what came");
        let times = pushed.remove(&number).unwrap_or_default();
        if last.entry.state == State::Complete {
            // Killed between the commit and the report of it.
            assert!(count >= times.len());
        } else {
            assert_eq!(last.entry.state, State::Partial);
            seen.partial = 1;
            if let (Some(first_lost), Some(end)) = (times.get(count), times.last()) {
                seen.lost = Duration::from_micros(end.saturating_sub(*first_lost));
            }
            let came = times.last().zip(times.first()).map_or(0, |(end, first)| end.saturating_sub(*first));
            (seen.long, seen.kept) = (Duration::from_micros(came) > KEPT_AFTER, count > 0);
        }
        assert!(answers.len() <= number + 1);
    }
    // Work continues.
    store.settle(chat.parse().unwrap()).await.unwrap();
    store.append(chat.parse().unwrap(), user("again")).await.unwrap();
    store.close().await.unwrap();
    seen
}

/// Kills several writers in parallel, and reports together what they left.
fn kill_many(kills: usize, side_by_side: usize, database: impl Fn(usize) -> String + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let all = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..side_by_side {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if number >= kills {
                        break;
                    }
                    // Another moment in every run: there is no telling what will be found.
                    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
                    let mut dice = Dice(now.as_nanos() as u64 | 1);
                    let seen = kill(&database(number), number as u64, &mut dice);
                    all.lock().unwrap().push(seen);
                }
            });
        }
    });
    let all = all.into_inner().unwrap();
    assert_eq!(all.len(), kills, "a check has failed");
    let finished: usize = all.iter().map(|seen| seen.finished).sum();
    let partial: usize = all.iter().map(|seen| seen.partial).sum();
    let lost = all.iter().map(|seen| seen.lost).max().unwrap_or_default();
    eprintln!(
        "{kills} kills: {finished} finished answers whole, {partial} in the middle, at most {lost:?} of one lost"
    );
    // Otherwise nothing was tested.
    assert!(finished > 0 && partial * 2 > kills, "{finished} finished, {partial} in the middle");
    let late: Vec<Duration> = all.iter().map(|seen| seen.lost).filter(|lost| *lost > Duration::from_secs(1)).collect();
    assert_eq!(late, [], "more than a second is missing");
    let long = all.iter().filter(|seen| seen.long).count();
    let kept = all.iter().filter(|seen| seen.long && seen.kept).count();
    assert!(long > 0 && kept * 10 >= long * 9, "of {long} long answers only {kept} were kept in part");
}

#[test]
fn killed_writers_lose_at_most_a_second() {
    let folder = tempfile::tempdir().unwrap();
    // A few files, so that each is killed several times.
    let file = |number: usize| folder.path().join(format!("{}.db", number % 8)).to_str().unwrap().to_owned();
    kill_many(setting("IKIGAI_TEST_KILLS", 100), 4, file);
}

#[test]
fn killed_writers_on_postgresql() {
    let Some(server) = Server::find() else { return };
    let url = wait(server.database());
    kill_many(setting("IKIGAI_TEST_KILLS", 100).div_ceil(4), 3, |_| url.clone());
    wait(server.drop_database(&url));
}

// ---- Writers side by side.

/// Writes its share into its own conversation and into one that all share.
#[test]
#[ignore = "started by the tests of writers side by side"]
fn writing_child() {
    let number = setting("IKIGAI_STORE_NUMBER", 0);
    let seconds = setting("IKIGAI_TEST_SECONDS", 5);
    let until = Instant::now() + Duration::from_secs(seconds as u64);
    wait(async {
        let store = open(&database()).await.unwrap();
        let shared = store.list(Listing::newest(100)).await.unwrap().conversations;
        let shared = shared.iter().find(|chat| chat.title.as_deref() == Some("shared")).unwrap().id;
        let own = store.create(Details::default().title(format!("own {number}"))).await.unwrap().id;
        let (mut count, mut longest) = (0, Duration::ZERO);
        while Instant::now() < until {
            let began = Instant::now();
            store.append(shared, user(&format!("{number} {count}"))).await.unwrap();
            let id = store.begin(own, Message::new(Role::Assistant, Vec::new())).await.unwrap();
            let text = format!("answer {count}");
            let events = stream(&[&text]);
            store.grow(id, events[..2].to_vec()).await.unwrap();
            store.grow(id, events[2..].to_vec()).await.unwrap();
            let entry = store.message(id).await.unwrap().entry.state(State::Complete);
            store.finish(id, entry).await.unwrap();
            longest = longest.max(began.elapsed());
            // Something is deleted now and then, which tests the others' patience most.
            if count % 20 == 0 {
                let gone = store.create(Details::default()).await.unwrap().id;
                store
                    .append(gone, Message::new(Role::User, [Block::text("x"), picture(1, 9000)]).into())
                    .await
                    .unwrap();
                store.delete(gone).await.unwrap();
            }
            count += 1;
        }
        store.close().await.unwrap();
        tell(&format!("wrote {count}"));
        tell(&format!("longest {}", longest.as_millis()));
    });
}

fn side_by_side(database: &str) {
    let shared = wait(async {
        let store = open(database).await.unwrap();
        let chat = store.create(Details::default().title("shared")).await.unwrap();
        store.close().await.unwrap();
        chat.id
    });
    let writers = 3;
    let mut children: Vec<Child> =
        (0..writers).map(|number| start("suite::processes::writing_child", database, number)).collect();
    let (mut counts, mut longest) = (Vec::new(), Vec::new());
    for child in &mut children {
        let lines = told(child.stdout.take().unwrap());
        assert!(child.wait().unwrap().success(), "a writer failed");
        let count = lines.iter().find_map(|line| line.strip_prefix("wrote ")).unwrap();
        counts.push(count.parse::<usize>().unwrap());
        longest.extend(lines.iter().find_map(|line| line.strip_prefix("longest ").map(str::to_owned)));
    }
    eprintln!("{writers} programs: {counts:?} rounds of five writes each, the longest took {longest:?} ms");
    assert!(counts.iter().all(|count| *count > 0), "a writer never had its turn");
    wait(async {
        let store = open(database).await.unwrap();
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        let thread = store.thread(shared).await.unwrap();
        let said: Vec<String> = thread.iter().map(|stored| stored.entry.message.text()).collect();
        let unique: BTreeSet<&String> = said.iter().collect();
        assert_eq!((said.len(), unique.len()), (counts.iter().sum(), counts.iter().sum()));
        for (number, count) in counts.iter().enumerate() {
            let own: Vec<&String> = said.iter().filter(|text| text.starts_with(&format!("{number} "))).collect();
            assert_eq!(
                own,
                (0..*count).map(|at| format!("{number} {at}")).collect::<Vec<_>>().iter().collect::<Vec<_>>()
            );
        }
        let conversations = store.list(Listing::newest(100)).await.unwrap().conversations;
        assert_eq!(conversations.len(), 1 + writers as usize);
        for (number, count) in counts.iter().enumerate() {
            let title = format!("own {number}");
            let own = conversations.iter().find(|chat| chat.title.as_deref() == Some(title.as_str())).unwrap();
            let thread = store.thread(own.id).await.unwrap();
            let texts: Vec<(State, String)> =
                thread.iter().map(|stored| (stored.entry.state, stored.entry.message.text())).collect();
            let expected: Vec<(State, String)> =
                (0..*count).map(|at| (State::Complete, format!("answer {at}"))).collect();
            assert_eq!(texts, expected);
        }
        assert_eq!(store.stats().await.unwrap().attachments, 0);
    });
}

#[test]
fn programs_that_write_side_by_side_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    side_by_side(folder.path().join("ikigai.db").to_str().unwrap());
}

#[test]
fn programs_that_write_side_by_side_on_postgresql() {
    let Some(server) = Server::find() else { return };
    let url = wait(server.database());
    side_by_side(&url);
    wait(server.drop_database(&url));
}
