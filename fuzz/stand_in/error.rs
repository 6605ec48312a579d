//! Stands in for the API's own errors, so that a module of the binary can be taken by itself.

#[derive(Debug)]
pub(crate) struct ApiError;

impl ApiError {
    pub(crate) fn field(field: &str, allowed: impl std::fmt::Display) -> Self {
        // Writing the sentence must not break either.
        let _ = format!("{field} {allowed}.");
        ApiError
    }

    pub(crate) fn not_found(_: &str) -> Self {
        ApiError
    }

    pub(crate) fn too_large(_: usize) -> Self {
        ApiError
    }

    pub(crate) fn malformed(sentence: impl Into<String>) -> Self {
        let _: String = sentence.into();
        ApiError
    }
}

impl axum::response::IntoResponse for ApiError {
    fn into_response(self) -> axum::response::Response {
        axum::response::Response::default()
    }
}
