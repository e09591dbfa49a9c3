/** What a file would change of what is due, and of limits and prices, in words. Pure. */
import { shownText } from '../../../shared/domain/names.ts';
import { t } from '../../language/t.ts';
import type { ScheduleRecord } from '../../../shared/protocol/schedules.ts';
import type { ArchiveChange } from '../../state/agent-copies.ts';
import { timingText } from '../night/words.ts';
import { budgetText } from './money.ts';
import { plural } from './sizes.ts';
import { duration, fullTime } from './time.ts';
import { revealedLine } from './unseen.ts';

type ScheduleChange = Extract<ArchiveChange, { kind: 'schedule' }>;
type LimitChange = Extract<ArchiveChange, { kind: 'limit' }>;

const named = (value: string | null, otherwise: string) => (value === null ? otherwise : shownText(value));

/** Relays have no names: told apart by whether it runs there now. */
const relayIn =
  (here: ScheduleRecord | null) =>
  (relay: string): string =>
    relay === here?.homeRelay
      ? t`the one where it is due now`
      : here === null
        ? t`the one that it names`
        : t`another one of yours`;

/**
 * Everything that it says, each part under its name; what stands for itself is left out. `agent`:
 * as people call it.
 */
function partsOf(
  { schedule, removed, homeRelay, wanted, turn, position }: ScheduleRecord,
  { agent, relayOf }: { readonly agent: string; readonly relayOf: (relay: string) => string },
): ReadonlyMap<string, string> {
  const { timing } = schedule;
  const parts: [string, string][] = [
    ['name', shownText(schedule.name)],
    ['agent', agent],
    ['when', timing.kind === 'once' ? t`once, ${fullTime(timing.at)}` : timingText(timing, 0)],
    [t`removed`, removed ? 'yes' : 'no'],
    [t`place in the order`, String(position + 1)],
    ['relay', relayOf(homeRelay)],
    [t`asked for by the relay`, wanted === null ? 'none' : relayOf(wanted)],
    [t`times it changed its relay`, String(turn)],
  ];
  if (timing.kind === 'every' && timing.offset !== null) parts.push([t`minutes after`, String(timing.offset)]);
  switch (schedule.kind) {
    case 'routine':
      parts.push(
        ['on', schedule.enabled ? 'yes' : 'no'],
        ['model', named(schedule.model, t`the agent’s own`)],
        [t`first model`, named(schedule.planningModel, t`the same`)],
        [t`later model`, named(schedule.executorModel, t`the same`)],
        ['tools', schedule.tools === null ? t`all that it has` : schedule.tools.map(shownText).join(', ') || 'none'],
        ['longest', schedule.timeoutMs === null ? t`as its agent’s runs` : duration(schedule.timeoutMs)],
        [t`at once`, String(schedule.maxConcurrent)],
        [t`model requests`, schedule.maxTurns === null ? t`as its agent’s runs` : String(schedule.maxTurns)],
        [t`given of before`, schedule.context],
        [t`made up for`, schedule.catch_up],
        ['condition', schedule.when],
        ['color', named(schedule.color, 'none')],
        ['instructions', schedule.instructions],
      );
      break;
    case 'reminder':
      parts.push(['message', schedule.message], [t`given of before`, schedule.context]);
      break;
    case 'script':
      parts.push(
        ['on', schedule.enabled ? 'yes' : 'no'],
        ['script', revealedLine(schedule.script)],
        [t`fingerprint of the script`, schedule.sha256 ?? t`none: it is not pinned`],
        ['longest', duration(schedule.timeoutMs)],
        [t`reaches`, schedule.hosts?.map(revealedLine).join(', ') || t`no network`],
        [t`reaches of the relay’s machine`, schedule.own_hosts?.map(revealedLine).join(', ') || 'none'],
        [t`where it fails`, schedule.on_failure],
        [t`where it still runs`, schedule.overlap],
        [t`given of before`, schedule.context],
      );
      break;
    default:
      return schedule satisfies never;
  }
  return new Map(parts);
}

/** What a routine, a reminder or a script says, whole. */
export function scheduleDetails({ name, here, after }: ScheduleChange): {
  readonly before: string;
  readonly after: string;
} {
  const text = (record: ScheduleRecord | null) =>
    record === null
      ? ''
      : [...partsOf(record, { agent: name, relayOf: relayIn(here) })]
          .map(([part, value]) => `${part}: ${value}`)
          .join('\n');
  return { before: text(here), after: text(after) };
}

/**
 * What changed about one, each part in words; `undefined`: there was no such part. `agent`: as
 * people call it.
 */
