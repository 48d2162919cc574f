//! Facts of drills: the survivors after the power of this very stack was cut. Only `walwise check --drill` adds them,
//! from a record that anybody could have written, so nothing that can lose data may depend on them.

facts! {
    /// The day of the last cut, as in RFC 3339, from the record of a drill.
    ON: String = Target "drill.on" ValueKind::Text, measured;
    /// How many times the power was cut while commits were acknowledged, from the record of a drill.
    CUTS: u64 = Target "drill.cuts" ValueKind::Count, measured;
    /// Commits that another machine had received and that could still be looked for afterwards, from the record of a drill.
    ACKNOWLEDGED: u64 = Target "drill.acknowledged" ValueKind::Count, measured;
    /// How many of them were gone, from the record of a drill.
    LOST: u64 = Target "drill.lost" ValueKind::Count, measured;
}
