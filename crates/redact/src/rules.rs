//! Secrets with a known form: a fixed prefix, then a known number of letters and digits.
//!
//! Each rule has a keyword, by which the one pass over the text finds where it might apply, and an expression that must
//! match there. Expressions are compiled when their keyword is first met.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::judge;
use super::randomness::{Shape, decode_base64};
use super::reading;

/// How far an expression may look.
const REACH: usize = 4096;

pub(super) struct Rule {
    /// The word in the mark.
    pub(super) label: &'static str,
    /// What every match contains, in this case, at its start unless there is a `lead`. Empty where there are many:
    /// see [`Rule::keywords`].
    pub(super) keyword: &'static str,
    lead: Lead,
    /// A byte that must be so far from the keyword. It is checked before the expression, where the keyword is common.
    probe: Option<(usize, u8)>,
    pattern: &'static str,
    proof: Proof,
}

/// What precedes the keyword and belongs to the secret: the minimum and maximum number of bytes of a set.
#[derive(Clone, Copy)]
struct Lead {
    least: usize,
    most: usize,
    part: fn(&u8) -> bool,
}

const NOTHING: Lead = Lead { least: 0, most: 0, part: u8::is_ascii_digit };
const DIGITS: Lead = Lead { least: 8, most: 11, part: u8::is_ascii_digit };
const WORD: Lead = Lead { least: 10, most: 33, part: u8::is_ascii_alphanumeric };
/// Three characters of any kind and a digit.
const FOUR: Lead = Lead { least: 4, most: 4, part: |_| true };
const NAMES: Lead = Lead { least: 10, most: 60, part: is_of_name };

/// A key of base64 whose characters around the keyword have a fixed number.
const fn base64(length: usize) -> Lead {
    Lead { least: length, most: length + 1, part: is_base64 }
}

/// What a match must show beyond its form.
#[derive(Clone, Copy, PartialEq)]
enum Proof {
    /// Not a mask and not a placeholder.
    Form,
    /// It looks random: the prefix alone is too common.
    Random,
    /// It decodes to a private key.
    PrivateKey,
}

const fn rule(label: &'static str, keyword: &'static str, pattern: &'static str) -> Rule {
    Rule { label, keyword, lead: NOTHING, probe: None, pattern, proof: Proof::Form }
}

const fn weak(label: &'static str, keyword: &'static str, pattern: &'static str) -> Rule {
    Rule { label, keyword, lead: NOTHING, probe: None, pattern, proof: Proof::Random }
}

const fn led(label: &'static str, keyword: &'static str, lead: Lead, pattern: &'static str) -> Rule {
    Rule { label, keyword, lead, probe: None, pattern, proof: Proof::Form }
}

