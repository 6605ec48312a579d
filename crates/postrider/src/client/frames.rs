//! Server-sent events, put together from the pieces in which they arrive. Of a frame, what a watcher of `/v1/stream`
//! needs: its name and its data.

use anyhow::ensure;

/// Far above the largest frame: an event that is owed to 10,000 destinations names them all.
const FRAME_BYTES_MAX: usize = 4 << 20;

/// One event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) data: String,
}

/// What has come of a frame that is not whole yet.
#[derive(Default)]
pub(crate) struct Frames {
    line: Vec<u8>,
    event: String,
    data: String,
}

impl Frames {
    /// Takes the next piece, and hands on each frame that it completes.
    pub(crate) fn take(
        &mut self,
        piece: &[u8],
        mut whole: impl FnMut(Frame) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let held = self.line.len() + self.event.len() + self.data.len();
            ensure!(held + part.len() <= FRAME_BYTES_MAX, "a frame is larger than {FRAME_BYTES_MAX} bytes");
            self.line.extend_from_slice(part);
            if self.line.last() != Some(&b'\n') {
                return Ok(());
            }
            let line = std::mem::take(&mut self.line);
            if let Some(frame) =
                self.line_ended(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']))
            {
                whole(frame)?;
            }
        }
        Ok(())
    }

    /// A blank line ends a frame. Comments and fields that are not needed are passed over.
    fn line_ended(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            let frame =
                Frame { event: std::mem::take(&mut self.event), data: std::mem::take(&mut self.data) };
            return Some(frame).filter(|frame| !frame.event.is_empty());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(pieces: &[&[u8]]) -> anyhow::Result<Vec<(String, String)>> {
        let (mut frames, mut seen) = (Frames::default(), Vec::new());
        for piece in pieces {
            frames.take(piece, |frame| {
                seen.push((frame.event, frame.data));
                Ok(())
            })?;
        }
        Ok(seen)
    }

    #[test]
    fn frames_are_whole_wherever_they_were_cut() {
        let text = b"retry: 1000\nevent: open\ndata: {}\n\n: still here\n\nevent: accepted\r\nid: evt_1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: cut";
        let wanted = [("open", "{}"), ("accepted", "{\"a\":\n1}")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(frames(&[text]).unwrap(), wanted);
        for cut in 0..text.len() {
            let (first, second) = text.split_at(cut);
            assert_eq!(frames(&[first, second]).unwrap(), wanted, "cut at {cut}");
        }
    }

    #[test]
    fn a_frame_without_end_is_refused() {
        let endless = vec![b'x'; FRAME_BYTES_MAX];
        assert!(frames(&[&endless, b"x"]).is_err());
        let line = [b"data: ".as_slice(), &vec![b'x'; FRAME_BYTES_MAX / 2], b"\n"].concat();
        assert!(frames(&[&line, &line]).is_err());
    }
}
