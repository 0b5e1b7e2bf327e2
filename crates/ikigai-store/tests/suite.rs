//! The same tests for every engine.

#![cfg(test)]
#![expect(clippy::print_stderr, reason = "figures, and what was not run, for whoever runs the tests")]

mod format;
mod support;
mod suite {
    pub(crate) mod answers;
    pub(crate) mod conversations;
    pub(crate) mod crowd;
    pub(crate) mod family;
    pub(crate) mod laws;
    pub(crate) mod messages;
    pub(crate) mod postgres_only;
    mod processes;
    pub(crate) mod search;
    pub(crate) mod stats;
    pub(crate) mod transfer;
}

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use ikigai_store::{ErrorKind, Postgres, Sqlite, Store};
use support::server::Server;
use support::wait;

type Shared = Arc<dyn Store>;
type Case = fn(Shared) -> Pin<Box<dyn Future<Output = ()>>>;

/// Each case is a separate test on SQLite, in a file; on PostgreSQL they share a server, each with its own database.
macro_rules! cases {
    ($($module:ident: $($name:ident)*;)*) => {
        const CASES: &[(&str, Case)] = &[
            $($((concat!(stringify!($module), "::", stringify!($name)), |store| Box::pin(suite::$module::$name(store))),)*)*
        ];

        mod sqlite {
            $(mod $module {
                $(#[test]
                fn $name() {
                    super::super::on_sqlite(crate::suite::$module::$name);
                })*
            })*
        }
    };
}

cases! {
    conversations: made_opened_changed what_was_typed_goes_with_its_conversation listed_newest_first_page_by_page found_by_a_part_of_the_id settings_are_json
        prompts_are_remembered;
    messages: everything_comes_back_as_it_was positions_and_times the_first_question_is_the_title
        attachments_are_kept_once deep_arguments_come_back several_at_once_or_none unknown_ids_are_told;
    answers: grows_and_is_finished is_whole_at_every_moment is_settled_when_its_writer_is_gone
        a_recording_keeps_what_was_pushed a_recording_is_cut a_dropped_recording_stays_partial
        a_settled_recording_still_finishes growing_survives_odd_streams;
    family: forks_share_their_messages deleting_leaves_forks_whole undoing_leaves_forks_whole
        forks_of_forks points_must_be_in_the_conversation families any_history_is_kept_right;
    search: words_phrases_beginnings prompts_come_before_answers newest_first what_is_deleted_is_not_found
        titles_are_found every_script_and_no_accents no_search_is_an_error the_better_match_comes_first
        attached_texts_are_found an_answer_is_found_once_it_is_whole long_messages_are_kept_whole;
    transfer: out_and_in_again one_conversation_stands_alone importing_twice_changes_nothing;
    stats: statistics a_conversation_knows_what_it_took a_good_database_is_well a_closed_store_says_so;
    crowd: many_writers_one_conversation attachments_come_and_go;
    laws: any_message_comes_back any_answer_comes_back any_stream_is_kept;
}

fn on_sqlite<F: Future<Output = ()>>(case: impl FnOnce(Shared) -> F) {
    let folder = tempfile::tempdir().unwrap();
    wait(async {
        let store: Shared = Arc::new(Sqlite::open(folder.path().join("ikigai.db")).await.unwrap());
        case(Arc::clone(&store)).await;
        check(&store).await;
    });
}

/// Checks that a database is in order, whatever happened in it.
async fn check(store: &Shared) {
    match store.check().await {
        Ok(health) => assert_eq!(health.problems, Vec::<String>::new()),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Closed, "{error}"),
    }
}

#[test]
fn in_memory() {
    wait(async {
        for (name, case) in CASES.iter().filter(|(name, _)| !name.starts_with("laws") && !name.contains("any_history"))
        {
            eprintln!("in memory: {name}");
            case(Arc::new(Sqlite::memory().await.unwrap())).await;
        }
    });
}

#[test]
fn postgresql() {
    let Some(server) = Server::find() else { return };
    wait(async {
        for (name, case) in CASES {
            eprintln!("PostgreSQL: {name}");
            let url = server.database().await;
            let store: Shared = Arc::new(Postgres::open(&url).await.unwrap());
            case(Arc::clone(&store)).await;
            check(&store).await;
            server.drop_database(&url).await;
        }
        suite::postgres_only::all(&server).await;
    });
}
