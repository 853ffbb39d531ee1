//! Secrets without a mark of their own, which the text around them gives away.

use super::{assert_hidden, assert_stays};

#[test]
fn a_mapping_that_is_named_as_secret_holds_secrets() {
    assert_hidden(
        "credentials",
        &[
            "{\"credentials\": {\"db\": {\"value\": \"«harbor1815»\"}}}",
            "credentials:\n  db:\n    value: «harbor1815»\nother: harbor1815\n",
            "[credentials.db]\nuser = \"ada\"\nvalue = \"«harbor1815»\"\n[other]\nvalue = \"harbor1815\"\n",
        ],
    );
    assert_hidden(
        "password",
        &[
            "passwords:\n  ada: «mistyharbor»\n  bob: «harbor1815»\n",
            "PASSWORDS = {\n    'ada': '«mistyharbor»',\n}",
            "{\"password\": {\"value\": \"«mistyharbor»\", \"type\": \"plain\"}}",
        ],
    );
    assert_hidden(
        "secret",
        &[
            "kind: Secret\nmetadata:\n  name: db\ndata:\n  db: «bWlzdHloYXJib3I=»\n",
            "{\"kind\": \"Secret\", \"stringData\": {\"db\": \"«misty harbor»\"}}",
            "{\"secrets\": {\"mail\": \"«harbor1815»\"}}",
        ],
    );
    assert_stays(&[
        "{\"credentials\": {\"type\": \"oauth2023\", \"user\": \"ada181512\"}}",
        "{\"password\": {\"type\": \"string\", \"minLength\": 12}}",
        "{\"tokens\": {\"input\": 12, \"model\": \"large2024x\"}}",
        "{\"session\": {\"trace\": \"4bf92f3577b34da6a3ce929d0e0e4736\"}}",
        "secrets:\n  db:\n    file: ./a1b2c3d4.txt\nother: harbor1815\n",
        "kind: Secrets\ndata:\n  db: bWlzdHloYXJib3I=\n",
        "kind: ConfigMap\ndata:\n  db: bWlzdHloYXJib3I=\n",
    ]);
}

#[test]
fn a_line_announces_what_is_alone_on_the_next_one() {
    assert_hidden(
        "password",
        &[
            "Enter password:\n«mistyharbor»\n",
            "Password:\n\n  «harbor1815»\nok",
            "Passphrase:\n«misty harbor candle north»\n",
            "# password\n«harbor1815»",
            "$ kubectl get secret db -o jsonpath='{.data.password}'\n«mistyharbor»\n",
            "$ cat /run/secrets/db_password\n«misty-harbor»\n",
            "Generated password for root:\n«harbor1815»\nok\n",
        ],
    );
    assert_hidden(
        "token",
        &[
            "The token is:\n«0b7e9c2a4d1f4c3b»\n",
            "## API token\n\n`«0b7e9c2a4d1f4c3b»`\n",
        ],
    );
    assert_stays(&[
        "Enter password:\nmisty harbor\n",
        "Password:\n\n\nharbor1815\n",
        "if not password:\n    continue\n",
        "Token:\nmistyharbor\n",
        "$ ls passwords\nada.txt\n",
        "password {\nharbor1815\n",
        "# password(a);\nharbor1815\n",
    ]);
}

#[test]
fn a_sentence_leads_to_a_word_that_nobody_says() {
    assert_hidden(
        "password",
        &[
            "the password for ada was set to «harbor1815»",
            "changed the password from «harbor1815» to «misty1915north» today",
            "using password «harbor1815» for ada",
            "username admin password 0 «harbor1815»\n",
        ],
    );
    assert_hidden("token", &["invalid token «0b7e9c2a4d1f4c3b» from ada"]);
    assert_hidden(
        "key",
        &[
            "api key «0b7e9c2a4d1f4c3b» has expired",
            "API key: «mistyharbor1»",
        ],
    );
    assert_stays(&[
        "the password is optional since v1.24.3",
        "the password was changed on 2026-11-25T12:00:00Z",
        "the token is in src/a1b2c3d4e5",
        "no token for host api2.example:8080",
        "primary key: 0b7e9c2a4d1f4c3b",
        "the password is long. harbor1815",
        "password, then harbor1815",
    ]);
}

#[test]
fn calls_take_secrets_as_arguments() {
    assert_hidden(
        "password",
        &[
            "user.setPassword(\"«mistyharbor»\")",
            "auth=(\"ada\", \"«mistyharbor»\")",
            "auth = HTTPBasicAuth('ada', '«mistyharbor»')",
            "new NetworkCredential(\"ada\", \"«harbor1815»\")",
            "server.login(\"ada@example.com\", \"«mistyharbor»\")",
        ],
    );
    assert_stays(&[
        "user.getPassword(\"harbor1815\")",
        "setPassword(password)",
        "setPassword(\"ada\", other)",
        "auth(\"ada\", \"mistyharbor\")",
        "credentials(\"harbor1815\")",
        "signal.connect(\"clicked\", \"mistyharbor\")",
        "connect(\"harbor1815\")",
    ]);
}

#[test]
fn rows_hold_secrets_in_the_columns_of_their_names() {
    assert_hidden(
        "password",
        &[
            "INSERT INTO users (name, password) VALUES ('ada', '«misty harbor»'), ('bob', '«b1»');",
            "[\"user\", \"password\"]\n[\"ada\", \"«mistyharbor»\"]\n",
            "USER      PASSWORD\nada       «mistyharbor»\n\nada       mistyharbor\n",
            "Username  Password\n--------  --------\nada       «mistyharbor»\n",
            " id | password\n----+---------\n  1 | «mistyharbor»\n(1 row)\n",
            "+----+------+\n| id | pwd  |\n+----+------+\n| 1  | «b1c2» |\n+----+------+\n",
            "user     | ada\npassword | «mistyharbor»\n",
            "│ user │ password │\n├──────┼──────────┤\n│ ada  │ «b1c2»     │\n",
            "user,pass\nada,«harbor1815»\n",
        ],
    );
    assert_stays(&[
        "INSERT INTO users (name, password) VALUES (?, ?);",
        "SELECT (name, password) FROM users WHERE ('ada', 'harbor1815')",
        "def check(user, password):\n    of(\"ada\", \"harbor1815\")",
        "Forgot Password\nSign In\n",
        "NAME  SECRET\nada   none\n",
        "test,pass,fail\nunit,120,3\n",
        "| password | text |\n",
    ]);
}

#[test]
fn programs_and_servers_write_passwords_in_ways_of_their_own() {
    assert_hidden(
        "password",
        &[
            "Server=a;Password=«misty harbor»;Port=1",
            "jdbc:oracle:thin:ada/«harbor1815»@//db.example:1521/x",
            "zip -P «mistyharbor» out.zip a",
            "openssl rsa -in a -passin pass:«harbor1815»",
            "ALTER USER ada IDENTIFIED BY '«harbor1815»';",
            "root:$6$Ab1cD2eF$«z9O7Wi2ade5zKtPUe4yBB2T3SgdJxlDvzVoFBJl1RaO»:19000:0:::",
        ],
    );
    assert_stays(&[
        "sqlplus / as sysdba",
        "zip -r out.zip src",
        "IT WAS MODIFIED BY ADA181512",
        "$1$ and $6$ are kinds",
        "$6x$Ab1cD2eF$z9O7Wi2ade5zKtPUe4yBB2T3SgdJxlDvzVoFBJl1RaO",
    ]);
}
