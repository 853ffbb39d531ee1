//! Well-known capabilities of a model.

macro_rules! capabilities {
    ($($name:ident = $value:literal;)+) => {
        $(#[doc = concat!("`", $value, "`.")] pub const $name: &str = $value;)+

        /// The well-known capability names with the names of their constants, in the order of the
        /// contract.
        pub const NAMED: &[(&str, &str)] = &[$((stringify!($name), $value)),+];
    };
}

capabilities! {
    TOOLS = "tools";
    STREAMING = "streaming";
    THINKING = "thinking";
    VISION = "vision";
    JSON_MODE = "json_mode";
    FAST = "fast";
    CODE_EXECUTION = "code_execution";
    WEB_SEARCH = "web_search";
    DEEP_RESEARCH = "deep_research";
    LOCAL = "local";
    AUDIO = "audio";
    IMAGE_GENERATION = "image_generation";
    COMPUTER_USE = "computer_use";
    EMBEDDINGS = "embeddings";
    LONG_CONTEXT = "long_context";
    BATCH = "batch";
}
