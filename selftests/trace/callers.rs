// SPDX-License-Identifier: GPL-2.0
// Calls of all kinds that end in sample(): closures, traits, sorting, recursion.
use std::collections::BTreeMap;

#[no_mangle]
#[inline(never)]
pub extern "C" fn sample(n: u64) -> u64 {
    std::hint::black_box(n)
}

trait Shape {
    fn area(&self, n: u64) -> u64;
}

struct Square;
struct Named(String);

impl Shape for Square {
    fn area(&self, n: u64) -> u64 {
        sample(n) * n
    }
}

impl Shape for Named {
    fn area(&self, n: u64) -> u64 {
        self.0.chars().map(|c| sample(n + c as u64)).sum()
    }
}

fn deep(n: u64, then: &dyn Fn(u64) -> u64) -> u64 {
    if n == 0 {
        return then(n);
    }
    deep(n - 1, then) + n % 2
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).map_or(10, |a| a.parse().unwrap());
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square), Box::new(Named("ab".into()))];
    let mut names = BTreeMap::new();
    let mut sum = sample(0);

    std::thread::sleep(std::time::Duration::from_millis(300));
    for i in 0..rounds {
        let mut numbers = [i % 7, i % 5, i % 3, i % 2];

        sum += shapes.iter().map(|s| s.area(i)).sum::<u64>();
        numbers.sort_by(|a, b| sample(*a).cmp(b));
        sum += deep(i % 20, &|n| sample(n + i));
        names.insert(i.to_string(), sample(i));
    }
    println!("{}", sum + names.values().sum::<u64>());
}
