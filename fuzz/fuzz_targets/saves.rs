#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keel_torture::corpus::run("saves", bytes));
