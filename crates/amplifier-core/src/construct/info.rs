//! Descriptions of models, providers and modules.

use crate::json::Object;
use crate::model::{
    ConfigField, ConfigFieldType, ModelInfo, ModuleInfo, ModuleType, Pricing, ProviderInfo,
};

impl ProviderInfo {
    /// A provider that needs no credentials and has no settings.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ConfigField, ProviderInfo, capability};
    ///
    /// let info = ProviderInfo::new("acme", "Acme AI")
    ///     .with_credential_env_vars(["ACME_API_KEY"])
    ///     .with_capabilities([capability::TOOLS, capability::STREAMING])
    ///     .with_config_fields([ConfigField::secret("api_key", "API key", "Your key?")
    ///         .with_env_var("ACME_API_KEY")]);
    ///
    /// assert_eq!(info.credential_env_vars, ["ACME_API_KEY"]);
    /// ```
    #[must_use]
    pub fn new(id: impl Into<String>, display_name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            display_name: display_name.into(),
            credential_env_vars: Vec::new(),
            capabilities: Vec::new(),
            defaults: Object::new(),
            config_fields: Vec::new(),
        }
    }

    /// Names the environment variables that hold the credentials.
    #[must_use]
    pub fn with_credential_env_vars<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Self {
        self.credential_env_vars = texts(names);
        self
    }

    /// Says what it can do; [`capability`](crate::capability) has the usual words.
    #[must_use]
    pub fn with_capabilities<S: Into<String>>(
        mut self,
        capabilities: impl IntoIterator<Item = S>,
    ) -> Self {
        self.capabilities = texts(capabilities);
        self
    }

    /// Sets the default settings.
    #[must_use]
    pub fn with_defaults(mut self, defaults: Object) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets what to ask the user.
    #[must_use]
    pub fn with_config_fields(mut self, fields: impl Into<Vec<ConfigField>>) -> Self {
        self.config_fields = fields.into();
        self
    }
}

impl ModelInfo {
    /// A model under the provider's name for it, with its sizes in tokens: input and output
    /// together, and the output of one response.
    ///
    /// # Examples
    ///
    /// ```
    /// use amplifier_core::{ModelInfo, Pricing, capability};
    ///
    /// let model = ModelInfo::new("acme-1", "Acme One", 200_000, 8_000)
    ///     .with_capabilities([capability::TOOLS])
    ///     .with_pricing(Pricing::new(3.0, 15.0));
    /// assert_eq!(model.context_window, 200_000);
    /// ```
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        display_name: impl Into<String>,
        context_window: i64,
        max_output_tokens: i64,
    ) -> Self {
        Self {
            id: id.into(),
            display_name: display_name.into(),
            context_window,
            max_output_tokens,
            capabilities: Vec::new(),
            defaults: Object::new(),
            pricing: None,
        }
    }

    /// Says what it can do; [`capability`](crate::capability) has the usual words.
    #[must_use]
    pub fn with_capabilities<S: Into<String>>(
        mut self,
        capabilities: impl IntoIterator<Item = S>,
    ) -> Self {
        self.capabilities = texts(capabilities);
        self
    }

    /// Sets the default settings.
    #[must_use]
    pub fn with_defaults(mut self, defaults: Object) -> Self {
        self.defaults = defaults;
        self
    }

    /// Says what it costs.
    #[must_use]
    pub fn with_pricing(mut self, pricing: Pricing) -> Self {
        self.pricing = Some(pricing);
        self
    }
}

impl Pricing {
    /// Prices in US dollars per million tokens of fresh input and of output.
    #[must_use]
    pub fn new(input_per_million: f64, output_per_million: f64) -> Self {
        Self {
            input_per_million,
            output_per_million,
            cache_read_per_million: None,
            cache_write_per_million: None,
            currency: "USD".to_owned(),
        }
    }

    /// Sets the prices of input that is read from a cache or written to it.
    #[must_use]
    pub fn with_cache(mut self, read_per_million: f64, write_per_million: f64) -> Self {
        self.cache_read_per_million = Some(read_per_million);
        self.cache_write_per_million = Some(write_per_million);
        self
    }
}

impl ConfigField {
    /// A text that must be answered.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        display_name: impl Into<String>,
        prompt: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            display_name: display_name.into(),
            field_type: ConfigFieldType::Text,
            prompt: prompt.into(),
            env_var: None,
            choices: None,
            required: true,
            default_value: None,
            show_when: None,
            requires_model: false,
        }
    }

    /// A secret that must be answered; applications do not show it.
    #[must_use]
    pub fn secret(
        id: impl Into<String>,
        display_name: impl Into<String>,
        prompt: impl Into<String>,
    ) -> Self {
        Self {
            field_type: ConfigFieldType::Secret,
            ..Self::new(id, display_name, prompt)
        }
    }

    /// Makes it a choice among these answers.
    #[must_use]
    pub fn with_choices<S: Into<String>>(mut self, choices: impl IntoIterator<Item = S>) -> Self {
        self.field_type = ConfigFieldType::Choice;
        self.choices = Some(texts(choices));
        self
    }

    /// Names the environment variable that answers it.
    #[must_use]
    pub fn with_env_var(mut self, name: impl Into<String>) -> Self {
        self.env_var = Some(name.into());
        self
    }

    /// Sets the default answer.
    #[must_use]
    pub fn with_default(mut self, answer: impl Into<String>) -> Self {
        self.default_value = Some(answer.into());
        self
    }

    /// Allows no answer.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }
}

impl ModuleInfo {
    /// A module of this type, mounted in the slot of its type.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        version: impl Into<String>,
        module_type: ModuleType,
        description: impl Into<String>,
    ) -> Self {
        let mount_point = match module_type {
            ModuleType::Orchestrator => "orchestrator",
            ModuleType::Provider => "providers",
            ModuleType::Tool => "tools",
            ModuleType::Context => "context",
            ModuleType::Hook => "hooks",
            ModuleType::Resolver => "module-source-resolver",
        };
        Self {
            id: id.into(),
            name: name.into(),
            version: version.into(),
            module_type,
            mount_point: mount_point.to_owned(),
            description: description.into(),
            config_schema: None,
        }
    }
}

fn texts<S: Into<String>>(given: impl IntoIterator<Item = S>) -> Vec<String> {
    given.into_iter().map(Into::into).collect()
}
