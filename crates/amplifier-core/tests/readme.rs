//! The program of the README is the example.

#[test]
fn the_program_of_the_readme_is_the_example() {
    let readme = include_str!("../README.md");
    let example = include_str!("../examples/session.rs");
    let (_, program) = readme.split_once("```rust\n").expect("a program");
    let (program, _) = program.split_once("```\n").expect("its end");

    assert!(example.ends_with(program), "{program}");
}
