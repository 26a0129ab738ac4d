// SPDX-License-Identifier: GPL-2.0
// Functions whose arguments have shapes; prints what tracefmt has to print.
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::error::Error;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

/* std::hint has it since Rust 1.66 only */
#[inline(always)]
fn black_box<T>(x: T) -> T {
	unsafe { std::arch::asm!("/* {0} */", in(reg) &x) };
	x
}

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
pub fn scalars(a: u64, b: i32, c: &bool, d: char, e: u8, g: &Color) -> u64 {
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

fn quoted(s: &str) -> String { s.to_string().show() }

fn seconds(d: Duration) -> String {
	if d == Duration::from_secs(0) { return "0s".to_string(); }
	format!("{:?}", d).replace("µ", "u")
}

#[inline(never)]
pub fn paths(p: &Path, pb: &PathBuf, os: &OsString) -> usize {
	black_box((&p, &pb, &os));
	println!("p={}\npb={}\nos={}", bare(p.to_str().unwrap()),
		 bare(pb.to_str().unwrap()), bare(os.to_str().unwrap()));
	1
}

#[inline(never)]
pub fn cstrings(osr: &OsStr, cs: &CString, c: &CStr) -> usize {
	black_box((&osr, &cs, &c));
	println!("osr={}\ncs={}\nc={}", bare(osr.to_str().unwrap()),
		 bare(cs.to_str().unwrap()), bare(c.to_str().unwrap()));
	1
}

#[inline(never)]
pub fn times(d: &Duration, od: &Option<Duration>) -> usize {
	black_box((&d, &od));
	println!("d={}\nod={}", seconds(*d), match od {
		Some(x) => format!("Some({})", seconds(*x)),
		None => "None".to_string(),
	});
	1
}

#[inline(never)]
pub fn cells(a: &RefCell<u32>, b: &Cell<i16>, c: &Mutex<String>,
	     d: &RwLock<u8>) -> usize {
	black_box((&a, &b, &c, &d));
	println!("a={}\nb={}\nc={}\nd={}", a.borrow(), b.get(),
		 c.lock().unwrap().show(), d.read().unwrap());
	1
}

#[inline(never)]
pub fn inside(e: &Arc<Mutex<Vec<u32>>>, f: &Rc<RefCell<String>>,
	      v: &Vec<Rc<u32>>, s: &[&str]) -> usize {
	black_box((&e, &f, &v, &s));
	println!("e={}\nf={}\nv={}\ns={}", all(&e.lock().unwrap(), 16),
		 f.borrow().show(),
		 all(&v.iter().map(|x| **x).collect::<Vec<u32>>(), 8),
		 all(&s.iter().map(|x| x.to_string())
		     .collect::<Vec<String>>(), 8));
	1
}

#[inline(never)]
pub fn wide(i: &i128, u: &u128, c: char) -> usize {
	black_box((&i, &u, &c));
	println!("i={}\nu={}\nc='{}'", i, u, c);
	1
}

pub trait Area { fn area(&self) -> u32; fn shown(&self) -> String; }
pub struct Circle { r: u32 }
pub struct Rect { w: u32, h: u32, name: String }
pub struct Unit;

impl Area for Circle {
	fn area(&self) -> u32 { self.r }
	fn shown(&self) -> String { format!("values::Circle {{r = {}}}", self.r) }
}
impl Area for Rect {
	fn area(&self) -> u32 { self.w * self.h }
	fn shown(&self) -> String {
		format!("values::Rect {{w = {}, h = {}, name = {}}}", self.w,
			self.h, quoted(&self.name))
	}
}
impl Area for Unit {
	fn area(&self) -> u32 { 0 }
	fn shown(&self) -> String { "values::Unit".to_string() }
}

#[derive(Debug)]
pub struct Fault { code: u32 }

impl std::fmt::Display for Fault {
	fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
		write!(f, "fault {}", self.code)
	}
}
impl Error for Fault {}

#[inline(never)]
pub fn dynamic(a: &dyn Area, b: &Box<dyn Area>, e: &Box<dyn Error + Send + Sync>,
	       r: &Rc<dyn Area>) -> u32 {
	black_box((&a, &b, &e, &r));
	println!("a={}\nb={}\ne=values::Fault {{code = {}}}\nr={}", a.shown(),
		 b.shown(), e.downcast_ref::<Fault>().unwrap().code, r.shown());
	a.area() + b.area()
}

