//! The loop's end of the console: requests are taken, done and answered.

use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use keel_sim::Operated;
use tokio::sync::oneshot;

use super::{Asked, Console, Countdown, Denial, MOST_WAITING, Outcome, Overview, Reply, Request};
use crate::accounts::Ban;
use crate::logins::banned;
use crate::{Bar, Server};

/// Where the loop finds requests.
pub(crate) struct Desk {
    requests: Receiver<Asked>,
    /// Those that the next step does, by the number that it answers with.
    waiting: Vec<(u32, oneshot::Sender<Outcome>)>,
    last: u32,
    countdown: Option<Countdown>,
    /// Whether the next step is to go on for ever.
    hangs: bool,
}

impl Desk {
    pub(crate) fn new() -> (Console, Self) {
        let (ask, requests) = sync_channel(MOST_WAITING);
        (Console(ask), Self { requests, waiting: Vec::new(), last: 0, countdown: None, hangs: false })
    }

    /// Answers what a step has done.
    pub(crate) fn answer(&mut self, operated: &[Operated]) {
        for Operated { ticket, result } in operated {
            if let Some(place) = self.waiting.iter().position(|(waits, _)| waits == ticket) {
                let outcome = match result {
                    Ok(done) => Ok(Reply::Done(done.to_string())),
                    Err(refusal) => Err(Denial::Refused(refusal.to_string())),
                };
                // Who asked may have gone.
                let _ = self.waiting.swap_remove(place).1.send(outcome);
            }
        }
    }

    /// Whether the time of a stop has come.
    pub(crate) fn is_over(&self, now: Duration) -> bool {
        self.countdown.as_ref().is_some_and(|countdown| countdown.is_over(now))
    }

    /// Whether a step is to hang.
    pub(crate) const fn hangs(&self) -> bool {
        self.hangs
    }
}

impl Server {
    /// Does what operators have asked for since the last turn, and tells pilots of a stop that lies ahead.
    pub(crate) fn attend(&mut self) {
        let now = self.now();
        if let Some(line) = self.desk.countdown.as_mut().and_then(|countdown| countdown.tell(now)) {
            self.announce(&line);
        }
        for _ in 0..MOST_WAITING {
            let Ok(Asked { request, answer }) = self.desk.requests.try_recv() else { break };
            match request.force() {
                Ok(None) if request == Request::Save => self.save(answer),
                Ok(Some(force)) => {
                    self.desk.last = self.desk.last.wrapping_add(1);
                    self.desk.waiting.push((self.desk.last, answer));
                    self.world.operate(self.desk.last, force);
                }
                Ok(None) => drop(answer.send(self.comply(request, now))),
                Err(reason) => drop(answer.send(Err(Denial::Refused(reason)))),
            }
        }
    }

    /// Does a request that is not about the world.
    fn comply(&mut self, request: Request, now: Duration) -> Outcome {
        let done = match request {
            Request::Status => return Ok(Reply::Status(self.overview(now))),
            Request::Players => {
                return Ok(Reply::Players(self.sessions.players(&self.transport, &self.world)));
            }
            Request::Kick { name, why } => {
                let reason = if why.is_empty() { "An operator has put you out.".to_owned() } else { why };
                if !self.sessions.kick(&mut self.transport, &mut self.world, &name, reason) {
                    return Err(Denial::Refused("Nobody of that name plays.".to_owned()));
                }
                format!("{name} is put out.")
            }
            // The account is banned already.
            Request::Ban { name, seconds, why } => {
                if let Some(logins) = &self.logins {
                    logins.tickets.revoke(&name);
                }
                let reason = banned(&Ban::lasting(seconds.map(Duration::from_secs), why));
                let is_out = self.sessions.kick(&mut self.transport, &mut self.world, &name, reason);
                format!("{name} is banned{}.", if is_out { " and put out" } else { "" })
            }
            Request::Announce { text } => {
                format!("{} told.", pilots(self.announce(&format!("Announcement: {text}"))))
            }
            Request::Drain { on } => {
                let draining = "This server lets nobody in at present. Try again later.";
                if on {
                    self.admission.close(Bar::Draining, draining);
                } else {
                    self.admission.open(Bar::Draining);
                }
                if on {
                    "Nobody new is let in any more."
                } else {
                    "Who comes is let in, unless something else is in the way."
                }
                .to_owned()
            }
            Request::Stop { seconds, why } => {
                let after = Duration::from_secs(seconds.into());
                let (countdown, line) = Countdown::begin(now, after, why);
                self.desk.countdown = Some(countdown);
                format!("{} told: {line}", pilots(self.announce(&line)))
            }
            Request::CancelStop => {
                if self.desk.countdown.take().is_none() {
                    return Err(Denial::Refused("No stop lies ahead.".to_owned()));
                }
                let line = "The server does not stop after all.";
                format!("{} told: {line}", pilots(self.announce(line)))
            }
            Request::Hang if self.operator_ops => {
                self.desk.hangs = true;
                "The next step goes on for ever.".to_owned()
            }
            Request::Hang => return Err(Denial::Refused("This server takes no operator's orders.".to_owned())),
            Request::Storm { .. }
            | Request::Incursion { .. }
            | Request::Spawn { .. }
            | Request::Save
            | Request::Unban { .. }
            | Request::ReloadBalance => return Err(Denial::Refused("That is done elsewhere.".to_owned())),
        };
        Ok(Reply::Done(done))
    }

    /// Answers when the world is on disk as it is after the next step.
    fn save(&mut self, answer: oneshot::Sender<Outcome>) {
        let Some(keeper) = &mut self.keeper else {
            return drop(answer.send(Err(Denial::Refused("This server keeps nothing.".to_owned()))));
        };
        keeper.when_saved(move |saved| {
            let done = |step| Reply::Done(format!("The world is saved as it was after step {step}."));
            drop(answer.send(saved.map(done).map_err(Denial::Refused)));
        });
    }

    /// Tells all pilots who play something; how many that are.
    fn announce(&mut self, text: &str) -> usize {
        self.sessions.announce(&mut self.transport, self.world.now(), text)
    }

    fn overview(&self, now: Duration) -> Overview {
        let figures = self.gauges.read();
        Overview {
            public: self.board.read(),
            uptime_s: now.as_secs(),
            steps: self.world.now(),
            slipped_s: self.pace.slipped().as_secs_f64(),
            step_p50_us: figures.whole.p50,
            step_p99_us: figures.whole.p99,
            connections: self.transport.clients().len(),
            balance: format!("{:016x}", self.world.balance_hash()),
            closed: self.admission.closed(),
            stops_in_s: self.desk.countdown.as_ref().map(|countdown| countdown.left(now).as_secs()),
        }
    }
}

fn pilots(count: usize) -> String {
    if count == 1 { "1 pilot".to_owned() } else { format!("{count} pilots") }
}

/// Goes on for ever, as a loop without an end in a rule would.
#[inline(never)]
pub(crate) fn hang() {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}
