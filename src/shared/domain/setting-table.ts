/**
 * Every setting of a household and of an agent, once: where its value stands, its bounds and its
 * default, and the words by which people read and find it.
 *
 * The settings page, its search, the log of changes, the schemas of JSON and YAML and the relay
 * derive what they know of a setting from this table. Labels are English; a page in another
 * language shows them by `retold`.
 */
import { sentence } from './names.ts';
import { SETTING_NUMBERS } from './settings.ts';

/** Groups of the advanced settings, in display order. */
export const SETTING_GROUPS = {
  wakes: sentence`Wakes`,
  runs: sentence`Scheduled runs`,
  tools: sentence`Tools`,
  commands: sentence`Files and commands`,
  answers: sentence`Answers`,
  session: sentence`Session`,
  memory: sentence`Memory`,
} as const;
export type SettingGroup = keyof typeof SETTING_GROUPS;

interface Words {
  readonly label: string;
  /** One short sentence, where the label cannot say it. */
  readonly hint?: string;
  /** Other terms by which it is found. */
  readonly words?: string;
}

export interface Setting extends Words {
  /**
   * Its place in the configuration of the household or of an agent, as in YAML. A single name that
   * is a key of `Settings` stands in the ledger instead.
   */
  readonly path: readonly string[];
  /** `both`: an agent's own value overrides the household's. */
  readonly scope: 'household' | 'agent' | 'both';
  /** Null: not among the advanced settings. It has a control of its own, or only a name in YAML. */
  readonly group: SettingGroup | null;
  readonly kind: 'number' | 'switch' | 'grant' | 'choice';
  /** Left out where the label names it. */
  readonly unit?: string;
  /** Stored units in one shown unit: 1,000 for seconds of milliseconds. */
  readonly per?: number;
  /** Inclusive bounds of a number. */
  readonly min?: number;
  readonly max?: number;
}

interface NumberSetting extends Setting {
  readonly kind: 'number';
  readonly min: number;
  readonly max: number;
  /** Applies if nothing is set. */
  readonly otherwise: number;
}

const [seconds, minutes, tokens] = [sentence`seconds`, sentence`minutes`, sentence`tokens`];
const guardrail = (name: string) => ['coordination', 'wake_guardrails', name];
const coordination = (...names: string[]) => ['coordination', ...names];
const number = { kind: 'number', scope: 'both' } as const;
const ofHousehold = { kind: 'number', scope: 'household' } as const;

