//! Secrets in each form that files, code and command lines give them, whatever they are called.

use proptest::prelude::*;

use super::{BODY, assert_hidden, assert_stays, cut, part_of, plain, streamed};

/// Where `NAME` and `VALUE` stand in texts that say secret.
const NAMED: &[&str] = &[
    // The next line, or several.
    "NAME: |\n  VALUE\n",
    "a:\n  NAME: >-\n    VALUE\nb: c\n",
    "- NAME: |2+\n    VALUE\n\n    VALUE\n- b\n",
    "NAME:\n  VALUE\n",
    "NAME: !!binary |\n  VALUE\n",
    "{\n  \"NAME\":\n    \"VALUE\"\n}",
    "NAME = \\\n  VALUE\n",
    "NAME = (\n    \"VALUE\"\n)\n",
    // Declarations.
    "#define NAME \"VALUE\"\n",
    "#define NAME VALUE\n",
    "define('NAME','VALUE');",
    "define(\"NAME\", \"VALUE\");",
    "const NAME: &str = \"VALUE\";",
    "pub static NAME: &'static str = \"VALUE\";",
    "let NAME: String = String::from(\"VALUE\");",
    "NAME: str = \"VALUE\"",
    "NAME: Final[str] = 'VALUE'",
    "NAME: str | None = 'VALUE'",
    "val NAME: String = \"VALUE\"",
    "export const NAME: string = `VALUE`;",
    "const NAME string = \"VALUE\"",
    "static const char NAME[] = \"VALUE\";",
    "char NAME[64] = \"VALUE\";",
    "private static final String NAME = \"VALUE\";",
    "NAME := \"VALUE\"",
    "NAME = SecretStr(\"VALUE\")",
    "\"NAME\" => \"VALUE\",",
    "$NAME = 'VALUE';",
    "@NAME = 'VALUE'",
    "self.NAME = \"VALUE\"",
    "%w[NAME] NAME: 'VALUE'",
    // Calls.
    "os.environ[\"NAME\"] = \"VALUE\"",
    "os.environ.setdefault(\"NAME\", \"VALUE\")",
    "setenv(\"NAME\", \"VALUE\", 1);",
    "System.setProperty(\"NAME\", \"VALUE\");",
    "props.put(\"NAME\", \"VALUE\");",
    "request.header(\"NAME\", \"VALUE\")",
    // Settings of shells and containers.
    "setenv NAME VALUE\n",
    "set -gx NAME VALUE\n",
    "setx NAME VALUE\n",
    "ENV NAME VALUE\n",
    "SetEnv NAME \"VALUE\"\n",
    "aws configure set NAME VALUE\n",
    "$env:NAME = \"VALUE\"",
    "kubectl create secret generic a --from-literal=NAME=VALUE",
    // Names that are values.
    "- name: NAME\n  value: VALUE\n",
    "{\"name\": \"NAME\", \"value\": \"VALUE\"}",
    "{\"Key\":\"NAME\",\"Value\":\"VALUE\"}",
    "ParameterKey=NAME,ParameterValue=VALUE",
    "<add key=\"NAME\" value=\"VALUE\" />",
    "<property name=\"NAME\">VALUE</property>",
    "<key>NAME</key>\n\t<string>VALUE</string>",
    // Lists.
    "\"NAME\": [\"VALUE\", \"VALUE\"]",
    "{\"NAMEs\": [\"VALUE\", \"VALUE\"]}",
    "NAMEs:\n  - VALUE\n  - \"VALUE\"\n",
    // Columns.
    "user,NAME\nada,VALUE\nbob,VALUE\n",
    "NAME;user\nVALUE;ada\n",
    "id\tNAME\tuser\n1\tVALUE\tada\n2\tVALUE\tbob\n",
    "| user | NAME |\n|---|---|\n| ada | VALUE |\n| bob | `VALUE` |\n",
];

/// Texts with a password whose places alone say so.
const PLACED: &[&str] = &[
    "machine a.example login ada password VALUE\n",
    "machine a.example\n  login ada\n  password VALUE\n",
    "machine a.example password VALUE login ada\n",
    "default login ada password VALUE\n",
    "curl -u ada:VALUE https://a.example",
    "curl -s -X POST --user 'ada:VALUE' https://a.example",
    "curl -uada:VALUE https://a.example",
    "curl --proxy-user ada:VALUE https://a.example",
    "mysql -h a -u ada -pVALUE shop",
    "mysqldump -pVALUE shop > a.sql",
    "sshpass -p VALUE ssh a",
    "sshpass -pVALUE ssh a",
    "docker login -u ada -p VALUE a.example",
    "redis-cli -h a -a VALUE ping",
    "requirepass VALUE\n",
    "keytool -list -storepass VALUE -alias a",
    "sqoop import -password VALUE",
    "ALTER USER ada PASSWORD 'VALUE';",
    "CREATE USER ada WITH PASSWORD 'VALUE';",
    "    client-key-data: VALUEVALUE\n",
    "_password=VALUE\n",
    "password = VALUE\n",
    "DB_PW=VALUE",
    "db_pw: VALUE",
    "SECRET_KEY_BASE=VALUE",
    "SECRET_KEY_BASE: VALUE",
    "PASSWORD_1=VALUE",
    "API_KEY_PROD=VALUE",
    "password2: VALUE",
    "Passwort: VALUE",
];

