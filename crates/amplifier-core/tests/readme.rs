//! The program of the README and of the guide is the example, and the guide quotes the errors.

use amplifier_core::coordinator::Slot;
use amplifier_core::error::SessionError;

const EXAMPLE: &str = include_str!("../examples/session.rs");
const GUIDE: &str = include_str!("../../../docs/guide/rust.md");

fn program(page: &str) -> &str {
    let (_, program) = page.split_once("```rust\n").expect("a program");
    program.split_once("```\n").expect("its end").0
}

#[test]
fn the_program_of_the_readme_is_the_example() {
    assert!(EXAMPLE.ends_with(program(include_str!("../README.md"))));
}

#[test]
fn the_program_of_the_guide_is_the_example() {
    assert!(EXAMPLE.ends_with(program(GUIDE)));
}

#[test]
fn the_guide_quotes_the_errors_of_a_session() {
    for error in [
        SessionError::NotMounted(Slot::Providers),
        SessionError::NotInitialized,
    ] {
        assert!(GUIDE.contains(&format!("| `{error}` |")), "{error}");
    }
}
