pub mod boot;
pub mod kernel;
pub mod os;
pub mod tools;