fn name() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["db", "app", "my service", "x", "prod eu", "redis"]);
    let ends = prop::sample::select(vec![
        "password",
        "passwd",
        "api key",
        "secret",
        "access key",
        "auth token",
        "passphrase",
        "private key",
        "secret key",
        "client secret",
    ]);
    (words, ends, 0..5_usize).prop_map(|(word, end, way)| {
        let text = format!("{word} {end}");
        let words = text.split(' ').enumerate();
        match way {
            0 => text.replace(' ', "_"),
            1 => text.replace(' ', "_").to_uppercase(),
            2 => text.replace(' ', "-"),
            3 => text.replace(' ', "."),
            _ => words
                .map(|(place, word)| match place {
                    0 => word.to_string(),
                    _ => word[..1].to_uppercase() + &word[1..],
                })
                .collect(),
        }
    })
}

/// Fails unless the value is hidden, in the whole text and in its chunks.
fn assert_value_hidden(form: &str, text: &str, value: &str, places: &[usize]) {
    let redacted = plain().redact(text).into_owned();
    assert_eq!(
        part_of(value, &redacted),
        None,
        "{form:?}: {text} became {redacted}"
    );
    let single: Vec<usize> = (0..text.len()).collect();
    for places in [places, &single] {
        let out = streamed(&[], &cut(text.as_bytes(), places));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            redacted,
            "{form:?}: {text} in chunks"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_value_is_hidden_in_each_form_behind_any_name(
        name in name(),
        value in "[a-f]{2}[k-p][A-Z][0-9][A-Za-z0-9]{5,16}[q-z]",
        places in prop::collection::vec(any::<usize>(), 1..6),
    ) {
        for form in NAMED {
            let text = form.replace("NAME", &name).replace("VALUE", &value);
            assert_value_hidden(form, &text, &value, &places);
        }
        for form in PLACED {
            let text = form.replace("VALUE", &value);
            assert_value_hidden(form, &text, &value, &places);
        }
    }
}

#[test]
fn each_value_ends_where_its_form_ends() {
    assert_hidden(
        "password",
        &[
            "password: |\n  «horse B4ttery\n  c2»\nuser: d\n",
            "password:\n  «a1b2»\nuser: d\n",
            "login:\n  password: >\n    «a1b2»\n  user: d\n",
            "user,password\nada,«a1b2»\nbob,«c3»",
            "user,password\nada,\"«c3, d4»\"\n\nthe end, really",
            "| user | password |\n|---|---|\n| ada | «a1b2» |\nThe end.",
            "define('DB_PASSWORD','«swordfish»');",
            "machine a login b password «swordfish» machine c",
            "mysql -u a -p«swordfish» shop",
            "curl -u ada:«swordfish» https://a",
            "- name: DB_PASSWORD\n  value: «swordfish»\n  c: d",
        ],
    );
    assert_hidden(
        "key",
        &[
            "const API_KEY: &str = \"«swordfish»\";",
            "SECRET_KEY_BASE=«a1b2»;",
        ],
    );
    assert_hidden(
        "password",
        &["{\"passwords\": [\"«a»\", \"«b c»\"], \"d\": \"e\"}"],
    );
}

#[test]
fn what_only_looks_like_these_forms_stays() {
    assert_stays(&[
        "if not password:\n    return\n",
        "class Token:\n    pass\n",
        "token:\n    The token to use, if there is one.\n",
        "token: |\n  the token of the user\n",
        "the user, the password and the token\nare given, always, here",
        "password: str | None = None",
        "token: Token | None = None",
        "password, user = get(a)",
        "input(\"Password: \")",
        "getpass(\"Password: \", stream)",
        "isinstance(\"password\", \"user\")",
        "self._api_key = settings_api_key",
        "token = next_token or token.kind",
        "cookies: Cookies | None = None",
        "session: AsyncSessionMaker",
        "{\"tokens\": [\"a\", \"b\"], \"secrets\": []}",
        "mysql -p shop",
        "select -password from a",
        "curl -u ada https://a.example",
        "login with a password is needed",
        "set password policy",
        "| password | required |\n|---|---|\n| yes | no |\n",
        "name: password\nvalue: string",
    ]);
}

#[test]
fn keys_of_web_and_of_terminals_are_hidden() {
    assert_hidden(
        "private key",
        &[&format!(
            "Private-Lines: 2\n«{BODY}{BODY}\n{BODY}=»\nPrivate-MAC: 0f9e"
        )],
    );
    for name in ["d", "p", "q", "dp", "dq", "qi", "k"] {
        let value = &BODY.repeat(2)[..43];
        assert_hidden(
            "key",
            &[&format!("{{\"kty\":\"EC\",\"{name}\":\"«{value}»\"}}")],
        );
        assert_stays(&[&format!("{{\"{name}\":\"swordfish and more words\"}}")]);
    }
}

#[test]
fn a_value_that_ends_like_a_name_is_none() {
    assert_hidden(
        "password",
        &[
            "#define db_password \"«aakA0a0AaPw»\"\n",
            "define('DB_PASSWORD', '«aakA0a0AaPw»')",
            "passwords = [\"«aakA0a0AaPw»\"]\n",
        ],
    );
    assert_hidden("token", &["#define db_auth_token «aaaA0A00Aa»\n"]);
    assert_stays(&["#define DB_PASSWORD \"db_password_1\"\n"]);
}
