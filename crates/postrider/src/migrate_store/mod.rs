//! `postrider migrate-store`: moves configuration, history and what is owed from one store to another, and checks that
//! all of it arrived.

mod args;
mod place;
mod progress;

pub(crate) use self::args::MigrateStoreArgs;

use self::place::Place;
use self::progress::Progress;
use crate::cli::ServeArgs;
use crate::config::Config;
use anyhow::{Context as _, bail, ensure};
use postrider_store::transfer::{Begun, Checksum, Position, Table, Transfer};
use std::process::ExitCode;

pub(crate) fn run(args: &MigrateStoreArgs) -> anyhow::Result<ExitCode> {
    let (from, to) = (Place::parse("--from", &args.from)?, Place::parse("--to", &args.to)?);
    // The keys that secrets are sealed with, and the admin key, are set as they are for `serve`.
    let config = Config::read(&ServeArgs::default(), &crate::serve::environment())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(migrate(&from, &to, &config))?;
    Ok(ExitCode::SUCCESS)
}

async fn migrate(from: &Place, to: &Place, config: &Config) -> anyhow::Result<()> {
    let mut source = from.source(config).await.context("--from")?;
    let mut target = to.target(config).await.context("--to")?;
    let (here, there) = (source.place(), target.place());
    ensure!(here != there, "--from and --to are the same store");
    ensure!(!source.is_half_moved().await?, "--from: {here} is the target of an unfinished move");
    let begun = match target.begin(&here).await? {
        Begun::Anew => Some((Table::Events, None)),
        Begun::Again(table, after) => {
            eprintln!("resuming the interrupted move from {here} at {}", table.name());
            Some((table, after))
        }
        Begun::NotEmpty => bail!(
            "--to: {there} is not empty; give an empty store, or the target of an interrupted move from {here}"
        ),
    };
    let (table, after) = begun.expect("one that is not empty was refused");
    copy(&mut *source, &mut *target, table, after).await?;
    let mut head = source.head().await?;
    head.admin_key_hash = head.admin_key_hash.or(from.admin_key_hash(config));
    target.put_head(&head).await?;
    // Both sides are read anew, and it may be large.
    drop(head);
    verify(&mut *source, &mut *target).await?;
    target.finish().await?;
    println!("moved {here} to {there}");
    if let Some(note) = to.note(config) {
        println!("{note}");
    }
    Ok(())
}

async fn copy(
    source: &mut dyn Transfer,
    target: &mut dyn Transfer,
    first: Table,
    mut after: Option<Position>,
) -> anyhow::Result<()> {
    let mut tables = Some(first);
    while let Some(table) = tables {
        let mut progress = Progress::new(table.name(), source.count(table).await?);
        progress.skip(target.count(table).await?);
        loop {
            let chunk = source.read(table, after.as_ref()).await?;
            if chunk.rows.is_empty() {
                break;
            }
            target.write(table, &chunk).await?;
            progress.add(chunk.rows.len() as u64);
            after = chunk.next;
        }
        progress.end();
        tables = table.next();
        after = None;
    }
    Ok(())
}

/// Reads everything on both sides again.
async fn verify(source: &mut dyn Transfer, target: &mut dyn Transfer) -> anyhow::Result<()> {
    for table in Table::ALL {
        let (here, there) = (checksum(source, table).await?, checksum(target, table).await?);
        ensure!(
            here == there,
            "{} differ: {} rows in {}, {} in {}; empty the target and start again, and do not use the source meanwhile",
            table.name(),
            here.rows,
            source.place(),
            there.rows,
            target.place()
        );
        eprintln!("{}: {} rows, identical in both stores", table.name(), here.rows);
    }
    let (here, there) = (source.head().await?.facts(), target.head().await?.facts());
    for (name, fact) in &here {
        ensure!(there.get(name) == Some(fact), "{name} differs between source and target");
    }
    ensure!(here.len() == there.len(), "{} has more than {}", target.place(), source.place());
    eprintln!(
        "configuration, circuits, replays, audit log and counters: {} entries, identical in both stores",
        here.len()
    );
    Ok(())
}

async fn checksum(store: &mut dyn Transfer, table: Table) -> anyhow::Result<Checksum> {
    let (mut sum, mut after) = (Checksum::default(), None);
    loop {
        let chunk = store.read(table, after.as_ref()).await?;
        if chunk.rows.is_empty() {
            return Ok(sum);
        }
        chunk.rows.iter().for_each(|row| sum.add(row));
        after = chunk.next;
    }
}
