//! Names that say whether a value is a secret, and programs whose options take one.

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// It is a secret.
    Secret,
    /// It is one if it looks like one: `key`, `session`.
    Perhaps,
    /// It is one unless it names a way to log in: `auth=basic`.
    Auth,
    /// Nothing is known.
    Harmless,
}

/// Parts of names, in lower case, that say "secret" when a part is equal to them.
const SECRET: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "token",
    "secret",
    "secrets",
    "cred",
    "creds",
    "credential",
    "credentials",
    "cookie",
    "sig",
    "signature",
    "bearer",
    "psk",
    "otp",
    "sas",
    "passin",
    "passout",
    "pin",
];

/// Ends of parts that say the same: `authtoken`, `PGPASSWORD`, `storepass`.
const SECRET_ENDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "credentials",
    "authorization",
    "privatekey",
    "secretkey",
    "accesskey",
    "authkey",
    "pwd",
    "storepass",
    "keypass",
    "userpass",
    "dbpass",
    "rootpass",
    "adminpass",
    "sshpass",
    "vncpass",
    "smtppass",
    "mailpass",
    "proxypass",
    "sudopass",
];

/// Pairs of neighbouring parts that say the same: `api-key`, `connectionString`.
const SECRET_PAIRS: &[(&str, &str)] = &[
    ("api", "key"),
    ("app", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("private", "key"),
    ("account", "key"),
    ("shared", "key"),
    ("encryption", "key"),
    ("signing", "key"),
    ("master", "key"),
    ("auth", "key"),
    ("host", "key"),
    ("session", "key"),
    ("subscription", "key"),
    ("storage", "key"),
];

/// Parts that say "perhaps".
const PERHAPS: &[&str] = &["key", "keys", "salt", "session", "sid", "license", "nonce", "jwt", "authentication"];

/// Ways to log in, which are no secrets.
const WAYS: &[&str] = &[
    "any",
    "basic",
    "bearer",
    "cert",
    "certificate",
    "digest",
    "disabled",
    "enabled",
    "external",
    "false",
    "gssapi",
    "ident",
    "iam",
    "kerberos",
    "ldap",
    "login",
    "md5",
    "mtls",
    "negotiate",
    "none",
    "ntlm",
    "oauth",
    "oauth2",
    "off",
    "oidc",
    "on",
    "optional",
    "pam",
    "password",
    "peer",
    "plain",
    "required",
    "saml",
    "scram",
    "simple",
    "sso",
    "tls",
    "token",
    "true",
    "trust",
];

/// Whether a value after `auth` names a way to log in, or several: `scram-sha-256`, `basic,digest`.
pub(super) fn is_way(value: &str) -> bool {
    let mut words = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    words.all(|word| number(word) || word == "sha" || WAYS.iter().any(|way| way.eq_ignore_ascii_case(word)))
}

/// Last parts of names whose value is about a secret and not one itself: `--password-file`, `token.ttl`.
const ABOUT: &[&str] = &[
    "file",
    "files",
    "path",
    "dir",
    "directory",
    "name",
    "names",
    "length",
    "len",
    "size",
    "ttl",
    "timeout",
    "expiry",
    "expiration",
    "type",
    "policy",
    "count",
    "limit",
    "url",
    "uri",
    "endpoint",
    "alg",
    "algorithm",
    "provider",
    "command",
    "cmd",
    "enabled",
    "disabled",
    "encoder",
    "mode",
    "version",
    "ms",
    "seconds",
    "minutes",
    "interval",
    "period",
    "retries",
    "required",
    "format",
    "class",
    "bits",
    "prompt",
];

/// What the name of an argument, variable, field or header says of its value. Dashes before it do not count.
pub(super) fn of(name: &str) -> Name {
    // Longer than any name that people give; such words are values.
    if name.len() > 200 || !name.is_ascii() {
        return Name::Harmless;
    }
    // A property: the letter is no part of its name.
    let name = ["-D", "-P", "-J-D"].iter().find_map(|option| name.strip_prefix(option)).unwrap_or(name);
    let parts = parts(name);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if parts.last().is_none_or(|last| ABOUT.contains(last)) {
        return Name::Harmless;
    }
    let is_secret = |part: &&str| SECRET.contains(part) || SECRET_ENDS.iter().any(|end| part.ends_with(end));
    let is_pair = |pair: &[&str]| matches!(pair, [a, b] if SECRET_PAIRS.contains(&(*a, *b)));
    if parts.iter().any(is_secret) || parts.windows(2).any(is_pair) {
        Name::Secret
    } else if parts.last() == Some(&"auth") {
        Name::Auth
    } else if parts.iter().any(|part| *part == "auth" || PERHAPS.contains(part)) {
        Name::Perhaps
    } else {
        Name::Harmless
    }
}

/// The parts of a name in lower case: what dashes, dots, underscores, or an upper-case letter after a lower-case one separate.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        let boundary = !c.is_ascii_alphanumeric() || (lower && c.is_ascii_uppercase());
        if boundary && parts.last().is_some_and(|p| !p.is_empty()) {
            parts.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.push(c.to_ascii_lowercase());
        }
        lower = c.is_ascii_lowercase();
    }
    // Digits at the end count no further: `password2`.
    for part in &mut parts {
        let kept = part.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        part.truncate(kept);
    }
    parts.retain(|p| !p.is_empty());
    parts
}

