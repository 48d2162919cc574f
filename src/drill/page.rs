//! A page of the drill's WAL: the id of its run, its number, and noise derived from both, so that a partly written page
//! is recognised.

/// Size of a page, in bytes (XLOG_BLCKSZ).
pub const PAGE: usize = 8192;

const MAGIC: u64 = u64::from_le_bytes(*b"WALDRILL");

/// Makes the page with this number.
pub fn fill(page: &mut [u8], run: u64, number: u64) {
    for (place, word) in (0..).zip(page.chunks_exact_mut(8)) {
        word.copy_from_slice(&word_at(place, run, number).to_le_bytes());
    }
}

/// The number of a page of this run; `None` for anything else, including a page with a foreign sector.
pub fn number_of(page: &[u8], run: u64) -> Option<u64> {
    let word = |at: usize| page.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let number = word(16)?;
    let whole = (0..)
        .zip(page.chunks_exact(8))
        .all(|(place, word)| word == word_at(place, run, number).to_le_bytes());
    (page.len() == PAGE && whole).then_some(number)
}

/// The word at a place. Every word after the head is a function of place, run and number (SplitMix64's finisher).
fn word_at(place: u64, run: u64, number: u64) -> u64 {
    match place {
        0 => MAGIC,
        1 => run,
        2 => number,
        _ => {
            let z =
                run ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ place.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(run: u64, number: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE];
        fill(&mut page, run, number);
        page
    }

    #[test]
    fn a_page_is_known_by_every_sector_of_it() {
        let new = page(7, 3000);
        assert_eq!(number_of(&new, 7), Some(3000));
        assert_eq!(number_of(&new, 8), None, "of another run");
        assert_eq!(number_of(&new[..PAGE - 512], 7), None);
        assert_eq!(number_of(&vec![0; PAGE], 7), None);
        // Torn: some sectors are still those of the page that was there before.
        let old = page(7, 3000 - 2048);
        for sector in 0..PAGE / 512 {
            let mut torn = new.clone();
            torn[sector * 512..(sector + 1) * 512].copy_from_slice(&old[sector * 512..(sector + 1) * 512]);
            assert_eq!(number_of(&torn, 7), None, "sector {sector}");
        }
    }
}