export function scheduleParts(
  before: ScheduleRecord,
  after: ScheduleRecord,
  agent: string,
): readonly { readonly part: string; readonly before: string | undefined; readonly after: string | undefined }[] {
  const around = { agent, relayOf: relayIn(before) };
  const [old, now] = [partsOf(before, around), partsOf(after, around)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((part) => ({ part, before: old.get(part), after: now.get(part) }))
    .filter((each) => each.before !== each.after);
}

export function scheduleText(change: ScheduleChange): string {
  const { name, here, after } = change;
  const { schedule } = after;
  const around = { agent: name, relayOf: relayIn(here) };
  const now = partsOf(after, around);
  const what = t`The ${schedule.kind} “${shownText((here ?? after).schedule.name)}” of ${name}`;
  if (after.removed) return t`${what} would be removed.`;
  const on = now.get('on') === 'no' ? t`, switched off` : '';
  if (here === null || here.removed) return t`${what} would be set: ${now.get('when') ?? ''}${on}.`;
  const old = partsOf(here, around);
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((part) => old.get(part) !== now.get(part));
  return t`${what} would change: ${changed.map((part) => changedText(part, old.get(part), now.get(part))).join('; ')}.`;
}

/** Longest value that stands in the line itself, in characters. */
const SHORT = 60;

function changedText(part: string, old: string | undefined, now: string | undefined): string {
  const isShort = [old, now].every((value) => value === undefined || (value.length <= SHORT && !value.includes('\n')));
  return isShort && part !== 'instructions' && part !== 'message'
    ? t`${part}: ${now ?? 'none'}, now ${old ?? 'none'}`
    : t`other ${part}`;
}

/** By the last part of its path. */
const LIMITS: Readonly<Record<string, string>> = {
  wakes_enabled: t`May be woken`,
  max_concurrent_pulse_sessions: t`Sessions at once`,
  cooldown_seconds: t`Pause between two wakes, in seconds`,
  max_daily_session_minutes: t`Minutes a day`,
  max_wakes_per_day: t`Wakes a day`,
  max_wakes_per_pair_per_day: t`Wakes a day by the same one`,
  max_wakes_per_session: t`Wakes of others in one session`,
  blackouts: t`Quiet hours`,
  sleep_events: t`Sleeps by itself`,
  wake_events: t`Wakes by itself`,
  may_put_others_to_sleep: t`May put others to sleep`,
  may_propose_routines: t`May ask for routines`,
  mind: t`The program that is its mind`,
  network: t`What its commands reach of the network`,
  command_seconds: t`Time of a command, in seconds`,
  workspace_megabytes: t`Room of its folder, in MB`,
  programs_at_once: t`ACP agents that start at once`,
  shell_without_sandbox: t`Commands without a sandbox, as whoever started the relay`,
  allowed_commands: t`Commands that run without asking`,
  daily_budget_usd: t`Budget a day`,
  pulse_container_timeout_ms: t`How long a run may take, in ms`,
  pulse_busy_wait_ms: t`How long a run waits for its agent, in ms`,
  pulse_columns: t`Columns that it takes tasks from`,
  pulse_transitions_to: t`Columns that it moves tasks to`,
  planning_model: t`Model that plans a task`,
  executor_model: t`Model that carries out a plan`,
  pulse_max_consecutive_skips: t`Skips in a row until a warning`,
  pulse_max_turns: t`Model requests of one run`,
  time_zone: t`Time zone`,
  max_wakes: t`Wakes at once in the household`,
  window_seconds: t`Seconds over which these are counted`,
  sleep_wait_seconds: t`Seconds that a sleeping agent’s call is held`,
};
const TOOLSETS: Readonly<Record<string, string>> = {
  team: t`The tools of the team`,
  schedule: t`The tools for later`,
  files: t`Files in its folder`,
  shell: t`Commands`,
  attached: t`MCP servers`,
  mind: t`What its program asks for`,
};
const GRANTS: Readonly<Record<string, string>> = { off: t`off`, ask: t`asks you`, allow: t`without asking` };

/** A limit as people call it; `isAgents`: of one agent, not of the household. */
export function labelOf(path: readonly string[], isAgents: boolean): string {
  const last = path.at(-1) ?? '';
  const group = path.at(-2);
  if (group === 'toolsets') return TOOLSETS[last] ?? shownText(last);
  if (group === 'tools') return t`The tool ${shownText(last)}`;
  if (last === 'daily_budget_usd' && group === 'coordination' && !isAgents) return t`Budget a day for each agent`;
  if (last === 'wakes_enabled' && group === undefined) return t`The switch of all wakes`;
  return LIMITS[last] ?? shownText(last);
}

/** What a limit is set to; a list in so many entries. */
export function limitValue(path: readonly string[], value: unknown): string {
  if (value === undefined) return t`not set`;
  if (path.at(-1) === 'network' && Array.isArray(value)) return shownText(value.join(', '));
  if (Array.isArray(value)) return value.length === 0 ? t`none` : plural(value.length, 'entry', 'entries');
  if (path.at(-1) === 'daily_budget_usd') return typeof value === 'number' ? budgetText(value) : t`no limit`;
  if (typeof value === 'boolean') return value ? t`yes` : t`no`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return path.includes('toolsets') || path.includes('tools') ? (GRANTS[text] ?? shownText(text)) : shownText(text);
}

/** What a million tokens cost. */
export function priceValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return t`none`;
  const { input, output, cacheRead, cacheWrite }: { readonly [amount: string]: unknown } = { ...value };
  // What was reckoned has a tail of digits that says nothing.
  const usd = (amount: unknown) => `$${String(typeof amount === 'number' ? Number(amount.toFixed(6)) : amount)}`;
  return t`${usd(input)} in, ${usd(output)} out, ${usd(cacheRead)} read again, ${usd(cacheWrite)} kept`;
}

const isTexts = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export function limitText({ record, agentId, name, field, path, here, after }: LimitChange): string {
  if (record === 'prices')
    return t`The price of ${field === '*' ? t`all other models` : t`“${shownText(field)}”`} for a million tokens: ${priceValue(after)}; here ${priceValue(here)}.`;
  const who = agentId === null ? t`For the household` : (name ?? t`Somebody unknown here`);
  return t`${who}: ${labelOf(path, agentId !== null)}: ${limitValue(path, after)}; here ${limitValue(path, here)}.`;
}

/** A list, entry by entry; null: the line says all. */
export function limitDetails({ here, after }: LimitChange): { readonly before: string; readonly after: string } | null {
  if (!isTexts(here) && !isTexts(after)) return null;
  const text = (value: unknown) =>
    isTexts(value)
      ? value.map((one) => revealedLine(typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
      : '';
  return { before: text(here), after: text(after) };
}
