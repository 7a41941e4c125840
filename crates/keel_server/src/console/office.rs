//! Where an operator's requests come in. What is done with files is done here, so that the loop waits for no disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bevy_log::info;

use super::{Console, Denial, Outcome, Reply, Request};
use crate::accounts::{AccountError, Accounts, Ban};
use crate::causes::with_causes;
use crate::reload::BalanceFile;

/// What takes an operator's requests.
#[derive(Clone)]
pub struct Office {
    /// The way to the loop.
    pub console: Console,
    /// The directory of the accounts; `None` for a server that takes whoever asks.
    pub accounts: Option<PathBuf>,
    /// The balance file.
    pub balance: Arc<BalanceFile>,
}

impl Office {
    /// Has a request done, and waits until it is.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn ask(&self, request: Request) -> Outcome {
        request.check().map_err(Denial::Refused)?;
        if !matches!(request, Request::Status | Request::Players) {
            info!(?request, "an operator's request");
        }
        match request.clone() {
            Request::ReloadBalance => {
                let balance = Arc::clone(&self.balance);
                let reload = move || balance.request_reload().map_err(|error| with_causes(&error));
                return blocking(reload).await.map(|hash| Reply::Done(format!("The balance is {hash:016x}.")));
            }
            Request::Ban { name, seconds, why } => {
                let ban = Ban::lasting(seconds.map(Duration::from_secs), why);
                self.change(move |accounts| accounts.ban(&name, &ban)).await?;
            }
            Request::Unban { name } => {
                self.change(move |accounts| accounts.unban(&name)).await?;
                return Ok(Reply::Done("The account may log in.".to_owned()));
            }
            _ => {}
        }
        self.console.ask(request)?.await.unwrap_or(Err(Denial::Gone))
    }

    /// Changes the accounts.
    async fn change(
        &self,
        change: impl FnOnce(&Accounts) -> Result<(), AccountError> + Send + 'static,
    ) -> Result<(), Denial> {
        let Some(data) = self.accounts.clone() else {
            return Err(Denial::Refused("This server has no accounts: it takes whoever asks.".to_owned()));
        };
        blocking(move || {
            Accounts::open(&data).and_then(|accounts| change(&accounts)).map_err(|error| with_causes(&error))
        })
        .await
    }
}

/// Does what may take long where nothing waits for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, Denial> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(Denial::Refused),
        Err(_) => Err(Denial::Gone),
    }
}
