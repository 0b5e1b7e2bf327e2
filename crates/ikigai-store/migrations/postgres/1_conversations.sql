CREATE TABLE conversations (
  n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id       text COLLATE "C" NOT NULL UNIQUE,
  title    text,
  created  bigint NOT NULL,                           -- microseconds since 1970
  updated  bigint NOT NULL,
  system   text NOT NULL,                             -- canonical blocks, as JSON
  model    text NOT NULL,                             -- provider, model, thinking, as JSON
  metadata text NOT NULL,
  parent   bigint REFERENCES conversations (n),
  base     bigint NOT NULL CHECK (base >= 0)          -- so many messages are the parent's
);
CREATE INDEX conversations_updated ON conversations (updated, id);
CREATE INDEX conversations_parent ON conversations (parent);

CREATE TABLE messages (
  n                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                 text COLLATE "C" NOT NULL UNIQUE,
  conversation       bigint NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
  position           bigint NOT NULL CHECK (position > 0),
  role               text NOT NULL,
  state              text NOT NULL CHECK (state IN ('complete', 'partial', 'cut')),
  created            bigint NOT NULL,
  updated            bigint NOT NULL,
  body               text NOT NULL,                   -- the canonical message, as JSON
  provider           text,
  model              text,
  level              text,
  usage              text,                            -- as JSON
  input_tokens       bigint,
  output_tokens      bigint,
  thinking_tokens    bigint,
  cache_read_tokens  bigint,
  cache_write_tokens bigint,
  cost               text,                            -- pico-dollars
  finish_reason      text,
  metadata           text NOT NULL,
  UNIQUE (conversation, position)
);
CREATE INDEX messages_partial ON messages (n) WHERE state = 'partial';

-- Large attachments, each once.
CREATE TABLE blobs (
  n     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash  text COLLATE "C" NOT NULL UNIQUE,             -- SHA-256
  size  bigint NOT NULL,
  bytes bytea NOT NULL
);
-- Pictures and PDFs do not get smaller.
ALTER TABLE blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TABLE attachments (
  message bigint NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  place   bigint NOT NULL,                            -- which of the message's sources
  form    text NOT NULL CHECK (form IN ('base64', 'text')),
  blob    bigint NOT NULL REFERENCES blobs (n),
  PRIMARY KEY (message, place)
);
CREATE INDEX attachments_blob ON attachments (blob);

-- Answers that grow: the events of their streams.
CREATE TABLE pieces (
  message bigint NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  place   bigint NOT NULL,
  events  text NOT NULL,
  PRIMARY KEY (message, place)
);

CREATE TABLE settings (
  name  text COLLATE "C" NOT NULL PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE prompts (
  n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  text    text NOT NULL,
  created bigint NOT NULL
);