/// A part in parentheses is what is hidden; without one, everything that matched.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    // Clouds
    rule("aws-access-key", "AKIA", r"AKIA[0-9A-Z]{16}"),
    rule("aws-access-key", "ASIA", r"ASIA[0-9A-Z]{16}"),
    rule("aws-access-key", "ABIA", r"ABIA[0-9A-Z]{16}"),
    rule("aws-access-key", "ACCA", r"ACCA[0-9A-Z]{16}"),
    rule("aws-bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{60,}={0,2}"),
    rule("aws-bedrock-key", "bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=_-]{28,}"),
    rule("presigned-signature", "X-Amz-Signature=", r"X-Amz-Signature=([0-9a-f]{64})"),
    rule("presigned-signature", "X-Goog-Signature=", r"X-Goog-Signature=([0-9a-f]{64,1024})"),
    rule("aws-session-token", "X-Amz-Security-Token=", r"X-Amz-Security-Token=([A-Za-z0-9%+/=_-]{40,})"),
    rule("gcp-api-key", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    rule("gcp-oauth-token", "ya29.", r"ya29\.[0-9A-Za-z_.-]{20,}"),
    rule("gcp-client-secret", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{20,40}"),
    rule("gcp-refresh-token", "1//0", r"1//0[0-9A-Za-z_-]{40,200}"),
    led("azure-client-secret", "Q~", FOUR, r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    rule("azure-storage-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,100}={0,2})"),
    rule("azure-shared-access-key", "SharedAccessKey=", r"SharedAccessKey=([A-Za-z0-9+/]{40,100}={0,2})"),
    rule("azure-sas-signature", "sig=", r"sig=([A-Za-z0-9%+/_-]{40,120}={0,2})"),
    led("azure-devops-token", "AZDO", base64(76), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    led("azure-key", "JQQJ99", base64(52), r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}"),
    led("azure-key", "AzFu", base64(44), r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{6}={2}"),
    led("azure-key", "AzSe", base64(42), r"[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}"),
    led("azure-key", "AzCa", base64(33), r"[A-Za-z0-9]{33}AzCa[A-Za-z0-9]{6}="),
    led("azure-key", "+ASt", base64(76), r"[A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{6}={2}"),
    led("azure-key", "+ABa", base64(76), r"[A-Za-z0-9+/]{76}\+ABa[A-Za-z0-9+/]{6}={2}"),
    led("azure-key", "ACDb", base64(76), r"[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}={2}"),
    led("azure-key", "+ACR", base64(42), r"[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9+/]{6}"),
    led("azure-key", "+ASb", base64(33), r"[A-Za-z0-9+/]{33}\+ASb[A-Za-z0-9+/]{6}="),
    led("azure-key", "+AEh", base64(33), r"[A-Za-z0-9+/]{33}\+AEh[A-Za-z0-9+/]{6}="),
    led("azure-key", "AIoT", base64(33), r"[A-Za-z0-9+/]{33}AIoT[A-Za-z0-9+/]{6}="),
    rule("digitalocean-token", "dop_v1_", r"dop_v1_[a-f0-9]{64}"),
    rule("digitalocean-token", "doo_v1_", r"doo_v1_[a-f0-9]{64}"),
    rule("digitalocean-token", "dor_v1_", r"dor_v1_[a-f0-9]{64}"),
    rule("alibaba-access-key", "LTAI", r"LTAI[A-Za-z0-9]{16,24}"),
    weak("tencent-secret-id", "AKID", r"AKID[A-Za-z0-9]{32}"),
    weak("yandex-key", "AQVN", r"AQVN[A-Za-z0-9_-]{35,38}"),
    weak("yandex-key", "YCA", r"YCA[A-Za-z0-9_-]{37}"),
    weak("yandex-token", "t1.", r"t1\.[A-Za-z0-9_-]{20,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}"),
    rule("scalingo-token", "tk-us-", r"tk-us-[A-Za-z0-9_-]{48}"),
    rule("mongodb-key", "mdb_sa_sk_", r"mdb_sa_sk_[A-Za-z0-9_-]{30,60}"),
    rule("cloudflare-token", "cfut_", r"cfut_[A-Za-z0-9]{40,60}"),
    rule("cloudflare-token", "cfat_", r"cfat_[A-Za-z0-9]{40,60}"),
    rule("cloudflare-token", "cfk_", r"cfk_[A-Za-z0-9]{40,60}"),
    rule("render-key", "rnd_", r"rnd_[A-Za-z0-9]{24,40}"),
    rule("deno-token", "ddp_", r"ddp_[A-Za-z0-9]{36}"),
    rule("deno-token", "ddw_", r"ddw_[A-Za-z0-9]{36}"),
    rule("cloudflare-origin-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,160}"),
    rule("heroku-token", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,80}"),
    rule("fly-token", "fm2_", r"fm2_[A-Za-z0-9+/=_-]{40,}"),
    rule("fly-token", "fo1_", r"fo1_[A-Za-z0-9_-]{40,}"),
    rule("fly-token", "fm1r_", r"fm1r_[A-Za-z0-9+/=_-]{40,}"),
    rule("fly-token", "fm1a_", r"fm1a_[A-Za-z0-9+/=_-]{40,}"),
    rule("vault-token", "hvs.", r"hvs\.[A-Za-z0-9_-]{20,200}"),
    rule("vault-token", "hvb.", r"hvb\.[A-Za-z0-9_-]{20,300}"),
    rule("vault-token", "hvr.", r"hvr\.[A-Za-z0-9_-]{20,300}"),
    led("terraform-token", ".atlasv1.", WORD, r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{40,100}"),
    weak("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),
    rule("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    rule("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    rule("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    rule("supabase-token", "sbp_", r"sbp_[a-f0-9]{40}"),
    rule("supabase-secret-key", "sb_secret_", r"sb_secret_[A-Za-z0-9_-]{20,60}"),
    rule("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,64}"),
    rule("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,50}"),
    rule("vercel-token", "vcp_", r"vcp_[A-Za-z0-9]{24,80}"),
    rule("vercel-token", "vca_", r"vca_[A-Za-z0-9]{24,80}"),
    rule("vercel-token", "vci_", r"vci_[A-Za-z0-9]{24,80}"),
    rule("vercel-token", "vcr_", r"vcr_[A-Za-z0-9]{24,80}"),
    rule("vercel-token", "vck_", r"vck_[A-Za-z0-9]{24,80}"),
    rule("neon-token", "napi_", r"napi_[a-z0-9]{40,80}"),
    weak("neon-password", "npg_", r"npg_[A-Za-z0-9]{10,40}"),

    // Code hosts, registries, builds
    rule("github-token", "ghp_", r"ghp_[A-Za-z0-9]{36,255}"),
    rule("github-token", "gho_", r"gho_[A-Za-z0-9]{36,255}"),
    rule("github-token", "ghu_", r"ghu_[A-Za-z0-9]{36,255}"),
    rule("github-token", "ghs_", r"ghs_[A-Za-z0-9]{36,255}"),
    rule("github-token", "ghr_", r"ghr_[A-Za-z0-9]{36,255}"),
    rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    rule("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,64}(?:\.[a-z0-9.]{2,20})?"),
    rule("gitlab-token", "gldt-", r"gldt-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glptt-", r"glptt-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glrt-", r"glrt-[A-Za-z0-9_-]{20,64}(?:\.[a-z0-9.]{2,20})?"),
    rule("gitlab-token", "glcbt-", r"glcbt-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glsoat-", r"glsoat-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glft-", r"glft-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glimt-", r"glimt-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "glagent-", r"glagent-[A-Za-z0-9_-]{50,}"),
    rule("gitlab-token", "glrtr-", r"glrtr-[A-Za-z0-9_-]{20,64}(?:\.[a-z0-9.]{2,20})?"),
    rule("gitlab-token", "gloas-", r"gloas-[A-Za-z0-9_-]{64}"),
    rule("gitlab-token", "glffct-", r"glffct-[A-Za-z0-9_-]{20,64}"),
    rule("gitlab-token", "_gitlab_session=", r"_gitlab_session=([a-z0-9]{32})"),
    rule("gitlab-token", "GR1348941", r"GR1348941[A-Za-z0-9_-]{20}"),
    rule("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{28,36}"),
    rule("bitbucket-token", "ATCTT3", r"ATCTT3[A-Za-z0-9+/=_-]{60,}"),
    rule("bitbucket-token", "BBDC-", r"BBDC-[A-Za-z0-9+/@_-]{40,50}"),
    rule("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9+/=_-]{60,}"),
    rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    rule("pypi-token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    rule("rubygems-token", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    weak("crates-io-token", "cio", r"cio[A-Za-z0-9]{32}"),
    rule("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    rule("docker-token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}"),
    rule("docker-token", "dckr_oat_", r"dckr_oat_[A-Za-z0-9_-]{20,}"),
    weak("clojars-token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    rule("circleci-token", "CCIPAT_", r"CCIPAT_[A-Za-z0-9]+_[a-f0-9]{40}"),
    rule("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    rule("sourcegraph-token", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    rule("sonar-token", "squ_", r"squ_[a-f0-9]{40}"),
    rule("sonar-token", "sqp_", r"sqp_[a-f0-9]{40}"),
    rule("sonar-token", "sqa_", r"sqa_[a-f0-9]{40}"),
    rule("sonar-token", "sqco_", r"sqco_[A-Za-z0-9]{59}"),
    rule("sourcegraph-token", "slk_", r"slk_[a-f0-9]{64}"),
    weak("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    weak("artifactory-token", "cmVmdGtu", r"cmVmdGtu[A-Za-z0-9]{56}"),
    weak("octopus-key", "API-", r"API-[A-Z0-9]{26,32}"),
    rule("harness-token", "pat.", r"pat\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    rule("harness-token", "sat.", r"sat\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    weak("infracost-key", "ico-", r"ico-[A-Za-z0-9]{32}"),

    // Models
    rule("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    rule("openrouter-key", "sk-or-", r"sk-or-v1-[a-f0-9]{40,64}"),
    weak("openai-key", "sk-", r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{16,}"),
    weak("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    weak("voyage-key", "pa-", r"pa-[A-Za-z0-9_-]{43}"),
    weak("firecrawl-key", "fc-", r"fc-[a-f0-9]{32}"),
    weak("salad-key", "salad_cloud_", r"salad_cloud_[A-Za-z0-9]{1,7}_[A-Za-z0-9]{7,235}"),
    rule("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,40}"),
    rule("huggingface-token", "api_org_", r"api_org_[A-Za-z0-9]{34}"),
    rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    rule("xai-key", "xai-", r"xai-[A-Za-z0-9_-]{60,}"),
    rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    rule("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_-]{40,}"),
    rule("cerebras-key", "csk-", r"csk-[a-z0-9]{40,60}"),
    rule("together-key", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_-]{40,}"),
    weak("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{22,40}"),
    rule("tavily-key", "tvly-", r"tvly-[A-Za-z0-9_-]{24,60}"),
    rule("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    rule("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}"),
    rule("jina-key", "jina_", r"jina_[A-Za-z0-9_-]{40,}"),
    rule("e2b-key", "e2b_", r"e2b_[a-f0-9]{40}"),
    rule("wandb-key", "wandb_v1_", r"wandb_v1_[A-Za-z0-9_]{40,}"),

    // Messages, mail, telephone
    rule("slack-token", "xox", r"xox[abeoprsd](?:\.xox[bp])?-[A-Za-z0-9-]{10,250}"),
    rule("slack-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-f0-9]{32,}"),
    rule("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,120})"),
    // Begins with the digits of an account in base64.
    rule("discord-token", "", r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}[A-Za-z0-9]{0,3}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/[0-9]{15,22}/([A-Za-z0-9_-]{50,90})"),
    rule("zapier-webhook", "hooks.zapier.com/hooks/catch/", r"hooks\.zapier\.com/hooks/catch/[0-9]+/([A-Za-z0-9]{6,20})"),
    led("fcm-key", ":APA91b", NAMES, r"[A-Za-z0-9_-]{7,30}:APA91b[A-Za-z0-9_-]{100,200}"),
    rule("x-token", "AAAAAAAAAAAAAAAAAAAA", r"AAAAAAAAAAAAAAAAAAAAA{0,4}[A-Za-z0-9]{6,60}(?:%[0-9A-F]{2}|[=+/])[A-Za-z0-9%=+/]{30,100}"),
    rule("teams-webhook", "/IncomingWebhook/", r"/IncomingWebhook/([a-f0-9]{32}/[a-f0-9-]{36})"),
    led("telegram-token", ":AA", DIGITS, r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    rule("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    led("mailchimp-key", "-us", WORD, r"[a-f0-9]{32}-us[0-9]{1,2}"),
    weak("mailgun-key", "key-", r"key-[a-z0-9]{32}"),
    rule("brevo-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    rule("brevo-key", "xsmtpsib-", r"xsmtpsib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    weak("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    weak("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    weak("telnyx-key", "KEY", r"KEY[0-9A-Za-z_-]{55}"),
    rule("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    rule("rootly-key", "rootly_", r"rootly_[a-f0-9]{64}"),
    rule("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),

    // Money, shops
    rule("stripe-key", "sk_live_", r"sk_live_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "sk_test_", r"sk_test_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "rk_live_", r"rk_live_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "rk_test_", r"rk_test_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "rk_prod_", r"rk_prod_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "sk_prod_", r"sk_prod_[A-Za-z0-9_]{16,250}"),
    rule("stripe-key", "sk_org_", r"sk_org_(?:live|test)_[A-Za-z0-9_]{16,250}"),
    rule("stripe-client-secret", "pi_", r"pi_[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}"),
    rule("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,100}={0,2}"),
    rule("shopify-token", "shpat_", r"shpat_[a-fA-F0-9]{32}"),
    rule("shopify-token", "shpss_", r"shpss_[a-fA-F0-9]{32}"),
    rule("shopify-token", "shpca_", r"shpca_[a-fA-F0-9]{32}"),
    rule("shopify-token", "shppa_", r"shppa_[a-fA-F0-9]{32}"),
    rule("shopify-token", "shpua_", r"shpua_[a-fA-F0-9]{32}"),
    rule("shopify-token", "shpit_", r"shpit_[a-fA-F0-9]{32}"),
    rule("square-token", "sq0atp-", r"sq0atp-[A-Za-z0-9_-]{22}"),
    rule("square-token", "sq0csp-", r"sq0csp-[A-Za-z0-9_-]{43}"),
    rule("square-token", "sandbox-sq0", r"sandbox-sq0[a-z]{3}-[A-Za-z0-9_-]{22,50}"),
    weak("square-token", "EAAA", r"EAAA[A-Za-z0-9_-]{60}"),
    weak("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{100,250}"),
    rule("razorpay-key", "rzp_live_", r"rzp_live_[A-Za-z0-9]{14,24}"),
    rule("easypost-key", "EZAK", r"EZAK[A-Za-z0-9]{54}"),
    rule("easypost-key", "EZTK", r"EZTK[A-Za-z0-9]{54}"),
    rule("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    rule("duffel-token", "duffel_", r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}"),
    rule("ramp-secret", "ramp_sec_", r"ramp_sec_[A-Za-z0-9]{48}"),
    rule("pagarme-key", "ak_live_", r"ak_live_[A-Za-z0-9]{30}"),
    rule("plaid-token", "access-", r"access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"),
    rule("lob-key", "live_", r"live_[a-f0-9]{35}"),
    rule("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[a-f0-9]{32}-X"),
    rule("paypal-braintree-token", "access_token$", r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}"),

    // Work
    rule("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{32,48}"),
    rule("linear-key", "lin_oauth_", r"lin_oauth_[A-Za-z0-9]{32,64}"),
    rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    weak("notion-token", "secret_", r"secret_[A-Za-z0-9]{43}"),
    rule("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{36,60}"),
    rule("figma-token", "figp_", r"figp_[A-Za-z0-9_=-]{40,60}"),
    rule("hubspot-token", "pat-na", r"pat-na[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"),
    rule("hubspot-token", "pat-eu", r"pat-eu[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"),
    weak("dropbox-token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}"),
    rule("contentful-token", "CFPAT-", r"CFPAT-[A-Za-z0-9_-]{40,50}"),
    Rule { probe: Some((17, b'.')), ..rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}") },
    rule("asana-token", "1/1", r"1/1[0-9]{12,19}:[a-f0-9]{32}"),
    rule("asana-token", "2/1", r"2/1[0-9]{12,19}/[0-9]{13,20}:[a-f0-9]{32}"),
    rule("launchdarkly-key", "api-", r"api-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}"),
    rule("launchdarkly-key", "sdk-", r"sdk-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}"),
    led("maxmind-key", "_mmk", Lead { least: 36, most: 37, part: is_of_name }, r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    rule("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9_-]{32}"),
    rule("frameio-token", "fio-u-", r"fio-u-[A-Za-z0-9_=-]{64}"),
    rule("intra42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    rule("settlemint-token", "sm_pat_", r"sm_pat_[A-Za-z0-9]{16}"),
    rule("settlemint-token", "sm_aat_", r"sm_aat_[A-Za-z0-9]{16}"),
    rule("settlemint-token", "sm_sat_", r"sm_sat_[A-Za-z0-9]{16}"),
    weak("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    rule("apify-token", "apify_api_", r"apify_api_[A-Za-z0-9]{36}"),
    rule("zoho-token", "1000.", r"1000\.[a-f0-9]{32}\.[a-f0-9]{32}"),
    rule("trufflehog-key", "thog-", r"thog-(?:key|secret)-[a-f0-9]{16,32}"),
    led("authress-key", ".acc_", NAMES, r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc_[a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"),
    weak("salesforce-key", "3MVG9", r"3MVG9[0-9A-Za-z._+/=]{80,251}"),
    weak("salesforce-token", "5AEP861", r"5AEP861[A-Za-z0-9._=]{80,}"),
    rule("salesforce-token", "00D", r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,120}"),
    rule("voiceflow-key", "VF.", r"VF\.(?:(?:DM|WS)\.)?[a-fA-F0-9]{24}\.[A-Za-z0-9]{16}"),
    rule("bannerbear-key", "bb_pr_", r"bb_pr_[a-f0-9]{30}"),
    rule("posthog-key", "phx_", r"phx_[A-Za-z0-9_]{40,50}"),
    rule("typeform-token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,60}"),
    rule("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}"),
    rule("grafana-token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    rule("grafana-token", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9]{70,400}={0,3}"),
    rule("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    rule("newrelic-key", "NRII-", r"NRII-[A-Za-z0-9_-]{32}"),
    rule("newrelic-key", "NRIQ-", r"NRIQ-[A-Za-z0-9_-]{25,32}"),
    led("newrelic-key", "FFFFNRAL", Lead { least: 32, most: 33, part: u8::is_ascii_alphanumeric }, r"[0-9a-z]{32}FFFFNRAL"),
    rule("sentry-token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_-]{40,}"),
    rule("sentry-token", "sntryu_", r"sntryu_[a-f0-9]{64}"),
    rule("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    rule("prefect-key", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    rule("mapbox-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    rule("onepassword-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_+/=-]{100,}"),
    rule("onepassword-key", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    rule("openshift-token", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    rule("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    rule("secret-token", "secret-token:", r"secret-token:([A-Za-z0-9%._~-]{16,})"),

    // Forms of many issuers
    rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*|[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)"),
    Rule { label: "private-key", keyword: "LS0tLS1CRUdJTi", lead: NOTHING, probe: None, pattern: r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}={0,2}", proof: Proof::PrivateKey },
];

impl Rule {
    /// By which words the rule is found in a text.
    pub(super) fn keywords(&self) -> Vec<String> {
        if !self.keyword.is_empty() {
            return vec![self.keyword.to_owned()];
        }
        // The first two digits of a number, in base64.
        let starts = ["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];
        starts
            .iter()
            .flat_map(|start| "AEIMQUYcgk".chars().map(move |third| format!("{start}{third}")))
            .collect()
    }
}

/// The rules with their expressions, compiled one by one as they are needed.
pub(super) struct Compiled {
    expressions: Vec<OnceLock<Regex>>,
}

impl Compiled {
    pub(super) fn new() -> Compiled {
        Compiled { expressions: RULES.iter().map(|_| OnceLock::new()).collect() }
    }

    /// What the rule of that number hides at its keyword, which begins at `at`. `open` is whether a secret may begin at
    /// a place.
    pub(super) fn find(
        &self,
        text: &[u8],
        number: usize,
        at: usize,
        open: impl Fn(usize) -> bool,
    ) -> Option<Range<usize>> {
        let rule = &RULES[number];
        if !text[at..].starts_with(rule.keyword.as_bytes()) {
            return None;
        }
        if rule.probe.is_some_and(|(offset, byte)| text.get(at + offset) != Some(&byte)) {
            return None;
        }
        let lead = rule.lead.length(&text[..at]);
        // The letter of an escape like `\n` is not part of the secret behind it.
        let lead = lead - usize::from(lead > 0 && reading::is_escape(text, at - lead));
        let start = at - lead;
        // Names end in digits, but tokens do not begin in the middle of a word.
        let anywhere = !text[start].is_ascii_alphanumeric() || rule.keyword == ":AA";
        if lead < rule.lead.least || !(anywhere || open(start)) || is_inside_base64(text, start) {
            return None;
        }
        let reach = &text[start..text.len().min(start + REACH)];
        // Short keywords are common, and an expression takes long to compile.
        if !may_match(rule.pattern.as_bytes(), reach) {
            return None;
        }
        let found = self.expression(number).captures(reach)?;
        let whole = found.get(0)?;
        let hidden = found.get(1).unwrap_or(whole);
        let end = start + whole.end();
        let closed = !text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        let range = start + hidden.start()..end;
        // Some are longer than the expression may read.
        let long = whole.end() == REACH;
        ((closed || long) && rule.proof.holds(rule, &text[range.clone()])).then(|| match long {
            true => range.start..end + text[end..].iter().take_while(|byte| is_of_token(**byte)).count(),
            false => range,
        })
    }

    fn expression(&self, number: usize) -> &Regex {
        self.expressions[number].get_or_init(|| {
            RegexBuilder::new(&format!(r"\A(?:{})", RULES[number].pattern))
                .unicode(false)
                .build()
                .expect("a test compiles every expression of the list")
        })
    }
}

impl Lead {
    fn length(self, before: &[u8]) -> usize {
        before.iter().rev().take(self.most).take_while(|byte| (self.part)(byte)).count()
    }
}

impl Proof {
    fn holds(self, rule: &Rule, found: &[u8]) -> bool {
        let body = found.strip_prefix(rule.keyword.as_bytes()).unwrap_or(found);
        if body.is_empty() || is_placeholder(body) {
            return false;
        }
        let shape = Shape::of(body);
        match self {
            // Some have letters only. Words with signs between them are not keys, but no word is that long.
            Proof::Form => {
                let one_word = body.len() >= 16 && body.iter().all(u8::is_ascii_alphanumeric);
                shape.digits > 0 || one_word || !shape.is_wordy()
            }
            Proof::Random => shape.is_random() && shape.digits > 0 || shape.length >= 16 && shape.digits >= 8,
            Proof::PrivateKey => decode_base64(&found[..64.min(found.len() / 4 * 4)])
                .is_some_and(|decoded| judge::contains(&decoded, b"PRIVATE KEY")),
        }
    }
}

/// Whether a text begins as the pattern wants it, as far as the pattern has literals and sets of a fixed length.
fn may_match(mut pattern: &[u8], mut text: &[u8]) -> bool {
    loop {
        let (set, rest): (&[u8], _) = match pattern {
            // A group that captures is as good as its content.
            [b'(', rest @ ..] if rest.first() != Some(&b'?') => {
                pattern = rest;
                continue;
            }
            [b'[', rest @ ..] => {
                let Some(end) = memchr::memchr(b']', rest) else { return true };
                (&rest[..end], &rest[end + 1..])
            }
            [b'\\', _, rest @ ..] => (&pattern[1..2], rest),
            [] | [b'(' | b')' | b'|' | b'.', ..] => return true,
            [_, rest @ ..] => (&pattern[..1], rest),
        };
        let (least, is_exact, rest) = match rest {
            [b'?' | b'*', ..] => return true,
            [b'+', ..] => (1, false, rest),
            [b'{', counts @ ..] => {
                let digits = counts.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let least =
                    counts[..digits].iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
                (least, counts[digits] == b'}', &counts[counts.len().min(digits + 1)..])
            }
            _ => (1, true, rest),
        };
        let Some(part) = text.get(..least) else { return false };
        if !part.iter().all(|byte| is_of_set(set, *byte)) {
            return false;
        }
        if !is_exact {
            return true;
        }
        (pattern, text) = (rest, &text[least..]);
    }
}

/// Whether a set of an expression, such as `A-Za-z0-9_-`, has the byte.
fn is_of_set(mut set: &[u8], byte: u8) -> bool {
    loop {
        set = match set {
            [] => return false,
            [first, b'-', last, ..] if (*first..=*last).contains(&byte) => return true,
            [_, b'-', _, rest @ ..] => rest,
            [one, ..] if *one == byte => return true,
            [_, rest @ ..] => rest,
        };
    }
}

/// `xxxxxxxx`, `XXXX-XXXX`, `your-token-here`.
fn is_placeholder(body: &[u8]) -> bool {
    let mask = |byte: &u8| matches!(byte, b'x' | b'X' | b'.' | b'-' | b'_' | b'0' | b'*');
    let lower = body.to_ascii_lowercase();
    body.iter().all(mask)
        || judge::contains(&lower, b"xxxxxx")
        || lower
            .split(|byte| !byte.is_ascii_alphabetic())
            .any(|word| matches!(word, b"your" | b"placeholder"))
        || lower.starts_with(b"your")
}

/// In the middle of a long run of base64 any beginning may turn up by chance.
fn is_inside_base64(text: &[u8], start: usize) -> bool {
    const LONG: usize = 48;
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    matches!(text[..start].last(), Some(b'+' | b'/'))
        && text[..start].iter().rev().take(LONG).take_while(part).count() == LONG
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::string::string_regex;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn every_expression_compiles_and_contains_its_keyword() {
        let compiled = Compiled::new();
        for (number, rule) in RULES.iter().enumerate() {
            let _ = compiled.expression(number);
            let literal: String = rule.pattern.replace('\\', "");
            assert!(literal.contains(rule.keyword) || rule.keyword == "xox", "{}", rule.keyword);
        }
    }

    #[test]
    fn what_a_pattern_may_match_is_no_less_than_what_its_expression_matches() {
        for (pattern, text, expected) in [
            (r"sk-[a-f0-9]{3}-x", "sk-0af-x", true),
            (r"sk-[a-f0-9]{3}-x", "sk-0ag-x", false),
            (r"sk-[a-f0-9]{3}-x", "sk-0a", false),
            (r"sk-[a-f0-9]{2,}-x", "sk-0a", true),
            (r"SG\.([A-Za-z_-]{2})", "SG.-_", true),
            (r"SG\.([A-Za-z_-]{2})", "SG.-0", false),
            (r"a(?:b|c)d", "ax", true),
            (r"ab?", "a", true),
            (r"[a-z]+x", "0", false),
        ] {
            assert_eq!(may_match(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
        let (compiled, mut runner) = (Compiled::new(), TestRunner::deterministic());
        for (number, rule) in RULES.iter().enumerate() {
            // Nothing that the quick look understands may be outside of what patterns are made of.
            assert!(!rule.pattern.contains("[^") && !rule.pattern.contains("[\\"), "{}", rule.pattern);
            let examples = string_regex(rule.pattern).unwrap();
            for _ in 0..32 {
                let example = examples.new_tree(&mut runner).unwrap().current();
                assert!(compiled.expression(number).is_match(example.as_bytes()), "{example}");
                assert!(may_match(rule.pattern.as_bytes(), example.as_bytes()), "{example}");
            }
        }
    }
}
