//! A page for each code, from the table of `pushplan explain`.

use super::{Chapter, code, file_name, head, line, prose, titled};
use crate::codes::{CODES, FAMILIES, LIMITED, LIMITS};

/// The list of all codes, a list for each family, and the pages.
pub(super) fn chapters() -> Vec<Chapter> {
    let mut index = titled("Codes");
    index.push_str(
        "Every finding has a code. `pushplan explain CODE` prints its page. If a code can be turned off, do it under \
         [`[checks]`](pushplan-toml.md) in `pushplan.toml`, or for one resource with `lifecycle: {allow: [CODE]}`.\n\n",
    );
    head(&mut index, &["family", "about", "codes"]);
    let mut pages = Vec::new();
    for (family, about) in FAMILIES {
        let of_family = CODES.iter().filter(|code| code.name.starts_with(family));
        let rows = of_family.map(|code| {
            let note = if code.is_free() { "can be turned off" } else { "cannot be turned off" };
            let about = format!("Severity: {}; {note}.", code.severity.word());
            (code.name, code.severity.word(), code.is_free(), code.title, code_page(code.page, &about))
        });
        let rows: Vec<_> = rows.collect();
        let mut page = titled(&format!("{family}: {about}"));
        head(&mut page, &["code", "severity", "can be turned off", "finding"]);
        for (name, severity, is_free, title, _) in &rows {
            let free = if *is_free { "yes" } else { "no" };
            line(&mut page, &[format!("[{name}](codes/{name}.md)"), (*severity).into(), free.into(), prose(title)]);
        }
        let links: Vec<String> = rows.iter().map(|(name, ..)| format!("[{name}](codes/{name}.md)")).collect();
        let path = format!("codes-{}.md", file_name(family));
        line(&mut index, &[format!("[{family}]({path})"), prose(about), links.join(" ")]);
        pages.push(Chapter::new(1, format!("{family}: {about}"), format!("reference/{path}"), page));
        pages.extend(
            rows.into_iter()
                .map(|(name, _, _, _, text)| Chapter::new(2, name, format!("reference/codes/{name}.md"), text)),
        );
    }
    let mut page = titled(&format!("AP: {LIMITED}"));
    page.push_str("Plans name these limits of the service's API. They are not findings, and cannot be turned off.\n\n");
    head(&mut page, &["code", "limit"]);
    let mut links = Vec::new();
    for limit in LIMITS {
        let link = format!("[{0}](codes/{0}.md)", limit.name);
        line(&mut page, &[link.clone(), prose(limit.title)]);
        links.push(link);
    }
    line(&mut index, &["[AP](codes-ap.md)".to_owned(), LIMITED.to_owned(), links.join(" ")]);
    pages.push(Chapter::new(1, format!("AP: {LIMITED}"), "reference/codes-ap.md", page));
    pages.extend(LIMITS.iter().map(|limit| {
        let path = format!("reference/codes/{}.md", limit.name);
        Chapter::new(2, limit.name, path, code_page(limit.page, ""))
    }));
    index.push_str(&format!(
        "\nIn `pushplan.toml`:\n\n```toml\n[checks]\nSC104 = \"off\"        # or \"warning\", \"error\"\n```\n\n{}\n",
        format_args!("On one resource: {}.", code("lifecycle: {allow: [SC104]}"))
    ));
    pages.insert(0, Chapter::new(0, "Codes", "reference/codes.md", index));
    pages
}

/// The page of a code or a limit, with a note below its title.
fn code_page(text: &str, note: &str) -> String {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let note = if note.is_empty() { String::new() } else { format!("{note}\n\n") };
    titled(title.trim_start_matches("# ")) + &note + rest.trim_start_matches('\n')
}
