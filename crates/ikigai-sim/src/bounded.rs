//! What is kept between requests, with a limit on its bytes.

use std::collections::VecDeque;

/// The most items that are kept, however small they are.
const MOST: usize = 10_000;

/// Items in the order they were added. The oldest are dropped if there are too many, or if they take too much.
#[derive(Debug)]
pub(crate) struct Bounded<T> {
    items: VecDeque<(T, usize)>,
    bytes: usize,
    limit: usize,
}

impl<T> Bounded<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Bounded { items: VecDeque::new(), bytes: 0, limit }
    }

    /// Keeps an item of this many bytes, unless it exceeds the limit alone.
    pub(crate) fn push(&mut self, item: T, bytes: usize) {
        if bytes > self.limit {
            return;
        }
        while self.items.len() >= MOST || self.bytes + bytes > self.limit {
            let Some((_, freed)) = self.items.pop_front() else { break };
            self.bytes -= freed;
        }
        self.bytes += bytes;
        self.items.push_back((item, bytes));
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.items.iter().map(|(item, _)| item)
    }

    /// Removes the items that a condition holds for, and returns whether there were any.
    pub(crate) fn remove(&mut self, is_it: impl Fn(&T) -> bool) -> bool {
        let before = self.items.len();
        self.items.retain(|(item, _)| !is_it(item));
        self.bytes = self.items.iter().map(|(_, bytes)| bytes).sum();
        self.items.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_first_and_what_is_too_large_does_not_come_in() {
        let mut kept = Bounded::new(100);
        for (name, bytes) in [("a", 40), ("b", 40), ("c", 40), ("d", 101), ("e", 10)] {
            kept.push(name, bytes);
        }
        assert_eq!(kept.iter().copied().collect::<Vec<_>>(), ["b", "c", "e"]);
        assert!(kept.remove(|name| *name == "b") && !kept.remove(|name| *name == "b"));
        kept.push("f", 50);
        assert_eq!((kept.iter().copied().collect::<Vec<_>>(), kept.bytes), (vec!["c", "e", "f"], 100));
    }
}
