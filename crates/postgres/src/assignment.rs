//! Which node is to own which shard: every node comes to the same answer from the list of members alone.
//!
//! A shard goes to the node that ranks highest for it (rendezvous hashing), so few shards move when a node comes or
//! goes; a node that has its even part already is passed over, so that no node has two more than another.

use crate::members::Identity;
use postrider_store::{Shard, Shards};

/// The shards that a member is to own.
pub(crate) fn part_of(member: Identity, members: &[Identity]) -> Shards {
    let mut left: Vec<(Identity, u32)> = parts(members);
    let mut part = Shards::NONE;
    for shard in Shards::ALL.iter() {
        let open = left.iter_mut().filter(|(_, room)| *room > 0);
        let Some((owner, room)) = open.max_by_key(|(candidate, _)| rank(shard, *candidate)) else { break };
        *room -= 1;
        if *owner == member {
            part = part.with(shard);
        }
    }
    part
}

/// How many each may have: all the same, the first ones one more where it does not come out even.
fn parts(members: &[Identity]) -> Vec<(Identity, u32)> {
    let mut sorted = members.to_vec();
    sorted.sort_unstable_by_key(|member| (member.node, member.incarnation));
    let count = u32::try_from(sorted.len()).unwrap_or(u32::MAX).max(1);
    let (each, rest) = (u32::from(Shard::COUNT) / count, u32::from(Shard::COUNT) % count);
    let room = |index: usize| each + u32::from((index as u64) < u64::from(rest));
    sorted.into_iter().enumerate().map(|(index, member)| (member, room(index))).collect()
}

fn rank(shard: Shard, member: Identity) -> u64 {
    let mut mixed = u64::from(shard.number()).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ u64::from(member.node.unsigned_abs()).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    // The finaliser of MurmurHash3: every bit of the input moves every bit of the rank.
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    mixed ^= mixed >> 33;
    mixed = mixed.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    mixed ^ mixed >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(nodes: &[i32]) -> Vec<Identity> {
        nodes.iter().map(|node| Identity { node: *node, incarnation: 1 }).collect()
    }

    #[test]
    fn shards_are_shared_evenly_and_each_has_one_owner() {
        for count in 1..=70 {
            let members = members(&(0..count).collect::<Vec<_>>());
            let parts: Vec<Shards> = members.iter().map(|member| part_of(*member, &members)).collect();
            let sizes: Vec<u32> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(sizes.iter().sum::<u32>(), 64, "{count}");
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{count}: {sizes:?}");
            assert_eq!(parts.into_iter().fold(Shards::NONE, Shards::and), Shards::ALL, "{count}");
        }
    }

    #[test]
    fn few_shards_move_when_a_node_leaves() {
        let before = members(&[0, 1, 2, 3]);
        let after = members(&[0, 1, 3]);
        let kept: u32 = after
            .iter()
            .map(|member| {
                let old = part_of(*member, &before);
                old.without(old.without(part_of(*member, &after))).len()
            })
            .sum();
        assert!(kept >= 36, "{kept} of the 48 that did not have to move stayed");
    }
}