/// Whether the word is the scheme before a credential: `Bearer x`.
pub(super) fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "digest", "negotiate", "apikey", "awsv4"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// How an option takes its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// `-pSECRET` only; the bare option asks for it.
    AttachedOnly,
    /// `-pSECRET`, `-p SECRET`, `-p=SECRET`.
    Whole,
    /// The part after this character: `-u user:SECRET`.
    After(char),
}

/// Programs, and their options that take a secret though their names do not say so. From the programs' manual pages.
type Options = (&'static [&'static str], &'static [(&'static str, Taken)]);

/// Options by which many programs take `user:password`.
pub(super) const LOGINS: &[&str] =
    &["-u", "-U", "--user", "--userpwd", "--login", "--auth", "--credentials", "--creds", "--basic-auth"];

pub(super) static OPTIONS: &[Options] = &[
    (
        &[
            "mysql",
            "mysqladmin",
            "mysqldump",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mysqlslap",
            "mysqlbinlog",
            "mysqlpump",
            "mysqlsh",
            "mysql_upgrade",
            "mariadb",
            "mariadb-admin",
            "mariadb-dump",
            "mariadb-import",
            "mariadb-show",
            "mariadb-check",
            "mariadb-slap",
            "mariadb-binlog",
            "xtrabackup",
            "mariabackup",
            "mycli",
        ],
        &[("-p", Taken::AttachedOnly)],
    ),
    (
        &["sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        &[("-p", Taken::Whole)],
    ),
    (&["cqlsh", "beeline", "rabbitmqadmin", "trino", "clickhouse-client", "az"], &[("-p", Taken::Whole)]),
    (&["docker", "podman", "buildah", "helm", "oc"], &[("--password", Taken::Whole)]),
    (&["redis-cli", "valkey-cli", "redis-benchmark", "valkey-benchmark", "keydb-cli"], &[("-a", Taken::Whole)]),
    (&["sqlcmd", "bcp", "isql", "tsql", "ipmitool", "zip", "unzip"], &[("-P", Taken::Whole)]),
    (&["7z", "7za", "7zr", "rar", "unrar"], &[("-p", Taken::AttachedOnly), ("-hp", Taken::AttachedOnly)]),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami"], &[("-w", Taken::Whole)]),
    (&["smbclient", "rpcclient", "smbget", "net"], &[("-U", Taken::After('%')), ("--user", Taken::After('%'))]),
    (
        &["curl"],
        &[
            ("-u", Taken::After(':')),
            ("-U", Taken::After(':')),
            ("--user", Taken::After(':')),
            ("--proxy-user", Taken::After(':')),
        ],
    ),
    (&["ab", "wrk", "hey", "httpie", "http", "https"], &[("-A", Taken::After(':')), ("-a", Taken::After(':'))]),
    (
        &["snmpget", "snmpwalk", "snmpbulkwalk", "snmpset"],
        &[("-c", Taken::Whole), ("-A", Taken::Whole), ("-X", Taken::Whole)],
    ),
    (&["xfreerdp", "wlfreerdp", "rdesktop"], &[("/p:", Taken::Whole), ("-p", Taken::Whole)]),
];

/// Programs that log in by `user/password@database` (Oracle's SQL*Plus and its relatives).
pub(super) const ORACLE: &[&str] = &["sqlplus", "sqlldr", "exp", "imp", "expdp", "impdp", "rman", "sql"];
