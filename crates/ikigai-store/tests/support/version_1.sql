INSERT INTO conversations (id, title, created, updated, system, model, metadata, base) VALUES
  ('019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d58', NULL, 1763200000000000, 1763200000000000, '[]', '{}', '{}', 0);
INSERT INTO messages (id, conversation, position, role, state, created, updated, body, metadata) VALUES
  ('019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d59', 1, 1, 'user', 'complete', 1763200000000000, 1763200000000000,
   '{"role":"user","content":[{"type":"text","text":"Why is the sky blue?"}]}', '{}'),
  ('019a8b5e-7c3f-7e21-9d4b-0f6c2a1b3d60', 1, 2, 'assistant', 'complete', 1763200000000000, 1763200000000000,
   '{"role":"assistant","content":[{"type":"text","text":"The sky scatters blue light."}],"provider":"p"}', '{}');
