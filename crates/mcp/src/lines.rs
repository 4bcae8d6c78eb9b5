//! The lines of the protocol, in front of its SDK: that passes over what is no JSON without a word, where JSON-RPC wants an error (section 5.1, -32700).

use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Mutex;

/// Bytes of one message at most.
const LONGEST: u64 = 16 << 20;

/// Bytes on their way between the lines and the SDK.
const BUFFER: usize = 64 << 10;

const NO_JSON: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error: a line that is no JSON\"}}\n";
const TOO_LONG: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error: a line of more than 16 MiB\"}}\n";

/// Carries lines between a client and the end that is returned, and answers those that are no JSON, until the client ends or the server does.
pub(crate) fn checked(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> DuplexStream {
    let (server, ours) = tokio::io::duplex(BUFFER);
    let (answers, questions) = tokio::io::split(ours);
    let output = Arc::new(Mutex::new(output));
    tokio::spawn(forward(BufReader::new(input), questions, Arc::clone(&output)));
    tokio::spawn(back(BufReader::new(answers), output));
    server
}

/// Hands on what is JSON. An error of either side ends it: then nobody is left to speak to.
async fn forward(
    mut input: impl AsyncBufReadExt + Unpin,
    mut server: impl AsyncWrite + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(LONGEST).read_until(b'\n', &mut line).await? == 0 {
            return server.shutdown().await;
        }
        let wrong = if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
            while !line.is_empty() && line.last() != Some(&b'\n') {
                line.clear();
                (&mut input).take(LONGEST).read_until(b'\n', &mut line).await?;
            }
            Some(TOO_LONG)
        } else {
            (!is_json(&line)).then_some(NO_JSON)
        };
        match wrong {
            Some(error) => {
                let mut output = output.lock().await;
                output.write_all(error).await?;
                output.flush().await?;
            }
            None => server.write_all(&line).await?,
        }
    }
}

/// Hands answers back, whole lines at a time.
async fn back(
    mut server: impl AsyncBufReadExt + Unpin,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
) -> std::io::Result<()> {
    let mut line = Vec::new();
    while server.read_until(b'\n', &mut line).await? > 0 {
        let mut output = output.lock().await;
        output.write_all(&line).await?;
        output.flush().await?;
        line.clear();
    }
    Ok(())
}

/// Whether the SDK can read a line. A blank one it may pass over.
fn is_json(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.trim_ascii().is_empty() || serde_json::from_slice::<serde_json::Value>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_no_json_is_answered_and_the_others_go_through() {
        let (mut client, input) = tokio::io::duplex(1 << 16);
        let (output, heard) = tokio::io::duplex(1 << 16);
        let mut server = BufReader::new(checked(input, output));
        let mut heard = BufReader::new(heard);
        for wrong in ["hello", "{\"jsonrpc\":", "\u{0}", "[1,2", "{\"a\":\"\\ud800\"}"] {
            client.write_all(format!("{wrong}\n").as_bytes()).await.unwrap();
            let mut line = String::new();
            heard.read_line(&mut line).await.unwrap();
            let error: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(
                (&error["error"]["code"], &error["id"]),
                (&(-32700).into(), &serde_json::Value::Null),
                "{wrong}"
            );
        }
        client.write_all(b"\n{\"id\":1}\r\n").await.unwrap();
        let mut line = String::new();
        server.read_line(&mut line).await.unwrap();
        server.read_line(&mut line).await.unwrap();
        assert_eq!(line, "\n{\"id\":1}\r\n");
        server.get_mut().write_all(b"{\"answer\":1}\n").await.unwrap();
        line.clear();
        heard.read_line(&mut line).await.unwrap();
        assert_eq!(line, "{\"answer\":1}\n");
    }
}
