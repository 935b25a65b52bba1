//! The language of a text, by its most common words. A text that is short or mixed has none.

use super::reading::words;

/// Recognized languages, by their ISO 639-1 codes, with common words of each.
const LANGUAGES: &[(&str, &[&str])] = &[
    (
        "en",
        &[
            "the", "and", "of", "to", "is", "are", "you", "your", "for", "with", "on", "this", "that", "it", "we",
            "our", "not", "have", "has", "from", "will", "at", "be", "by", "all", "as", "or", "but", "now", "get",
            "until", "it's", "if", "can", "was", "what", "who", "when", "every", "just", "more", "new", "before",
            "only",
        ],
    ),
    (
        "de",
        &[
            "der", "die", "das", "und", "ist", "sind", "du", "dein", "deine", "deinen", "deiner", "sie", "ihr", "ihre",
            "ihren", "wir", "für", "mit", "auf", "ein", "eine", "einen", "einem", "einer", "nicht", "den", "dem",
            "des", "von", "zu", "zum", "zur", "im", "am", "bei", "nur", "noch", "jetzt", "dich", "dir", "auch", "bis",
            "wenn", "oder", "aber", "es", "alle", "haben", "hat", "wird", "vor", "nach", "aus",
        ],
    ),
    (
        "fr",
        &[
            "le",
            "la",
            "les",
            "et",
            "est",
            "sont",
            "vous",
            "votre",
            "vos",
            "nous",
            "notre",
            "nos",
            "pour",
            "avec",
            "sur",
            "un",
            "une",
            "des",
            "du",
            "de",
            "dans",
            "ne",
            "pas",
            "au",
            "aux",
            "ce",
            "cette",
            "ces",
            "que",
            "qui",
            "en",
            "plus",
            "tous",
            "tout",
            "ou",
            "mais",
            "c'est",
            "votre",
            "vos",
            "jusqu'au",
            "jusqu'à",
            "dès",
            "maintenant",
            "par",
            "ton",
            "ta",
            "tes",
            "tu",
        ],
    ),
    (
        "es",
        &[
            "el", "la", "los", "las", "y", "es", "son", "tu", "tus", "su", "sus", "para", "con", "en", "un", "una",
            "unos", "del", "de", "al", "no", "que", "por", "más", "este", "esta", "hoy", "ahora", "hasta", "pero",
            "como", "todo", "todos", "ya", "te", "lo", "nuestro", "nuestra", "ha", "o",
        ],
    ),
    (
        "it",
        &[
            "il", "lo", "la", "i", "gli", "le", "e", "è", "sono", "tuo", "tua", "tuoi", "tue", "per", "con", "in",
            "un", "una", "uno", "del", "della", "dei", "delle", "di", "da", "al", "alla", "ai", "non", "che", "più",
            "questo", "questa", "oggi", "ora", "fino", "ma", "come", "tutto", "tutti", "nel", "nella", "sul", "sulla",
            "ti", "nostro", "nostra", "ha",
        ],
    ),
    (
        "pt",
        &[
            "o", "a", "os", "as", "e", "é", "são", "seu", "sua", "seus", "suas", "para", "com", "em", "um", "uma",
            "do", "da", "dos", "das", "de", "ao", "à", "não", "que", "por", "mais", "este", "esta", "hoje", "agora",
            "até", "mas", "como", "todo", "todos", "no", "na", "nos", "nas", "você", "te", "já", "nosso", "nossa",
        ],
    ),
    (
        "nl",
        &[
            "de", "het", "een", "en", "is", "zijn", "je", "jouw", "jij", "u", "uw", "we", "wij", "ons", "onze", "voor",
            "met", "op", "in", "van", "naar", "bij", "niet", "dat", "die", "dit", "deze", "nu", "nog", "tot", "om",
            "aan", "ook", "maar", "alle", "wordt", "heeft", "hebben", "er", "of", "als", "uit",
        ],
    ),
];

/// A shorter text has no recognised language.
const FEWEST: usize = 6;

/// The clear language of a text: at least three common words and a quarter of all words are of that language, and at
/// most half as many of any other.
pub(super) fn language(text: &str) -> Option<&'static str> {
    let words = words(text);
    if words.len() < FEWEST {
        return None;
    }
    let count = |common: &[&str]| words.iter().filter(|word| common.contains(&word.lower.as_str())).count();
    let mut counts: Vec<(usize, &str)> = LANGUAGES.iter().map(|(code, common)| (count(common), *code)).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let ((most, code), (next, _)) = (counts[0], counts[1]);
    (most >= 3 && most * 4 >= words.len() && most >= 2 * next).then_some(code)
}

/// Whether a text in this language is never mistaken for another one.
pub(super) fn is_known(code: &str) -> bool {
    // These have other alphabets.
    const OTHER_LETTERS: [&str; 9] = ["ar", "el", "he", "ja", "ko", "ru", "th", "uk", "zh"];
    LANGUAGES.iter().any(|(known, _)| *known == code) || OTHER_LETTERS.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_texts_have_a_language() {
        for (text, code) in [
            ("Your order is on the way and will be with you by noon", "en"),
            ("Nur noch bis Sonntag: 20 % auf alle Schuhe für dich und deine Familie", "de"),
            ("Votre commande est en route et arrive dans la journée", "fr"),
            ("Tu pedido está en camino y llega hoy con todos los regalos", "es"),
            ("Il tuo ordine è in arrivo e sarà da te oggi con tutti i regali", "it"),
            ("O seu pedido está a caminho e chega hoje com todos os presentes", "pt"),
            ("Je bestelling is onderweg en komt vandaag nog bij je aan met alle cadeaus", "nl"),
        ] {
            assert_eq!(language(text), Some(code), "{text}");
        }
    }

    #[test]
    fn short_and_mixed_texts_have_none() {
        for text in [
            "The sale is on now",
            "Black Friday Sale: 20 % Rabatt, jetzt shoppen",
            "Shop the Sale: Sneaker, Boots, Sandalen, Taschen, Gürtel",
            "Hello und willkommen, the sale ist da for you und dich",
            "{{FIRST_NAME}} https://example.com/the/and/you",
            "新しいセールが始まりました、今すぐご覧ください",
        ] {
            assert_eq!(language(text), None, "{text}");
        }
    }
}
