// SPDX-License-Identifier: GPL-2.0
// values COUNT: functions return values of Rust's types, each of which is printed
// as tracefmt prints it.
pub struct Pair(u32, u32);
pub struct Three(u8, u32, u16);
pub struct Large(u64, u32, u32);
pub enum Tagged { A(u64), B }
pub enum Either { A(u32), B(u32), C }

macro_rules! function {
    ($name:ident, $type:ty, $n:ident, $value:expr) => {
        #[inline(never)]
        #[no_mangle]
        pub fn $name($n: u32) -> $type {
            let value: $type = $value;
            // not a tail call
            unsafe { std::arch::asm!("") };
            value
        }
    };
}

function!(r_str, &'static str, n, if n & 1 > 0 { "odd" } else { "even" });
function!(r_string, String, n, "x".repeat(n as usize % 30));
function!(r_number, i8, n, n as i8 - 9);
function!(r_wide, u128, n, n as u128 * 3);
function!(r_option, Option<u32>, n, if n & 1 > 0 { Some(n) } else { None });
function!(r_byte, Option<u8>, n, if n & 1 > 0 { Some(n as u8) } else { None });
function!(r_text, Option<&'static str>, n,
          if n & 1 > 0 { Some("odd") } else { None });
function!(r_box, Option<Box<u32>>, n,
          if n & 1 > 0 { Some(Box::new(n)) } else { None });
function!(r_result, Result<u32, u32>, n, if n & 1 > 0 { Ok(n) } else { Err(9) });
function!(r_long, Result<String, u32>, n,
          if n & 1 > 0 { Ok(n.to_string()) } else { Err(n) });
function!(r_vec, Vec<u16>, n, vec![7; n as usize % 9]);
function!(r_pair, Pair, n, Pair(n, 5));
function!(r_three, Three, n, Three(n as u8, 5, 6));
function!(r_large, Large, n, Large(9, n, 6));
function!(r_array, [u32; 3], n, [n, 2, 3]);
function!(r_tagged, Tagged, n,
          if n & 1 > 0 { Tagged::A(n as u64) } else { Tagged::B });
function!(r_either, Either, n, match n % 3 {
    0 => Either::A(n),
    1 => Either::B(n),
    _ => Either::C,
});
function!(r_tuple, Option<(u32, u32)>, n,
          if n & 1 > 0 { Some((n, 2)) } else { None });

fn option<T: std::fmt::Display>(value: Option<T>) -> String {
    match value {
        Some(v) => format!("Some({})", v),
        None => "None".to_string(),
    }
}

fn list<T: std::fmt::Display>(list: &[T]) -> String {
    let parts: Vec<String> = list.iter().map(|x| x.to_string()).collect();
    format!("{{{}}}", parts.join(", "))
}

fn values(n: u32) {
    println!("returns {}", r_str(n));
    println!("returns {}", r_string(n));
    println!("returns {}", r_number(n));
    println!("returns {}", r_wide(n));
    println!("returns {}", option(r_option(n)));
    println!("returns {}", option(r_byte(n)));
    println!("returns {}", option(r_text(n).map(|t| format!("\"{}\"", t))));
    println!("returns {}", option(r_box(n)));
    match r_result(n) {
        Ok(v) => println!("returns Ok({})", v),
        Err(v) => println!("returns Err({})", v),
    }
    match r_long(n) {
        Ok(v) => println!("returns Ok(\"{}\")", v),
        Err(v) => println!("returns Err({})", v),
    }
    println!("returns {}", list(&r_vec(n)));
    let p = r_pair(n);
    println!("returns {{__0 = {}, __1 = {}}}", p.0, p.1);
    let t = r_three(n);
    println!("returns {{__0 = {}, __1 = {}, __2 = {}}}", t.0, t.1, t.2);
    let l = r_large(n);
    println!("returns {{__0 = {}, __1 = {}, __2 = {}}}", l.0, l.1, l.2);
    println!("returns {}", list(&r_array(n)));
    match r_tagged(n) {
        Tagged::A(v) => println!("returns A({})", v),
        Tagged::B => println!("returns B"),
    }
    match r_either(n) {
        Either::A(v) => println!("returns A({})", v),
        Either::B(v) => println!("returns B({})", v),
        Either::C => println!("returns C"),
    }
    match r_tuple(n) {
        Some((a, b)) => println!("returns Some {{__0 = {}, __1 = {}}}", a, b),
        None => println!("returns None"),
    }
}

fn main() {
    let count = std::env::args().nth(1).and_then(|a| a.parse().ok());
    for n in 0..count.unwrap_or(1) {
        values(n);
    }
}
