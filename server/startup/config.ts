/**
 * The relay's configuration. Flags take precedence over the environment, and the environment over
 * defaults.
 */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Rehearsal, rehearsalSchema } from '../../src/shared/protocol/http.ts';
import { isOutside, mail } from '../../src/shared/protocol/notifications.ts';
import {
  createAccess,
  createDeviceCodes,
  createGiveBeside,
  createRateLimit,
  createSignIn,
  isLoopback,
  isWildcard,
  type Origins,
} from '../access/index.ts';
import { KEY_HEADERS, type KeyHeader } from '../platform/key-filter.ts';
import { ADDRESS_RULES, type AddressRule, MODEL_SHARES, type ModelShare } from '../platform/guarded-fetch.ts';
import { QUOTAS } from '../platform/quotas.ts';
import { LOG_LEVELS, type LogLevel } from '../platform/logger.ts';
import type { PushSubject } from '../notifications/index.ts';
import { StartError } from '../platform/errors.ts';
import type { TlsFiles } from '../http/listen.ts';
import type { SyncSettings } from '../sync/settings.ts';
import type { Homes } from '../households/index.ts';
import type { Db } from '../store/index.ts';
import {
  BOUNDS,
  type NumberSetting,
  PASSPHRASE_LEAST,
  REMOVE,
  type SettingName,
  SETTINGS,
  type SettingSpec,
  STOP,
} from './settings.ts';

const MEGABYTE = 1_000_000;
const GIGABYTE = 1_000_000_000;
const DAY = 86_400_000;
const HOUR = 3_600_000;

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly home: string;
  readonly open: boolean;
  /** Run a few wakes as a dry run after the start. */
  readonly warmUp: boolean;
  readonly publicUrl: URL | null;
  /** The relay's own certificate. Null: HTTP. */
  readonly tls: TlsFiles | null;
  /** The person's TLS proxy stands in front, and its forwarded addresses are trusted. */
  readonly proxied: boolean;
  readonly databaseUrl: string | null;
  /** ms that operations wait for the database. */
  readonly databaseAwayMs: number;
  /** Null: the demo mind. */
  readonly messagesApi: {
    readonly key: string | null;
    readonly baseUrl: string | null;
    readonly keyHeader: KeyHeader | null;
  } | null;
  /** Empty: the relay's default. */
  readonly leadModel: string;
  readonly agentModel: string;
  readonly rehearsal: Rehearsal;
  /** Programs of this machine are run for the owner's households. */
  readonly scripts: boolean;
  /** Ids of households with the owner's rights, besides the first. */
  readonly trustedHouseholds: readonly string[];
  /** Households that may use the model in the environment. */
  readonly environmentModel: ModelShare;
  /** Model servers and MCP servers that pages may connect. */
  readonly modelAddresses: AddressRule;
  readonly webAddresses: AddressRule;
  /**
   * `subject`: the contact of the relay's operator for push services. `nextMs`: ms before the next
   * device is notified.
   */
  readonly push: { readonly addresses: AddressRule; readonly subject: PushSubject; readonly nextMs: number };
  /** Most concurrent requests to the model. */
  readonly modelRequests: number;
  readonly cookieMs: number;
  readonly linkMs: number;
  readonly retentionMs: number;
  /** Calls of one browser: `perSecond` in the long run, `burst` at once. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  readonly streams: { readonly most: number; readonly bufferBytes: number };
  readonly sync: SyncSettings;
  /** Messages below this level are not logged. */
  readonly logLevel: LogLevel;
  /** Null: none is made. */
  readonly dailyBackup: { readonly folder: string; readonly keep: number } | null;
  /** Bytes of the home's disk that agents leave free. */
  readonly keepFreeBytes: number;
  /** Bytes that the projects of one household may take in the store. */
  readonly projectBytes: number;
}

interface Given {
  readonly text: string;
  /** The setting's name as the person wrote it: `--port` or `ROOST_PORT`. */
  readonly source: string;
}

const bad = (message: string): never => {
  throw new StartError(`${message} Try --help.`, 2);
};

const SPECS: readonly SettingSpec[] = Object.values(SETTINGS);

