CREATE TABLE conversations (
  n        INTEGER PRIMARY KEY AUTOINCREMENT,
  id       TEXT NOT NULL UNIQUE,
  title    TEXT,
  created  INTEGER NOT NULL,                          -- microseconds since 1970
  updated  INTEGER NOT NULL,
  system   TEXT NOT NULL,                             -- canonical blocks, as JSON
  model    TEXT NOT NULL,                             -- provider, model, thinking, as JSON
  metadata TEXT NOT NULL,
  parent   INTEGER REFERENCES conversations (n),
  base     INTEGER NOT NULL CHECK (base >= 0)         -- so many messages are the parent's
) STRICT;
CREATE INDEX conversations_updated ON conversations (updated, id);
CREATE INDEX conversations_parent ON conversations (parent);

CREATE TABLE messages (
  n                  INTEGER PRIMARY KEY AUTOINCREMENT,
  id                 TEXT NOT NULL UNIQUE,
  conversation       INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
  position           INTEGER NOT NULL CHECK (position > 0),
  role               TEXT NOT NULL,
  state              TEXT NOT NULL CHECK (state IN ('complete', 'partial', 'cut')),
  created            INTEGER NOT NULL,
  updated            INTEGER NOT NULL,
  body               TEXT NOT NULL,                   -- the canonical message, as JSON
  provider           TEXT,
  model              TEXT,
  level              TEXT,
  usage              TEXT,                            -- as JSON
  input_tokens       INTEGER,
  output_tokens      INTEGER,
  thinking_tokens    INTEGER,
  cache_read_tokens  INTEGER,
  cache_write_tokens INTEGER,
  cost               TEXT,                            -- pico-dollars
  finish_reason      TEXT,
  metadata           TEXT NOT NULL,
  UNIQUE (conversation, position)
) STRICT;
CREATE INDEX messages_partial ON messages (n) WHERE state = 'partial';

-- Large attachments, each once.
CREATE TABLE blobs (
  n     INTEGER PRIMARY KEY AUTOINCREMENT,
  hash  TEXT NOT NULL UNIQUE,                         -- SHA-256
  size  INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE attachments (
  message INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  place   INTEGER NOT NULL,                           -- which of the message's sources
  form    TEXT NOT NULL CHECK (form IN ('base64', 'text')),
  blob    INTEGER NOT NULL REFERENCES blobs (n),
  PRIMARY KEY (message, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_blob ON attachments (blob);

-- Answers that grow: the events of their streams.
CREATE TABLE pieces (
  message INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  place   INTEGER NOT NULL,
  events  TEXT NOT NULL,
  PRIMARY KEY (message, place)
) STRICT;

CREATE TABLE settings (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE prompts (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  text    TEXT NOT NULL,
  created INTEGER NOT NULL
) STRICT;
