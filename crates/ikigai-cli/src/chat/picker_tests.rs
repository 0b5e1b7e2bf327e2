use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use super::*;

const LOOK: Look = Look { width: 60, colour: false, styles: false, unicode: true, links: false, motion: true };

fn picker(query: &str) -> Picker {
    let names = ["claude-sonnet-4-5", "claude-opus-4-8", "gpt-5.5", "gemini-2.5-pro", "gemini-3.5-flash"];
    let choices = names.iter().enumerate().map(|(place, name)| Choice {
        columns: vec![(*name).to_owned(), format!("${place} in")],
        words: if place == 0 { format!("{name} Anthropic") } else { (*name).to_owned() },
        is_dim: place > 2,
    });
    Picker::new("Model", choices.collect(), query)
}

fn press(picker: &mut Picker, keys: &[Key]) -> Option<Option<Picked>> {
    keys.iter().find_map(|key| picker.key(key, 3))
}

fn text(letters: &str) -> Key {
    Key::Text(letters.to_owned())
}

#[test]
fn typing_narrows_and_arrows_move() {
    let mut all = picker("");
    assert_snapshot!(all.lines(&["⚠Two thinking blocks stay behind.".to_owned(), "The last answer.".to_owned()], 3, LOOK).join("\n"), @"
    Model › ▏  5 of 5
    ❯ claude-sonnet-4-5  $0 in
      claude-opus-4-8    $1 in
      gpt-5.5            $2 in
    ⚠ Two thinking blocks stay behind.
      The last answer.
      Enter chooses · Up and Down move · Esc cancels
    ");
    press(&mut all, &[Key::Down, Key::Down, Key::Down]);
    assert_snapshot!(all.lines(&[], 3, LOOK).join("\n"), @"
    Model › ▏  5 of 5
      claude-opus-4-8  $1 in
      gpt-5.5          $2 in
    ❯ gemini-2.5-pro   $3 in
      Enter chooses · Up and Down move · Esc cancels
    ");
    let chosen = press(&mut all, &[text("gpro"), Key::Enter]);
    assert_eq!(chosen, Some(Some(Picked { place: 3, query: "gpro".to_owned() })));
}

#[test]
fn a_level_is_no_part_of_what_is_searched() {
    let mut picker = picker("son/high");
    assert_eq!(picker.marked(), Some(0));
    assert_eq!(press(&mut picker, &[Key::Enter]), Some(Some(Picked { place: 0, query: "son/high".to_owned() })));
}

#[test]
fn nothing_is_chosen_where_nothing_fits_or_it_is_cancelled() {
    let mut none = picker("zzz");
    assert_eq!(press(&mut none, &[Key::Enter]), None);
    assert!(none.lines(&[], 3, LOOK).join("\n").contains("no matches"));
    assert_eq!(press(&mut none, &[Key::Stop]), Some(None));
    // Words that are not on the screen are found, too.
    assert_eq!(picker("anthropic").marked(), Some(0));
}
