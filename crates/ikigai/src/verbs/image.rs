//! Drawing pictures.

use ikigai_core::catalog::Cost;
use ikigai_core::wire::{ImageRequest, Picture, Pictures};
use ikigai_core::{Loss, ModelName, Usage};

use super::media::Reading;
use crate::error::Error;
use crate::model::Model;

/// Pictures that a model drew.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Images {
    /// The pictures, in the provider's order. If the provider withholds some, there are fewer than requested.
    pub images: Vec<Picture>,
    /// Text that came with the pictures; usually empty.
    pub text: String,
    /// The model.
    pub model: ModelName,
    /// The tokens used; `None` if the provider did not report them.
    pub usage: Option<Usage>,
    /// The cost; `None` if the model's prices are unknown, or if the usage includes anything but text in the prompt and
    /// pictures in the answer, for which the catalogue has no prices.
    pub cost: Option<Cost>,
    /// What could not be carried to the provider, and what the provider withheld.
    pub warnings: Vec<Loss>,
}

impl Model {
    /// Draws one or more pictures. A request that may have been charged is not sent again.
    ///
    /// ```no_run
    /// use ikigai::ImageRequest;
    ///
    /// # async fn f(photo: Vec<u8>) -> Result<(), Box<dyn std::error::Error>> {
    /// let drawn = ikigai::model("openai:gpt-image-2")?.draw("a fox in the snow").await?;
    /// if let Some(bytes) = drawn.images[0].bytes() {
    ///     std::fs::write("fox.png", bytes)?;
    /// }
    ///
    /// let request = ImageRequest::new("the same fox, at night").size("16:9").from_image(photo, "image/png");
    /// let drawn = ikigai::model("google:gemini-2.5-flash-image")?.draw(request).await?;
    /// println!("{:?} {:?} {:?}", drawn.images, drawn.usage, drawn.warnings);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Works with OpenAI, compatible providers and Google. If the provider returns a URL instead of bytes, it is in
    /// [`Picture::url`] and is not fetched. Settings that the provider does not support are listed in
    /// [`Images::warnings`], and are errors with [`strict`](Model::strict).
    ///
    /// # Errors
    /// Returns an error if the provider does not draw pictures, if the model cannot draw what the request asks for, or
    /// if there is no answer.
    pub async fn draw(&self, request: impl Into<ImageRequest>) -> Result<Images, Error> {
        let request = request.into();
        let upstream = self.upstream()?;
        let (dialect, rules, limits) = (upstream.dialect(), upstream.target().rules, self.client.limits());
        let Some(wire) = dialect.image_request(&upstream.model().id, &request, rules)? else {
            return Err(super::has_no(&upstream, "pictures"));
        };
        let read = |body: &[u8], _: &_| dialect.decode_images(body, rules, &limits);
        let reading = Reading { output: "image", read, usage: Pictures::usage };
        let (drawn, mut warnings) = self.carry(&upstream, wire, reading).await?;
        let cost = upstream.facts().and_then(|facts| drawn.cost(facts));
        let usage = drawn.usage().cloned();
        warnings.extend(drawn.warnings);
        Ok(Images { images: drawn.pictures, text: drawn.text, model: self.plan.name.clone(), usage, cost, warnings })
    }
}
