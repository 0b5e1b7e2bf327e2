//! Ctrl-G: editing a line in the user's own editor.

use std::os::unix::fs::PermissionsExt as _;

use pretty_assertions::assert_eq;

use crate::support::House;

#[test]
fn the_editor_gets_the_line_in_a_private_file_that_is_gone_afterwards() {
    let house = House::new("");
    // Before it writes, it records what is in the file, and who may read the file and its folder.
    let editor = house.work("editor");
    let script = "#!/bin/sh\n\
         { cat \"$1\"; echo; stat -c %a \"$1\" \"$(dirname \"$1\")\"; echo \"$1\"; } > seen\n\
         printf 'written in the editor\\non two lines' > \"$1\"\n";
    std::fs::write(&editor, script).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let variables = format!("EDITOR={}", editor.display());
    let terminal = house.open_with(80, 20, &variables, "-m claude-sonnet-4-5 --no-tools");
    terminal.wait("/help lists the commands");
    terminal.text("a draft");
    terminal.wait("› a draft");
    terminal.key("C-g");
    terminal.wait("on two lines");
    let seen = std::fs::read_to_string(house.work("seen")).unwrap();
    let (found, file) = seen.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(found, "a draft\n600\n700");
    terminal.key("Enter");
    terminal.settled("two lines” (7 words).");
    // Once sent, the text is no longer in the file, and the file is removed along with the chat.
    assert_eq!(std::fs::read_to_string(file).unwrap(), "");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    let folder = std::path::Path::new(file).parent().unwrap();
    assert!(!folder.exists(), "{} is left behind", folder.display());
}
