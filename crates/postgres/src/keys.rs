//! Keys that all nodes have in common.

use crate::database::Database;
use crate::error::{OpenError, QueryError};
use crate::values::column;
use deadpool_postgres::Object;
use postrider_store::{VAULT_KEY_BYTES, Vault};
use tokio_postgres::Row;

/// The vault of all nodes: of the key that was given, else of one that the first node put into the database.
pub(crate) async fn vault(client: &Object, given: Option<Vault>) -> Result<Vault, OpenError> {
    let vault = match given {
        Some(vault) => vault,
        None => kept(client).await?,
    };
    check(client, &vault).await?;
    Ok(vault)
}

async fn kept(client: &Object) -> Result<Vault, QueryError> {
    // 244 bits of the server's randomness.
    let keep = "UPDATE cluster SET secret_key = coalesce(secret_key,
            sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))) RETURNING secret_key";
    let key: Vec<u8> = column(&client.query_one(keep, &[]).await?, 0)?;
    let key: [u8; VAULT_KEY_BYTES] = key.try_into().map_err(|_| QueryError::Corrupt("the secret key"))?;
    Ok(Vault::new(key, &[]))
}

/// Every node must seal with the same key: the first leaves a word behind by which the others see it.
async fn check(client: &Object, vault: &Vault) -> Result<(), OpenError> {
    const PLACE: &str = "cluster";
    let leave = "UPDATE cluster SET secret_check = coalesce(secret_check, $1) RETURNING secret_check";
    let row = client.query_one(leave, &[&vault.seal(PLACE, PLACE)]).await.map_err(QueryError::from)?;
    let left: String = column(&row, 0)?;
    match vault.open(PLACE, &left) {
        Ok(word) if word == PLACE => Ok(()),
        _ => Err(OpenError::OtherKey),
    }
}

pub(crate) async fn admin_key_hash(database: &Database) -> Result<Option<[u8; 32]>, QueryError> {
    let row = database.client().await?.query_one("SELECT admin_key_hash FROM cluster", &[]).await?;
    hash(&row)
}

pub(crate) async fn keep_admin_key_hash(database: &Database, made: [u8; 32]) -> Result<[u8; 32], QueryError> {
    let keep = "UPDATE cluster SET admin_key_hash = coalesce(admin_key_hash, $1) RETURNING admin_key_hash";
    let row = database.client().await?.query_one(keep, &[&&made[..]]).await?;
    hash(&row)?.ok_or(QueryError::Corrupt("the admin key"))
}

fn hash(row: &Row) -> Result<Option<[u8; 32]>, QueryError> {
    let bytes: Option<Vec<u8>> = column(row, 0)?;
    bytes.map(|bytes| bytes.try_into().map_err(|_| QueryError::Corrupt("the admin key"))).transpose()
}
