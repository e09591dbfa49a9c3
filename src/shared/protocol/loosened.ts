/**
 * Which parts of a record of limits or prices would let agents do more outside of the household,
 * spend more, or begin again what the person has stopped. The person says yes to each of those
 * before it holds. The rest of the record holds at once. Pure.
 */
import { covers } from '../domain/network.ts';
import { DEFAULT_PRICES, isCheaper } from '../domain/prices.ts';
import { GRANTS, grantOf, toolsetOf, type Grant, type Toolset } from '../domain/toolsets.ts';
import type { EffectiveConfig, HouseholdConfig } from './config.ts';
import { effectiveConfig } from './effective.ts';
import { fieldsOf, withFields } from './record-fields.ts';
import { recordSchema, type RecordOf } from './records.ts';

export type ConfigRecord = RecordOf<'limits'> | RecordOf<'prices'>;
type Coordination = EffectiveConfig['coordination'];

/** Sets of tools by which an agent reaches the relay's machine, its network, or other programs. */
const OUTWARD: readonly Toolset[] = ['files', 'shell', 'web', 'attached', 'mind'];

const isMore = (after: Grant | null, before: Grant | null) =>
  after !== null && (before === null || GRANTS.indexOf(after) > GRANTS.indexOf(before));
/** Null is no limit. */
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
  if (isDearer(after.daily_budget_usd, before.daily_budget_usd)) yield ['daily_budget_usd'];
}

function* looserLimits(before: EffectiveConfig, after: EffectiveConfig): Generator<string> {
  for (const path of looserCoordination(before.coordination, after.coordination))
    yield JSON.stringify(['coordination', ...path]);
  if (after.wakes_enabled && !before.wakes_enabled) yield JSON.stringify(['wakes_enabled']);
  if (isDearer(after.daily_budget_usd, before.daily_budget_usd)) yield JSON.stringify(['daily_budget_usd']);
}

/** An empty table is Roost's own. */
const tableOf = ({ value: { prices } }: RecordOf<'prices'>) => (prices.length === 0 ? DEFAULT_PRICES : prices);

/** As it is where nothing was set. */
export function unsetLimits(record: RecordOf<'limits'>): RecordOf<'limits'> {
  const { agentId } = record.value;
  const config = { coordination: {} };
  return { ...record, value: agentId === null ? { agentId, config } : { agentId, config } };
}

/** By field of limits; a table of prices is one part, without a name. */
export function partOf(record: ConfigRecord, part: string): unknown {
  return record.type === 'prices' ? record.value.prices : fieldsOf('limits', record).get(part);
}
/** The record with these parts so, and all others as they are; null: it cannot be. */
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

/** One that waits for a yes; undefined: it is not set. */
export interface LooserPart {
  readonly part: string;
  readonly here: unknown;
  readonly after: unknown;
}
export interface HeldBack<Kind extends ConfigRecord = ConfigRecord> {
  /** What holds at once. */
  readonly record: Kind;
  readonly parts: readonly LooserPart[];
}

/** `here`: as they hold. `household`: its limits as they hold, over which an agent's stand. */
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
  // A grant of a set stands over those of its tools, so that taking back one may open another: then
  // all that differ wait.
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
  // A lower price is money that no budget sees.
  if (record.type === 'prices' && here.type === 'prices' && isCheaper(tableOf(here), tableOf(record)))
    return { record: here, parts: [{ part: '', here: here.value.prices, after: record.value.prices }] };
  return { record, parts: [] };
}
