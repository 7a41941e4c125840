//! The rules of a fight as pure functions of numbers
