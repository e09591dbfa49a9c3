/**
 * The effective configuration: an agent's own settings over the household's, over Roost's defaults.
 * Lists are replaced as a whole, never merged.
 */
import { DREAM_CHOICES } from '../domain/dreams.ts';
import { DEFAULT_LIMITS } from '../domain/guardrails.ts';
import { NUMBERS } from '../domain/setting-table.ts';
import { type Grant, grantOf, GRANTS, grantsOver, type Toolset, toolsetOf } from '../domain/toolsets.ts';
import { covers } from '../domain/network.ts';
import { DEFAULT_PRICES, isCheaper } from '../domain/prices.ts';
import { type AgentConfig, DEFAULT_COORDINATION, type EffectiveConfig, type HouseholdConfig } from './config.ts';
import { fieldsOf, type RecordOf, recordSchema, withFields } from './records.ts';

type Coordination = EffectiveConfig['coordination'];

/** `over` contains only what differs. */
function laid(over: AgentConfig['coordination'], under: Coordination): Coordination {
  const { wake_guardrails: guardrails = {} } = over;
  const defaults = under.wake_guardrails;
  return {
    wakes_enabled: over.wakes_enabled ?? under.wakes_enabled,
    max_concurrent_pulse_sessions: over.max_concurrent_pulse_sessions ?? under.max_concurrent_pulse_sessions,
    wake_guardrails: {
      cooldown_seconds: guardrails.cooldown_seconds ?? defaults.cooldown_seconds,
      max_daily_session_minutes: guardrails.max_daily_session_minutes ?? defaults.max_daily_session_minutes,
      max_wakes_per_day: guardrails.max_wakes_per_day ?? defaults.max_wakes_per_day,
      max_wakes_per_pair_per_day: guardrails.max_wakes_per_pair_per_day ?? defaults.max_wakes_per_pair_per_day,
      max_wakes_per_session: guardrails.max_wakes_per_session ?? defaults.max_wakes_per_session,
    },
    blackouts: over.blackouts ?? under.blackouts,
    sleep_events: over.sleep_events ?? under.sleep_events,
    wake_events: over.wake_events ?? under.wake_events,
    may_propose_routines: over.may_propose_routines ?? under.may_propose_routines,
    note_before_sleep: over.note_before_sleep ?? under.note_before_sleep,
    note_cents: over.note_cents ?? under.note_cents,
    dreams: over.dreams ?? under.dreams,
    dream_hour: over.dream_hour ?? under.dream_hour,
    may_put_others_to_sleep: over.may_put_others_to_sleep ?? under.may_put_others_to_sleep,
    ...grantsOver(over, under),
    command_seconds: over.command_seconds ?? under.command_seconds,
    workspace_megabytes: over.workspace_megabytes ?? under.workspace_megabytes,
    network: over.network ?? under.network,
    shell_without_sandbox: over.shell_without_sandbox ?? under.shell_without_sandbox,
    allowed_commands: over.allowed_commands ?? under.allowed_commands,
    // Null is a value of its own: no ACP agent, and no limit.
    mind: over.mind === undefined ? under.mind : over.mind,
    daily_budget_usd: over.daily_budget_usd === undefined ? under.daily_budget_usd : over.daily_budget_usd,
  };
}

/**
 * `agent` is null for the household itself. `timeZone` is the relay's, for a household that has not
 * set one.
 */
export function effectiveConfig(
  household: HouseholdConfig,
  agent: AgentConfig | null,
  timeZone: string,
): EffectiveConfig {
  // This setting never applies to all agents, wherever it comes from.
  const forAll = { ...laid(household.coordination, DEFAULT_COORDINATION), shell_without_sandbox: false };
  return {
    coordination: agent ? laid(agent.coordination, forAll) : forAll,
    wakes_enabled: household.wakes_enabled ?? DEFAULT_LIMITS.householdEnabled,
    time_zone: household.time_zone ?? timeZone,
    flood_guard: {
      max_wakes: household.flood_guard?.max_wakes ?? DEFAULT_LIMITS.floodMaxWakes,
      window_seconds: household.flood_guard?.window_seconds ?? DEFAULT_LIMITS.floodWindowSeconds,
    },
    daily_budget_usd: household.daily_budget_usd ?? null,
    sleep_wait_seconds: household.sleep_wait_seconds ?? NUMBERS.sleep_wait_seconds.otherwise,
    programs_at_once: household.programs_at_once ?? NUMBERS.programs_at_once.otherwise,
    pulse_container_timeout_ms:
      agent?.pulse_container_timeout_ms ??
      household.pulse_container_timeout_ms ??
      NUMBERS.pulse_container_timeout_ms.otherwise,
    pulse_busy_wait_ms:
      agent?.pulse_busy_wait_ms ?? household.pulse_busy_wait_ms ?? NUMBERS.pulse_busy_wait_ms.otherwise,
    pulse_max_consecutive_skips:
      agent?.pulse_max_consecutive_skips ??
      household.pulse_max_consecutive_skips ??
      NUMBERS.pulse_max_consecutive_skips.otherwise,
    pulse_max_turns: agent?.pulse_max_turns ?? household.pulse_max_turns ?? NUMBERS.pulse_max_turns.otherwise,
  };
}

// Finds the parts of a record of limits or prices that are looser. With them, agents could do more
// outside the household, spend more, or resume what the person has stopped. The person has to
// approve each of them. The rest of the record takes effect at once. Pure.

export type ConfigRecord = RecordOf<'limits'> | RecordOf<'prices'>;

/**
 * Toolsets through which an agent reaches the relay's machine, its network, MCP servers or ACP
 * agents.
 */
