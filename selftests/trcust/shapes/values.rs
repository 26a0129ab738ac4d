// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments have shapes; prints what tracefmt has to print.
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub enum Color { Red = 1, Green = 5, Blue = 6 }

pub enum Shape { Circle(u32), Rect { w: u32, h: u32 }, Named(String), Empty }

pub struct Item { pub id: u64, pub name: String, pub on: Option<String>,
		  pub sh: Shape, pub ok: bool, pub ratio: f64 }

fn cut(have: usize, of: usize, unit: &str) -> String {
	format!("<cut: {} of {}{}>", have, of, unit)
}

fn bare(s: &str) -> String {
	if s.len() <= 128 { return s.to_string(); }
	format!("{}{}", &s[..128], cut(128, s.len(), " bytes"))
}

trait Show { fn show(&self) -> String; }

impl Show for String {
	fn show(&self) -> String {
		if self.len() <= 64 { return format!("\"{}\"", self); }
		format!("\"{}\" {}", &self[..64], cut(64, self.len(), " bytes"))
	}
}
impl Show for u32 { fn show(&self) -> String { self.to_string() } }
impl Show for i16 { fn show(&self) -> String { self.to_string() } }
impl<T: Show> Show for Option<T> {
	fn show(&self) -> String {
		match self {
			Some(x) => format!("Some({})", x.show()),
			None => "None".to_string(),
		}
	}
}
impl Show for Shape {
	fn show(&self) -> String {
		match self {
			Shape::Circle(r) => format!("Circle({})", r),
			Shape::Rect { w, h } =>
				format!("Rect {{w = {}, h = {}}}", w, h),
			Shape::Named(s) => format!("Named({})", s.show()),
			Shape::Empty => "Empty".to_string(),
		}
	}
}
impl Show for Item {
	fn show(&self) -> String {
		format!("{{id = {}, name = {}, on = {}, sh = {}, ok = {}, ratio = {}}}",
			self.id, self.name.show(), self.on.show(),
			self.sh.show(), self.ok, self.ratio)
	}
}

fn all<T: Show>(v: &[T], most: usize) -> String {
	let mut text: Vec<String> =
		v.iter().take(most).map(|x| x.show()).collect();
	if v.len() > most { text.push(cut(most, v.len(), "")); }
	format!("{{{}}}", text.join(", "))
}

#[inline(never)]
pub fn scalars(a: u64, b: i32, c: bool, d: char, e: u8, g: &Color) -> u64 {
	black_box((&a, &b, &c, &d, &e, &g));
	let name = match g { Color::Red => "Red", Color::Green => "Green",
			     Color::Blue => "Blue" };
	println!("a={}\nb={}\nc={}\nd='{}'\ne={}\ng={}", a, b, c, d, e, name);
	a
}

#[inline(never)]
pub fn texts(s: &str, t: &String, b: &Box<str>) -> usize {
	black_box((&s, &t, &b));
	println!("s={}\nt={}\nbx={}", bare(s), bare(t), bare(b));
	s.len()
}

#[inline(never)]
pub fn sequences(v: &[i16], w: &Vec<String>, x: &Vec<u32>) -> usize {
	black_box((&v, &w, &x));
	println!("v={}\nw={}\nx={}", all(v, 16), all(w, 8), all(x, 16));
	v.len()
}

#[inline(never)]
pub fn enums(o: &Option<u32>, os: &Option<String>, r: &Result<u32, String>,
	     sh: &Shape, ob: &Option<Box<u32>>, s: &[Shape]) -> usize {
	black_box((&o, &os, &r, &sh, &ob, &s));
	let result = match r {
		Ok(x) => format!("Ok({})", x),
		Err(x) => format!("Err({})", x.show()),
	};
	println!("o={}\nos={}\nr={}\nsh={}\nob={}\nss={}", o.show(), os.show(),
		 result, sh.show(), ob.as_ref().map(|x| **x).show(),
		 all(s, 8));
	s.len()
}

#[inline(never)]
pub fn ones(b: &Box<Item>, rc: &Rc<u32>, arc: &Arc<String>) -> u64 {
	black_box((&b, &rc, &arc));
	println!("b={}\nrc={}\narc={}", b.show(), rc.show(), arc.show());
	b.id
}

struct Draw(u32);

impl Draw {
	fn n(&mut self, n: u32) -> u32 {
		self.0 = self.0.wrapping_mul(1103515245).wrapping_add(12345);
		(self.0 >> 16) % n
	}
	fn word(&mut self, most: u32) -> String {
		let n = self.n(most + 1);
		(0..n).map(|_| (b'a' + self.n(26) as u8) as char).collect()
	}
	fn shape(&mut self) -> Shape {
		match self.n(4) {
			0 => Shape::Circle(self.n(99)),
			1 => Shape::Rect { w: self.n(9), h: self.n(9) },
			2 => Shape::Named(self.word(20)),
			_ => Shape::Empty,
		}
	}
	fn option<T>(&mut self, x: T) -> Option<T> {
		if self.n(2) == 0 { None } else { Some(x) }
	}
}

fn main() {
	let rounds = std::env::args().nth(1).unwrap().parse::<u32>().unwrap();
	let mut d = Draw(1);
	for _ in 0..rounds {
		let most = [1, 30, 140, 400][d.n(4) as usize];
		let color = [Color::Red, Color::Green, Color::Blue][d.n(3) as usize];
		let sum = scalars(d.n(9999) as u64 * 1000003,
			d.n(200) as i32 - 100, d.n(2) == 1,
			['x', 'ü', '€'][d.n(3) as usize], d.n(256) as u8,
			&color);
		texts(&d.word(most), &d.word(most),
		      &d.word(30).into_boxed_str());
		let v: Vec<i16> = (0..d.n(24)).map(|_| d.n(999) as i16).collect();
		let w: Vec<String> = (0..d.n(11)).map(|_| d.word(12)).collect();
		let x: Vec<u32> = (0..d.n(20)).map(|_| d.n(999)).collect();
		sequences(&v, &w, &x);
		let n = d.n(9);
		let text = d.word(30);
		let r = if d.n(2) == 0 { Ok(n) } else { Err(d.word(9)) };
		let s: Vec<Shape> = (0..d.n(5)).map(|_| d.shape()).collect();
		enums(&d.option(n), &d.option(text), &r, &d.shape(),
		      &d.option(Box::new(n)), &s);
		let on = d.word(9);
		let item = Item { id: sum, name: d.word(20), on: d.option(on),
			sh: d.shape(), ok: d.n(2) == 1,
			ratio: d.n(100) as f64 / 4.0 };
		ones(&Box::new(item), &Rc::new(n), &Arc::new(d.word(20)));
	}
}
