use super::*;
use proptest::prelude::*;

fn masked(words: &[&str]) -> String {
    arguments(words).join(" ")
}

#[test]
fn names_that_say_secret() {
    for (words, expected) in [
        (&["app", "--password=hunter2", "x"][..], "app --password=*** x"),
        (&["app", "--password", "hunter2", "x"], "app --password *** x"),
        (&["app", "-password", "hunter2"], "app -password ***"),
        (&["app", "--password", "--verbose"], "app --password --verbose"),
        (&["app", "--db-pass=a;b,c&d"], "app --db-pass=***"),
        (
            &["java", "-Ddb.password=x", "-Djavax.net.ssl.keyStorePassword=y", "Main"],
            "java -Ddb.password=*** -Djavax.net.ssl.keyStorePassword=*** Main",
        ),
        (&["env", "PGPASSWORD=x", "GITHUB_TOKEN=y", "psql"], "env PGPASSWORD=*** GITHUB_TOKEN=*** psql"),
        (
            &["app", "--apiKey", "x", "--api_key=x", "--secret-access-key=x"],
            "app --apiKey *** --api_key=*** --secret-access-key=***",
        ),
        (&["keytool", "-storepass", "changeit", "-keypass", "changeit"], "keytool -storepass *** -keypass ***"),
        (&["openssl", "rsa", "-passin", "pass:x"], "openssl rsa -passin ***"),
        (&["openssl", "rsa", "pass:x"], "openssl rsa pass:***"),
        (&["tool", "/p:Password=x"], "tool /p:Password=***"),
        (&["tool", "password", "=", "x"], "tool password = ***"),
        (&["tool", "token", "=", "x"], "tool token = ***"),
    ] {
        assert_eq!(masked(words), expected);
    }
}

