//! Shapes of secrets, after the public lists of secret scanners. The values are generated when the test runs, so this file
//! holds none.
//!
//! In a template, `<b36>` stands for 36 random characters of an alphabet (see [`alphabet`]), `<id>` for a UUID, `<B9>` for
//! a name and a password of 9 characters in base64. What is outside of `|` is not part of the secret.

/// A secret with a form of its own.
#[rustfmt::skip]
pub(crate) const TOKENS: &[&str] = &[
    // Clouds
    "AKIA<t16>", "ASIA<t16>", "ABIA<t16>", "ACCA<t16>", "ABSK<s120>=", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t<s80>",
    "AIza<w35>", "ya29.<w120>", "GOCSPX-<w28>", "1//0<w60>", "<b3>8Q~<b34>", "AccountKey=|<s86>==", "SharedAccessKey=|<s43>=",
    "https://a.blob.core.windows.net/c?sv=2024-01-01&sig=|<b43>%3D", "<b76>AZDO<b4>", "<b44>AzFu<b6>==", "<b42>AzSe<b6>", "<b33>AzCa<b6>=",
    "<b76>+ASt<b6>==", "<b76>ACDb<b6>==", "<b42>+ACR<b6>", "<b33>+ASb<b6>=", "<b33>+AEh<b6>=", "<b33>AIoT<b6>=", "<b76>+ABa<b6>==", "<b52>JQQJ99<b26>",
    "dop_v1_<x64>", "doo_v1_<x64>", "dor_v1_<x64>", "LTAI<b20>", "AKID<b32>", "v1.0-<x24>-<x146>", "HRKU-AA<w58>", "fm2_<s120>", "fm1r_<s120>", "fo1_<w43>",
    "hvs.<w95>", "hvb.<w140>", "hvr.<w95>", "<b14>.atlasv1.<w67>", "dapi<x32>", "dp.pt.<b43>", "dp.st.prd.<b43>", "pul-<x40>", "tskey-auth-<b16>-<b32>",
    "sbp_<x40>", "sb_secret_<w31>", "pscale_tkn_<b43>", "pscale_pw_<b43>", "pscale_oauth_<b43>", "nfp_<b36>", "vcp_<b56>", "vca_<b56>", "vci_<b56>", "vcr_<b56>", "vck_<b56>",
    "napi_<l64>", "npg_<b16>", "rnd_<b28>", "cfut_<b40><x8>", "cfat_<b40><x8>", "cfk_<b40><x8>", "YCA<w37>", "AQVN<w36>", "t1.<b50>.<b86>", "tk-us-<w48>", "mdb_sa_sk_<w40>",
    "X-Amz-Signature=|<x64>", "X-Amz-Security-Token=|<s160>", "X-Goog-Signature=|<x128>",
    // Code hosts, registries, builds
    "ghp_<b36>", "gho_<b36>", "ghu_<b36>", "ghs_<b36>", "ghr_<b36>", "github_pat_<b22>_<b59>", "glpat-<w20>", "glpat-<w27>.01.<l9>", "gldt-<w20>", "glptt-<x40>", "glrt-<w20>",
    "glrtr-<w27>", "gloas-<x64>", "glcbt-64_<w20>", "glsoat-<w20>", "glft-<w20>", "glffct-<w20>", "glimt-<l25>", "glagent-<w50>", "GR1348941<w20>", "_gitlab_session=|<l32>",
    "ATBB<b32>", "ATCTT3xFfGN0<w120>=<u8>", "ATATT3xFfGF0<w180>=<u8>", "BBDC-<s44>", "npm_<b36>", "pypi-AgEIcHlwaS5vcmc<w150>", "rubygems_<x48>", "cio<b32>", "oy2<l43>",
    "dckr_pat_<w27>", "dckr_oat_<w32>", "CLOJARS_<l60>", "CCIPAT_<b22>_<x40>", "bkua_<x40>", "sgp_<x16>_<x40>", "slk_<x64>", "squ_<x40>", "sqp_<x40>", "sqa_<x40>", "sqco_<b59>",
    "AKCp<b69>", "cmVmdGtu<b56>", "API-<u26>", "pat.<b22>.<x24>.<b20>", "sat.<b22>.<x24>.<b20>", "ico-<b32>", "ddp_<b36>", "ddw_<b36>",
    // Models
    "sk-ant-api03-<w93>AA", "sk-ant-oat01-<w93>AA", "sk-ant-sid01-<w86>AA", "sk-or-v1-<x64>", "sk-proj-<w58>T3BlbkFJ<w58>", "sk-svcacct-<w58>T3BlbkFJ<w58>", "sk-<b20>T3BlbkFJ<b20>",
    "sk-lf-<id>", "hf_<b34>", "api_org_<b34>", "r8_<b37>", "gsk_<b52>", "xai-<b80>", "pplx-<b48>", "nvapi-<w64>", "csk-<l48>", "tgp_v1_<w43>", "fw_<b24>", "tvly-dev-<b32>", "fc-<x32>",
    "lsv2_pt_<x32>_<x10>", "pcsk_<b6>_<b63>", "jina_<w60>", "e2b_<x40>", "wandb_v1_<b60>", "sk_<x48>", "pa-<w43>", "salad_cloud_user_<b60>", "phx_<b43>",
    // Messages, mail, telephone
    "xoxb-<d12>-<d13>-<b24>", "xoxp-<d12>-<d12>-<d13>-<x32>", "xoxe.xoxp-1-<b166>", "xapp-1-<u11>-<d13>-<x64>", "https://hooks.slack.com/services/|T<u9>/B<u10>/<b24>",
    "https://discord.com/api/webhooks/<d18>/|<w68>", "MTIzNDU2Nzg5MDEyMzQ1Njc4.<w6>.<w38>", "ODk2MTU0MzAyNzE4NDU2MTIz.<w6>.<w27>",
    "https://t.webhook.office.com/webhookb2/<id>@<id>/IncomingWebhook/|<x32>/<id>", "https://hooks.zapier.com/hooks/catch/<d8>/|<l7>", "<d10>:AA<w33>",
    "SG.<w22>.<w43>", "<x32>-us12", "key-<x32>", "xkeysib-<x64>-<b16>", "xsmtpsib-<x64>-<b16>", "re_<b8>_<b24>", "SK<x32>", "PMAK-<x24>-<x34>", "AAAA<w7>:APA91b<w134>",
    "AAAAAAAAAAAAAAAAAAAAA<b10>%3D<b44>", "rdme_<l70>", "rootly_<x64>", "KEY<w55>",
    // Money, shops
    "sk_live_<b24>", "sk_test_<b24>", "rk_live_<b24>", "sk_org_live_<b40>", "sk_prod_<b24>", "pi_<b24>_secret_<b25>", "whsec_<s32>", "shpat_<x32>", "shpss_<x32>", "shpca_<x32>", "shppa_<x32>", "shpua_<x32>",
    "sq0atp-<w22>", "sq0csp-<w43>", "EAAA<w60>", "EAAC<b120>", "rzp_live_<b14>", "FLWSECK-<x32>-X", "FLWSECK_TEST-<x32>-X", "access_token$production$<l16>$<x32>", "EZAK<b54>", "EZTK<b54>",
    "shippo_live_<x40>", "duffel_live_<w43>", "ramp_sec_<b48>", "ak_live_<b30>", "access-production-<id>", "live_<x35>", "sandbox-sq0csb-<w43>",
    // Work
    "lin_api_<b40>", "lin_oauth_<x64>", "ntn_<d11><b35>", "secret_<b43>", "figd_<w40>", "figp_<w44>", "pat-na1-<id>", "pat-eu1-<id>", "sl.u.<w130>", "CFPAT-<w43>", "tfp_<b44>",
    "glsa_<b32>_<x8>", "glc_eyJ<s100>", "eyJrIjoi<b80>=", "NRAK-<u27>", "NRII-<w32>", "NRIQ-<w32>", "<x32>FFFFNRAL", "sntrys_eyJpYXQiO<s120>_<s43>", "sntryu_<x64>", "dt0c01.<u24>.<u64>",
    "pnu_<b36>", "sk.eyJ<b60>.<b22>", "ops_eyJ<s260>", "A3-<u6>-<u6>-<u5>-<u5>-<u5>-<u5>", "sha256~<w43>", "AGE-SECRET-KEY-1<v58>", "pat<b14>.<x64>", "1/1<d15>:<x32>", "2/1<d15>/1<d15>:<x32>",
    "api-<x8>-<x4>-4<x3>-<x4>-<x12>", "sdk-<x8>-<x4>-4<x3>-<x4>-<x12>", "<b6>_<b29>_mmk", "p8e-<b32>", "fio-u-<w64>", "s-s4t2ud-<x64>", "sm_pat_<b16>", "aio_<b28>", "apify_api_<b36>", "1000.<x32>.<x32>", "thog-key-<x16>", "sc_<l12>.<l5>.acc_<l20>.<w60>",
    "3MVG9<b82>", "00D<b12>!<b96>", "5AEP861<b80>", "VF.DM.<x24>.<b16>", "bb_pr_<x30>",
    // Forms of many issuers
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx<w40>.<w43>", "Authorization: Bearer |<w40>", "Authorization: Basic |<B16>", "Authorization: SSWS |00<w40>",
    "postgres://app:|<b16>|@db.internal:5432/app", "redis://:|<b20>|@cache:6379/0", "secret-token:|<b40>",
];

