//! The requests of a plan without changes: one for each page of each list, and one for each segment that someone
//! touched.

use std::collections::BTreeMap;

use hyper::body::Bytes;
use serde_json::Value;
use tokio::runtime::Builder;

use crate::floor::client::{Client, Place};
use crate::program::{own, timed};
use crate::service::Service;
use crate::sites::Site;

/// How many segments someone saves again in the dashboard as they are.
pub const TOUCHED: usize = 10;

/// How many requests of each shape there were, and how many there may be.
pub struct Requests {
    pub made: BTreeMap<String, usize>,
    pub expected: BTreeMap<String, usize>,
}

impl Requests {
    pub fn count(service: &Service, site: &Site) -> Self {
        service.forget_requests();
        let (_, asked) = site.floored(timed(&mut site.floor()));
        let mut expected = service.requests();
        assert_eq!(Self::total(&expected), asked.requests as f64, "the service heard what the floor asked");
        let touch = timed(&mut site.command(own("touch", &[&TOUCHED.to_string()]))).well("touch");
        let touched: usize = touch.said.trim().parse().expect("a number");
        expected.insert("GET /api/segments/ID".to_owned(), touched);
        service.forget_requests();
        site.planned(timed(&mut site.plan()));
        Self { made: service.requests(), expected }
    }

    pub fn total(shapes: &BTreeMap<String, usize>) -> f64 {
        shapes.values().sum::<usize>() as f64
    }

    /// Which requests are too many or too few, in words.
    pub fn differences(&self) -> Vec<String> {
        let shapes: std::collections::BTreeSet<&String> = self.made.keys().chain(self.expected.keys()).collect();
        let count = |of: &BTreeMap<String, usize>, shape: &str| of.get(shape).copied().unwrap_or_default();
        let mut words = Vec::new();
        for shape in shapes {
            let (made, expected) = (count(&self.made, shape), count(&self.expected, shape));
            if made != expected {
                words.push(format!("{shape}: {made} for {expected}"));
            }
        }
        words
    }
}

/// The program: saves so many segments again as they are, and says how many there were.
pub fn touch(most: usize) -> usize {
    let place = Place::from_environment();
    let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
    runtime.block_on(async {
        let mut client = Client::connect(&place).await;
        let list: Value = serde_json::from_slice(&client.get("/api/segments").await).expect("JSON");
        let ids = list["segments"].as_array().into_iter().flatten().filter_map(|segment| segment["id"].as_str());
        let mut touched = 0;
        for id in ids.take(most) {
            let path = format!("/api/segments/{id}");
            let segment: Bytes = client.get(&path).await;
            client.send("PUT", &path, segment).await;
            touched += 1;
        }
        touched
    })
}