const OUTWARD: readonly Toolset[] = ['files', 'shell', 'web', 'attached', 'mind'];

const isMore = (after: Grant | null, before: Grant | null) =>
  after !== null && (before === null || GRANTS.indexOf(after) > GRANTS.indexOf(before));
/** Null means no limit. */
const isDearer = (after: number | null, before: number | null) => before !== null && (after === null || after > before);

function* looserCoordination(before: Coordination, after: Coordination): Generator<readonly string[]> {
  for (const toolset of OUTWARD)
    if (isMore(after.toolsets[toolset], before.toolsets[toolset])) yield ['toolsets', toolset];
  for (const tool of new Set([...Object.keys(before.tools), ...Object.keys(after.tools)])) {
    const toolset = toolsetOf(tool);
    if (toolset !== null && OUTWARD.includes(toolset) && isMore(grantOf(after, tool), grantOf(before, tool)))
      yield ['tools', tool];
  }
  if (!covers(before.network, after.network)) yield ['network'];
  if (after.shell_without_sandbox && !before.shell_without_sandbox) yield ['shell_without_sandbox'];
  if (after.allowed_commands.some((command) => !before.allowed_commands.includes(command))) yield ['allowed_commands'];
  if (after.mind !== null && after.mind !== before.mind) yield ['mind'];
  if (after.wakes_enabled && !before.wakes_enabled) yield ['wakes_enabled'];
  if (DREAM_CHOICES.indexOf(after.dreams) > DREAM_CHOICES.indexOf(before.dreams)) yield ['dreams'];
  if (after.note_before_sleep && !before.note_before_sleep) yield ['note_before_sleep'];
  if (after.note_cents > before.note_cents) yield ['note_cents'];
  if (isDearer(after.daily_budget_usd, before.daily_budget_usd)) yield ['daily_budget_usd'];
}

function* looserLimits(before: EffectiveConfig, after: EffectiveConfig): Generator<string> {
  for (const path of looserCoordination(before.coordination, after.coordination))
    yield JSON.stringify(['coordination', ...path]);
  if (after.wakes_enabled && !before.wakes_enabled) yield JSON.stringify(['wakes_enabled']);
  if (isDearer(after.daily_budget_usd, before.daily_budget_usd)) yield JSON.stringify(['daily_budget_usd']);
}

/** An empty table means Roost's own prices. */
const tableOf = ({ value: { prices } }: RecordOf<'prices'>) => (prices.length === 0 ? DEFAULT_PRICES : prices);

/** The record without any settings. */
export function unsetLimits(record: RecordOf<'limits'>): RecordOf<'limits'> {
  const { agentId } = record.value;
  const config = { coordination: {} };
  return { ...record, value: agentId === null ? { agentId, config } : { agentId, config } };
}

/** The value of a limit's field. A price table is a single part, whose name is empty. */
export function partOf(record: ConfigRecord, part: string): unknown {
  return record.type === 'prices' ? record.value.prices : fieldsOf('limits', record).get(part);
}
/** The record with these parts replaced. Null: the result would be invalid. */
export function withParts<Kind extends ConfigRecord>(
  record: Kind,
  parts: Iterable<readonly [string, unknown]>,
): Kind | null {
  const value =
    record.type === 'prices'
      ? { prices: [...parts].at(-1)?.[1] ?? record.value.prices }
      : withFields('limits', record.value, parts);
  const read = recordSchema.safeParse({ ...record, value });
  return read.success ? ({ ...record, value: read.data.value } as Kind) : null;
}

/** A part that waits for approval. Undefined: not set. */
interface LooserPart {
  readonly part: string;
  readonly here: unknown;
  readonly after: unknown;
}
export interface HeldBack<Kind extends ConfigRecord = ConfigRecord> {
  /** The record as it takes effect at once. */
  readonly record: Kind;
  readonly parts: readonly LooserPart[];
}

/**
 * `here` holds the limits in effect. `household` holds the household's limits in effect, which an
 * agent's override.
 */
export function heldLimits(
  record: RecordOf<'limits'>,
  here: RecordOf<'limits'>,
  household: HouseholdConfig,
): HeldBack<RecordOf<'limits'>> {
  const [old, now] = [fieldsOf('limits', here), fieldsOf('limits', record)];
  const effectiveOf = ({ value }: RecordOf<'limits'>) =>
    value.agentId === null
      ? effectiveConfig(value.config, null, 'UTC')
      : effectiveConfig(household, value.config, 'UTC');
  const looser = (after: RecordOf<'limits'>) => [...looserLimits(effectiveOf(here), effectiveOf(after))];
  const without = (fields: readonly string[]) =>
    withParts(
      record,
      fields.map((field) => [field, old.get(field)] as const),
    ) ?? here;
  let fields = looser(record);
  // A grant of a set overrides the grants of its tools, so reverting one field may loosen another.
  // In that case all fields that differ wait.
  if (looser(without(fields)).length > 0)
    fields = [...new Set([...old.keys(), ...now.keys()])].filter(
      (field) => JSON.stringify(old.get(field)) !== JSON.stringify(now.get(field)),
    );
  return {
    record: without(fields),
    parts: fields.map((part) => ({ part, here: old.get(part), after: now.get(part) })),
  };
}

export function heldBack(record: ConfigRecord, here: ConfigRecord, household: HouseholdConfig): HeldBack {
  if (record.type === 'limits' && here.type === 'limits') return heldLimits(record, here, household);
  // A lower price hides spending from the budget.
  if (record.type === 'prices' && here.type === 'prices' && isCheaper(tableOf(here), tableOf(record)))
    return { record: here, parts: [{ part: '', here: here.value.prices, after: record.value.prices }] };
  return { record, parts: [] };
}
