//! A line chart as SVG, without a script.

use crate::history::{Moment, SECOND};
use std::fmt::Write as _;

/// One line of a chart.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(Moment, f64)>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 30.0;
const COLOURS: [&str; 4] = ["#2563eb", "#d97706", "#059669", "#9333ea"];

/// With its title, the largest value, the length in seconds, and a line for each series.
pub(super) fn svg(title: &str, unit: &str, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| &series.points);
    let most = points().map(|(_, value)| *value).fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
    let end = points().map(|(at, _)| *at).max().unwrap_or(0).max(SECOND);
    let place = |(at, value): &(Moment, f64)| {
        let x = LEFT + (WIDTH - LEFT) * (*at as f64 / end as f64);
        let y = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / most);
        format!("{x:.1},{y:.1}")
    };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    let (base, middle) = (HEIGHT - BOTTOM, TOP + 4.0);
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"16\" font-weight=\"bold\">{title}, {unit}</text>");
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>",
        LEFT - 6.0,
        figure(most)
    );
    let _ = writeln!(svg, "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">0</text>", LEFT - 6.0);
    let _ = writeln!(
        svg,
        "<text x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{} s</text>",
        HEIGHT - 8.0,
        end / SECOND
    );
    let _ = writeln!(svg, "<path d=\"M{LEFT},{TOP} V{base} H{WIDTH}\" fill=\"none\" stroke=\"#999\"/>");
    for (number, series) in series.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let line: Vec<String> = series.points.iter().map(place).collect();
        let _ = writeln!(svg, "<polyline fill=\"none\" stroke=\"{colour}\" points=\"{}\"/>", line.join(" "));
        let x = LEFT + 110.0 * number as f64;
        let _ =
            writeln!(svg, "<text x=\"{x}\" y=\"{}\" fill=\"{colour}\">{}</text>", HEIGHT - 8.0, series.name);
    }
    svg + "</svg>\n"
}

fn figure(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_spans_its_values_and_names_its_lines() {
        let points = vec![(0, 0.0), (5 * SECOND, 50.0), (10 * SECOND, 200.0)];
        let svg = svg("Memory", "MiB", &[Series { name: "node 0".to_owned(), points }]);
        assert!(svg.contains("points=\"70.0,170.0 465.0,135.0 860.0,30.0\""), "{svg}");
        assert!(
            svg.contains(">200</text>") && svg.contains(">10 s</text>") && svg.contains(">node 0</text>")
        );
        assert!(!svg.contains("<script"), "{svg}");
    }

    #[test]
    fn a_chart_of_nothing_is_still_a_chart() {
        let svg = svg("Memory", "MiB", &[]);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
