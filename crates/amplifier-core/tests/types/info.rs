//! What modules and sessions say about themselves comes back as it went out.

use std::fmt::Debug;

use crate::strategies::{finite, object, one_of, timestamp};
use amplifier_core::{
    ApprovalRequest, ApprovalResponse, ConfigField, ConfigFieldType, Cost, FromJson, ModelInfo,
    ModuleInfo, ModuleType, Pricing, ProviderInfo, SessionState, SessionStatus, Timestamp,
};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

const MODULE_TYPES: &[ModuleType] = &[
    ModuleType::Orchestrator,
    ModuleType::Provider,
    ModuleType::Tool,
    ModuleType::Context,
    ModuleType::Hook,
    ModuleType::Resolver,
];
const FIELD_TYPES: &[ConfigFieldType] = &[
    ConfigFieldType::Text,
    ConfigFieldType::Secret,
    ConfigFieldType::Choice,
    ConfigFieldType::Boolean,
];
const STATES: &[SessionState] = &[
    SessionState::Running,
    SessionState::Completed,
    SessionState::Failed,
    SessionState::Cancelled,
];

prop_compose! {
    fn pricing()(
        input_per_million in finite(),
        output_per_million in finite(),
        cache_read_per_million in option::of(finite()),
        cache_write_per_million in option::of(finite()),
        currency in "[A-Z]{3}",
    ) -> Pricing {
        Pricing {
            input_per_million,
            output_per_million,
            cache_read_per_million,
            cache_write_per_million,
            currency,
        }
    }
}

prop_compose! {
    fn model_info()(
        texts in any::<(String, String)>(),
        sizes in any::<(i64, i64)>(),
        capabilities in any::<Vec<String>>(),
        defaults in object(),
        pricing in option::of(pricing()),
    ) -> ModelInfo {
        ModelInfo {
            id: texts.0,
            display_name: texts.1,
            context_window: sizes.0,
            max_output_tokens: sizes.1,
            capabilities,
            defaults,
            pricing,
        }
    }
}

prop_compose! {
    fn config_field()(
        texts in any::<(String, String, String)>(),
        field_type in one_of(FIELD_TYPES),
        env_var in any::<Option<String>>(),
        choices in any::<Option<Vec<String>>>(),
        flags in any::<(bool, bool)>(),
        default_value in any::<Option<String>>(),
        show_when in option::of(prop::collection::vec(any::<(String, String)>(), 0..3)),
    ) -> ConfigField {
        ConfigField {
            id: texts.0,
            display_name: texts.1,
            field_type,
            prompt: texts.2,
            env_var,
            choices,
            required: flags.0,
            default_value,
            show_when: show_when.map(|entries| entries.into_iter().collect()),
            requires_model: flags.1,
        }
    }
}

prop_compose! {
    fn provider_info()(
        texts in any::<(String, String)>(),
        credential_env_vars in any::<Vec<String>>(),
        capabilities in any::<Vec<String>>(),
        defaults in object(),
        config_fields in prop::collection::vec(config_field(), 0..3),
    ) -> ProviderInfo {
        ProviderInfo {
            id: texts.0,
            display_name: texts.1,
            credential_env_vars,
            capabilities,
            defaults,
            config_fields,
        }
    }
}

prop_compose! {
    fn module_info()(
        texts in any::<[String; 5]>(),
        module_type in one_of(MODULE_TYPES),
        config_schema in option::of(object()),
    ) -> ModuleInfo {
        let [id, name, version, mount_point, description] = texts;
        ModuleInfo { id, name, version, module_type, mount_point, description, config_schema }
    }
}

fn moment() -> impl Strategy<Value = Timestamp> {
    timestamp().prop_map(|text| Timestamp::from_text(&text).expect("a timestamp"))
}

prop_compose! {
    fn session_status()(
        session_id in any::<String>(),
        started_at in moment(),
        ended_at in option::of(moment()),
        status in one_of(STATES),
        counts in any::<[i64; 6]>(),
        cost_usd in option::of("-?[0-9]{1,30}(\\.[0-9]{1,9})?"),
        last_activity in option::of(moment()),
        last_error in option::of(object()),
    ) -> SessionStatus {
        SessionStatus {
            session_id,
            started_at,
            ended_at,
            status,
            total_messages: counts[0],
            tool_invocations: counts[1],
            tool_successes: counts[2],
            tool_failures: counts[3],
            total_input_tokens: counts[4],
            total_output_tokens: counts[5],
            cost_usd: cost_usd.map(|text| Cost::from_text(&text).expect("a decimal")),
            last_activity,
            last_error,
        }
    }
}

prop_compose! {
    fn approval_request()(
        texts in any::<(String, String, String)>(),
        details in object(),
        timeout in option::of(finite().prop_filter("positive", |seconds| *seconds > 0.0)),
    ) -> ApprovalRequest {
        ApprovalRequest {
            tool_name: texts.0,
            action: texts.1,
            details,
            risk_level: texts.2,
            timeout,
        }
    }
}

prop_compose! {
    fn approval_response()(
        flags in any::<(bool, bool)>(),
        reason in any::<Option<String>>(),
    ) -> ApprovalResponse {
        ApprovalResponse { approved: flags.0, reason, remember: flags.1 }
    }
}

fn comes_back<T>(value: &T) -> Result<(), TestCaseError>
where
    T: FromJson + serde::Serialize + PartialEq + Debug,
{
    let text = serde_json::to_string(value).expect("JSON");
    let read = T::parse(text.as_bytes()).expect("what was written");
    prop_assert_eq!(&read, value);
    prop_assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn information_about_models_comes_back(value in model_info()) {
        comes_back(&value)?;
    }

    #[test]
    fn information_about_providers_comes_back(value in provider_info()) {
        comes_back(&value)?;
    }

    #[test]
    fn information_about_modules_comes_back(value in module_info()) {
        comes_back(&value)?;
    }

    #[test]
    fn the_status_of_a_session_comes_back(value in session_status()) {
        comes_back(&value)?;
    }

    #[test]
    fn an_approval_and_its_answer_come_back(
        request in approval_request(),
        response in approval_response(),
    ) {
        comes_back(&request)?;
        comes_back(&response)?;
    }
}
