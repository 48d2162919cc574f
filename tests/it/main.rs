//! The one integration test binary. Tests that need root, tools or a server are ignored here and run by `tests/run`.

mod architecture;
