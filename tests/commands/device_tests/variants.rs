//! The variant of an experiment that a device gets.

use super::{SHOP, case_of, fails_of};

const AFTER: &str = "at: 2035-02-01T09:00\ndevice: BUYER";

/// The shop with a control group, and with a weight for the second variant.
fn shop() -> String {
    let variants = "    variants:\n      - push: {notification: {alert: Variant one}}";
    assert!(SHOP.contains(variants));
    let shop = SHOP.replace(variants, &format!("    control: 0.9\n{variants}"));
    shop.replace(
        "      - push: {notification: {alert: Variant two}}",
        "      - weight: 999\n        push: {notification: {alert: Variant two}}",
    )
}

fn passes(lines: &str) {
    let ran = case_of(&shop(), lines);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "ok      one\n\n1 case passed.\n"), "{lines}\n{ran}");
}

#[test]
fn a_case_chooses_the_variant_or_the_control_group() {
    let receives =
        |text: &str| format!("expect: {{receives: {{from: experiments/texts, at: 2035-02-01T10:00, alert: {text}}}}}");
    for (variant, text) in [(1, "Variant one"), (2, "Variant two")] {
        passes(&format!("{AFTER}\nvariants: {{experiments/texts: {variant}}}\n{}", receives(text)));
    }
    let nothing = "steps: [{after: 2h}]\nexpect: {receives: []}";
    passes(&format!("{AFTER}\nvariants: {{experiments/texts: none}}\n{nothing}"));
    let other = format!("{AFTER}\nvariants: {{experiments/texts: 1}}\n{}", receives("Variant two"));
    fails_of(&shop(), &other, &["Variant one"]);
    // Without a choice, the device gets a variant although nine of ten are in the control group.
    passes(&format!("{AFTER}\n{}", receives("[Variant one, Variant two]")));
    // The weight decides for nearly all devices.
    let ran = case_of(&shop(), &format!("{AFTER}\n{}", receives("Variant two")));
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("choose one with `variants: {experiments/texts: 1}`"), "{ran}");
}

#[test]
fn a_choice_that_cannot_be_is_reported() {
    let expect = "expect: {receives: []}";
    for (manifest, choice, said) in [
        (shop(), "{experiments/texts: 3}", "`experiments/texts` has 2 variants"),
        (shop(), "{experiments/texts: 0}", "expected the number of a variant, from 1, or none for the control group"),
        (shop(), "{experiments/text: 1}", "did you mean"),
        (shop(), "{pipelines/remind: 1}", "`pipelines/remind` has no variants"),
        (SHOP.to_owned(), "{experiments/texts: none}", "`experiments/texts` has no control group"),
    ] {
        let ran = case_of(&manifest, &format!("{AFTER}\nvariants: {choice}\n{expect}"));
        assert_eq!(ran.code, 3, "{choice}\n{ran}");
        assert!(ran.stdout.contains(said), "{choice}\n{ran}");
    }
    let device = AFTER.replace("BUYER", "{device_type: ios, channel: mine}");
    let ran = case_of(&shop(), &format!("{device}\nvariants: {{experiments/texts: 1}}\n{expect}"));
    assert_eq!(ran.code, 3, "{ran}");
    assert!(ran.stdout.contains("`variants` cannot be combined with `channel`"), "{ran}");
}
