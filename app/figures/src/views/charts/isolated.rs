//! The series that a chart shows alone: in a link, their names joined by commas.

/// The series among `names` that a link's word isolates; none stands for all. Names may contain
/// commas, so the longest name that fits counts. A word may go on with what a kernel chose, as
/// older links do: `cuda/spmv/auto: cuda/csr/adaptive`. They write `FSAI k 2` for `FSAI, k = 2`,
/// and `100k-500k` for `100k-500k nonzeros`.
pub fn isolated<'n>(word: &str, names: &[&'n str]) -> Vec<&'n str> {
    let mut found = Vec::new();
    let mut rest = word;
    while !rest.is_empty() {
        let fits = |name: &&str| {
            let after = after(rest, name);
            after.is_some_and(|it| it.is_empty() || it.starts_with(',') || it.starts_with(": "))
        };
        let longest = names.iter().copied().filter(fits).max_by_key(|name| name.len());
        let after = longest.and_then(|name| after(rest, name)).unwrap_or(rest);
        found.extend(longest.filter(|name| !found.contains(name)));
        rest = after.split_once(',').map_or("", |(_, more)| more);
    }
    found
}

/// What follows a name, as it is now or as older links have it.
fn after<'r>(rest: &'r str, name: &str) -> Option<&'r str> {
    let old = name.replacen(", k = ", " k ", 1).replace(" = ", " ");
    let old = old.strip_suffix(" nonzeros").unwrap_or(&old);
    rest.strip_prefix(name).or_else(|| rest.strip_prefix(old))
}

/// The word after a click on `name` in the legend: it alone, or all again if it was alone. With
/// `adds`, the others stay as they are.
pub fn picked<'n>(word: &str, names: &[&'n str], name: &'n str, adds: bool) -> String {
    let mut now = isolated(word, names);
    match now.iter().position(|known| *known == name) {
        Some(place) if adds || now.len() == 1 => {
            now.remove(place);
        }
        _ if adds => now.push(name),
        _ => now = vec![name],
    }
    now.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 9] = [
        "csr",
        "csr/nnz",
        "a",
        "a, b",
        "cuda/spmv/auto",
        "FSAI, k = 2",
        "FSAI, k = 2, τ = 0.1",
        "<10k nonzeros",
        "100k-500k nonzeros",
    ];

    #[test]
    fn a_word_names_one_series_or_several_and_names_may_hold_commas() {
        for (word, expected) in [
            ("", &[][..]),
            ("csr", &["csr"][..]),
            ("csr/nnz,csr", &["csr/nnz", "csr"][..]),
            ("a, b,csr", &["a, b", "csr"][..]),
            ("a,csr,a", &["a", "csr"][..]),
            ("gone,csr", &["csr"][..]),
            ("csr/gone", &[][..]),
            ("cuda/spmv/auto: cuda/csr/adaptive", &["cuda/spmv/auto"][..]),
            ("FSAI k 2, τ 0.1,csr", &["FSAI, k = 2, τ = 0.1", "csr"][..]),
            ("FSAI k 2", &["FSAI, k = 2"][..]),
            ("100k-500k", &["100k-500k nonzeros"][..]),
            ("<10k,100k-500k nonzeros", &["<10k nonzeros", "100k-500k nonzeros"][..]),
        ] {
            assert_eq!(isolated(word, &NAMES), expected, "{word}");
        }
    }

    #[test]
    fn a_click_isolates_and_releases_and_shift_adds_and_takes_away() {
        for (word, name, adds, expected) in [
            ("", "csr", false, "csr"),
            ("csr", "csr", false, ""),
            ("csr", "a, b", true, "csr,a, b"),
            ("csr,a, b", "csr", true, "a, b"),
            ("csr,a, b", "csr", false, "csr"),
            ("csr", "csr/nnz", false, "csr/nnz"),
        ] {
            assert_eq!(picked(word, &NAMES, name, adds), expected, "{word} {name} {adds}");
        }
    }
}
