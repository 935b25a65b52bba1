use clap::Args;
use jiff::Timestamp;

use super::apply::How;
use super::planning::{Chosen, Place, Wish};
use super::{Context, Ended};
use crate::plan::Aim;

/// Delete everything of ours on the service. Nothing else is touched.
#[derive(Debug, Args)]
pub struct Destroy {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    chosen: Chosen,

    #[command(flatten)]
    how: How,
}

impl Destroy {
    pub fn run(&self, context: &Context) -> Ended {
        let site = self.place.read(context, Timestamp::now())?;
        let wish = Wish { choice: self.chosen.choice(), aim: Aim::Nothing, ..Wish::default() };
        self.how.run(&site, &wish, None, &format!("Delete all of this from {}?", site.target), context)
    }
}
