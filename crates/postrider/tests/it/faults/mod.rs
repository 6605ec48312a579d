//! Nothing accepted is lost, whatever happens to the process, the receivers and the disk.

mod abort;
mod crash_loop;
mod disk_full;
mod hold;
mod kill;
mod receivers;
mod replay;
mod resources;
mod retries;
mod stop;
mod threads;
mod torture;
