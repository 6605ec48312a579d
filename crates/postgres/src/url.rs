//! The database URL: what tokio-postgres reads, and the two parameters that people know from libpq.

use crate::error::OpenError;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

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

/// Host and database, as people may see them.
pub(crate) fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    format!("postgres://{host}/{}", config.get_dbname().unwrap_or_default())
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
    fn what_is_no_url_is_refused_and_not_repeated() {
        for url in
            ["", "mysql://u:hunter2@h/d", "postgres://u:hunter2@h/d?sslmode=maybe", "postgres://?x=hunter2"]
        {
            let Err(error) = parse(url) else { panic!("{url} was taken") };
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
