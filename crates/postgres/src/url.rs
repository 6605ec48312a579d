//! The database URL: what tokio-postgres reads, and the two parameters that people know from libpq.

use crate::error::OpenError;
use std::net::IpAddr;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// What is not said stands for it.
const PORT_DEFAULT: u16 = 5432;

/// Where the server is and how it is spoken to.
pub(crate) struct Address {
    pub(crate) config: Config,
    /// A file of certificates that are trusted instead of the public ones.
    pub(crate) root_certificates: Option<String>,
}

pub(crate) fn parse(url: &str) -> Result<Address, OpenError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut kept, mut mode, mut roots) = (Vec::new(), None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(ssl_mode(value)?),
            Some(("sslrootcert", value)) => roots = Some(value.to_owned()),
            _ => kept.push(pair),
        }
    }
    let rest = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
    // The error may repeat parts of the URL, and a password may be among them.
    let mut config: Config = rest.parse().map_err(|_| OpenError::Url("it is not a PostgreSQL URL".into()))?;
    if config.get_hosts().is_empty() {
        return Err(OpenError::Url("it names no host".into()));
    }
    config.ssl_mode(mode.unwrap_or(if roots.is_some() { SslMode::Require } else { SslMode::Prefer }));
    config.application_name("postrider");
    Ok(Address { config, root_certificates: roots })
}

/// Hosts, ports and database, as people may see them.
pub(crate) fn shown(config: &Config) -> String {
    let host = |(number, host): (usize, &Host)| {
        let name = match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]"),
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        };
        match port(config, number) {
            PORT_DEFAULT => name,
            port => format!("{name}:{port}"),
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    format!("postgres://{}/{}", hosts.join(","), config.get_dbname().unwrap_or_default())
}

/// Whether somebody on the way to the server could read what is sent, or answer instead of it: it is on another machine,
/// and its certificate is not checked.
pub(crate) fn is_exposed(config: &Config) -> bool {
    let is_remote = |host: &Host| match host {
        Host::Tcp(name) => {
            name != "localhost" && !name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => false,
    };
    // An address that is given beside a name is what is dialled.
    let addresses = config.get_hostaddrs();
    let remote = match addresses {
        [] => config.get_hosts().iter().any(is_remote),
        _ => addresses.iter().any(|address| !address.is_loopback()),
    };
    remote && config.get_ssl_mode() != SslMode::Require
}

/// One port is that of all hosts.
fn port(config: &Config, host: usize) -> u16 {
    let ports = config.get_ports();
    ports.get(host).or(ports.first()).copied().unwrap_or(PORT_DEFAULT)
}

fn ssl_mode(word: &str) -> Result<SslMode, OpenError> {
    match word {
        "disable" => Ok(SslMode::Disable),
        "allow" | "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err(OpenError::Url("sslmode must be disable, prefer, require or verify-full".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_whose_certificate_is_not_checked_is_exposed() {
        let check = |url: &str, expected: bool| {
            assert_eq!(is_exposed(&parse(url).unwrap().config), expected, "{url}");
        };
        check("postgres://u@db.example.com/d", true);
        check("postgres://u@10.0.0.5/d?sslmode=disable", true);
        check("postgres://u@localhost,db.example.com/d?sslmode=prefer", true);
        check("postgres://u@db.example.com/d?sslmode=verify-full", false);
        check("postgres://u@db.example.com/d?sslmode=require", false);
        check("postgres://u@localhost/d?sslmode=disable", false);
        check("postgres://u@[::1]/d", false);
        check("postgres://u@127.0.0.2/d", false);
        check("postgres://u@%2Frun%2Fpostgresql/d", false);
        check("postgres://u@localhost/d?hostaddr=10.0.0.5", true);
    }

    #[test]
    fn parameters_of_libpq_are_understood() {
        let check = |url: &str, mode: SslMode, roots: Option<&str>| {
            let address = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(address.config.get_ssl_mode(), mode, "{url}");
            assert_eq!(address.root_certificates.as_deref(), roots, "{url}");
        };
        check("postgres://u@h/d", SslMode::Prefer, None);
        check("postgres://u@h/d?sslmode=disable", SslMode::Disable, None);
        check("postgres://u@h/d?sslmode=verify-full&connect_timeout=3", SslMode::Require, None);
        check("postgresql://u@h/d?sslrootcert=/ca.pem", SslMode::Require, Some("/ca.pem"));
    }

    #[test]
    fn where_a_server_is_tells_it_from_every_other() {
        let check = |url: &str, expected: &str| {
            let address = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(shown(&address.config), expected, "{url}");
        };
        check("postgres://u:secret@h/d", "postgres://h/d");
        check("postgres://u@h:5432/d", "postgres://h/d");
        check("postgres://u@h:5433/d", "postgres://h:5433/d");
        check("postgres://u@[::1]:5433/d", "postgres://[::1]:5433/d");
        check("postgres://u@a,b:5433/d?target_session_attrs=read-write", "postgres://a,b:5433/d");
        check("postgres://u@%2Frun%2Fpg/d", "postgres:///run/pg/d");
    }

    #[test]
    fn what_is_no_url_is_refused_and_not_repeated() {
        for url in
            ["", "mysql://u:hunter2@h/d", "postgres://u:hunter2@h/d?sslmode=maybe", "postgres://?x=hunter2"]
        {
            let Err(error) = parse(url) else { panic!("{url} was taken") };
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
