//! The upper links: the size of a page, whether the server writes it past the page cache, and the kernel's release.
//!
//! A page that is written through the page cache reaches the disk whenever the kernel writes back, in as many pieces as it
//! likes. PostgreSQL writes all its pages so, whatever the storage promises.

use super::link::{Link, LinkPlace, size};
use crate::durability::ask::Ask;
use crate::facts::catalog::mysql::{self, FlushMethod};
use crate::facts::catalog::{cluster as kind, kernel};
use crate::facts::{Area, Reading, ServerKind, Subject, Why};
use crate::truth::Truth;

/// Size of a page of PostgreSQL, in bytes, unless it was built otherwise (BLCKSZ).
const POSTGRES_PAGE: u64 = 8192;

/// The oldest kernel with which Amazon has tested it (EC2 User Guide, *Requirements for using torn write prevention*).
const TESTED_FROM: [u64; 2] = [5, 10];

/// The size of a page in bytes, where it is known, and the links of the server.
pub fn links(ask: &mut Ask, cluster: &Subject) -> (Option<u64>, Vec<Link>) {
    match ask.facts.area_of(cluster) {
        Some(Area::Mysql) => {
            let page = ask.value(cluster, &mysql::PAGE_SIZE);
            let of_page = match page {
                Some(page) => Link::new(LinkPlace::Page, Truth::True, format!("InnoDB's has {}", size(page))),
                None => Link::unread(LinkPlace::Page, ask, cluster, &mysql::PAGE_SIZE),
            };
            (page, vec![of_page, innodb(ask, cluster)])
        }
        Some(Area::Pg) | None => {
            let says = "PostgreSQL writes pages through the page cache, which promises nothing";
            let of_page =
                Link::new(LinkPlace::Page, Truth::True, format!("PostgreSQL's has {}", size(POSTGRES_PAGE)));
            (Some(POSTGRES_PAGE), vec![of_page, Link::new(LinkPlace::Server, Truth::False, says)])
        }
    }
}

/// How InnoDB opens its data files. From 11.0 on MariaDB has a setting of its own for that.
fn innodb(ask: &mut Ask, cluster: &Subject) -> Link {
    let buffered = "InnoDB writes data files through the page cache";
    let part = LinkPlace::Server;
    if ask.value(cluster, &kind::KIND).is_some_and(ServerKind::is_mariadb) {
        let key = &mysql::DATA_FILE_BUFFERING;
        match (ask.value(cluster, key), ask.facts.get(cluster, key)) {
            (Some(true), _) => {
                return Link::new(
                    part,
                    Truth::False,
                    format!("{buffered} (innodb_data_file_buffering is on)"),
                );
            }
            (Some(false), _) => {
                let says = "InnoDB writes data files with O_DIRECT (innodb_data_file_buffering is off)";
                return Link::new(part, Truth::True, says);
            }
            // Releases before 11.0 have only the flush method.
            (None, Reading::Unknown { why: Why::Absent, .. }) => {}
            (None, Reading::Known { .. } | Reading::Unknown { .. }) => {
                return Link::unread(part, ask, cluster, key);
            }
        }
    }
    let key = &mysql::FLUSH_METHOD;
    match ask.value(cluster, key) {
        Some(method @ (FlushMethod::Direct | FlushMethod::DirectNoFsync)) => {
            let says = format!("InnoDB writes data files with O_DIRECT (innodb_flush_method is {method})");
            Link::new(part, Truth::True, says)
        }
        Some(
            method
            @ (FlushMethod::Fsync | FlushMethod::Dsync | FlushMethod::Littlesync | FlushMethod::Nosync),
        ) => Link::new(part, Truth::False, format!("{buffered} (innodb_flush_method is {method})")),
        None => Link::unread(part, ask, cluster, key),
    }
}

/// Whether the kernel is one with which the chain was tested.
pub fn kernel(ask: &mut Ask) -> Link {
    let host = Subject::host();
    let Some(version) = ask.value(&host, &kernel::VERSION) else {
        return Link::unread(LinkPlace::Kernel, ask, &host, &kernel::VERSION);
    };
    if [version.number(0), version.number(1)] >= TESTED_FROM {
        return Link::new(LinkPlace::Kernel, Truth::True, format!("Linux {version} is 5.10 or later"));
    }
    let says = format!("Linux {version} is older than 5.10, the first that Amazon has tested");
    Link::new(LinkPlace::Kernel, Truth::False, says)
}
