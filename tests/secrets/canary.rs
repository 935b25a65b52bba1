//! A password that is easily found again, in whatever form it comes to light.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Its middle looks the same in a URL as it is; what stands around it does not.
pub const CANARY: &str = "q/+K4naryInTheMine=%:w";
const MIDDLE: &str = "K4naryInTheMine";

/// As it is written in an address.
pub fn escaped(password: &str) -> String {
    utf8_percent_encode(password, NON_ALPHANUMERIC).to_string()
}

/// Whether bytes have the password in them: as it is, escaped, in hexadecimal digits, or in base64 with whatever before it.
pub fn is_told(bytes: &[u8]) -> bool {
    let hex: String = MIDDLE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![MIDDLE.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
    for engine in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
        for before in 0..3 {
            let coded = engine.encode([vec![0; before], MIDDLE.as_bytes().to_vec()].concat());
            // What its neighbours have a share in is left out.
            let (from, to) = ((before * 8).div_ceil(6), (before + MIDDLE.len()) * 8 / 6);
            forms.push(coded.as_bytes()[from..to].to_vec());
        }
    }
    forms.iter().any(|form| bytes.windows(form.len()).any(|window| window.eq_ignore_ascii_case(form)))
}

#[test]
fn it_is_found_in_every_form() {
    let pair = format!("ada:{CANARY}");
    for form in [
        CANARY.to_owned(),
        escaped(CANARY),
        BASE64_STANDARD.encode(CANARY),
        BASE64_STANDARD.encode(format!("x{CANARY}")),
        BASE64_URL_SAFE.encode(&pair),
        pair.bytes().map(|byte| format!("{byte:02x}")).collect(),
        form_urlencoded::byte_serialize(CANARY.as_bytes()).collect(),
    ] {
        assert!(is_told(format!("before {form} after").as_bytes()), "{form}");
    }
    assert!(!is_told(b"nothing of the sort"));
}
