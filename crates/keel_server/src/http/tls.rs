//! Encryption by a certificate of the operator's.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::HttpError;

/// A certificate and its key, as TLS 1.2 and 1.3 use them.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads a certificate, with those that it is signed by behind it, and its private key, both as PEM.
    ///
    /// # Errors
    /// When a file cannot be read, has no such thing in it, or the two do not belong together.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, HttpError> {
        let failed = |what, path: &Path, reason: String| HttpError::Tls { what, path: path.to_owned(), reason };
        let of_certificate = |reason| failed("certificate", certificate, reason);
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| of_certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(of_certificate("there is no certificate in it".to_owned()));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| failed("key", key, error.to_string()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| of_certificate(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|error| failed("key", key, error.to_string()))?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(super) async fn accept<S>(&self, stream: S) -> std::io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.0.accept(stream).await
    }
}
