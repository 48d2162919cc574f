//! What is generated.

/// A document and the name of its file.
pub type OutputFile = (String, String);
