//! The client SDK: connect, a replica of what was sent, ops; no drawing
