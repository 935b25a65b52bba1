//! Encrypted connections, and the verification of the server.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::place::{Roots, Security};

/// Returns how to encrypt; `None` for an unencrypted connection.
pub fn tls(security: &Security) -> anyhow::Result<Option<MakeRustlsConnect>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let verifier: Arc<dyn ServerCertVerifier> = match security {
        Security::Plain => return Ok(None),
        Security::Unchecked { .. } => Arc::new(Lenient { inner: None, algorithms }),
        Security::Issued(roots) => Arc::new(Lenient { inner: Some(verifier(roots, &provider)?), algorithms }),
        Security::Named(roots) => verifier(roots, &provider)?,
    };
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config?.dangerous().with_custom_certificate_verifier(verifier);
    Ok(Some(MakeRustlsConnect::new(config.with_no_client_auth())))
}

/// Checks a server against some roots as browsers do.
fn verifier(roots: &Roots, provider: &Arc<CryptoProvider>) -> anyhow::Result<Arc<dyn ServerCertVerifier>> {
    match roots {
        Roots::System => {
            let verifier = rustls_platform_verifier::Verifier::new(provider.clone());
            let verifier = verifier.map_err(|error| anyhow!("this machine's certificates cannot be used: {error}"))?;
            Ok(Arc::new(verifier))
        }
        Roots::File(file) => {
            let roots = Arc::new(read(file)?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
            Ok(verifier.map_err(|error| anyhow!("sslrootcert {} cannot be used: {error}", file.display()))?)
        }
    }
}

fn read(file: &Path) -> anyhow::Result<RootCertStore> {
    let shown = file.display();
    let cannot = |why: &dyn Display| anyhow!("sslrootcert {shown} cannot be used: {why}");
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| cannot(&error))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| cannot(&error))?;
        roots.add(certificate).map_err(|error| cannot(&error))?;
    }
    if roots.is_empty() { Err(cannot(&"it holds no certificate")) } else { Ok(roots) }
}

/// Accepts a certificate that names another server, and any certificate if there are no roots. Whether the server owns
/// the certificate is checked in any case.
#[derive(Debug)]
struct Lenient {
    inner: Option<Arc<dyn ServerCertVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is checked last, so everything else is valid.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
