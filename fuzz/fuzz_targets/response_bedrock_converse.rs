#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ikigai_fuzz::response(ikigai_core::Dialect::BedrockConverse, data));
