//! The verdict as a whole, on small machines built here. Single rules of thumb are cases of the tables; the properties
//! that must never break (the interlock, learning never being punished into *durable*) are enumerated.

mod drilled;
mod interlock;
mod machine;
mod mysql;
mod properties;
mod sessions;
mod stacks;
mod torn;
mod verdicts;
