-- The words come folded from the program, so that no dictionary of the server has a say.
ALTER TABLE conversations ADD COLUMN words tsvector;
ALTER TABLE messages ADD COLUMN words tsvector;
-- 1 what was asked, 2 what was answered, 3 what tools said.
ALTER TABLE messages ADD COLUMN place smallint;
CREATE INDEX conversations_words ON conversations USING gin (words);
CREATE INDEX messages_words ON messages USING gin (words);
