//! Choices of one step, tried in order: the step runs again for each sequence of choices.

/// A sequence of choices, and the number of options for each.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    made: Vec<u8>,
    options: Vec<u8>,
    at: usize,
}

impl Choices {
    /// Repeats earlier choices.
    pub fn replay(made: &[u8]) -> Self {
        Self { made: made.to_vec(), options: vec![1; made.len()], at: 0 }
    }

    /// Returns one of `0..options`. The first request returns 0.
    pub fn choose(&mut self, options: usize) -> usize {
        let options = u8::try_from(options).expect("few options");
        if options <= 1 {
            return 0;
        }
        if self.at == self.made.len() {
            self.made.push(0);
            self.options.push(options);
        }
        self.options[self.at] = options;
        self.at += 1;
        usize::from(self.made[self.at - 1])
    }

    /// Returns one of these.
    pub fn pick<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.choose(options.len())].clone()
    }

    /// Advances to the next sequence; false when all were tried.
    pub fn advance(&mut self) -> bool {
        self.made.truncate(self.at);
        self.options.truncate(self.at);
        self.at = 0;
        while let (Some(last), Some(options)) = (self.made.last_mut(), self.options.last()) {
            if *last + 1 < *options {
                *last += 1;
                return true;
            }
            self.made.pop();
            self.options.pop();
        }
        false
    }

    pub fn made(&self) -> &[u8] {
        &self.made[..self.at]
    }
}
