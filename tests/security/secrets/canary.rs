//! A password that is easy to find in any encoding.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Its middle is unchanged in a URL; the characters around it are not.
pub const CANARY: &str = "q/+????K4naryInTheMine=%:>>>>w";
const MIDDLE: &str = "K4naryInTheMine";

/// The password as it is written in an address.
pub fn escaped(password: &str) -> String {
    utf8_percent_encode(password, NON_ALPHANUMERIC).to_string()
}

/// Whether bytes contain the password: unchanged, escaped, in hexadecimal digits, or in base64 at any offset.
pub fn is_told(bytes: &[u8]) -> bool {
    let hex: String = MIDDLE.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut forms = vec![MIDDLE.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()];
    for engine in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
        for before in 0..3 {
            let coded = engine.encode([vec![0; before], MIDDLE.as_bytes().to_vec()].concat());
            // Characters that also depend on the neighbouring bytes are left out.
            let (from, to) = ((before * 8).div_ceil(6), (before + MIDDLE.len()) * 8 / 6);
            forms.push(coded.as_bytes()[from..to].to_vec());
        }
    }
    forms.iter().any(|form| bytes.windows(form.len()).any(|window| window.eq_ignore_ascii_case(form)))
}

/// A canary that is the key of an application, which has no colon.
pub const KEY: &str = "k/+????K4naryInTheMine=%\\\"w";

#[test]
fn it_is_found_in_every_form() {
    let pair = format!("ada:{CANARY}");
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut forms = vec![
        CANARY.to_owned(),
        escaped(CANARY),
        hex(&pair),
        hex(&pair).to_uppercase(),
        form_urlencoded::byte_serialize(CANARY.as_bytes()).collect(),
        serde_json::to_string(KEY).expect("JSON"),
        format!("{KEY:?}"),
    ];
    for before in ["", "x", "xy"] {
        for engine in [&BASE64_STANDARD, &BASE64_URL_SAFE] {
            forms.push(engine.encode(format!("{before}{CANARY}")));
            forms.push(engine.encode(format!("{before}{KEY}:{CANARY}")));
        }
    }
    for form in &forms {
        assert!(is_told(format!("before {form} after").as_bytes()), "{form}");
    }
    // The forms differ: finding a single one would not be enough.
    let distinct: std::collections::BTreeSet<&String> = forms.iter().collect();
    assert!(distinct.len() >= 15, "{forms:#?}");
    assert!(!is_told(b"nothing of the sort"));
}
