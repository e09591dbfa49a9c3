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

/** In the environment of a relay that another process of Roost has started for itself. */
export const ENDS_WITH_PARENT = 'ROOST_ENDS_WITH_PARENT';

export interface SettingSpec {
  /** Null: only by environment. */
  readonly flag: string | null;
  readonly env: string;
  /** The placeholder in `--help`. Null for a switch. */
  readonly value: string | null;
  /** The default as it would be written. Null: there is none. */
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
    help: 'Port to listen on. 0 takes any free one.',
  },
  host: {
    flag: 'host',
    env: 'ROOST_HOST',
    value: 'address',
    default: '127.0.0.1',
    help: 'Address to listen on. Any address but loopback needs --allow-remote and TLS.',
  },
  allowRemote: {
    flag: 'allow-remote',
    env: 'ROOST_ALLOW_REMOTE',
    value: null,
    default: null,
    help: 'Other machines may reach Roost, so --host may be an address of the network.',
  },
  tlsCert: {
    flag: 'tls-cert',
    env: 'ROOST_TLS_CERT',
    value: 'file',
    default: null,
    help: 'A certificate with its chain, as PEM. Roost then serves HTTPS itself. It reads the file again when it changes, or on SIGHUP without a terminal.',
  },
  tlsKey: {
    flag: 'tls-key',
    env: 'ROOST_TLS_KEY',
    value: 'file',
    default: null,
    help: 'The private key of that certificate, as PEM.',
  },
  behindProxy: {
    flag: 'behind-proxy',
    env: 'ROOST_BEHIND_PROXY',
    value: null,
    default: null,
    help: 'All remote calls come through a TLS proxy at --public-url. Roost trusts its X-Forwarded-For.',
  },
  home: {
    flag: 'home',
    env: 'ROOST_HOME',
    value: 'folder',
    default: join(homedir(), '.roost'),
    shownDefault: '~/.roost',
    help: 'Folder for the store and the logs of the relay.',
  },
  noWarmUp: {
    flag: 'no-warm-up',
    env: 'ROOST_NO_WARM_UP',
    value: null,
    default: null,
    help: 'Do not run a made-up wake after the start. The first real wake then takes a little longer.',
  },
  noOpen: { flag: 'no-open', env: 'ROOST_NO_OPEN', value: null, default: null, help: 'Do not open a browser.' },
  publicUrl: {
    flag: 'public-url',
    env: 'ROOST_PUBLIC_URL',
    value: 'https URL',
    default: null,
    help: 'The https:// address of this relay, from a proxy or its own certificate. The link uses it.',
  },
  databaseUrl: {
    flag: null,
    env: 'DATABASE_URL',
    value: 'postgres URL',
    default: null,
    help: 'Store everything in this Postgres instead of in the home.',
  },
  databaseAwaySeconds: {
    flag: 'database-away-seconds',
    env: 'ROOST_DATABASE_AWAY_SECONDS',
    value: 'number',
    default: String(DATABASE_LIMITS.patienceMs / 1_000),
    help: 'Seconds that running answers wait for an unreachable Postgres before they end.',
  },
  apiKey: {
    flag: null,
    env: 'ANTHROPIC_API_KEY',
    value: 'key',
    default: null,
    help: 'Key for the Messages API. With a key or a base URL, agents use a real model instead of the demo.',
  },
  baseUrl: {
    flag: null,
    env: 'ANTHROPIC_BASE_URL',
    value: 'URL',
    default: null,
    help: 'A server with the Messages API, for example a local one. Without a key, Roost uses the first model there that answers.',
  },
  keyHeader: {
    flag: 'api-key-header',
    env: 'ROOST_API_KEY_HEADER',
    value: 'bearer|x-api-key|both',
    default: null,
    shownDefault: 'bearer; both where a base URL is set',
    help: 'The header that carries the key.',
  },
  leadModel: {
    flag: 'lead-model',
    env: 'ROOST_LEAD_MODEL',
    value: 'name',
    default: null,
    help: 'Model of the lead, unless the page chooses one.',
  },
  agentModel: {
    flag: 'agent-model',
    env: 'ROOST_AGENT_MODEL',
    value: 'name',
    default: null,
    help: 'Model of the agents, unless the page chooses one.',
  },
  environmentModel: {
    flag: 'environment-model',
    env: 'ROOST_ENVIRONMENT_MODEL',
    value: MODEL_SHARES.join('|'),
    default: 'any',
    help: 'Households that may use the model from the environment, at your cost. any: every household of this relay. own: your household alone; others connect their own.',
  },
  modelAddresses: {
    flag: 'model-addresses',
    env: 'ROOST_MODEL_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'own',
    help: 'Addresses of model servers and MCP servers that pages may connect. own: any address for your household, public ones for others. any: any address for everybody. public: public addresses. none: none.',
  },
  webAddresses: {
    flag: 'web-addresses',
    env: 'ROOST_WEB_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'public',
    help: 'Web addresses that agents may read, within their own permissions. public: not on this machine or its networks. own: also there, for your household. any: also there, for everybody. none: none.',
  },
  pushAddresses: {
    flag: 'push-addresses',
    env: 'ROOST_PUSH_ADDRESSES',
    value: ADDRESS_RULES.join('|'),
    default: 'public',
    help: 'Addresses of push services that pages may name. public: only https://, and not on this machine or its networks. own: also others, for your household. any: also others, for everybody. none: none.',
  },
  pushSubject: {
    flag: 'push-subject',
    env: 'ROOST_PUSH_SUBJECT',
    value: 'https URL or mailto:',
    default: null,
    help: 'Contact of this relay for operators of push services. Default: the mail address under Settings, You, or else --public-url.',
  },
  pushNextSeconds: {
    flag: 'push-next-seconds',
    env: 'ROOST_PUSH_NEXT_SECONDS',
    value: 'number',
    default: '60',
    help: 'Seconds after which the next device is notified, if nobody has read the message on the last used one.',
  },
  modelRequests: {
    flag: 'model-requests',
    env: 'ROOST_MODEL_REQUESTS',
    value: 'number',
    default: String(MAX_REQUESTS),
    help: 'Most model requests at once. Roost lowers it by itself where the server takes fewer.',
  },
  scripts: {
    flag: 'scripts',
    env: 'ROOST_SCRIPTS',
    value: null,
    default: null,
    help: 'Run programs outside the sandbox for your household, which is the first of this relay: ACP agents and MCP servers, and scheduled scripts where there is no sandbox. They run as the user who started the relay. Other households may run MCP servers in the sandbox, where there is one.',
  },
  trustedHouseholds: {
    flag: 'trusted-households',
    env: 'ROOST_TRUSTED_HOUSEHOLDS',
    value: 'id,…',
    default: null,
    help: 'Further households with the rights of yours, for --scripts and for the value own. A refusal on a household’s page shows its id.',
  },
  rehearsal: {
    flag: 'rehearsal',
    env: 'ROOST_REHEARSAL',
    value: 'JSON',
    default: '{}',
    help: 'Behaviour of the demo, for example {"delayMs":0,"fail":[1]}.',
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
    help: 'Hours for which an unused link is valid.',
  },
  retentionHours: {
    flag: 'retention-hours',
    env: 'ROOST_RETENTION_HOURS',
    value: 'number',
    default: '24',
    help: 'Hours for which the relay keeps events that a browser has stored, and messages that were read.',
  },
  rate: {
    flag: 'rate',
    env: 'ROOST_RATE',
    value: 'number',
    default: '50',
    help: 'Calls that one browser may make a second, on average.',
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
    help: 'Kilobytes by which an event stream may lag behind. The relay then ends it, and it resumes where it was.',
  },
  households: {
    flag: 'households',
    env: 'ROOST_HOUSEHOLDS',
    value: 'number',
    default: '16',
    help: 'Most households that may sync their devices through this relay.',
  },
  logLevel: {
    flag: 'log-level',
    env: 'ROOST_LOG_LEVEL',
    value: 'debug|info|warn|error',
    default: 'info',
    help: 'Lowest level in relay.log in the home. debug adds every call and event, without messages and keys, and prints the log as well.',
  },
  backupFolder: {
    flag: 'backup-folder',
    env: 'ROOST_BACKUP_FOLDER',
    value: 'folder',
    default: null,
    help: 'Write an encrypted backup of the home into this folder every day, while Roost runs. Needs ROOST_BACKUP_PASSPHRASE.',
  },
  backupKeep: {
    flag: 'backup-keep',
    env: 'ROOST_BACKUP_KEEP',
    value: 'number',
    default: '7',
    help: 'Daily backups that stay in the folder. Older ones are removed.',
  },
  backupPassphrase: {
    flag: null,
    env: 'ROOST_BACKUP_PASSPHRASE',
    value: 'words',
    default: null,
    help: 'Passphrase of backups. Without it, nobody opens one. At a terminal, backup and restore ask for it.',
  },
  keepFreeMb: {
    flag: 'keep-free-mb',
    env: 'ROOST_KEEP_FREE_MB',
    value: 'number',
    default: '500',
    help: 'Megabytes that agents must leave free on the disk of the home. With less free, the relay refuses what agents write, but not what you write.',
  },
  projectsMb: {
    flag: 'projects-mb',
    env: 'ROOST_PROJECTS_MB',
    value: 'number',
    default: '200',
    help: 'Megabytes that the projects of one household may take: with tasks, comments and attempts, without files and repositories.',
  },
  householdGb: {
    flag: 'household-gb',
    env: 'ROOST_HOUSEHOLD_GB',
    value: 'number',
    default: '4',
    help: 'Gigabytes of sealed entries that one household may store at this relay.',
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
  backupKeep: { min: 1, max: 1_000 },
  keepFreeMb: { min: 0, max: 999_999_999 },
  streamBufferKb: { min: 1, max: 1_000_000 },
  households: { min: 1, max: 10_000 },
  projectsMb: { min: 1, max: 100_000 },
  householdGb: { min: 1, max: 100_000 },
} as const satisfies Partial<Record<SettingName, { min: number; max: number }>>;
export type NumberSetting = keyof typeof BOUNDS;

/** Characters of the passphrase of a backup. */
export const PASSPHRASE_LEAST = 8;

/** The flag that ends a running relay instead of starting one. */
export const STOP = 'stop';

/** Removes a household instead of starting the relay. */
export const REMOVE = 'remove-household';
