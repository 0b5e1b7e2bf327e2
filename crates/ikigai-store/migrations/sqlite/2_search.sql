-- Words of messages under their key; words of titles under the key of the conversation, negative.
-- The words come folded and separated by blanks, so that the tokenizer has nothing to decide.
CREATE VIRTUAL TABLE search USING fts5 (
  title, prompt, answer, tool,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
-- Words of deleted messages must not stay behind in the index.
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER messages_forgotten AFTER DELETE ON messages BEGIN
  DELETE FROM search WHERE rowid = old.n;
END;
CREATE TRIGGER conversations_forgotten AFTER DELETE ON conversations BEGIN
  DELETE FROM search WHERE rowid = -old.n;
END;
