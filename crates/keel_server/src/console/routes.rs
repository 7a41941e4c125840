//! What answers by HTTP: numbers and health for those who watch a server, and the console for its operator.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::rejection::JsonRejection;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bevy_log::warn;
use serde_json::json;
use subtle::ConstantTimeEq;
use thiserror::Error;

use super::{Denial, Office, Request};
use crate::Handle;

/// `/metrics`, `/healthz`, `/readyz` and `/status`.
pub fn telemetry_routes(handle: &Handle) -> Router {
    let of = |is_so: bool, yes: &'static str, no: &'static str| {
        if is_so { (StatusCode::OK, yes) } else { (StatusCode::SERVICE_UNAVAILABLE, no) }
    };
    let text = (header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let (metrics, board) = (Arc::clone(&handle.metrics), Arc::clone(&handle.board));
    let (well, ready) = (Arc::clone(&handle.health), Arc::clone(&handle.health));
    Router::new()
        .route("/metrics", get(move || async move { ([text], metrics.text()) }))
        .route("/healthz", get(move || async move { of(well.is_well(), "well\n", "no step for five seconds\n") }))
        .route("/readyz", get(move || async move { of(ready.is_ready(), "ready\n", "not ready\n") }))
        .route("/status", get(move || async move { Json(board.read()) }))
}

/// `/command`, which takes a [`Request`] as JSON from whoever has the token; without one from anybody who gets there.
pub fn admin_routes(office: Office, token: Option<Token>) -> Router {
    let router = Router::new().route("/command", post(command)).with_state(office);
    match token {
        Some(token) => router.layer(from_fn_with_state(Arc::new(Guard::new(token)), pass)),
        None => router,
    }
}

async fn command(State(office): State<Office>, request: Result<Json<Request>, JsonRejection>) -> Response {
    let request = match request {
        Ok(Json(request)) => request,
        Err(rejection) => return deny(rejection.status(), &rejection.body_text()),
    };
    match office.ask(request).await {
        Ok(reply) => Json(reply).into_response(),
        Err(denial @ Denial::Refused(_)) => deny(StatusCode::CONFLICT, &denial.to_string()),
        Err(denial) => deny(StatusCode::SERVICE_UNAVAILABLE, &denial.to_string()),
    }
}

fn deny(status: StatusCode, reason: &str) -> Response {
    (status, Json(json!({ "error": reason }))).into_response()
}

/// What proves an operator. It is never shown.
pub struct Token(Vec<u8>);

/// Why a token is none.
#[derive(Debug, Error)]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file {}", .0.display())]
    Read(PathBuf, #[source] std::io::Error),
    /// Others can read it.
    #[error("{} can be read by others: it holds a secret, so chmod 600 it", .0.display())]
    Open(PathBuf),
    /// It could be guessed.
    #[error("the token in {} is too short: it has at least {MIN_TOKEN} bytes", .0.display())]
    Short(PathBuf),
}

/// The shortest token, in bytes.
const MIN_TOKEN: usize = 16;

/// The longest file that is read for one, in bytes.
const MOST_TOKEN: u64 = 4096;

impl Token {
    /// The token of a file, which is all of it but white space around; `None` where there is nothing else.
    ///
    /// # Errors
    /// When the file cannot be read, can be read by others, or has one that could be guessed.
    pub fn read(path: &Path) -> Result<Option<Self>, TokenError> {
        let failed = |error| TokenError::Read(path.to_owned(), error);
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
            return Err(TokenError::Open(path.to_owned()));
        }
        let mut bytes = Vec::new();
        file.take(MOST_TOKEN).read_to_end(&mut bytes).map_err(failed)?;
        match bytes.trim_ascii() {
            [] => Ok(None),
            token if token.len() < MIN_TOKEN => Err(TokenError::Short(path.to_owned())),
            token => Ok(Some(Self(token.to_owned()))),
        }
    }

    /// Whether it is what was given. How long that takes tells nothing of it but its length.
    fn is(&self, given: &[u8]) -> bool {
        self.0.ct_eq(given).into()
    }

    /// The header that proves it.
    #[must_use]
    pub fn bearer(&self) -> Vec<u8> {
        [b"Bearer ".as_slice(), &self.0].concat()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

/// Wrong tokens in a minute after which no token is looked at until it is over.
const MOST_WRONG: u32 = 10;
const MINUTE: Duration = Duration::from_secs(60);

/// Lets those in who have the token.
struct Guard {
    token: Token,
    /// Since when wrong ones are counted, and how many there were.
    wrong: Mutex<(Option<Instant>, u32)>,
}

impl Guard {
    const fn new(token: Token) -> Self {
        Self { token, wrong: Mutex::new((None, 0)) }
    }

    fn look(&self, headers: &HeaderMap, now: Instant) -> Result<(), StatusCode> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.0.is_none_or(|since| now.duration_since(since) >= MINUTE) {
            *wrong = (Some(now), 0);
        }
        if wrong.1 >= MOST_WRONG {
            return Err(StatusCode::TOO_MANY_REQUESTS);
        }
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if given.is_some_and(|given| self.token.is(given)) {
            return Ok(());
        }
        wrong.1 += 1;
        if wrong.1 == MOST_WRONG {
            warn!("too many wrong tokens for the console: none is looked at for a minute");
        }
        Err(StatusCode::UNAUTHORIZED)
    }
}

async fn pass(State(guard): State<Arc<Guard>>, request: HttpRequest, next: Next) -> Response {
    match guard.look(request.headers(), Instant::now()) {
        Ok(()) => next.run(request).await,
        Err(status @ StatusCode::UNAUTHORIZED) => deny(status, "The token is missing or wrong."),
        Err(status) => deny(status, "Too many wrong tokens. Try again in a minute."),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(mode: u32, text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn an_empty_token_is_none_and_one_that_others_can_read_or_guess_is_refused() {
        let read = |mode, text| Token::read(file(mode, text).path());
        assert!(read(0o600, "").unwrap().is_none());
        assert!(read(0o600, " \n").unwrap().is_none());
        assert!(matches!(read(0o644, "0123456789abcdef"), Err(TokenError::Open(_))));
        assert!(matches!(read(0o600, "0123456789abcde\n"), Err(TokenError::Short(_))));
        assert!(read(0o400, "0123456789abcdef\n").unwrap().unwrap().is(b"0123456789abcdef"));
        assert!(matches!(Token::read(Path::new("no/such")), Err(TokenError::Read(..))));
    }

    #[test]
    fn only_the_token_passes_and_ten_wrong_ones_close_the_door_for_a_minute() {
        let guard = Guard::new(Token(b"0123456789abcdef".to_vec()));
        let now = Instant::now();
        let look = |given: Option<&str>, at| {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(header::AUTHORIZATION, given.parse().unwrap());
            }
            guard.look(&headers, at)
        };
        let right = Some("Bearer 0123456789abcdef");
        assert_eq!(look(right, now), Ok(()));
        let wrong =
            [None, Some("Bearer "), Some("Bearer 0123456789abcdeF"), Some("0123456789abcdef"), Some("Bearer 0")];
        for given in wrong.into_iter().cycle().take(10) {
            assert_eq!(look(given, now), Err(StatusCode::UNAUTHORIZED), "{given:?}");
        }
        assert_eq!(look(right, now), Err(StatusCode::TOO_MANY_REQUESTS));
        assert_eq!(look(right, now + MINUTE), Ok(()));
    }
}