#[test]
fn headers_and_structured_values() {
    for (words, expected) in [
        (&["curl", "-H", "Authorization: Bearer abc.def", "u"][..], "curl -H Authorization: *** u"),
        (&["curl", "-HX-Api-Key: abc", "u"], "curl -HX-Api-Key: *** u"),
        (&["curl", "--header", "Cookie: a=b; c=d"], "curl --header Cookie: ***"),
        (&["curl", "-d", r#"{"user":"u","password":"p,q","n":1}"#], r#"curl -d {"user":"u","password":"***","n":1}"#),
        (&["app", "Server=s;User=u;Password=p,q;Timeout=3"], "app Server=s;User=u;Password=***;Timeout=3"),
        (&["app", "https://h/p?a=1&token=x&b=2#f"], "app https://h/p?a=1&token=***&b=2#f"),
        (&["mount", "-o", "user=u,password=p,rw"], "mount -o user=u,password=***,rw"),
        (
            &["sh", "-c", "curl -H 'Authorization: Basic abc' http://h; mysql -phunter2 db"],
            "sh -c curl -H 'Authorization: ***' http://h; mysql -p*** db",
        ),
        (&["title: Authorization: Bearer abcdefghijkl rest"], "title: Authorization: Bearer *** rest"),
    ] {
        assert_eq!(masked(words), expected);
    }
}

#[test]
fn options_of_known_programs() {
    for (words, expected) in [
        (&["/usr/bin/mysql", "-uroot", "-phunter2", "-P3306", "db"][..], "/usr/bin/mysql -uroot -p*** -P3306 db"),
        (&["mysql", "-p", "db"], "mysql -p db"),
        (&["sudo", "-u", "db", "mysqldump", "-px", "db"], "sudo -u db mysqldump -p*** db"),
        (&["sshpass", "-p", "x", "ssh", "-p", "22", "h"], "sshpass -p *** ssh -p *** h"),
        (&["sshpass", "-px", "ssh", "h"], "sshpass -p*** ssh h"),
        (
            &["curl", "-u", "me:x", "-uyou:y", "--user", "a:b:c", "--user=d:e", "u"],
            "curl -u me:*** -uyou:*** --user a:*** --user=d:*** u",
        ),
        (&["redis-cli", "-h", "h", "-a", "x"], "redis-cli -h h -a ***"),
        (&["ldapsearch", "-D", "cn=a", "-w", "x"], "ldapsearch -D cn=a -w ***"),
        (&["sqlplus", "scott/tiger@orcl"], "sqlplus scott/***@orcl"),
        (&["smbclient", "//s/x", "-U", "me%x"], "smbclient //s/x -U me%***"),
    ] {
        assert_eq!(masked(words), expected);
    }
}

#[test]
fn logins_in_urls() {
    for (words, expected) in [
        (&["postgres://u:p@h:5432/d"][..], "postgres://u:***@h:5432/d"),
        (&["--url=mongodb://u:p@h1:1,h2:2/d?x=1"], "--url=mongodb://u:***@h1:1,h2:2/d?x=1"),
        (&["redis://:p@h"], "redis://:***@h"),
        (&["https://u:p/q@h/x"], "https://u:***@h/x"),
        (&["https://ghp_abcdefghijklmnopqrstuvwxyz0123456789@github.com/o/r"], "https://***@github.com/o/r"),
        (&["https://git@host/o/r@v1"], "https://git@host/o/r@v1"),
        (&["http://host:8080/a@b"], "http://host:8080/a@b"),
        (&["jdbc:oracle:thin:scott/tiger@//h:1521/x"], "jdbc:oracle:thin:scott/***@//h:1521/x"),
        (&["jdbc:oracle:thin:scott/tiger@h:1521:x"], "jdbc:oracle:thin:scott/***@h:1521:x"),
        (&["me:pw@host"], "me:***@host"),
        (&["registry/image:tag@sha256:0123"], "registry/image:tag@sha256:0123"),
        (&["git@github.com:o/r.git"], "git@github.com:o/r.git"),
    ] {
        assert_eq!(masked(words), expected);
    }
}

#[test]
fn shapes_of_tokens() {
    for (words, expected) in [
        (&["x", "AKIAIOSFODNN7EXAMPLE"][..], "x ***"),
        (&["x-ghp_abcdefghijklmnopqrstuvwxyz0123456789"], "x-***"),
        (&["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdef"], "***"),
        (&["--key", "4f3c2b1a9d8e7f6a5b4c3d2e1f0a9b8c"], "--key ***"),
        (&["--key=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"], "--key=***"),
        (&["--key", "/etc/ssl/private/server-2024.key"], "--key /etc/ssl/private/server-2024.key"),
        (&["--sort-key=name"], "--sort-key=name"),
        (&["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n--next"], "***\n--next"),
        (&["-----BEGIN CERTIFICATE-----"], "-----BEGIN CERTIFICATE-----"),
    ] {
        assert_eq!(masked(words), expected);
    }
}

#[test]
fn ordinary_words_are_kept() {
    for words in [
        &["postgres", "-D", "/var/lib/postgresql/15/main", "-c", "config_file=/etc/postgresql/15/main/postgresql.conf"]
            [..],
        &["java", "-Xmx4g", "-XX:+UseG1GC", "-jar", "app.jar", "--server.port=8080"],
        &["python3", "train.py", "--max-tokens=100", "--tokenizer=/models/t.json", "--bypass=1"],
        &["nginx: master process /usr/sbin/nginx -g daemon off;"],
        &["ssh", "-p", "2222", "user@host"],
        &["app", "--password-file=/run/secrets/db", "--token-ttl=3600", "--auth=none", "--session-timeout=5"],
        &[
            "containerd-shim-runc-v2",
            "-namespace",
            "moby",
            "-id",
            "4f3c2b1a9d8e7f6a5b4c3d2e1f0a9b8c4f3c2b1a9d8e7f6a5b4c3d2e1f0a9b8c",
        ],
        &["[kworker/0:1-events]"],
        &["it's", "an", "open", "quote"],
        &["make", "-p", "all"],
    ] {
        assert_eq!(arguments(words), words);
    }
}

#[test]
fn command_lines_of_the_kernel_and_of_processes() {
    assert_eq!(
        text("root=/dev/sda1  ro rd.luks.key=/k quiet password=x console=ttyS0,115200n8"),
        "root=/dev/sda1  ro rd.luks.key=/k quiet password=*** console=ttyS0,115200n8"
    );
    assert_eq!(split(b"a\0\0b c\0"), ["a", "", "b c"]);
    assert_eq!(split(b"\0\0"), Vec::<String>::new());
    assert_eq!(command_line(b"app\0--token\0x\0", false), "app --token ***");
    assert_eq!(command_line(b"app\0--token\0x\0", true), "app --token x");
}

proptest! {
    #[test]
    fn no_secret_is_left(secret in "[A-Za-z0-9+/_!%^-]{10,30}", at in 0usize..16) {
        let secret = format!("Q{secret}Z");
        let forms: [Vec<String>; 16] = [
            vec![format!("--password={secret}")],
            vec!["--password".into(), secret.clone()],
            vec![format!("-Dx.y.secret={secret}")],
            vec![format!("API_TOKEN={secret}")],
            vec![format!("Authorization: Bearer {secret}")],
            vec!["mysql".into(), format!("-p{secret}")],
            vec!["sshpass".into(), "-p".into(), secret.clone()],
            vec![format!("postgres://user:{secret}@host/db")],
            vec!["curl".into(), "-u".into(), format!("user:{secret}")],
            vec![format!("https://host/?token={secret}&x=1")],
            vec![format!("Server=s;Password={secret};Timeout=1")],
            vec![format!("{{\"password\": \"{secret}\", \"a\": 1}}")],
            vec!["sh".into(), "-c".into(), format!("mysql -uroot -p{secret} db")],
            vec!["sh".into(), "-c".into(), format!("curl -H 'X-Api-Key: {secret}' http://host")],
            vec![format!("ssh host \"env DB_PASSWORD='{secret}' run\"")],
            vec![format!("password = {secret}")],
        ];
        let words = &forms[at];
        let result = arguments(words);
        prop_assert_eq!(result.len(), words.len());
        prop_assert!(!result.join(" ").contains(&secret), "{:?} -> {:?}", words, result);
        prop_assert!(!text(&words.join(" ")).contains(&secret), "{:?}", words);
    }

    #[test]
    fn masking_twice_changes_nothing(words in prop::collection::vec("(--?)?[a-z]{0,8}(password|key|token|user)?[=: ]?[a-zA-Z0-9:@/]{0,24}", 0..6)) {
        let once = arguments(&words);
        prop_assert_eq!(arguments(&once), once);
    }

    #[test]
    fn nothing_panics(words: Vec<String>, bytes: Vec<u8>, line in "[-\\\\\"'a-z=:@/ é{}?&;,]{0,80}") {
        prop_assert_eq!(arguments(&words).len(), words.len());
        let _ = (command_line(&bytes, false), text(&line), text(&String::from_utf8_lossy(&bytes)));
    }
}

/// What leaked once, and what is nearly the same and says something.
#[test]
fn what_leaked() {
    for (line, expected) in [
        ("client -pSECRET42 db", "client -p*** db"),
        ("client -pSECRET db", "client -p*** db"),
        ("client -phunter2 db", "client -p*** db"),
        ("mysqlrouter -u root:SECRET", "mysqlrouter -u root:***"),
        ("app -u root:SECRET", "app -u root:***"),
        ("app --user root:SECRET x", "app --user root:*** x"),
        ("app --auth admin:SECRET", "app --auth admin:***"),
        ("app --auth SECRET", "app --auth ***"),
        ("app --creds admin:SECRET", "app --creds ***"),
        ("java -Dauth=SECRET -Dcreds=SECRET -Ddb.creds=x Main", "java -Dauth=*** -Dcreds=*** -Ddb.creds=*** Main"),
        ("get https://h/p?a=1&sig=SECRET&b=2", "get https://h/p?a=1&sig=***&b=2"),
        ("get https://h/p?X-Signature=SECRET", "get https://h/p?X-Signature=***"),
        ("get https://h/p?access_token=SECRET#x", "get https://h/p?access_token=***#x"),
        ("app sk-live-abcdef123", "app ***"),
        ("app --model x sk-ant-api03-abcdef", "app --model x ***"),
        ("app key=sk-proj-abcdefgh", "app key=***"),
        ("post https://hooks.slack.com/services/T0/B0/xyz", "post https://hooks.slack.com/services/***"),
        ("post https://discord.com/api/webhooks/12/xyz", "post https://discord.com/api/webhooks/***"),
        // Not secrets.
        ("docker run -u 1000:1000 nginx:1.27", "docker run -u 1000:1000 nginx:1.27"),
        ("app -u root -p 8080 -p8080 -pthread -profile", "app -u root -p 8080 -p8080 -pthread -profile"),
        ("rsync -progtv a b", "rsync -progtv a b"),
        ("gcc -print-file-name=libc.so -pipe", "gcc -print-file-name=libc.so -pipe"),
        ("app --auth basic -Dauth=scram-sha-256 auth=none", "app --auth basic -Dauth=scram-sha-256 auth=none"),
        ("msbuild -p:Configuration=Release", "msbuild -p:Configuration=Release"),
        ("app --user --login -u", "app --user --login -u"),
        ("pip install sk-learn", "pip install sk-learn"),
    ] {
        assert_eq!(text(line), expected);
        assert_eq!(masked(&line.split(' ').collect::<Vec<_>>()), expected);
    }
}