function readFlags(args: readonly string[]): Map<string, string | true> {
  const options: Readonly<Record<string, { readonly type: 'boolean' | 'string' }>> = {
    ...Object.fromEntries(
      SPECS.flatMap(({ flag, value }) =>
        flag === null ? [] : [[flag, { type: value === null ? 'boolean' : 'string' }]],
      ),
    ),
    [REMOVE]: { type: 'string' },
  };
  const flags = new Map<string, string | true>();
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') bad(`"${token.value}" is not a setting.`);
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option) bad(`Unknown setting ${token.rawName}.`);
    if (option?.type === 'boolean') {
      if (token.value !== undefined) bad(`${token.rawName} takes no value.`);
      flags.set(token.name, true);
    } else if (token.value === undefined || token.value === '') bad(`${token.rawName} needs a value.`);
    else flags.set(token.name, token.value);
  }
  return flags;
}

type Source = (name: SettingName) => Given | null;

function createSource(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Source {
  const flags = readFlags(args.filter((each) => each !== `--${STOP}`));
  return (name) => {
    const spec: SettingSpec = SETTINGS[name];
    const flag = spec.flag === null ? undefined : flags.get(spec.flag);
    if (flag !== undefined) return { text: flag === true ? '1' : flag, source: `--${spec.flag ?? ''}` };
    const value = env[spec.env];
    if (value !== undefined && value !== '') return { text: value, source: spec.env };
    return spec.default === null ? null : { text: spec.default, source: `--${spec.flag ?? ''}` };
  };
}

function numberOf(given: Given | null, name: NumberSetting): number {
  const { min, max } = BOUNDS[name];
  const text = given?.text ?? '';
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (!(value >= min && value <= max))
    return bad(`${given?.source ?? name} must be a whole number from ${min} to ${max}, not "${text}".`);
  return value;
}

function switchOf(given: Given | null): boolean {
  if (given === null || ['0', 'false', 'no'].includes(given.text)) return false;
  return ['1', 'true', 'yes'].includes(given.text) ? true : bad(`${given.source} must be 1 or 0, not "${given.text}".`);
}

function urlOf(given: Given, protocols: readonly string[], example: string): URL {
  // The value is not repeated, since an address may contain a password.
  const url = URL.canParse(given.text)
    ? new URL(given.text)
    : bad(`${given.source} must be an address such as ${example}.`);
  return protocols.includes(url.protocol) ? url : bad(`${given.source} must be an address such as ${example}.`);
}

function databaseUrlOf(given: Given): string {
  urlOf(given, ['postgres:', 'postgresql:'], 'postgres://user:password@host/database');
  return given.text;
}

function publicUrlOf(given: Given | null): URL | null {
  if (given === null) return null;
  const url = urlOf(given, ['https:'], 'https://roost.example.org');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    bad(`${given.source} must be an address without a path, such as https://roost.example.org.`);
  return url;
}

const SAFER =
  'Safer: leave it on 127.0.0.1, put a TLS proxy (such as Caddy) or a private network (such as Tailscale Serve) on this machine in front of it, and name its address with --public-url https://….';
const TLS_WAYS =
  'a certificate of its own (--tls-cert FILE --tls-key FILE), or a TLS proxy in front (--behind-proxy --public-url https://…)';

function tlsOf(cert: Given | null, key: Given | null): TlsFiles | null {
  if (cert !== null && key !== null) return { cert: resolve(cert.text), key: resolve(key.text) };
  const [given, missing] = cert ? [cert, '--tls-key'] : [key, '--tls-cert'];
  return given === null
    ? null
    : bad(`${given.source} needs ${missing} too: a certificate and its key belong together.`);
}

type Reach = Pick<Config, 'host' | 'publicUrl' | 'tls' | 'proxied'>;

/**
 * How the relay is reached. From elsewhere only where that is configured explicitly, and only by
 * TLS.
 */
function reachOf(source: Source): Reach {
  const [{ text: host, source: by }, behind] = [
    source('host') ?? { text: '127.0.0.1', source: '--host' },
    source('behindProxy'),
  ];
  const [publicUrl, tls, proxied] = [
    publicUrlOf(source('publicUrl')),
    tlsOf(source('tlsCert'), source('tlsKey')),
    switchOf(behind),
  ];
  if (proxied && publicUrl === null)
    bad(
      `${behind?.source ?? ''} needs --public-url https://…: the address of the proxy, the only one from elsewhere that Roost then answers under.`,
    );
  if (!isLoopback(host)) {
    if (isIP(host) === 0)
      bad(
        `${by} must be an address of this machine, such as 127.0.0.1, not "${host}". The name under which it is reached goes into --public-url https://….`,
      );
    if (!switchOf(source('allowRemote')))
      bad(
        `${by} ${host} would let other machines reach Roost. If that is meant, add --allow-remote and ${TLS_WAYS}. ${SAFER}`,
      );
    if (tls === null && !proxied) bad(`${by} ${host} needs TLS: ${TLS_WAYS}. ${SAFER}`);
    if (publicUrl === null && isWildcard(host))
      bad(
        `${by} ${host} needs --public-url https://…: the name under which it is reached, the only one from elsewhere that Roost then answers under.`,
      );
  }
  return { host, publicUrl, tls, proxied };
}

function keyHeaderOf(given: Given | null): KeyHeader | null {
  if (given === null) return null;
  return (
    KEY_HEADERS.find((known) => known === given.text) ??
    bad(`${given.source} must be one of ${KEY_HEADERS.join(', ')}, not "${given.text}".`)
  );
}

/** Apple's push service refuses a push whose subject is not a usable contact. */
function subjectOf(given: Given): string {
  const example = 'mailto:you@example.org or https://example.org';
  const url = urlOf(given, ['https:', 'mailto:'], example);
  const isReached =
    url.protocol === 'mailto:'
      ? mail.safeParse(url.pathname).success
      : isOutside(url.hostname) && !isLoopback(url.hostname);
  return isReached
    ? url.href
    : bad(
        `${given.source} must be an address under which push services reach you, such as ${example}: Apple’s refuses every push that names this machine or its network.`,
      );
}

const pushSubjectOf = (given: Given | null, { publicUrl, tls, host }: Reach, port: number): PushSubject => ({
  given: given === null ? null : subjectOf(given),
  own:
    publicUrl?.origin ??
    (tls === null || isLoopback(host)
      ? null
      : new URL(`https://${isIP(host) === 6 ? `[${host}]` : host}:${port}`).origin),
});

function oneOf<Value extends string>(given: Given | null, values: readonly Value[]): Value {
  return (
    values.find((known) => known === given?.text) ??
    bad(`${given?.source ?? ''} must be one of ${values.join(', ')}, not "${given?.text ?? ''}".`)
  );
}

const HOUSEHOLD_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
function householdsOf(given: Given | null): readonly string[] {
  const ids = (given?.text ?? '').split(',').map((id) => id.trim().toLowerCase());
  const odd = given === null ? undefined : ids.find((id) => !HOUSEHOLD_ID.test(id));
  if (odd !== undefined)
    return bad(
      `${given?.source ?? ''} takes ids of households with commas between, such as 3f0c2a4e-8d1b-4c55-9e0a-5b7d1c2e9f10, not "${odd}". The page of a household names its id where it is refused.`,
    );
  return given === null ? [] : [...new Set(ids)];
}

function messagesApiOf(source: Source): Config['messagesApi'] {
  const key = source('apiKey')?.text ?? null;
  const baseUrlGiven = source('baseUrl');
  const keyHeader = keyHeaderOf(source('keyHeader'));
  if (key === null && baseUrlGiven === null) return null;
  if (key !== null && /[^\x21-\x7e]/.test(key)) bad('ANTHROPIC_API_KEY holds a space, or a character that no key has.');
  // Many clients want it with `/v1`. The requests here add that themselves.
  const baseUrl =
    baseUrlGiven === null
      ? null
      : urlOf(baseUrlGiven, ['http:', 'https:'], 'http://127.0.0.1:11434').href.replace(/\/+(?:v1\/*)?$/, '');
  return { key, baseUrl, keyHeader };
}

function rehearsalOf(given: Given | null): Rehearsal {
  const source = given?.source ?? '--rehearsal';
  let value: unknown;
  try {
    value = JSON.parse(given?.text ?? '{}');
  } catch (error) {
    if (error instanceof SyntaxError) return bad(`${source} must be JSON: ${error.message}.`);
    throw error;
  }
  const parsed = rehearsalSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return bad(
    `${source} does not fit${issue && issue.path.length > 0 ? ` at "${issue.path.join('.')}"` : ''}: ${issue?.message ?? ''}.`,
  );
}

function dailyBackupOf(source: Source): Config['dailyBackup'] {
  const folder = source('backupFolder');
  const keep = numberOf(source('backupKeep'), 'backupKeep');
  if (folder === null) return null;
  if ((source('backupPassphrase')?.text ?? '').length < PASSPHRASE_LEAST)
    bad(`${folder.source} needs ${SETTINGS.backupPassphrase.env}, with at least ${PASSPHRASE_LEAST} characters.`);
  return { folder: resolve(folder.text), keep };
}

/** Whether the running relay is to end, instead of a new one starting. */
export const asksToStop = (args: readonly string[]): boolean => args.includes(`--${STOP}`);

/** The id of the household that is to be removed, instead of a relay starting. Null: none. */
export function householdToRemove(args: readonly string[]): string | null {
  const given = readFlags(args.filter((each) => each !== `--${STOP}`)).get(REMOVE);
  return typeof given === 'string' ? given.trim().toLowerCase() : null;
}

/**
 * Reads the configuration. Throws `StartError` with exit code 2, naming the setting, where a value
 * is invalid. Null where help was requested.
 */
export function readConfig(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Config | null {
  if (args.includes('--help') || args.includes('-h')) return null;
  const source = createSource(args, env);
  const number = (name: NumberSetting) => numberOf(source(name), name);
  const text = (name: SettingName) => source(name)?.text ?? '';
  const databaseUrl = source('databaseUrl');
  const reach = reachOf(source);
  return {
    port: number('port'),
    ...reach,
    home: resolve(text('home')),
    open: !switchOf(source('noOpen')),
    warmUp: !switchOf(source('noWarmUp')),
    databaseUrl: databaseUrl === null ? null : databaseUrlOf(databaseUrl),
    databaseAwayMs: number('databaseAwaySeconds') * 1_000,
    messagesApi: messagesApiOf(source),
    leadModel: text('leadModel'),
    agentModel: text('agentModel'),
    rehearsal: rehearsalOf(source('rehearsal')),
    scripts: switchOf(source('scripts')),
    trustedHouseholds: householdsOf(source('trustedHouseholds')),
    environmentModel: oneOf(source('environmentModel'), MODEL_SHARES),
    modelAddresses: oneOf(source('modelAddresses'), ADDRESS_RULES),
    webAddresses: oneOf(source('webAddresses'), ADDRESS_RULES),
    push: {
      addresses: oneOf(source('pushAddresses'), ADDRESS_RULES),
      subject: pushSubjectOf(source('pushSubject'), reach, number('port')),
      nextMs: number('pushNextSeconds') * 1_000,
    },
    modelRequests: number('modelRequests'),
    cookieMs: number('cookieDays') * DAY,
    linkMs: number('linkHours') * HOUR,
    retentionMs: number('retentionHours') * HOUR,
    rate: { perSecond: number('rate'), burst: number('burst') },
    streams: { most: number('streams'), bufferBytes: number('streamBufferKb') * 1024 },
    logLevel: oneOf(source('logLevel'), LOG_LEVELS),
    dailyBackup: dailyBackupOf(source),
    keepFreeBytes: number('keepFreeMb') * MEGABYTE,
    projectBytes: number('projectsMb') * MEGABYTE,
    sync: {
      households: number('households'),
      householdsBySignIn: QUOTAS.householdsBySignIn,
      householdBytes: number('householdGb') * GIGABYTE,
    },
  };
}

// Opens access with its dependencies: sign-ins, origins, and rate limits.

interface AccessParts {
  readonly db: Db;
  readonly relay: string;
  readonly homes: Homes;
  readonly origins: Origins;
  readonly port: number;
  readonly byTls: boolean;
}

export function openAccess(
  { config, now, elapsed }: { readonly config: Config; readonly now: () => number; readonly elapsed: () => number },
  { db, relay, homes, origins, port, byTls }: AccessParts,
) {
  const { publicUrl, proxied, cookieMs } = config;
  const deviceCodes = createDeviceCodes({ db, relay, now, onEnded: (browsers) => homes.endStreamsOf(browsers) });
  const signIn = createSignIn({ db, relay, now, linkMs: config.linkMs, cookieMs, deviceCodes });
  const access = createAccess({
    origins,
    signIn,
    rate: createRateLimit({ ...config.rate, elapsed }),
    port,
    secure: byTls || publicUrl !== null,
    proxied,
    cookieMs,
    credentials: { check: async (secret) => (await homes.ofSecret(secret)).credentials.check(secret) },
  });
  return { access, deviceCodes, giveBeside: createGiveBeside({ db, relay, now }), newCode: () => signIn.newCode() };
}