/** A limit of 0 means never; a pause of 0 seconds means no pause. */
export const NUMBERS = {
  max_wakes_per_day: {
    ...number,
    ...{ min: 0, max: 1_000, otherwise: 12 },
    path: guardrail('max_wakes_per_day'),
    label: sentence`Wakes a day`,
    words: 'guardrails limits daily grenzen täglich',
    group: 'wakes',
  },
  cooldown_seconds: {
    ...number,
    ...{ min: 0, max: 86_400, otherwise: 300, unit: seconds },
    path: guardrail('cooldown_seconds'),
    label: sentence`Pause between two wakes`,
    words: 'cooldown abstand',
    group: 'wakes',
  },
  max_wakes_per_pair_per_day: {
    ...number,
    ...{ min: 0, max: 1_000, otherwise: 5 },
    path: guardrail('max_wakes_per_pair_per_day'),
    label: sentence`Wakes a day by the same agent`,
    hint: sentence`Stops two agents from waking each other in a loop.`,
    group: 'wakes',
  },
  max_daily_session_minutes: {
    ...number,
    ...{ min: 0, max: 1_440, otherwise: 120, unit: minutes },
    path: guardrail('max_daily_session_minutes'),
    label: sentence`Minutes a day`,
    words: 'session time daily sitzung zeit täglich',
    group: 'wakes',
  },
  max_wakes_per_session: {
    ...number,
    ...{ min: 0, max: 100, otherwise: 3 },
    path: guardrail('max_wakes_per_session'),
    label: sentence`Wakes of other agents in one session`,
    group: null,
  },
  max_concurrent_pulse_sessions: {
    ...number,
    ...{ min: 0, max: 16, otherwise: 2 },
    path: coordination('max_concurrent_pulse_sessions'),
    label: sentence`Runs at the same time`,
    words: 'parallel sessions sitzungen',
    group: 'runs',
  },
  pulse_max_turns: {
    ...number,
    ...{ min: 1, max: 1_000, otherwise: 25 },
    path: ['pulse_max_turns'],
    label: sentence`Model requests in one run`,
    words: 'turns steps schritte runden',
    group: 'runs',
  },
  pulse_container_timeout_ms: {
    ...number,
    ...{ min: 1_000, max: 3_600_000, otherwise: 120_000, unit: seconds, per: 1_000 },
    path: ['pulse_container_timeout_ms'],
    label: sentence`Time of a run`,
    words: 'timeout zeitlimit',
    group: 'runs',
  },
  pulse_busy_wait_ms: {
    ...number,
    ...{ min: 1_000, max: 3_600_000, otherwise: 120_000, unit: seconds, per: 1_000 },
    path: ['pulse_busy_wait_ms'],
    label: sentence`Wait for a busy agent`,
    group: 'runs',
  },
  pulse_max_consecutive_skips: {
    ...number,
    ...{ min: 1, max: 100, otherwise: 5 },
    path: ['pulse_max_consecutive_skips'],
    label: sentence`Skips in a row until a warning`,
    group: 'runs',
  },
  note_cents: {
    ...number,
    ...{ min: 1, max: 10_000, otherwise: 50, unit: sentence`cents` },
    path: coordination('note_cents'),
    label: sentence`Most that a note before sleep may cost`,
    hint: sentence`Each request is counted at its highest possible price. Most cost far less.`,
    words: 'memory cost limit session end Gedächtnis Kosten Grenze Sitzungsende',
    group: 'memory',
  },
  dream_hour: {
    ...number,
    ...{ min: 0, max: 23, otherwise: 3, unit: sentence`o’clock` },
    path: coordination('dream_hour'),
    label: sentence`Dreams from`,
    words: 'night memory time hour Nacht Gedächtnis Zeit Stunde',
    group: 'memory',
  },
  command_seconds: {
    ...number,
    ...{ min: 1, max: 1_800, otherwise: 120, unit: seconds },
    path: coordination('command_seconds'),
    label: sentence`Time of a command`,
    words: 'timeout shell zeitlimit',
    group: 'commands',
  },
  workspace_megabytes: {
    ...number,
    ...{ min: 1, max: 1_000_000, otherwise: 2_000, unit: 'MB' },
    path: coordination('workspace_megabytes'),
    label: sentence`Size of its folder`,
    words: 'files workspace space disk gigabytes dateien arbeitsordner platz festplatte gigabyte',
    group: 'commands',
  },
  flood_max_wakes: {
    ...ofHousehold,
    ...{ min: 0, max: 1_000, otherwise: 5 },
    path: ['flood_guard', 'max_wakes'],
    label: sentence`Wakes in a minute, all agents together`,
    words: 'flood at once flut auf einmal',
    group: 'wakes',
  },
  flood_window_seconds: {
    ...ofHousehold,
    ...{ min: 1, max: 3_600, otherwise: 60, unit: seconds },
    path: ['flood_guard', 'window_seconds'],
    label: sentence`Seconds over which these wakes are counted`,
    group: null,
  },
  sleep_wait_seconds: {
    ...ofHousehold,
    ...{ min: 1, max: 86_400, otherwise: 600, unit: seconds },
    path: ['sleep_wait_seconds'],
    label: sentence`Seconds that the call of a sleeping agent waits`,
    group: null,
  },
  programs_at_once: {
    ...ofHousehold,
    ...{ min: 1, max: 16, otherwise: 3 },
    path: ['programs_at_once'],
    label: sentence`ACP agents that start at once`,
    group: null,
  },
  maxAnswerTokens: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.maxAnswerTokens, unit: tokens },
    path: ['maxAnswerTokens'],
    label: sentence`Longest answer`,
    hint: sentence`A token is about four characters.`,
    group: 'answers',
  },
  contextTokens: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.contextTokens, unit: tokens },
    path: ['contextTokens'],
    label: sentence`Context window`,
    hint: sentence`0: as the model says. Set it for a local server that cuts without notice.`,
    words: 'what models read memory was modelle lesen gedächtnis',
    group: 'answers',
  },
  transcriptCap: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.transcriptCap, unit: sentence`characters` },
    path: ['transcriptCap'],
    label: sentence`Remembered of the last conversation`,
    hint: sentence`More costs more at every wake.`,
    words: 'transcript memory mitschrift gedächtnis',
    group: 'answers',
  },
  wakeTimeoutMs: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.wakeTimeoutMs, unit: seconds, per: 1_000 },
    path: ['wakeTimeoutMs'],
    label: sentence`Give up on an agent that does not answer within`,
    words: 'timeout time to wake zeitlimit aufwachen',
    group: 'session',
  },
  birthTimeoutMs: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.birthTimeoutMs, unit: minutes, per: 60_000 },
    path: ['birthTimeoutMs'],
    label: sentence`Give up on a hatching agent after`,
    words: 'timeout egg name zeitlimit ei',
    group: 'session',
  },
  idleMs: {
    ...ofHousehold,
    ...{ ...SETTING_NUMBERS.idleMs, unit: minutes, per: 60_000 },
    path: ['idleMs'],
    label: sentence`End a quiet session after`,
    words: 'idle sleep leerlauf schlafen',
    group: 'session',
  },
} as const satisfies Readonly<Record<string, NumberSetting>>;
export type NumberName = keyof typeof NUMBERS;

