//! What a server answers by HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use bevy_log::warn;
use keel_server::http::{Bind, Http, Listener};
use keel_server::{BalanceFile, Office, Server, Token, admin_routes, make_data_directory, telemetry_routes};

use super::settings::{Admin, Metrics, Settings};

/// The console's socket, in the data directory.
pub(crate) const ADMIN_SOCKET: &str = "admin.sock";

/// What listens.
pub(super) struct Endpoints {
    pub(super) http: Http,
    /// What there is to say of numbers and the console.
    pub(super) said: String,
    /// Where pilots log in, if they have to.
    pub(super) login: Option<SocketAddr>,
}

/// Listens wherever the settings say.
pub(super) fn open(settings: &Settings, server: &Server, balance: &Arc<BalanceFile>) -> anyhow::Result<Endpoints> {
    let handle = server.handle();
    let mut listeners = Vec::from_iter(server.login_listener());
    let (logins, mut names) = (listeners.len(), Vec::new());
    if let Metrics::At(address) = settings.metrics {
        listeners.push(Listener::new(address, telemetry_routes(&handle)));
        names.push("metrics on http://");
    }
    let accounts = (!settings.unsecured).then(|| settings.data.clone());
    let office = Office { console: handle.console, accounts, balance: Arc::clone(balance) };
    if let Some(listener) = console(settings, office)? {
        listeners.push(listener);
        names.push("console at ");
    }
    let http = Http::start(listeners)?;
    let others = http.addresses().iter().skip(logins);
    let said = names.iter().zip(others).map(|(name, bind)| format!(", {name}{bind}")).collect();
    let login = (logins > 0).then(|| http.port(0)).flatten();
    Ok(Endpoints { http, said, login })
}

fn console(settings: &Settings, office: Office) -> anyhow::Result<Option<Listener>> {
    match settings.admin {
        Admin::Off => Ok(None),
        Admin::Socket => {
            let failed = || format!("cannot make the data directory {}", settings.data.display());
            make_data_directory(&settings.data).with_context(failed)?;
            let bind = Bind::File(settings.data.join(ADMIN_SOCKET));
            Ok(Some(Listener::new(bind, admin_routes(office, None))))
        }
        Admin::At(address) => {
            let token = settings.admin_token_file.as_deref().map(Token::read).transpose()?.flatten();
            if token.is_none() {
                warn!("the console is off: it has no token, so give --admin-token-file a file with one");
            }
            Ok(token.map(|token| Listener::new(address, admin_routes(office, Some(token)))))
        }
    }
}
