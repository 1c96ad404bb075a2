//! Every setting of client and daemon, one row each.

pub struct Setting {
    /// Its name in config files; `MFA_` and the name in capitals is its variable.
    pub name: &'static str,
    pub default: &'static str,
    /// What it decides.
    pub doc: &'static str,
}

impl Setting {
    pub fn variable(&self) -> String {
        format!("MFA_{}", self.name.to_ascii_uppercase())
    }
}

const fn row(name: &'static str, default: &'static str, doc: &'static str) -> Setting {
    Setting { name, default, doc }
}

/// Every setting of client and daemon.
pub const TABLE: &[Setting] = &[
    row("url", "http://127.0.0.1:6320", "address of the daemon"),
    row("insecure", "false", "send passwords and tokens over plain HTTP to another machine, too"),
    row("ca_file", "", "file of certificate authorities that count beside those of this machine"),
    row("client_cert", "", "file of the certificate that is shown to the daemon, where it asks for one"),
    row("client_key", "", "file of its private key"),
    row("profile", "", "set of settings that is used; without it the one of mfa profile use"),
    row("output", "auto", "format of the output; auto is table on a terminal and tsv elsewhere"),
    row("color", "auto", "when colour is used: auto, always or never"),
    row("time_zone", "", "time zone of tables and printed reports; by default TZ, else that of the machine"),
    row("pager", "less -FRX", "program that shows what is longer than a screen; empty for none"),
    row("quiet", "false", "say less on stderr"),
    row("yes", "false", "answer yes to every confirmation"),
    row("no_input", "false", "never ask; fail instead"),
    row("retries", "2", "how often a request is repeated that found no daemon or a fault of it"),
    row("timeout_seconds", "30", "longest wait for one answer"),
    row("debug", "", "http shows requests and answers on stderr, secrets left out"),
    row("data_dir", "", "folder of the daemon's store; by default in the user's data folder"),
    row("store", "", "PostgreSQL as the daemon's store, postgres://USER@HOST/DATABASE; else data_dir is it"),
    row("store_connections_max", "16", "most connections of the daemon to PostgreSQL for requests"),
    row("listen", "127.0.0.1:6320", "address on which the daemon listens; port 0 takes a free one"),
    row(
        "plaintext",
        "false",
        "listen beyond this machine without TLS, behind a proxy that has it or in a network of your own",
    ),
    row("tls_cert", "", "file of the certificate with which the daemon speaks TLS; see mfa help tls"),
    row("tls_key", "", "file of its private key"),
    row("tls_client_ca", "", "file of the authorities of clients, which must have a certificate then"),
    row("auth", "on", "whether callers are asked for a token: on, or off on loopback only"),
    row("token", "", "access token to use instead of the one of the last login"),
    row("token_file", "", "file that holds such a token"),
    row("access_token_seconds", "1200", "life of an access token that the daemon gives"),
    row("refresh_token_seconds", "54000", "life of a session, from login to its end"),
    row("second_factor_roles", "", "roles whose users must have a second factor, separated by commas"),
    row("session_idle_seconds", "0", "time after which a session ends that is not used; 0 for never"),
    row(
        "current_password_required",
        "false",
        "whether users must give the present password to set another one",
    ),
    row("token_audiences", "", "further names of the daemon in assertions, separated by commas"),
    row("strict_references", "false", "whether every named office, employee and customer must exist"),
    row(
        "secret_key_file",
        "",
        "file of the keys of stored secrets; by default beside the folder of the store",
    ),
    row("mail_from", "", "sender of e-mail whose gateway has no address as its user name"),
    row("sms_endpoint", "", "address of the SMS service; {account_sid} in it is replaced by the account"),
    row("gateway_ca_file", "", "file of certificate authorities of gateways, beside those of the system"),
    row(
        "gateway_private_addresses",
        "",
        "networks of this machine and of private nets in which gateways may be, such as 10.1.0.0/16; by \
         default none, with auth off 127.0.0.0/8 and ::1",
    ),
    row("gateway_connect_timeout_seconds", "10", "time to reach a gateway"),
    row("gateway_timeout_seconds", "30", "time for a message to a gateway in all"),
    row(
        "webhook_plaintext",
        "false",
        "whether webhooks may be http: addresses, where events travel unencrypted",
    ),
    row(
        "webhook_private_addresses",
        "",
        "networks of this machine and of private nets in which receivers of webhooks may be, such as \
         10.1.0.0/16; by default none",
    ),
    row("cors_origins", "", "origins of web pages that may call the daemon, separated by commas"),
    row("body_bytes_max", "1048576", "largest JSON body that the daemon reads"),
    row("image_max_bytes", "524288", "largest portrait or scan that the daemon takes"),
    row("connections_max", "4096", "connections that the daemon serves at once"),
    row(
        "connections_per_address",
        "256",
        "connections that one address may have; all of them on this machine",
    ),
    row(
        "requests_per_second_token",
        "",
        "requests of one access token; by default 10000, from this machine any number; 0 for any number",
    ),
    row(
        "requests_per_second_address",
        "",
        "requests of one address in all; by default 20000, from this machine any number",
    ),
    row(
        "requests_per_second_unauthenticated",
        "",
        "requests of one address without a valid token; by default 1000, from this machine any number",
    ),
    row("requests_burst_seconds", "10", "seconds whose requests may come at once"),
    row("metrics_public", "false", "show GET /metrics to programs of this machine without a token"),
    row("trusted_proxies", "", "addresses of proxies whose X-Forwarded-For counts, separated by commas"),
    row(
        "header_timeout_seconds",
        "10",
        "time for the head of a request to arrive, and that an idle connection is kept",
    ),
    row("request_timeout_seconds", "60", "time for a request to arrive whole and be answered"),
    row("stop_timeout_seconds", "20", "time for running requests to end when the daemon stops"),
    row("cache_bytes", "67108864", "memory that the daemon's store may use for its cache"),
    row("audit_retention_days", "0", "age of the audit trail at which mfa doctor warns; 0 for never"),
    row("interest_run_at", "", "time of the day, HH:MM in UTC, at which yesterday's interest is run"),
    row("backup_dir", "", "folder in which the daemon makes a backup each day; without it, it makes none"),
    row("backup_at", "02:00", "time of the day, HH:MM in UTC, at which it does"),
    row(
        "backup_keep",
        "7d,4w,12m",
        "which of these backups stay: the last of so many days, weeks and months",
    ),
    row("backup_encrypt_to", "", "public keys of age for which these backups are encrypted"),
    row("upgrade_backup", "true", "make a backup before a store of an earlier version is upgraded"),
    row(
        "journal_keep_days",
        "",
        "days whose journal stays in the store; older files that the daily backup covers go beside it",
    ),
    row("password_file", "", "file of the password that a command needs, - for standard input"),
    row("teller", "", "teller of this machine, where a command names none"),
    row("office", "", "office of the tellers of this machine, where --office does not say it"),
    row("report_dir", "", "folder of the day reports of tellers; by default in the user's data folder"),
    row("institution", "", "name of the institution at the head of papers; see mfa help paper"),
    row("letterhead", "", "lines below it, such as an address"),
    row("letterhead_file", "", "file of these lines, where letterhead does not say them"),
    row("paper_footer", "", "lines at the foot of papers"),
    row("paper", "a4", "size of papers: a4, a5 or 80mm; 80 or 40 columns"),
    row("receipt_paper", "80mm", "the same for receipts"),
    row(
        "log",
        "info",
        "what the daemon logs: error, warn (also refused logins), info (also each request), debug, trace",
    ),
    row("log_format", "text", "form of the daemon's log: text, or json with one object a line"),
];

/// A config file that sets nothing: each setting with what it decides and its default, as a comment.
pub fn example() -> String {
    let mut text = "# Settings of mfa. A line without its # counts; every line here shows the default.\n\
                    # For this machine: /etc/mfa/config.toml. For one user: what mfa config path shows.\n"
        .to_owned();
    // A profile is chosen on the command line, by its variable or by mfa profile use.
    for setting in TABLE.iter().filter(|setting| setting.name != "profile") {
        let value = toml::Value::String(setting.default.to_owned());
        text += &format!("\n# {}.\n# {} = {value}\n", setting.doc, setting.name);
    }
    text
}