const grant = (toolset: string, words: Words): Setting => ({
  ...words,
  path: coordination('toolsets', toolset),
  kind: 'grant',
  scope: 'both',
  group: 'tools',
});
const toggle = (name: string, words: Words & Partial<Pick<Setting, 'scope' | 'group'>>): Setting => ({
  scope: 'both',
  group: 'wakes',
  ...words,
  path: coordination(name),
  kind: 'switch',
});
/** A setting with a control of its own, which the advanced settings leave out. */
const named = (path: readonly string[], label: string, scope: Setting['scope'] = 'both'): Setting => ({
  path,
  label,
  scope,
  kind: 'choice',
  group: null,
});

const OTHERS: readonly Setting[] = [
  toggle('wakes_enabled', { label: sentence`May be woken`, words: 'stop pause anhalten' }),
  toggle('may_propose_routines', {
    label: sentence`May propose routines`,
    words: 'schedule night plan nacht',
    group: 'runs',
  }),
  toggle('note_before_sleep', {
    label: sentence`Notes what matters before it sleeps`,
    hint: sentence`After a session in which you said at least six things to it.`,
    words: 'memory remember session end Gedächtnis merken Sitzungsende',
    group: 'memory',
  }),
  toggle('may_put_others_to_sleep', { label: sentence`May put other agents to sleep`, group: 'tools' }),
  toggle('shell_without_sandbox', {
    label: sentence`Runs commands without a sandbox`,
    scope: 'agent',
    group: null,
  }),
  {
    path: coordination('dreams'),
    label: sentence`Dreams by night`,
    words: 'memory tidy propose Gedächtnis aufräumen vorschlagen',
    kind: 'choice',
    scope: 'both',
    group: null,
  },
  grant('team', { label: sentence`Talks with other agents`, words: 'messages threads nachrichten' }),
  grant('schedule', { label: sentence`Plans for later`, words: 'reminders erinnerungen' }),
  grant('projects', { label: sentence`Works on tasks`, words: 'projects board projekte' }),
  grant('files', {
    label: sentence`Works with files in its folder`,
    words: 'write read permission schreiben lesen erlaubnis',
  }),
  grant('shell', { label: sentence`Runs commands`, words: 'shell terminal permission sandbox erlaubnis' }),
  grant('web', { label: sentence`Reads web pages`, words: 'internet browse permission surfen erlaubnis' }),
  grant('attached', { label: sentence`Uses MCP servers`, words: 'tools permission werkzeuge erlaubnis' }),
  grant('mind', { label: sentence`Does what its ACP agent asks for`, words: 'claude code permission erlaubnis' }),
  { path: coordination('mind'), label: sentence`Driven by`, kind: 'choice', scope: 'both', group: 'tools' },
  {
    path: coordination('network'),
    label: sentence`Network of its commands`,
    words: 'internet hosts sandbox',
    kind: 'choice',
    scope: 'both',
    group: 'commands',
  },
  named(coordination('allowed_commands'), sentence`Commands that run without asking`),
  named(coordination('blackouts'), sentence`Quiet hours`),
  named(coordination('sleep_events'), sentence`Events that put it to sleep`),
  named(coordination('wake_events'), sentence`Events that wake it`),
  named(coordination('daily_budget_usd'), sentence`Budget a day`),
  named(['daily_budget_usd'], sentence`Budget a day, all agents together`, 'household'),
  named(['wakes_enabled'], sentence`The switch of all wakes`, 'household'),
  named(['time_zone'], sentence`Time zone`, 'household'),
  named(['pulse_columns'], sentence`Columns it takes tasks from`),
  named(['pulse_transitions_to'], sentence`Columns it moves tasks to`),
  named(['planning_model'], sentence`Model that plans a task`),
  named(['executor_model'], sentence`Model that carries out a plan`),
  named(['humanName'], sentence`Your name`, 'household'),
  named(['leadName'], sentence`Lead's name`, 'household'),
  named(['leadModel'], sentence`Model of the lead`, 'household'),
  named(['agentModel'], sentence`Model of the agents`, 'household'),
  named(['wakeTemplate'], sentence`Wake prompt`, 'household'),
  named(['runsReadTo'], sentence`Runs read until`, 'household'),
  named(['runsReadFrom'], sentence`Runs read from`, 'household'),
];

export const SETTING_TABLE: readonly Setting[] = [...Object.values(NUMBERS), ...OTHERS];

const byPath = new Map(SETTING_TABLE.map((setting) => [setting.path.join('.'), setting]));
/** Undefined: a setting of a newer Roost. */
export const settingAt = (path: readonly string[]): Setting | undefined => byPath.get(path.join('.'));
