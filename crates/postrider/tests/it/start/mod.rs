//! Starting: what a person is told and can do at once, how settings are found, and when it refuses.

mod banner;
mod bare;
mod database_url;
mod guide;
mod refusals;
mod reload;
mod secret_key;
mod settings;
