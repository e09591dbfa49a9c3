/**
 * The household's settings: all defaults and bounds that a person can change on the page.
 *
 * Each is stored in the ledger as `setting` documents (the newest by stamp wins). The relay
 * receives them when a session starts.
 */

export interface Settings {
  readonly humanName: string;
  readonly leadName: string;
  /** Empty: the relay's default model. */
  readonly leadModel: string;
  readonly agentModel: string;
  /** Maximum tokens of one answer. */
  readonly maxAnswerTokens: number;
  /**
   * Context window of the models in tokens, conversation and answer together. 0: derived from the
   * model's name or from its refusals.
   */
  readonly contextTokens: number;
  /** Maximum characters of transcript that an agent receives when it wakes. */
  readonly transcriptCap: number;
  /** ms that a woken agent may take to answer before it counts as asleep again. */
  readonly wakeTimeoutMs: number;
  /** ms that an egg may take to find a name. */
  readonly birthTimeoutMs: number;
  /** ms of silence after which a session ends by itself. */
  readonly idleMs: number;
  /** Empty: the template in CLAUDE.md. */
  readonly wakeTemplate: string;
  /** ms since the epoch: the person has read the agents' own runs up to this time. */
  readonly runsReadTo: number;
  /** ms since the epoch: the start of what they read last, so that it can be opened again. */
  readonly runsReadFrom: number;
}
export type SettingKey = keyof Settings;

/** Inclusive bounds of the numeric settings that people set, and their defaults. */
export const SETTING_NUMBERS = {
  maxAnswerTokens: { min: 256, max: 64_000, otherwise: 8_192 },
  contextTokens: { min: 0, max: 10_000_000, otherwise: 0 },
  transcriptCap: { min: 0, max: 400_000, otherwise: 24_000 },
  wakeTimeoutMs: { min: 1_000, max: 900_000, otherwise: 120_000 },
  birthTimeoutMs: { min: 1_000, max: 3_600_000, otherwise: 600_000 },
  idleMs: { min: 60_000, max: 86_400_000, otherwise: 1_800_000 },
} as const;

export const DEFAULT_SETTINGS: Settings = {
  humanName: '',
  leadName: 'Julian',
  leadModel: '',
  agentModel: '',
  maxAnswerTokens: SETTING_NUMBERS.maxAnswerTokens.otherwise,
  contextTokens: SETTING_NUMBERS.contextTokens.otherwise,
  transcriptCap: SETTING_NUMBERS.transcriptCap.otherwise,
  wakeTimeoutMs: SETTING_NUMBERS.wakeTimeoutMs.otherwise,
  birthTimeoutMs: SETTING_NUMBERS.birthTimeoutMs.otherwise,
  idleMs: SETTING_NUMBERS.idleMs.otherwise,
  wakeTemplate: '',
  runsReadTo: 0,
  runsReadFrom: 0,
};

/** Inclusive bounds of the numeric settings. */
export const SETTING_BOUNDS = {
  ...SETTING_NUMBERS,
  runsReadTo: { min: 0, max: 8_640_000_000_000_000 },
  runsReadFrom: { min: 0, max: 8_640_000_000_000_000 },
} as const satisfies Partial<Record<SettingKey, { min: number; max: number }>>;

/** Maximum length of a text setting, in characters. */
export const SETTING_TEXT_MAX = {
  humanName: 80,
  leadName: 80,
  leadModel: 200,
  agentModel: 200,
  wakeTemplate: 40_000,
} as const;

export interface SettingRecord {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
  readonly at: string;
}

/**
 * Whether this is a valid value of the setting. Unknown keys (of a newer app) and invalid values
 * are ignored.
 */
export function isSettingValue(key: string, value: unknown): key is SettingKey {
  if (!Object.hasOwn(DEFAULT_SETTINGS, key)) return false;
  if (Object.hasOwn(SETTING_BOUNDS, key)) {
    const { min, max } = SETTING_BOUNDS[key as keyof typeof SETTING_BOUNDS];
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  }
  return typeof value === 'string' && value.length <= SETTING_TEXT_MAX[key as keyof typeof SETTING_TEXT_MAX];
}

/** The effective settings: the newest record of each key by (stamp, id), over the defaults. */
export function settingsOf(records: readonly SettingRecord[]): Settings {
  const newest = new Map<SettingKey, SettingRecord>();
  for (const record of records) {
    const { key, value } = record;
    if (!isSettingValue(key, value)) continue;
    const held = newest.get(key);
    if (!held || record.at > held.at || (record.at === held.at && record.id > held.id)) newest.set(key, record);
  }
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries([...newest].map(([key, record]) => [key, record.value])) };
}
