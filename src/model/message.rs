use crate::node::{At, shape};

shape! {
    /// A Message Center message: a page that stays in the app's inbox.
    pub struct Message as "a Message Center message" {
        /// The line shown in the inbox.
        title: At<String>,
        /// The content, of the type in `content_type`. A long one can stand in a file: `body: {file: bodies/sale.html}`.
        body: At<String>,
        /// The MIME type of the body; `text/html` where it is left out.
        content_type: Option<At<String>>,
        ..rest
    }
}
