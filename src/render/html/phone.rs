//! A notification as shown on a phone's lock screen or in a browser, drawn only with HTML.

use maud::{Markup, html};

use super::super::{one_line, visible};
use crate::look::{Center, Fit};
use crate::nouns::device::DeviceType;

/// The styles for this module, independent of others: all classes begin with `ph-`.
pub(crate) const CSS: &str = include_str!("phone.css");

/// The line below the text.
pub(crate) const SUMMARY: &str = "summary";

/// A message as shown on a screen, with the length of the visible part. `app` is the shown sender.
pub fn phone(fit: &Fit, app: &str) -> Markup {
    let class = match fit.device {
        DeviceType::Ios => "ph ph-ios",
        DeviceType::Android => "ph ph-android",
        _ => "ph ph-card",
    };
    html! {
        figure class=(class) {
            figcaption class="ph-caption" { (fit.screen) ": " (fit.how_much()) }
            div class="ph-screen" {
                div class="ph-note" {
                    div class="ph-head" {
                        span class="ph-icon" aria-hidden="true" {}
                        bdi class="ph-app" { (one_line(app)) }
                        span class="ph-now" { "now" }
                    }
                    @for head in fit.heads.iter().filter(|head| head.name != SUMMARY) {
                        div class=(if head.name == "title" { "ph-title" } else { "ph-text" }) dir="auto" { (one_line(&head.shown)) }
                    }
                    @if fit.shown.is_empty() {
                        div class="ph-text ph-none" { "no text" }
                    } @else {
                        div class="ph-text" dir="auto" { (visible(&fit.shown)) }
                    }
                    @for head in fit.heads.iter().filter(|head| head.name == SUMMARY) {
                        div class="ph-text ph-none" dir="auto" { (one_line(&head.shown)) }
                    }
                }
                @if !fit.buttons.is_empty() {
                    ul class="ph-buttons" {
                        @for button in &fit.buttons { li { (one_line(button)) } }
                    }
                }
            }
        }
    }
}

/// A Message Center message as shown in the app's inbox.
pub fn inbox(message: &Center) -> Markup {
    html! {
        figure class="ph ph-inbox" {
            figcaption class="ph-caption" { "Message Center" }
            div class="ph-note" {
                div class="ph-title" dir="auto" { (one_line(&message.title)) }
                div class="ph-text" dir="auto" { (visible(&message.text)) }
            }
        }
    }
}
