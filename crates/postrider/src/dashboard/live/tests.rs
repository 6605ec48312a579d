//! Who follows a page is sent what changes and nothing else, for as long as there is room and a page.

use super::*;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use std::collections::VecDeque;
use std::sync::Mutex;
use tokio::time::advance;
use tower::ServiceExt;

/// A page that shows one thing after the other, and the last of them for good. `None` refuses it.
fn site(shows: &[Option<&'static str>], takes: Duration, seats: Seats) -> Router {
    let shows = Arc::new(Mutex::new(VecDeque::from(shows.to_vec())));
    let page = async move || {
        advance(takes).await;
        let mut shows = shows.lock().unwrap();
        let shown = if shows.len() > 1 { shows.pop_front() } else { shows.front().copied() };
        let page = shown.flatten().map(|text| Html(format!("<main><p id=\"live-a\"{text}</p></main>")));
        page.ok_or(StatusCode::UNAUTHORIZED)
    };
    let seats = Arc::new(seats);
    let before = move |request: Request, next: Next| {
        let seats = Arc::clone(&seats);
        async move { begin(&seats, None, request, next).await }
    };
    Router::new().route("/", get(page)).route_layer(axum::middleware::from_fn(before))
}

async fn ask(site: &Router) -> Response {
    let request = Request::get("/").header(ACCEPT, EVENT_STREAM).body(Body::empty()).unwrap();
    site.clone().oneshot(request).await.unwrap()
}

/// The next frame, and how long it was waited for.
async fn next(body: &mut Body) -> (Option<String>, Duration) {
    let began = Instant::now();
    let frame = body.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
    (frame.map(|bytes| String::from_utf8(bytes.into()).unwrap()), began.elapsed())
}

fn sent(text: &str) -> Option<String> {
    Some(format!("event: changed\ndata: {{\"live-a\":\"{text}\"}}\n\n"))
}

const LIVE: [Option<&str>; 2] = [Some(" data-live>1"), Some(" data-live>2")];

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_while_nothing_changes_and_the_stream_ends_with_the_session() {
    let [one, two] = LIVE;
    let site = site(&[one, one, one, two, two, None], Duration::ZERO, Seats::of(1));
    let mut body = ask(&site).await.into_body();
    assert_eq!(
        next(&mut body).await,
        (Some("retry: 1000\n".to_owned() + &sent("1").unwrap()), Duration::ZERO)
    );
    assert_eq!(next(&mut body).await, (sent("2"), 3 * EVERY));
    assert_eq!(next(&mut body).await, (None, 2 * EVERY));
    assert_eq!(ask(&site).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_news_says_that_it_is_alive() {
    let mut body = ask(&site(&LIVE[..1], Duration::ZERO, Seats::of(1))).await.into_body();
    next(&mut body).await;
    assert_eq!(next(&mut body).await, (Some(": still here\n\n".to_owned()), HEARTBEAT));
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_over_is_shown_a_last_time_and_not_followed_again() {
    let site = site(&[LIVE[0], Some(">done")], Duration::ZERO, Seats::of(1));
    let mut body = ask(&site).await.into_body();
    next(&mut body).await;
    assert_eq!(next(&mut body).await.0, sent("done"));
    assert_eq!(next(&mut body).await.0, None);
    assert_eq!(ask(&site).await.status(), StatusCode::NO_CONTENT);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_takes_long_is_made_less_often() {
    let takes = Duration::from_millis(500);
    let [one, two] = LIVE;
    let mut body = ask(&site(&[one, one, two], takes, Seats::of(1))).await.into_body();
    next(&mut body).await;
    // The first look comes as soon as of any page, since it is not known yet how long it takes.
    assert_eq!(next(&mut body).await, (sent("2"), EVERY + takes + REST * takes + takes));
}

#[tokio::test(start_paused = true)]
async fn there_is_room_for_so_many_and_who_leaves_makes_room() {
    let site = site(&LIVE[..1], Duration::ZERO, Seats::of(1));
    let is_full = async || {
        let (first, _) = next(&mut ask(&site).await.into_body()).await;
        first.is_some_and(|first| first.starts_with("retry: 30000\nevent: full\ndata: Too many pages"))
    };
    let first = ask(&site).await;
    assert!(is_full().await);
    drop(first);
    assert!(!is_full().await);
}
