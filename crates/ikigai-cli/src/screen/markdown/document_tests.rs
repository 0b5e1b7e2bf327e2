use insta::assert_snapshot;
use pretty_assertions::assert_eq;

use crate::screen::markdown::markdown;
use crate::screen::testing::{coloured, plain, readable};

fn shown(text: &str) -> String {
    markdown(text, plain(40))
}

#[test]
fn headings_have_no_signs() {
    assert_snapshot!(readable(&markdown("# One #\ntext\n## Two *it*\n###### Six\n#no heading\nSetext\nof two lines\n===\nNext\n---", coloured(40))), @"
    ‹bold underline›One‹›

    text

    ‹bold›Two ‹bold italic›it‹›

    ‹bold italic›Six‹›

    ‹bold underline›#no heading Setext of two lines‹›

    ‹bold›Next‹›
    ");
}

#[test]
fn lists_nest_and_hang() {
    assert_snapshot!(shown("- a\n- b b b b b b b b b b b b b b b b b b b b b b\n  - c\n\n    d\n  - e\n+ other list\n\n1) x\n   ```\n   code\n   ```\n2) y\n\n   z"), @"
    • a
    • b b b b b b b b b b b b b b b b b b b
      b b b
      ◦ c

        d
      ◦ e

    • other list

    1) x
    code
    2) y

       z
    ");
}

#[test]
fn items_without_text_are_items() {
    assert_snapshot!(shown("-\n- a\n-\n\ntext\n\n1.\n2. b"), @"
    •
    • a
    •

    text

    1.
    2. b
    ");
}

#[test]
fn blank_lines_in_lists_are_those_of_the_source() {
    assert_snapshot!(shown("- a\n\n- b\n- c\n  > q\n\n  p\n- > r\n- d"), @"
    • a

    • b
    • c
      │ q

      p
    • │ r
    • d
    ");
}

#[test]
fn a_list_in_a_quote_in_a_list() {
    assert_snapshot!(shown("- one\n  > quoted\n  > - inner\n  >   1. deep\n  >\n  > end\n- two"), @"
    • one
      │ quoted
      │
      │ ◦ inner
      │   1. deep
      │
      │ end
    • two
    ");
}

#[test]
fn a_paragraph_may_be_lazy() {
    assert_snapshot!(shown("> a\nb\n===\n\n- c\nd\n    - e\n> f\n- g"), @"
    │ a b ===

    • c d
      ◦ e

    │ f

    • g
    ");
}

#[test]
fn code_by_indentation() {
    assert_snapshot!(shown("text\n    no code\n\n    a\n\n\n      b\n\ntext\n\n- item\n\n      code in it"), @"
    text no code

    a


      b

    text

    • item

    code in it
    ");
}

#[test]
fn fences_end_where_they_should() {
    assert_snapshot!(shown("````md\n```\ninner\n```\n````\n~~~\n```\n~~~ no\n~~~~\n> ```\n> in a quote\nout of it\n\n```not `a` fence"), @"
    ```
    inner
    ```

    ```
    ~~~ no

    │ in a quote

    out of it

    ```not a fence
    ");
}

#[test]
fn html_is_text() {
    assert_snapshot!(shown("<div>\n  *not* emphasis\n</div>\n\n<!-- a\n\nb --> c\n*d*\n\n<pre>\n\n# e\n</pre>\n\nf<br>g <b>h</b>\n\n<custom-element>\ni\n\n<https://j.example>"), @"
    <div>
      *not* emphasis
    </div>

    <!-- a

    b --> c

    d

    <pre>

    # e
    </pre>

    f
    g <b>h</b>

    <custom-element>
    i

    https://j.example
    ");
}

#[test]
fn tables_of_many_shapes() {
    assert_snapshot!(shown("Intro:\n| a | b |\n|---|---|\n| 1 |\n| 1 | 2 | 3 |\nno bar\n\na | b\n-|-\n- no row\n\n| a |\n|---|---|\n\n> | q |\n> |---|\n> | v |\n\n- | l |\n  |---|\n  | w |"), @"
    Intro:

    ┌────────┬───────┐
    │ a      │ b     │
    ├────────┼───────┤
    │ 1      │       │
    │ 1      │ 2 | 3 │
    │ no bar │       │
    └────────┴───────┘

    ┌───┬───┐
    │ a │ b │
    ├───┼───┤
    └───┴───┘

    • no row

    | a | |---|---|

    │ ┌───┐
    │ │ q │
    │ ├───┤
    │ │ v │
    │ └───┘

    • ┌───┐
      │ l │
      ├───┤
      │ w │
      └───┘
    ");
}

#[test]
fn links_by_name_need_their_definition_before() {
    assert_snapshot!(shown("[a]\n\n[a]: http://first\n[A]: http://second\n[b]: <http://with space> 'title'\n[c]: no definition here\n\n[a] [text][a] [b][] [c]"), @"
    [a]

    [a]: http://first
    [A]: http://second
    [b]: <http://with space> 'title'

    [c]: no definition here

    a (http://first) text (http://first) b
    (http://with space) [c]
    ");
}

#[test]
fn definitions_are_not_underlined() {
    assert_snapshot!(shown("[a]: b\n---\nc\n\n[d]: e\n===\n\n[f]: g\nh\n---"), @"
    [a]: b

    ────────────────────────────────────────

    c

    [d]: e

    ===

    [f]: g

    h
    ");
}

#[test]
fn emphasis_that_is_not_closed_is_text() {
    assert_snapshot!(readable(&markdown("**unclosed bold\n\n*a **b* c\n\n`tick\n\n[link](http://x", coloured(40))), @"
    **unclosed bold

    *a *‹italic›b‹› c

    `tick

    [link](http://x
    ");
}

#[test]
fn deep_nesting_leaves_room_for_text() {
    let deep: String = (0..12).map(|depth| format!("{}- level {depth} has words\n", "  ".repeat(depth))).collect();
    assert_snapshot!(markdown(&deep, plain(24)), @"
    • level 0 has words
      ◦ level 1 has words
        • level 2 has words
          ◦ level 3 has
            words
            • level 4 has
              words
              ◦ level 5 has
                words
              • level 6 has
                words
              ◦ level 7 has
                words
              • level 8 has
                words
              ◦ level 9 has
                words
              • level 10 has
                words
              ◦ level 11 has
                words
    ");
    assert_snapshot!(markdown("1. 2. 3. 4. 5. 6. 7. 8. text and more text", plain(20)), @"
    1. 2. 3. 4. 5.
    6. 7. 8. text and
             more text
    ");
    let quotes = format!("{} text", ">".repeat(10_000));
    assert_eq!(markdown(&quotes, plain(80)), format!("{}text\n", "│ ".repeat(20)));
}

#[test]
fn numbers_go_on_and_do_not_overflow() {
    assert_snapshot!(shown("999999999. a\n1. b\n\n- 3. c"), @"
    999999999. a
    1000000000. b

    • 3. c
    ");
}

#[test]
fn tabs_are_four_columns() {
    assert_snapshot!(shown("-\ta\n\n\tb\n\n\t\tcode\n\n```\n\tx\ty\n```"), @"
    • a

      b

    code

        x   y
    ");
}

#[test]
fn empty_documents_are_empty() {
    assert_eq!(["", "\n\n", " \n\t\n", ">", "> >\n>"].map(shown), [""; 5]);
}
