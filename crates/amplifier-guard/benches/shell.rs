//! What a decision on a command costs: the mean and the slowest of everyday lines, in microseconds.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use amplifier_guard::ShellPolicy;

const LINES: &str = include_str!("../../../tests/data/security/everyday.txt");
const TURNS: u32 = 1000;
const MOST: Duration = Duration::from_micros(20);

fn main() {
    let programs: Vec<_> = LINES
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let policy = ShellPolicy::new(programs, Some("/srv/project".into())).expect("they are plain");
    let first = Instant::now();
    _ = black_box(policy.check_line("ls"));
    println!("shell decisions, at most {MOST:?}");
    println!("the first, which reads the tables: {:?}", first.elapsed());
    let mut costs: Vec<_> = LINES
        .lines()
        .map(|line| {
            _ = black_box(policy.check_line(line));
            let start = Instant::now();
            for _ in 0..TURNS {
                _ = black_box(policy.check_line(black_box(line)));
            }
            (start.elapsed() / TURNS, line)
        })
        .collect();
    costs.sort();
    let all: Duration = costs.iter().map(|(cost, _)| *cost).sum();
    let lines = u32::try_from(costs.len()).expect("they are few");
    println!("mean of {lines} lines: {:?}", all / lines);
    for (cost, line) in costs.iter().rev().take(5) {
        let is_reached = if *cost <= MOST { "reached" } else { "MISSED" };
        println!("{cost:>10.1?}  {is_reached}  {line}");
    }
}
