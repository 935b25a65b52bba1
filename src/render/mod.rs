//! What people and programs read. One file per form; nothing else prints.

mod again;
pub mod calendar;
pub mod cases;
pub mod escape;
pub mod explain;
pub mod findings;
pub mod graph;
pub mod history;
pub mod html;
mod layout;
mod out;
pub mod plan;
pub mod preview;
mod progress;
mod ready;
pub mod report;
pub mod schema;
pub mod sides;
mod visible;

pub use again::Again;
pub use layout::Style;
pub use out::Out;
pub use progress::{Progress, Showing};
pub use ready::Ready;
pub use visible::{one_line, visible};