#[inline(never)]
pub fn closure(f: &dyn Fn(u32) -> u32, v: &Vec<Box<dyn Area>>) -> u32 {
	black_box((&f, &v));
	let k = f(0);
	let names: Vec<String> = v.iter().map(|x| {
		let text = x.shown();
		/* an element has no parts */
		if text.starts_with("values::Rect") { "values::Rect".to_string() }
		else { text }
	}).collect();
	println!("f=values::adder::{{closure_env#0}} {{k = {}}}\nv={{{}}}", k,
		 names.join(", "));
	k
}

fn adder(k: u32) -> impl Fn(u32) -> u32 { move |x| x + k }

fn length(n: usize) -> String {
	if n == 0 { "{}".to_string() } else { format!("{{{}}}", cut(0, n, "")) }
}

#[inline(never)]
pub fn maps(m: &HashMap<String, u32>, s: &HashSet<u32>) -> usize {
	black_box((&m, &s));
	println!("m={}\ns={}", length(m.len()), length(s.len()));
	m.len()
}

#[inline(never)]
pub fn trees(b: &BTreeMap<u32, String>, t: &BTreeSet<u16>, d: &VecDeque<i16>,
	     q: &VecDeque<String>) -> usize {
	black_box((&b, &t, &d, &q));
	println!("b={}\nt={}\nd={}\nq={}", length(b.len()), length(t.len()),
		 all(&d.iter().map(|x| *x).collect::<Vec<i16>>(), 16),
		 all(&q.iter().map(|x| x.clone()).collect::<Vec<String>>(), 8));
	b.len()
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
	fn area(&mut self) -> Box<dyn Area> {
		match self.n(3) {
			0 => Box::new(Circle { r: self.n(99) }),
			1 => Box::new(Rect { w: self.n(9), h: self.n(9),
					     name: self.word(80) }),
			_ => Box::new(Unit),
		}
	}
	fn time(&mut self) -> Duration {
		let unit = [1, 1001, 1000003, 1000000000][self.n(4) as usize];

		Duration::from_nanos(self.n(30000) as u64 * unit)
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
			d.n(200) as i32 - 100, &(d.n(2) == 1),
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
		paths(Path::new(&d.word(most)), &PathBuf::from(d.word(20)),
		      &OsString::from(d.word(most)));
		let c = CString::new(d.word(most)).unwrap();
		cstrings(OsStr::new(&d.word(most)),
			 &CString::new(d.word(most)).unwrap(), &c);
		let t = d.time();
		times(&d.time(), &d.option(t));
		cells(&RefCell::new(d.n(999)), &Cell::new(d.n(999) as i16 - 500),
		      &Mutex::new(d.word(80)), &RwLock::new(d.n(256) as u8));
		let v: Vec<Rc<u32>> = (0..d.n(12)).map(|x| Rc::new(x)).collect();
		let s: Vec<String> = (0..d.n(11)).map(|_| d.word(12)).collect();
		let s: Vec<&str> = s.iter().map(|x| x.as_str()).collect();
		inside(&Arc::new(Mutex::new(x)), &Rc::new(RefCell::new(d.word(80))),
		       &v, &s);
		wide(&(-(d.n(999) as i128) << d.n(110)),
		     &((d.n(999) as u128) << d.n(110)),
		     ['x', 'ü', '€'][d.n(3) as usize]);
		let r: Rc<dyn Area> = match d.n(2) {
			0 => Rc::new(Circle { r: d.n(9) }),
			_ => Rc::new(Unit),
		};
		let (a, b) = (d.area(), d.area());
		dynamic(&*a, &b, &(Box::new(Fault { code: d.n(9) })
				   as Box<dyn Error + Send + Sync>), &r);
		let k = d.n(99);
		closure(&adder(k),
			&(0..d.n(5)).map(|_| d.area()).collect());
		let m: HashMap<String, u32> =
			(0..d.n(40)).map(|x| (d.word(9), x)).collect();
		maps(&m, &(0..d.n(40)).map(|x| x * 7).collect());
		let mut e: VecDeque<i16> = VecDeque::new();
		let mut q: VecDeque<String> = VecDeque::new();
		for _ in 0..d.n(40) {
			e.push_back(d.n(999) as i16);
			q.push_back(d.word(9));
			if d.n(3) == 0 { e.pop_front(); q.pop_front(); }
		}
		trees(&(0..d.n(40)).map(|x| (x, d.word(5))).collect(),
		      &(0..d.n(40) as u16).collect(), &e, &q);
	}
}
