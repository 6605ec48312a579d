//! A terminal without a person: what a command writes to it is kept, and keys are pressed by the test.

use super::picture::Picture;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const ROWS: u16 = 24;

pub(crate) struct PseudoTerminal {
    columns: u16,
    keyboard: File,
    child: Child,
    written: Arc<Mutex<Vec<u8>>>,
    reading: Option<JoinHandle<()>>,
}

impl PseudoTerminal {
    /// Runs a command on a terminal of this width.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = File::options().read(true).write(true).open(name).unwrap();
        let other = |slave: &File| Stdio::from(slave.try_clone().unwrap());
        let child = command.stdin(other(&slave)).stdout(other(&slave)).stderr(slave).spawn().unwrap();
        // The command holds copies of the child's ends of the terminal, too.
        drop(command);
        let keyboard = File::from(master);
        let (mut screen, written) = (keyboard.try_clone().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&written);
        let reading = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            // Once the last end is closed, a read of the other side fails with EIO: that is how a terminal ends.
            while let Some(bytes) = screen.read(&mut piece).ok().filter(|bytes| *bytes > 0) {
                kept.lock().unwrap().extend_from_slice(&piece[..bytes]);
            }
        });
        PseudoTerminal { columns, keyboard, child, written, reading: Some(reading) }
    }

    /// All that was written so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// What a person sees now, without the blanks at the ends of lines.
    pub(crate) fn screen(&self) -> String {
        Picture::of(&self.text(), usize::from(ROWS), usize::from(self.columns)).text()
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the end of the command, which must be a good one, and gives all that was written.
    pub(crate) fn end(mut self) -> String {
        assert!(self.child.wait().unwrap().success(), "{}", self.text());
        self.reading.take().unwrap().join().unwrap();
        self.text()
    }
}

impl Drop for PseudoTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
