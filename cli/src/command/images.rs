//! Portraits and scans: sent, saved and shown.

use crate::client::{Facts, IMAGE_MIB_MAX};
use crate::command::cx::{Cx, Done};
use crate::failure::{Failure, Outcome};
use crate::output::{views, write_out};
use crate::settings::files;
use mfa_shared::endpoint::Endpoint;
use mfa_shared::fault::{Fault, IMAGE_TOO_LARGE, IMAGE_TYPE};
use mfa_shared::upload::{Form, Image, ImageBytes, ImageType, Upload};
use mfa_shared::wire::Nothing;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{IsTerminal, Read, stdin, stdout};
use std::path::Path;

/// Most bytes that are taken from a file; no daemon stores an image of that size.
const FILE_BYTES_MAX: u64 = (IMAGE_MIB_MAX << 20) as u64;

/// An image to send.
#[derive(Debug, clap::Args)]
pub struct ImageFlags {
    /// Image, JPEG or PNG; - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// jpeg or png, where neither the bytes nor the name of the file show it
    #[arg(long = "type", value_name = "TYPE", value_parser = image_type)]
    kind: Option<ImageType>,
}

/// Reads `png`, or `image/png`.
fn image_type(text: &str) -> Result<ImageType, String> {
    let long = if text.contains('/') { text.to_owned() } else { format!("image/{text}") };
    ImageType::of_part(&long.replace("image/jpg", "image/jpeg"))
        .ok_or_else(|| "it must be jpeg or png".to_owned())
}

impl ImageFlags {
    /// The file, as it was named.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The form that carries the image.
    pub fn upload<F: Form>(self, form: F) -> Outcome<Upload<F>> {
        let bytes = read(&self.file)?;
        let known = self.kind.or_else(|| by_bytes(&bytes)).or_else(|| by_name(&self.file));
        let Some(content_type) = known else {
            let fault =
                Fault::new(IMAGE_TYPE, format!("{} is neither a JPEG nor a PNG image", name(&self.file)));
            return Err(Failure::from(fault)
                .hint("convert it first; if it is one, say which: --type jpeg or --type png"));
        };
        Ok(Upload { form, content_type, image: Image::Bytes(bytes) })
    }
}

fn name(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

fn read(file: &str) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match file {
        "-" if stdin().is_terminal() => {
            let hint = "redirect a file: < portrait.png, or name it instead of -";
            return Err(Failure::usage("an image cannot be typed at a terminal").hint(hint));
        }
        "-" => stdin().lock().take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes),
        _ => File::open(file).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::usage(format!("cannot read {}: {error}", name(file))))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let detail = format!("{} has more than {FILE_BYTES_MAX} bytes, which no image may have", name(file));
        return Err(Fault::new(IMAGE_TOO_LARGE, detail).into());
    }
    Ok(bytes)
}

fn by_bytes(bytes: &[u8]) -> Option<ImageType> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(ImageType::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageType::Jpeg),
        _ => None,
    }
}

fn by_name(file: &str) -> Option<ImageType> {
    match Path::new(file).extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "png" => Some(ImageType::Png),
        "jpg" | "jpeg" => Some(ImageType::Jpeg),
        _ => None,
    }
}

/// Refuses to write an image to a terminal, before anything is asked of the daemon.
pub fn check_place(place: &str, show: &str) -> Outcome {
    if place == "-" && stdout().is_terminal() {
        let hint = format!("save it: --out FILE; or look at it: {show}");
        return Err(Failure::usage("an image is not text").hint(hint));
    }
    Ok(())
}

impl Cx {
    /// Sends an image, with a bar where that takes long.
    pub async fn upload<E: Endpoint>(&self, endpoint: &E, body: &E::Body, file: &str) -> Outcome {
        let mut client = self.client.clone();
        client.file = Some(file.to_owned());
        client.upload(endpoint, body, self.out.progress("uploading")).await
    }

    /// Saves an image in a file, or writes it to standard output (`-`).
    pub async fn save_image<E>(&self, endpoint: &E, identifier: &str, place: &str) -> Outcome
    where
        E: Endpoint<Body = Nothing, Answer = ImageBytes>,
    {
        let (facts, bytes) = self.client.image(endpoint).await?;
        if place == "-" {
            return write_out(&bytes);
        }
        files::put(Path::new(place), &bytes)?;
        self.out.tip(&format!("saved in {place}"));
        let mut record = record(identifier, &facts);
        record["file"] = json!(place);
        self.out.show(&views::IMAGE, &record)
    }

    /// Draws an image in the terminal.
    pub async fn draw_image<E>(&self, endpoint: &E, save: &str) -> Outcome
    where
        E: Endpoint<Body = Nothing, Answer = ImageBytes>,
    {
        let (_, bytes) = self.client.image(endpoint).await?;
        match self.out.picture(&bytes) {
            Ok(drawn) => self.out.document("picture", &drawn),
            Err(why) => {
                let failure = Failure::local(format!("the image cannot be drawn: {why}"));
                Err(failure.hint(format!("save it and open it with another program: {save}")))
            }
        }
    }

    /// Reports that an image was sent, and prints what the daemon says about it.
    pub async fn report_image<E>(&self, endpoint: &E, done: Done<'_>) -> Outcome
    where
        E: Endpoint<Body = Nothing, Answer = ImageBytes>,
    {
        match self.client.image_facts(endpoint).await {
            Ok(facts) => {
                self.out.tip(&format!("{} {} {}", done.noun, done.id, done.what));
                self.out.show(&views::IMAGE, &record(done.id, &facts))
            }
            Err(why) => self.unread(done, &views::IMAGE, &why),
        }
    }
}

fn record(identifier: &str, facts: &Facts) -> Value {
    json!({
        "identifier": identifier,
        "contentType": facts.content_type,
        "bytes": facts.bytes,
        "sha256": facts.sha256,
        "uploadedOn": facts.uploaded_on,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_image_is_in_its_bytes_or_in_its_name() {
        assert_eq!(by_bytes(b"\x89PNG\r\n\x1a\n..."), Some(ImageType::Png));
        assert_eq!(by_bytes(b"\xff\xd8\xff\xe0..."), Some(ImageType::Jpeg));
        assert_eq!([by_bytes(b""), by_bytes(b"GIF89a"), by_bytes(b"\x89PNG")], [None; 3]);
        assert_eq!([by_name("a/b.PNG"), by_name("x.jpeg")], [Some(ImageType::Png), Some(ImageType::Jpeg)]);
        assert_eq!([by_name("png"), by_name("-"), by_name("x.gif")], [None; 3]);
        for word in ["png", "PNG", "image/png"] {
            assert_eq!(image_type(word), Ok(ImageType::Png));
        }
        assert_eq!(image_type("jpg"), Ok(ImageType::Jpeg));
        assert!(image_type("gif").is_err());
    }
}
