//! Colours appear only where they are wanted.

use crate::support::{ikigai, said};

fn is_coloured(arguments: &[&str], environment: &[(&str, &str)]) -> bool {
    let mut command = ikigai(arguments);
    for (name, value) in environment {
        command.env(name, value);
    }
    said(&mut command).stdout.contains('\u{1b}')
}

#[test]
fn a_pipe_gets_no_colours_unless_they_are_forced() {
    assert!(!is_coloured(&["-h"], &[("TERM", "xterm-256color")]));
    assert!(is_coloured(&["-h"], &[("TERM", "xterm-256color"), ("CLICOLOR_FORCE", "1")]));
    assert!(is_coloured(&["-h", "--color", "always"], &[]));
    assert!(is_coloured(&["--color=always", "-h"], &[("NO_COLOR", "1"), ("TERM", "dumb")]));
}

#[test]
fn no_color_and_never_win_over_a_wish_of_the_environment() {
    assert!(!is_coloured(&["-h"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&["-h", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn data_is_never_coloured() {
    assert!(!is_coloured(&["wire", "schema", "--color", "always"], &[]));
}
