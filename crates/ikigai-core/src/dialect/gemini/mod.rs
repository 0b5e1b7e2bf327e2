//! Google Gemini generateContent.