/// A value that only its name gives away.
#[rustfmt::skip]
pub(crate) const NAMED: &[(&str, &str)] = &[
    // Chosen by a person
    ("password", "hunter<d1>!"), ("db_password", "Tr0ub4dor&<d1>"), ("db_password", "correcthorse"), ("password", "SunflowerMeadow"), ("admin_password", "letmeinplease"),
    ("smtp_password", "Gr3en-Tea-<d2>"), ("redis_password", "s3cr3tPw<d1>"), ("mysql_root_password", "P%2Fw<b8>"), ("postgres_password", "+<b12>"), ("ldap_password", "aaBBcc<d4>"),
    ("keystore_password", "k3y$t0r<d2>"), ("proxy_password", "blu3-M00n-<d2>"), ("sudo_password", "open.sesame.<d2>"), ("vpn_passwd", "winter<d4>"), ("db_pass", "k1ll-b1ll<d1>"),
    ("ssh_passphrase", "correct horse battery staple"), ("gpg_passphrase", "seven blue lamps over water"), ("password", "x9!kLm#<d2>"), ("jwt_secret", "my-super-secret-jwt-key-<d4>"),
    ("db_pwd", "Zx81mmQ<d2>"), ("wifi_password", "sommerregen"), ("root_password", "Qwertz<d3>!"),
    // Generated
    ("aws_secret_access_key", "<s40>"), ("aws_secret_access_key", "+<s39>"), ("aws_session_token", "<s200>"), ("azure_client_secret", "<w34>"), ("api_key", "<x32>"), ("api_key", "<b32>"), ("api_key", "<id>"),
    ("api_token", "<b40>"), ("access_token", "<w43>"), ("refresh_token", "<w64>"), ("auth_token", "<x32>"), ("client_secret", "<b32>"), ("client_secret", "<w40>"), ("app_secret", "<x32>"),
    ("webhook_secret", "<x40>"), ("session_secret", "<x64>"), ("secret_key_base", "<x128>"), ("encryption_key", "<s43>="), ("signing_key", "<s43>="), ("private_key", "<s43>="), ("master_key", "<x32>"),
    ("secret_key", "<w50>"), ("hmac_secret", "<s44>"), ("access_key", "<b40>"), ("license_key", "<u5>-<u5>-<u5>-<u5>"), ("bot_token", "<b40>"), ("deploy_token", "<w20>"), ("id_token", "<b60>"),
    ("datadog_api_key", "<x32>"), ("algolia_admin_key", "<x32>"), ("twilio_auth_token", "<x32>"), ("cloudflare_api_token", "<w40>"), ("heroku_api_key", "<id>"), ("snyk_token", "<id>"), ("okta_api_token", "00<w40>"),
    ("fastly_api_token", "<w32>"), ("codecov_token", "<id>"), ("travis_token", "<b22>"), ("mattermost_token", "<l26>"), ("asana_client_secret", "<x32>"), ("bitbucket_client_secret", "<b32>"), ("launchdarkly_access_token", "<w40>"),
    ("adafruit_api_key", "<l32>"), ("coinbase_api_secret", "<b64>"), ("kraken_private_key", "<s86>=="), ("kucoin_secret_key", "<id>"), ("etsy_api_key", "<l24>"), ("facebook_app_secret", "<x32>"), ("linkedin_client_secret", "<b16>"),
    ("twitter_api_secret", "<b50>"), ("rapidapi_key", "<l50>"), ("sentry_auth_token", "<x64>"), ("squarespace_api_key", "<id>"), ("sumologic_access_key", "<b64>"), ("yandex_secret_key", "<w40>"), ("zendesk_api_token", "<b40>"),
    ("plaid_secret", "<x30>"), ("new_relic_license_key", "<x40>"), ("meraki_api_key", "<x40>"), ("confluent_api_secret", "<s64>"), ("intercom_access_token", "<b60>"), ("messagebird_api_key", "<b25>"), ("azure_devops_pat", "<l52>"),
    ("mailgun_signing_key", "<x32>-<x8>-<x8>"), ("npm_auth", "<B20>"),
];

/// Random characters for the letter of a template.
pub(crate) fn alphabet(letter: u8) -> &'static [u8] {
    match letter {
        b'b' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        b'w' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        b's' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        b'x' => b"0123456789abcdef",
        b'd' => b"0123456789",
        b'l' => b"abcdefghijklmnopqrstuvwxyz0123456789",
        b'u' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        b't' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        b'v' => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        _ => unreachable!("no such alphabet"),
    }
}
