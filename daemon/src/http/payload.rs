//! What a request carries: a body that is read as a whole, or a form with an image.

use super::body;
use super::head::Head;
use super::room::Taken;
use super::route::Route;
use super::state::State;
use super::upload::{self, Received, Wanted};
use crate::store::objects::Draft;
use bytes::Buf;
use futures_util::Stream;
use mfa_shared::fault::Fault;
use mfa_shared::wire::BodyKind;
use std::sync::Arc;
use std::time::Duration;

/// What a request carries.
#[derive(Debug, Default)]
pub struct Payload {
    /// The bytes of a body that is read as a whole.
    pub bytes: Vec<u8>,
    /// A form with an image.
    pub form: Option<Received>,
    /// The room in memory for it and for what is made of it, until the answer.
    pub room: Option<Arc<Taken>>,
}

/// Reads the body that a row expects, and refuses another one.
pub async fn read_body<S, B, E>(
    state: &State,
    head: &Head,
    route: &Route,
    body: S,
) -> Result<(Payload, Option<Draft>), Fault>
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Buf,
{
    let kind = route.meta.body.kind;
    let bytes_max = kind.bytes_max().unwrap_or(state.config.body_bytes_max);
    body::check_head(&head.headers, kind, bytes_max)?;
    let mut within = Duration::from_secs(state.config.request_timeout_seconds);
    if kind == BodyKind::Credentials {
        // The sender is not known yet.
        within = within.min(state.config.pace.grace);
    }
    let body = body::paced(body, state.config.pace);
    match kind {
        BodyKind::None => Ok((Payload::default(), None)),
        BodyKind::Json | BodyKind::JsonOfSome | BodyKind::Form | BodyKind::Credentials => {
            let room = (&state.arriving, head.origin);
            let (bytes, mut taken) = body::read(body, bytes_max, within, room).await?;
            if kind != BodyKind::Form {
                body::hold_values(&bytes, &mut taken, room)?;
            }
            Ok((Payload { bytes, room: taken.map(Arc::new), ..Payload::default() }, None))
        }
        BodyKind::Upload(part) => {
            let fields = (route.meta.body.params)().into_iter().map(|doc| doc.name).collect();
            let image_bytes_max = state.config.image_max_bytes;
            let wanted = Wanted { part, fields, image_bytes_max };
            let (form, draft) = upload::read(&state.store, &head.headers, body, wanted, within).await?;
            Ok((Payload { form: Some(form), ..Payload::default() }, draft))
        }
    }
}
