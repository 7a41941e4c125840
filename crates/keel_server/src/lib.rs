//! The dedicated server: transport, sessions, replication and the loop that keeps time
