//! For tests alone: what the open network, an overloaded machine and broken files do to a server.
//!
//! An [`Arena`] is a whole server without a socket, whose clock is moved by hand, so hours of abuse take seconds and nothing is
//! left to chance. What is thrown at it comes from [`Choices`]: bytes that every decision is read from. Bytes of a seeded stream
//! make the runs of the suite, those of a fuzzer make its own, and both go through the same functions: [`payloads`],
//! [`datagrams`], [`codec`], [`ops`], [`balance`], [`saves`].

pub mod acks;
pub mod arena;
pub mod balance;
pub mod choices;
pub mod codec;
pub mod corpus;
pub mod datagrams;
pub mod flood;
pub mod ops;
pub mod orders;
pub mod overload;
pub mod payloads;
pub mod saves;

pub use arena::{Arena, Peer};
pub use choices::Choices;
