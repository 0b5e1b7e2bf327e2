//! Messages that are kept for a while, each for one client.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ikigai::Message;

/// The hash that a message is found by.
pub(crate) type Key = [u8; 32];

/// The approximate overhead of a message here, in bytes.
const OVERHEAD: usize = 256;

/// The messages of all clients.
///
/// They are kept for a limited time, up to a limited number of bytes. When space runs out, the client with the most
/// loses its oldest messages, so that no client can push out what others need.
#[derive(Debug)]
pub(crate) struct Kept {
    time: Duration,
    room: usize,
    weight: usize,
    count: u64,
    shelves: HashMap<String, Shelf>,
}

/// The messages of one client.
#[derive(Debug, Default)]
struct Shelf {
    weight: usize,
    messages: HashMap<Key, Entry>,
    /// Oldest first.
    order: BTreeMap<u64, Key>,
}

#[derive(Debug)]
struct Entry {
    message: Arc<Message>,
    weight: usize,
    since: Instant,
    number: u64,
}

impl Kept {
    pub(crate) fn new(time: Duration, room: usize) -> Self {
        Kept { time, room, weight: 0, count: 0, shelves: HashMap::new() }
    }

    /// Keeps a message of this many bytes, replacing what was kept under its key.
    pub(crate) fn insert(&mut self, client: &str, key: Key, message: Message, bytes: usize) {
        let weight = bytes.saturating_add(OVERHEAD);
        if weight > self.room {
            return;
        }
        self.count += 1;
        let entry = Entry { message: Arc::new(message), weight, since: Instant::now(), number: self.count };
        let time = self.time;
        let shelf = self.shelves.entry(client.to_owned()).or_default();
        let before = shelf.weight;
        while shelf.oldest().is_some_and(|entry| entry.since.elapsed() > time) {
            shelf.give_up_oldest();
        }
        shelf.put(key, entry);
        self.weight = self.weight - before + shelf.weight;
        while self.weight > self.room {
            // Of two that are equally full, the one with the older message.
            let fullest = self.shelves.values_mut().max_by_key(|shelf| (shelf.weight, Reverse(shelf.oldest_number())));
            let Some(fullest) = fullest else { return };
            let before = fullest.weight;
            fullest.give_up_oldest();
            self.weight = self.weight - before + fullest.weight;
        }
        self.shelves.retain(|_, shelf| !shelf.messages.is_empty());
    }

    /// A client's message under a key, unless it is too old.
    pub(crate) fn get(&self, client: &str, key: &Key) -> Option<Arc<Message>> {
        let entry = self.shelves.get(client)?.messages.get(key)?;
        (entry.since.elapsed() <= self.time).then(|| entry.message.clone())
    }
}

impl Shelf {
    fn oldest(&self) -> Option<&Entry> {
        let (_, key) = self.order.first_key_value()?;
        self.messages.get(key)
    }

    fn oldest_number(&self) -> Option<u64> {
        self.order.first_key_value().map(|(number, _)| *number)
    }

    fn give_up_oldest(&mut self) {
        if let Some((_, key)) = self.order.pop_first()
            && let Some(entry) = self.messages.remove(&key)
        {
            self.weight -= entry.weight;
        }
    }

    fn put(&mut self, key: Key, entry: Entry) {
        self.weight += entry.weight;
        self.order.insert(entry.number, key);
        if let Some(old) = self.messages.insert(key, entry) {
            self.weight -= old.weight;
            self.order.remove(&old.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use ikigai::Role;
    use pretty_assertions::assert_eq;

    use super::*;

    const ROOM: usize = 10_000;
    const BYTES: usize = 1000 - OVERHEAD;

    fn message(text: &str) -> Message {
        Message::new(Role::Assistant, text.to_owned())
    }

    fn held(kept: &Kept, client: &str) -> Vec<u8> {
        (0..100).filter(|number| kept.get(client, &[*number; 32]).is_some()).collect()
    }

    #[test]
    fn who_keeps_the_most_gives_up_its_oldest() {
        let mut kept = Kept::new(Duration::from_secs(60), ROOM);
        for number in 0..3 {
            kept.insert("modest", [number; 32], message("modest"), BYTES);
        }
        for number in 0..100 {
            kept.insert("greedy", [number; 32], message("greedy"), BYTES);
        }
        assert_eq!(held(&kept, "modest"), [0, 1, 2]);
        assert_eq!(held(&kept, "greedy"), Vec::from_iter(93..100));
        // A client that comes later gets as much as the others.
        for number in 0..100 {
            kept.insert("late", [number; 32], message("late"), BYTES);
        }
        let counts = ["modest", "greedy", "late"].map(|client| held(&kept, client).len());
        assert_eq!((counts, kept.weight), ([3, 3, 4], ROOM));
    }

    #[test]
    fn what_is_kept_anew_counts_once() {
        let mut kept = Kept::new(Duration::from_secs(60), ROOM);
        for number in 0..1000 {
            kept.insert("one", [7; 32], message(&number.to_string()), BYTES);
        }
        assert_eq!(kept.weight, BYTES + OVERHEAD);
        assert_eq!(kept.shelves["one"].order.len(), 1);
        assert_eq!(*kept.get("one", &[7; 32]).unwrap(), message("999"));
        assert_eq!(kept.get("two", &[7; 32]), None);
    }

    #[test]
    fn a_message_that_is_too_large_pushes_out_nothing() {
        let mut kept = Kept::new(Duration::from_secs(60), ROOM);
        kept.insert("one", [1; 32], message("small"), BYTES);
        kept.insert("one", [2; 32], message("large"), ROOM);
        assert_eq!(held(&kept, "one"), [1]);
    }

    #[test]
    fn what_is_old_is_gone() {
        let mut kept = Kept::new(Duration::ZERO, ROOM);
        kept.insert("one", [1; 32], message("old"), BYTES);
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(kept.get("one", &[1; 32]), None);
        kept.insert("one", [2; 32], message("new"), BYTES);
        assert_eq!(kept.weight, BYTES + OVERHEAD);
    }
}
