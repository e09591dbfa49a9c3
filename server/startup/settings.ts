/**
 * All settings of the relay's start. Flags take precedence over the environment, and the
 * environment over defaults. `--help` and the parser use this one list. Secrets have no flag,
 * because other users can read a command line.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MAX_REQUESTS } from '../agents/minds/settings.ts';
import { DATABASE_LIMITS } from '../store/settings.ts';
import { ADDRESS_RULES, MODEL_SHARES } from '../platform/guarded-fetch.ts';

export interface SettingSpec {
  /** Null: only by environment. */
  readonly flag: string | null;
  readonly env: string;
  /** The placeholder in `--help`. Null for a switch. */
  readonly value: string | null;
  /** As it would be written. Null where there is none. */
  readonly default: string | null;
  readonly help: string;
  /** `--help` does not show a personal default such as a home folder. */
  readonly shownDefault?: string;
}

export const SETTINGS = {
  port: {
    flag: 'port',
    env: 'ROOST_PORT',
    value: 'number',
    default: '4747',
    help: 'Port to listen on; 0 takes any free one.',
  },
  host: {
    flag: 'host',
    env: 'ROOST_HOST',
    value: 'address',
    default: '127.0.0.1',
    help: 'Address to listen on; any but loopback needs --allow-remote and TLS.',
  },
  allowRemote: {
    flag: 'allow-remote',
    env: 'ROOST_ALLOW_REMOTE',
    value: null,
    default: null,
    help: 'Let other machines reach Roost: --host may be an address of the network.',
  },
  tlsCert: {
    flag: 'tls-cert',
    env: 'ROOST_TLS_CERT',
    value: 'file',
    default: null,
    help: 'A certificate with its chain, in PEM: Roost speaks HTTPS itself. Read anew when it changes, or on SIGHUP without a terminal.',
  },
  tlsKey: {
    flag: 'tls-key',
    env: 'ROOST_TLS_KEY',
    value: 'file',
    default: null,
    help: 'The private key of that certificate, in PEM.',
  },
  behindProxy: {
    flag: 'behind-proxy',
    env: 'ROOST_BEHIND_PROXY',
    value: null,
    default: null,
    help: 'All calls from elsewhere come through a TLS proxy at --public-url, whose X-Forwarded-For is believed.',
  },
  home: {
    flag: 'home',
    env: 'ROOST_HOME',
    value: 'folder',
    default: join(homedir(), '.roost'),
    shownDefault: '~/.roost',
    help: 'Where the relay keeps its store and logs.',
  },
  noWarmUp: {
    flag: 'no-warm-up',
    env: 'ROOST_NO_WARM_UP',
    value: null,
    default: null,
    help: 'Do not run made-up wakes after the start. The first real wake then takes a little longer.',
  },
  noOpen: { flag: 'no-open', env: 'ROOST_NO_OPEN', value: null, default: null, help: 'Do not open a browser.' },
  publicUrl: {
    flag: 'public-url',
    env: 'ROOST_PUBLIC_URL',
    value: 'https URL',
    default: null,
    help: 'Address that leads here by TLS, of a proxy or of our own certificate; the link then uses it.',
  },
  databaseUrl: {
    flag: null,
    env: 'DATABASE_URL',
    value: 'postgres URL',
    default: null,
    help: 'Keep the store in this Postgres instead of inside the home.',
  },
  databaseAwaySeconds: {
    flag: 'database-away-seconds',
    env: 'ROOST_DATABASE_AWAY_SECONDS',
    value: 'number',
    default: String(DATABASE_LIMITS.patienceMs / 1_000),
    help: 'Seconds that what is being said waits for a Postgres that cannot be reached, before it ends.',
  },
  apiKey: {
    flag: null,
    env: 'ANTHROPIC_API_KEY',
    value: 'key',
    default: null,
    help: 'Key of the Messages API. With it, or a base URL, the minds are real.',
  },
  baseUrl: {
    flag: null,
    env: 'ANTHROPIC_BASE_URL',
    value: 'URL',
    default: null,
    help: 'A server that speaks the Messages API, for example a local one. Without a key, its first model that talks is used.',
  },
  keyHeader: {
    flag: 'api-key-header',
    env: 'ROOST_API_KEY_HEADER',
    value: 'bearer|x-api-key|both',
    default: null,
    shownDefault: 'bearer; both where a base URL is set',
    help: 'How the key is sent.',
  },
  leadModel: {
    flag: 'lead-model',
    env: 'ROOST_LEAD_MODEL',
    value: 'name',
    default: null,
    help: 'Model of the lead, where the page names none.',
  },
  agentModel: {
    flag: 'agent-model',
    env: 'ROOST_AGENT_MODEL',
    value: 'name',
    default: null,
    help: 'Model of the agents, where the page names none.',
  },
  environmentModel: {
    flag: 'environment-model',
    env: 'ROOST_ENVIRONMENT_MODEL',
    value: MODEL_SHARES.join('|'),
    default: 'any',
    help: 'Whom the model answers that the environment names, at your cost. any: every household of the relay; own: your own household, and every other connects one of its own.',
  },
  modelAddresses: {
    flag: 'model-addresses',
    env: 'ROOST_MODEL_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'own',
    help: 'Which model servers and MCP servers pages may connect. own: any for your own household, only public addresses for every other; any: for everybody; public; none.',
  },
  webAddresses: {
    flag: 'web-addresses',
    env: 'ROOST_WEB_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'public',
    help: 'Where agents may read pages, as far as their person lets them. public: nowhere on this machine or in its networks; own: there too for your own household; any: for everybody; none.',
  },
  pushAddresses: {
    flag: 'push-addresses',
    env: 'ROOST_PUSH_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'public',
    help: 'Where the push services of browsers may be, which a page names. public: only under https:// and nowhere on this machine or in its networks; own: there too for your own household; any: for everybody; none.',
  },
  pushSubject: {
    flag: 'push-subject',
    env: 'ROOST_PUSH_SUBJECT',
    value: 'https URL or mailto:',
    default: null,
    help: 'Where whoever runs a push service reaches whoever runs this relay. Left out: the mail address under Settings, Notifications, else --public-url.',
  },
  pushNextSeconds: {
    flag: 'push-next-seconds',
    env: 'ROOST_PUSH_NEXT_SECONDS',
    value: 'number',
    default: '60',
    help: 'Seconds that the device used last is given, before the next is told of what nobody has seen.',
  },
  modelRequests: {
    flag: 'model-requests',
    env: 'ROOST_MODEL_REQUESTS',
    value: 'number',
    default: String(MAX_REQUESTS),
    help: 'Most requests to the model at once. Roost learns by itself where its server takes fewer.',
  },
  scripts: {
    flag: 'scripts',
    env: 'ROOST_SCRIPTS',
    value: null,
    default: null,
    help: 'Run programs for your own household, the first of this relay, as the user who started it: ACP agents, MCP servers, and scheduled scripts where there is no sandbox. In a sandbox scheduled scripts need no setting. Other households get the sandbox, where there is one. Off unless it is said here.',
  },
  trustedHouseholds: {
    flag: 'trusted-households',
    env: 'ROOST_TRUSTED_HOUSEHOLDS',
    value: 'id,…',
    default: null,
    help: 'Further households that count as your own for --scripts and for own addresses. The page of a household names its id where it is refused.',
  },
  rehearsal: {
    flag: 'rehearsal',
    env: 'ROOST_REHEARSAL',
    value: 'JSON',
    default: '{}',
    help: 'How the rehearsal mind behaves, for example {"delayMs":0,"fail":[1]}.',
  },
  cookieDays: {
    flag: 'cookie-days',
    env: 'ROOST_COOKIE_DAYS',
    value: 'number',
    default: '90',
    help: 'Days that a browser stays signed in after its last visit.',
  },
  linkHours: {
    flag: 'link-hours',
    env: 'ROOST_LINK_HOURS',
    value: 'number',
    default: '24',
    help: 'Hours that an unused link stays good.',
  },
  retentionHours: {
    flag: 'retention-hours',
    env: 'ROOST_RETENTION_HOURS',
    value: 'number',
    default: '24',
    help: 'Hours that events are kept which a browser has stored already, and messages that were read.',
  },
  rate: {
    flag: 'rate',
    env: 'ROOST_RATE',
    value: 'number',
    default: '50',
    help: 'Calls a second that one browser may make, in the long run.',
  },
  burst: {
    flag: 'burst',
    env: 'ROOST_BURST',
    value: 'number',
    default: '500',
    help: 'Calls that one browser may make at once.',
  },
  streams: {
    flag: 'streams',
    env: 'ROOST_STREAMS',
    value: 'number',
    default: '32',
    help: 'Event streams that may be open at once.',
  },
  streamBufferKb: {
    flag: 'stream-buffer-kb',
    env: 'ROOST_STREAM_BUFFER_KB',
    value: 'number',
    default: '1024',
    help: 'Kilobytes that an event stream may lag behind before it is cut; it resumes where it was.',
  },
  households: {
    flag: 'households',
    env: 'ROOST_HOUSEHOLDS',
    value: 'number',
    default: '16',
    help: 'Households whose devices may meet here.',
  },
  logLevel: {
    flag: 'log-level',
    env: 'ROOST_LOG_LEVEL',
    value: 'debug|info|warn|error',
    default: 'info',
    help: 'What relay.log in the home holds from this level on; debug adds every call and event, without words and keys, and prints all of it too.',
  },
  keepFreeMb: {
    flag: 'keep-free-mb',
    env: 'ROOST_KEEP_FREE_MB',
    value: 'number',
    default: '500',
    help: 'Megabytes of the home’s disk that agents leave free: while less is, what they write is refused, and yours is not.',
  },
  householdGb: {
    flag: 'household-gb',
    env: 'ROOST_HOUSEHOLD_GB',
    value: 'number',
    default: '4',
    help: 'Gigabytes of sealed entries that one household may keep here.',
  },
} as const satisfies Record<string, SettingSpec>;
export type SettingName = keyof typeof SETTINGS;

/** Inclusive bounds of the whole numbers. */
export const BOUNDS = {
  port: { min: 0, max: 65_535 },
  databaseAwaySeconds: { min: 1, max: 86_400 },
  pushNextSeconds: { min: 0, max: 86_400 },
  modelRequests: { min: 1, max: 256 },
  cookieDays: { min: 1, max: 400 },
  linkHours: { min: 1, max: 720 },
  retentionHours: { min: 0, max: 8_760 },
  rate: { min: 1, max: 100_000 },
  burst: { min: 1, max: 1_000_000 },
  streams: { min: 1, max: 10_000 },
  keepFreeMb: { min: 0, max: 999_999_999 },
  streamBufferKb: { min: 1, max: 1_000_000 },
  households: { min: 1, max: 10_000 },
  householdGb: { min: 1, max: 100_000 },
} as const satisfies Partial<Record<SettingName, { min: number; max: number }>>;
export type NumberSetting = keyof typeof BOUNDS;

/** The flag that ends a running relay instead of starting one. */
export const STOP = 'stop';
