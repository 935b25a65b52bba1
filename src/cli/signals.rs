//! Requests to stop.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::exit::Exit;

/// Turns a limit on the size of files (`ulimit -f`) into an error of the write that exceeds it. By default, the system
/// ends the process, and a ledger that is being written would be torn.
#[cfg(unix)]
pub(crate) fn survive_file_limit() {
    use rustix::process::{Resource, Signal, getrlimit};
    use tokio::signal::unix::{SignalKind, signal};
    // Without a limit, there is no such signal, and no handler is needed.
    if getrlimit(Resource::Fsize).current.is_none() {
        return;
    }
    // A handler stays registered until the process ends, also after its runtime is dropped.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let _ = runtime
        .map(|runtime| runtime.block_on(async { signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop) }));
}

#[cfg(not(unix))]
pub(crate) fn survive_file_limit() {}

/// A signal that requests a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, on systems that have it.
    Terminate,
}

impl Signal {
    /// The exit code of a command that it ended.
    pub fn exit(self) -> Exit {
        match self {
            Self::Interrupt => Exit::Interrupted,
            Self::Terminate => Exit::Terminated,
        }
    }
}

/// A stop in two steps: the first signal asks the work to finish, the second ends the process at once.
#[derive(Clone, Debug)]
pub struct Stop {
    told: watch::Receiver<Option<Signal>>,
    /// Whether the user was told that the work comes to its end.
    is_confirmed: Arc<AtomicBool>,
}

impl Stop {
    /// Listens while the runtime runs. `at_once` is the message for the second signal.
    pub fn listen(at_once: &'static str) -> io::Result<Self> {
        let mut signals = Signals::new()?;
        let (tell, told) = watch::channel(None);
        tokio::spawn(async move {
            tell.send_replace(Some(signals.next().await));
            let second = signals.next().await;
            // Standard error may be closed, which must not prevent the exit.
            let _ = writeln!(io::stderr(), "{at_once}");
            std::process::exit(second.exit() as i32);
        });
        Ok(Self { told, is_confirmed: Arc::default() })
    }

    /// Returns after the first signal.
    pub async fn asked(&self) {
        if self.told.clone().wait_for(Option::is_some).await.is_err() {
            // The listener is gone, so there will be no signal.
            std::future::pending::<()>().await;
        }
    }

    /// The first signal, if there was one.
    pub fn by(&self) -> Option<Signal> {
        *self.told.borrow()
    }

    /// Whether the user is still to be told that the work comes to its end. Only the first caller gets `true`: several runs may
    /// stop at once.
    pub(super) fn confirms(&self) -> bool {
        !self.is_confirmed.swap(true, Ordering::Relaxed)
    }
}

/// Signals since this was created: none is missed after that.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

impl Signals {
    #[cfg(unix)]
    pub fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(windows)]
    pub fn new() -> io::Result<Self> {
        Ok(Self { interrupt: tokio::signal::windows::ctrl_c()? })
    }

    /// The next signal.
    #[cfg(unix)]
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }

    #[cfg(windows)]
    pub async fn next(&mut self) -> Signal {
        self.interrupt.recv().await;
        Signal::Interrupt
    }
}
