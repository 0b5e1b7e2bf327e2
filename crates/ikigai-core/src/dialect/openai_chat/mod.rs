//! OpenAI Chat Completions, and the family that copies it.
