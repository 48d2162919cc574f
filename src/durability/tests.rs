//! The verdict as a whole, on small machines built here. Single rules are cases of the tables; the properties that must
//! never break are enumerated (the interlock; more knowledge never turns a verdict into *durable* by mistake).

mod caps;
mod drilled;
mod flush_path;
mod guarantor;
mod interlock;
mod machine;
mod mysql;
mod nvme;
mod page;
mod properties;
mod sessions;
mod stacks;
mod torn;
mod verdicts;
