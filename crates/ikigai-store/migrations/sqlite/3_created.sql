-- Newest first, without a look at every message that was found.
CREATE INDEX messages_created ON messages (created);
