//! The client SDK: a connection, what the server has sent, and ops. It draws nothing and decides nothing.
//!
//! ```no_run
//! use std::time::Duration;
//! use keel_client::{Client, Command, Hello};
//!
//! let mut client = Client::connect("127.0.0.1:7777".parse()?, Hello::new("ann"))?;
//! loop {
//!     for event in client.poll()? {
//!         println!("{event:?}");
//!     }
//!     let near = client.replica().contacts().next().map(|contact| contact.id);
//!     if let (Some(ship), Some(target)) = (client.replica().active().map(|ship| ship.id), near) {
//!         client.send(Command::Attack { ship, target })?;
//!     }
//!     std::thread::sleep(Duration::from_millis(10));
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A server with accounts takes those who log in:
//!
//! ```no_run
//! use keel_client::{Client, Login, Trust};
//!
//! let login = Login::ask("https://keel.example:7778", "ann", "correct horse", &Trust::Machine)?;
//! let client = Client::connect_as(login)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod login;
mod plain;
mod replica;
mod status;
mod traffic;

pub use client::{Client, ClientError, Event, Unsent};
pub use keel_protocol::status::Status;
pub use keel_protocol::{
    Answer, Bonds, Card, Chart, Charter, Command, Contact, Flags, Force, Goods, Ground, Hello, Incursion, Journal,
    Kind, Leg, Line, Map, Mind, Module, Named, OwnShip, Part, Pilot, Pool, Power, Resists, STEP_MICROS, Shot, Slot,
    Stance, Storm, Structure, Welcome, Who, Wormhole, Wreck,
};
pub use login::{Login, LoginError, Trust};
pub use replica::Replica;
pub use status::ask_status;
pub use traffic::{Flow, Traffic};
