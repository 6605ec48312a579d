//! The tests that look at Postrider from outside, in one binary so that they link once.

mod tidy;
