//! Pages of lists that are in memory as a whole. They are answered in full unless a page is asked for.

use super::cursor::{self, List};
use super::error::ApiError;
use super::events::{LIMIT_DEFAULT, LIMIT_MAX, number, only_parameters};
use super::view;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use std::collections::HashMap;
use utoipa::IntoParams;

/// What a list takes that is answered in full unless a page is asked for.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "the fields are read by the derived description alone")]
pub(crate) struct PageParameters {
    /// How many at most; all of them without it and `cursor`.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// A page, and where the next one begins.
pub(crate) struct Paged<T> {
    pub(crate) items: Vec<T>,
    next: Option<String>,
}

/// The part of a list that is asked for. `all` is in the order of its ids.
pub(crate) fn page<T>(
    parameters: &HashMap<String, String>,
    list: List,
    mut all: Vec<T>,
    id: impl Fn(&T) -> u64,
) -> Result<Paged<T>, ApiError> {
    only_parameters(parameters, &["limit", "cursor"])?;
    if parameters.is_empty() {
        return Ok(Paged { items: all, next: None });
    }
    let limit = number(parameters, "limit", 1, LIMIT_MAX, LIMIT_DEFAULT)?;
    if let Some(text) = parameters.get("cursor") {
        let [last] = cursor::parse(list, text)?;
        all.retain(|item| if list.is_newest_first() { id(item) < last } else { id(item) > last });
    }
    let more = all.len() > limit;
    all.truncate(limit);
    let last = all.last().map(&id).filter(|_| more);
    Ok(Paged { items: all, next: last.map(|last| cursor::text(list, [last])) })
}

impl<T> Paged<T> {
    /// The answer, with each as its view.
    pub(crate) fn answer<V: Serialize>(self, view: impl Fn(&T) -> V) -> Response {
        let data = self.items.iter().map(view).collect();
        view::json(StatusCode::OK, &view::List { data, next_cursor: self.next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of all pages, taken one after the other.
    fn walk(list: List, all: &[u64], limit: usize) -> Vec<Vec<u64>> {
        let mut parameters = HashMap::from([("limit".to_owned(), limit.to_string())]);
        let mut pages = Vec::new();
        loop {
            let page = page(&parameters, list, all.to_vec(), |id| *id).unwrap();
            pages.push(page.items);
            let Some(next) = page.next else { return pages };
            parameters.insert("cursor".to_owned(), next);
        }
    }

    #[test]
    fn pages_hold_all_once_in_either_order() {
        assert_eq!(walk(List::Sources, &[1, 2, 3, 4, 5], 2), [vec![1, 2], vec![3, 4], vec![5]]);
        assert_eq!(walk(List::Replays, &[5, 4, 3, 2], 2), [vec![5, 4], vec![3, 2]]);
        assert_eq!(walk(List::Sources, &[], 2), [Vec::<u64>::new()]);
    }

    #[test]
    fn a_list_is_in_full_unless_a_page_is_asked_for() {
        let all = page(&HashMap::new(), List::Sources, vec![1; 500], |id| *id).unwrap();
        assert_eq!((all.items.len(), all.next), (500, None));
    }
}
