//! What people and programs read. One file per form; nothing else prints.

mod again;
pub mod calendar;
pub mod cases;
mod csv;
pub mod escape;
pub mod exchange;
pub mod explain;
pub mod findings;
pub mod graph;
pub mod history;
pub mod html;
mod layout;
pub mod lookup;
mod out;
pub mod outcome;
pub mod plan;
mod plot;
mod pretty;
pub mod preview;
mod progress;
pub mod pull;
mod ready;
pub mod report;
pub mod schema;
pub mod sides;
pub mod statistics;
mod table;
pub mod test_send;
mod visible;

pub use again::Again;
pub use layout::Style;
pub use out::Out;
pub use pretty::pretty;
pub use progress::{Progress, Showing};
pub use ready::Ready;
pub use visible::{one_line, visible};
