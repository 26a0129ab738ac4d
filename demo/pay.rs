// SPDX-License-Identifier: GPL-2.0
/* Payments in Rust: what docs/guide.md traces. */
use std::time::Duration;

pub trait Method {
	fn fee(&self) -> u32;
}

pub struct Cash;
pub struct Card {
	pub number: String,
	pub limit: u32,
}

impl Method for Cash {
	fn fee(&self) -> u32 {
		0
	}
}

impl Method for Card {
	fn fee(&self) -> u32 {
		(self.number.len() as u32 + self.limit) / 400
	}
}

#[inline(never)]
pub fn charge(who: &str, cents: &[u32], how: &dyn Method,
	      wait: Option<Duration>) -> Result<u32, String> {
	let sum = cents.iter().sum::<u32>() + how.fee();

	if wait.is_none() && sum > 1000 {
		return Err(format!("{} is too much for {}", sum, who));
	}
	Ok(sum)
}

fn main() {
	let card = Card { number: "4000 1234".to_string(), limit: 500 };
	let day = Duration::from_millis(1500);

	for result in [
		charge("Alice", &[250, 125], &card, Some(day)),
		charge("Bob", &[99, 900, 5], &Cash, None),
	] {
		println!("{:?}", result);
	}
}
