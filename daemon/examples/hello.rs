//! A bare warp server that answers everything with one line: `tests/load/requests` measures reads against it.

#![expect(clippy::print_stdout, reason = "its address is its output")]

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use warp::Filter;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let service = warp::service(warp::any().map(|| "hello".to_owned()));
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let answering = TowerToHyperService::new(service);
        tokio::spawn(async move {
            // A client that leaves early is no matter.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), answering).await;
        });
    }
}
