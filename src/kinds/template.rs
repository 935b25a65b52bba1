use super::{Parts, Resource, Said};
use crate::model::push::Content;
use crate::model::variable::Variable;
use crate::node::{At, shape};

shape! {
    /// A stored message with variables, filled in when it is sent.
    pub struct Template as "a template" {
        /// The name in the dashboard. The key where it is left out.
        name: Option<At<String>>,
        /// What it is for.
        description: Option<At<String>>,
        /// The variables that its texts name as `{{KEY}}`.
        variables: Option<Vec<Variable>>,
        /// What it says.
        push: Content,
    }
}

impl Resource for Template {
    const KEY: &'static str = "templates";
    const NOUN: &'static str = "template";
    const PURPOSE: &'static str = "A stored message with variables, filled in when it is sent.";

    fn settle(&mut self, key: &At<String>) {
        self.name.get_or_insert_with(|| key.clone());
        let variables = self.variables.get_or_insert_default();
        for variable in variables {
            let key = &variable.key;
            variable.name.get_or_insert_with(|| key.clone());
        }
    }

    fn parts<'r>(&'r self, parts: &mut Parts<'r>) {
        let Self { name: _, description: _, variables, push: Content { notification, message, rest: _ } } = self;
        parts.said.push(Said {
            notification: Some(notification),
            message: message.as_ref(),
            devices: None,
            variables: Some(variables.as_deref().unwrap_or(&[])),
            borrowed: false,
        });
    }
}
