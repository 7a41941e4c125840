//! The channels, the same on both ends.

use std::time::Duration;

use crate::MAX_ORDER;
use renet::{ChannelConfig, ConnectionConfig, SendType};

/// The number by which netcode tells Keel from other games. It is the same for every version, so that a wrong version is
/// told so in words rather than met with silence.
pub const NETCODE_ID: u64 = 0x4b45_454c;

/// Reliable and in order: greetings, ops, answers, log lines, cards.
pub const CHANNEL_ORDERED: u8 = 0;

/// Unreliable: snapshots and their acknowledgements.
pub const CHANNEL_LOSSY: u8 = 1;

/// Bytes that may wait on a channel of one connection before the connection is given up.
pub const MOST_WAITING: usize = 512 * 1024;

/// Ordered messages of a client's that may wait for one before them.
pub const MOST_AHEAD: u64 = 1024;

/// What they may take: all of them, as long as they may be.
const MOST_ORDERS: usize = (MOST_AHEAD as usize + 1) * MAX_ORDER;

/// The connection of either end.
#[must_use]
pub fn connection_config() -> ConnectionConfig {
    let channels = |most_ordered| {
        let ordered = SendType::ReliableOrdered { resend_time: Duration::from_millis(200) };
        vec![
            ChannelConfig { channel_id: CHANNEL_ORDERED, max_memory_usage_bytes: most_ordered, send_type: ordered },
            ChannelConfig {
                channel_id: CHANNEL_LOSSY,
                max_memory_usage_bytes: MOST_WAITING,
                send_type: SendType::Unreliable,
            },
        ]
    };
    ConnectionConfig {
        available_bytes_per_tick: 60_000,
        server_channels_config: channels(MOST_WAITING),
        client_channels_config: channels(MOST_ORDERS),
    }
}
