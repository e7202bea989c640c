//! The message after copying a link to the page.

use std::net::Ipv4Addr;

/// The message after copying a link to the page at this address, which leaves out these files.
pub fn copied(address: &str, left_out: &[String]) -> String {
    let without = match left_out {
        [] => String::new(),
        files => {
            format!(", without {}: send those files too", files.join(", "))
        }
    };
    let only_here = match is_of_this_machine(address) {
        true => {
            " It works only on this machine: to share, run `sparsescope export --html`, which \
             writes one file with the viewer and everything that is open."
        }
        false => "",
    };
    format!("Link copied{without}.{only_here}")
}

/// Whether an address is only valid on this machine: that of a file, or of a server on this machine.
fn is_of_this_machine(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    if address.starts_with("file:") {
        return true;
    }
    let Some((_, rest)) = address.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if host.starts_with('[') {
        return host.starts_with("[::1]");
    }
    let host = host.split(':').next().unwrap_or_default().trim_end_matches('.');
    let is_loopback = |host: &str| host.parse::<Ipv4Addr>().is_ok_and(|at| at.is_loopback());
    host == "localhost" || host.ends_with(".localhost") || is_loopback(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_this_machine_offers_the_file_that_works_elsewhere() {
        let here = [
            "http://127.0.0.1:8080/#v1;view=spy",
            "http://127.1.2.3/",
            "http://localhost",
            "https://LOCALHOST:8443/a?bundle=https://example.org/b.zip",
            "http://viewer.localhost/",
            "http://me@localhost:1/",
            "http://[::1]:8080/",
            "file:///home/me/results.html#v1",
        ];
        for address in here {
            let said = copied(address, &[]);
            assert!(
                said.starts_with("Link copied. ") && said.contains("only on this machine"),
                "{said}"
            );
            assert!(said.contains("`sparsescope export --html`"), "{address}: {said}");
        }
        let elsewhere = [
            "https://example.org/",
            "https://example.org/?bundle=http://localhost/b.zip",
            "https://localhost.example.org/#127.0.0.1",
            "http://192.168.1.7:8080/",
            "http://[2001:db8::1]/",
        ];
        for address in elsewhere {
            assert_eq!(copied(address, &[]), "Link copied.", "{address}");
        }
    }

    #[test]
    fn what_does_not_fit_into_a_link_is_named() {
        let said = copied("http://localhost/", &["big.mtx".into(), "b.zip".into()]);
        assert!(
            said.starts_with("Link copied, without big.mtx, b.zip: send those files"),
            "{said}"
        );
        assert!(said.contains("files too. It works only on this machine"), "{said}");
    }
}
