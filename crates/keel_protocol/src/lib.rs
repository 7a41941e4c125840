//! What crosses the wire: ops, answers, snapshots and their codec
