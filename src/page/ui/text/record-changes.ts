/** Describes the changes that a file would make to schedules, limits and prices. Pure. */
import { shownText } from '../../../shared/domain/names.ts';
import type { McpServerRecord, Box } from '../../../shared/protocol/mcp.ts';
import type { ScheduleRecord } from '../../../shared/protocol/schedules.ts';
import { type Setting, settingAt } from '../../../shared/domain/setting-table.ts';
import { seatNumber } from '../../../shared/domain/seat.ts';
import { retold, t, translated } from '../../language/t.ts';
import type { ImportChange, ImportConflict } from '../../state/exports.ts';
import { timingText } from '../schedule/words.ts';
import { projectDetails, projectText } from './project-changes.ts';
import { asBeginning, count, names, plural } from './sizes.ts';
import { revealedLine } from './unseen.ts';
import { budgetText } from './money.ts';
import { fullTime } from './time.ts';
import {
  CATCH_UPS,
  type Choices,
  CONTEXTS,
  DREAMS,
  GRANTS,
  nameOfValue,
  NETWORKS,
  ON_FAILURE,
  OVERLAPS,
} from './value-names.ts';

// Describes an MCP server completely: what is started or called, how it is confined, and which
// tools agents use. Pure.

type McpServerChange = Extract<ImportChange, { kind: 'mcp-server' }>;

/** What a program can access in the sandbox. */
export function shownBox({ folder, reads, network }: Box): string {
  const reached = network === 'none' ? t`no network` : network === 'all' ? t`All that is public` : network.join(', ');
  return [
    folder === null ? t`no folder` : folder,
    ...(reads.length === 0 ? [] : [t`reads ${reads.join(', ')}`]),
    reached,
  ].join(' · ');
}

/** A word of a command. Words that a shell would split are quoted. */
const word = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text));

/** The exact command or address. */
const whereText = (where: NonNullable<McpServerRecord['where']>): string =>
  revealedLine(where.kind === 'address' ? where.url : [where.command, ...where.args].map(word).join(' '));

const usedOf = ({ tools }: McpServerRecord) =>
  Object.entries(tools).flatMap(([tool, { use }]) => (use ? [shownText(tool)] : []));

function mcpServerText({ after }: McpServerChange): string {
  const { where } = after;
  const what = t`The MCP server “${shownText(after.name)}”`;
  if (after.removed || where === null) return t`${what} would be removed.`;
  const used = usedOf(after);
  const tools = used.length === 0 ? '' : ` ${t`Agents could use ${names(used)}.`}`;
  if (where.kind === 'address') return `${t`${what} would be called at ${whereText(where)}.`}${tools}`;
  return where.box === null
    ? `${t`${what} would run on the relay’s machine without a sandbox, as the user that started the relay: ${whereText(where)}.`}${tools}`
    : `${t`${what} would run on the relay’s machine, in the sandbox: ${whereText(where)}.`}${tools}`;
}

/** All its parts, each with a label. */
function serverParts(record: McpServerRecord | null): string {
  if (!record?.where || record.removed) return '';
  const { name, where, secrets, agents } = record;
  const parts: [string, string][] =
    where.kind === 'address'
      ? [[t`Address`, revealedLine(where.url)]]
      : [
          [t`Program`, revealedLine(where.command)],
          ...where.args.map((arg): [string, string] => [t`argument`, revealedLine(arg)]),
          [
            t`Where it runs`,
            where.box === null ? t`No sandbox` : t`in the sandbox: ${revealedLine(shownBox(where.box))}`,
          ],
        ];
  return [
    [t`Name`, shownText(name)],
    ...parts,
    [t`Variables`, secrets.length === 0 ? t`nothing` : secrets.map(shownText).join(', ')],
    [t`Agents`, agents === null ? t`Everybody` : plural(agents.length, 'agent')],
    [t`Tools it may use`, usedOf(record).join(', ') || t`none`],
  ]
    .map(([part, value]) => `${part}: ${value}`)
    .join('\n');
}

const mcpServerDetails = ({ here, after }: McpServerChange): { readonly before: string; readonly after: string } => ({
  before: serverParts(here),
  after: serverParts(after),
});

type ScheduleChange = Extract<ImportChange, { kind: 'schedule' }>;
type LimitChange = Extract<ImportChange, { kind: 'limit' }>;

const yesOrNo = (value: boolean) => (value ? t`Yes` : t`No`);
const minutesOf = (ms: number) => String(ms / 60_000);
const INSTRUCTIONS = t`What it does`;
const MESSAGE = t`Message`;
const WHEN = t`When`;
/** Labels of parts that have sentences of their own. */
export const OFF_PART = t`off`;
export const RELAY_PART = t`The relay`;

/** `routine “Morning” of Lyra` */
export function scheduleName({ kind, name }: ScheduleRecord['schedule'], agent: string): string {
  const shown = shownText(name);
  const what = { routine: t`routine “${shown}”`, reminder: t`reminder “${shown}”`, script: t`Script “${shown}”` }[kind];
  return t`${what} of ${agent}`;
}

const named = (value: string | null, otherwise: string) => (value === null ? otherwise : shownText(value));

/** Relays have no names, so the text says only whether it runs at this relay now. */
const relayIn =
  (here: ScheduleRecord | null) =>
  (relay: string): string =>
    relay === here?.homeRelay
      ? t`the one where it is due now`
      : here === null
        ? t`the one that it names`
        : t`another one of yours`;

/** All its parts, each with a label; defaults are left out. `agent`: its name. */
function partsOf(
  { schedule, removed, homeRelay, wanted, turn, position }: ScheduleRecord,
  { agent, relayOf }: { readonly agent: string; readonly relayOf: (relay: string) => string },
): ReadonlyMap<string, string> {
  const { timing } = schedule;
  const parts: [string, string][] = [
    [t`Name`, shownText(schedule.name)],
    [t`Agent`, agent],
    [WHEN, timing.kind === 'once' ? t`once, ${fullTime(timing.at)}` : timingText(timing, 0)],
    [t`removed`, yesOrNo(removed)],
    [t`place in the order`, String(position + 1)],
    [RELAY_PART, relayOf(homeRelay)],
    [t`asked for by the relay`, wanted === null ? t`none` : relayOf(wanted)],
    [t`times it changed its relay`, String(turn)],
  ];
  if (timing.kind === 'every' && timing.offset !== null)
    parts.push([t`Offset in minutes (optional)`, String(timing.offset)]);
  switch (schedule.kind) {
    case 'routine':
      parts.push(
        [OFF_PART, yesOrNo(!schedule.enabled)],
        [t`Model`, named(schedule.model, t`As its agent’s`)],
        [t`Model of the first request`, named(schedule.planningModel, t`The one above`)],
        [t`Model after tools were used`, named(schedule.executorModel, t`The one above`)],
        [
          t`Tools it may use`,
          schedule.tools === null ? t`all that it has` : schedule.tools.map(shownText).join(', ') || t`none`,
        ],
        [t`Minutes it may take`, schedule.timeoutMs === null ? t`As its agent’s` : minutesOf(schedule.timeoutMs)],
        [t`Runs of it at once`, String(schedule.maxConcurrent)],
        [t`Model requests it may make`, schedule.maxTurns === null ? t`As its agent’s` : String(schedule.maxTurns)],
        [t`What it remembers`, nameOfValue(CONTEXTS, schedule.context)],
        [t`When the relay was away`, nameOfValue(CATCH_UPS, schedule.catch_up)],
        [t`Only when something waits for it`, yesOrNo(schedule.when === 'something_waits')],
        [t`Colour`, named(schedule.color, t`As its agent’s`)],
        [INSTRUCTIONS, schedule.instructions],
      );
      break;
    case 'reminder':
      parts.push([MESSAGE, schedule.message], [t`What it remembers`, nameOfValue(CONTEXTS, schedule.context)]);
      break;
    case 'script':
      parts.push(
        [OFF_PART, yesOrNo(!schedule.enabled)],
        [t`Script`, revealedLine(schedule.script)],
        [t`fingerprint of the script`, schedule.sha256 ?? t`none: it is not pinned`],
        [t`Seconds it may take`, String(schedule.timeoutMs / 1_000)],
        [t`Reaches`, schedule.hosts?.map(revealedLine).join(', ') || t`no network`],
        [t`reaches of the relay’s machine`, schedule.own_hosts?.map(revealedLine).join(', ') || t`none`],
        [t`Where it fails`, nameOfValue(ON_FAILURE, schedule.on_failure)],
        [t`Where it still runs when it is due again`, nameOfValue(OVERLAPS, schedule.overlap)],
        [t`What it remembers`, nameOfValue(CONTEXTS, schedule.context)],
      );
      break;
    default:
      return schedule satisfies never;
  }
  return new Map(parts);
}

/** The complete text of a routine, a reminder or a script. */
function scheduleDetails({ name, here, after }: ScheduleChange): {
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

/** The parts that changed, in words; `undefined`: there was no such part. `agent`: its name. */
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

function scheduleText(change: ScheduleChange): string {
  const { name, here, after } = change;
  const around = { agent: name, relayOf: relayIn(here) };
  const now = partsOf(after, around);
  const what = asBeginning(scheduleName((here ?? after).schedule, name));
  if (after.removed) return t`${what} would be removed.`;
  const on = now.get(OFF_PART) === t`Yes` ? `, ${OFF_PART}` : '';
  if (here === null || here.removed) return t`${what} would be set: ${now.get(WHEN) ?? ''}${on}.`;
  const old = partsOf(here, around);
  const changed = [...new Set([...old.keys(), ...now.keys()])].filter((part) => old.get(part) !== now.get(part));
  return t`${what} would change: ${changed.map((part) => changedText(part, old.get(part), now.get(part))).join('; ')}.`;
}

/** Longest inline value, in characters. */
const SHORT = 60;

function changedText(part: string, old: string | undefined, now: string | undefined): string {
  const isShort = [old, now].every((value) => value === undefined || (value.length <= SHORT && !value.includes('\n')));
  return isShort && part !== INSTRUCTIONS && part !== MESSAGE
    ? t`${part}: ${now ?? t`none`}, now ${old ?? t`none`}`
    : part;
}

/** The label of a limit; `isAgents`: of one agent, not of the household. */
export function labelOf(path: readonly string[], isAgents: boolean): string {
  const last = path.at(-1) ?? '';
  if (path.at(-2) === 'tools') return t`The tool ${shownText(last)}`;
  if (last === 'daily_budget_usd' && path.length > 1 && !isAgents) return t`Budget a day, each agent`;
  const setting = settingAt(path);
  return setting ? retold(setting.label) : shownText(last);
}

/** With its unit: `120 seconds`. */
export function numberText({ unit, per = 1 }: Setting, value: number): string {
  return unit === undefined ? count(value) : `${count(value / per)} ${retold(unit)}`;
}

function choicesAt(path: readonly string[]): Choices<string> {
  if (path.includes('toolsets') || path.includes('tools')) return GRANTS;
  return { dreams: DREAMS, network: NETWORKS }[path.at(-1) ?? ''] ?? [];
}

/** The value of a limit; a list as the number of its entries. */
export function limitValue(path: readonly string[], value: unknown): string {
  if (value === undefined) return t`not set`;
  if (path.at(-1) === 'network' && Array.isArray(value)) return shownText(value.join(', '));
  if (Array.isArray(value)) return value.length === 0 ? t`none` : plural(value.length, 'entry', 'entries');
  if (path.at(-1) === 'daily_budget_usd') return typeof value === 'number' ? budgetText(value) : t`no limit`;
  if (typeof value === 'boolean') return value ? t`Yes` : t`No`;
  const setting = settingAt(path);
  if (typeof value === 'number' && setting) return numberText(setting, value);
  if (value === null && path.at(-1) === 'mind') return t`The connected models`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return shownText(nameOfValue(choicesAt(path), text));
}

/** The price of a million tokens. */
export function priceValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return t`none`;
  const { input, output, cacheRead, cacheWrite }: { readonly [amount: string]: unknown } = { ...value };
  // Computed values have meaningless trailing digits.
  const usd = (amount: unknown) => `$${String(typeof amount === 'number' ? Number(amount.toFixed(6)) : amount)}`;
  return t`${usd(input)} in, ${usd(output)} out, ${usd(cacheRead)} cache read, ${usd(cacheWrite)} cache write`;
}

const isTexts = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function limitText({ record, agentId, name, field, path, here, after }: LimitChange): string {
  if (record === 'prices')
    return t`The price of ${field === '*' ? t`all other models` : t`“${shownText(field)}”`} for a million tokens: ${priceValue(after)}; here ${priceValue(here)}.`;
  const who = agentId === null ? t`For the household` : (name ?? t`Somebody unknown here`);
  return t`${who}: ${labelOf(path, agentId !== null)}: ${limitValue(path, after)}; here ${limitValue(path, here)}.`;
}

/** A list, entry by entry; null: the line is complete. */
function limitDetails({ here, after }: LimitChange): { readonly before: string; readonly after: string } | null {
  if (!isTexts(here) && !isTexts(after)) return null;
  const text = (value: unknown) =>
    isTexts(value)
      ? value.map((one) => revealedLine(typeof one === 'string' ? one : JSON.stringify(one))).join('\n')
      : '';
  return { before: text(here), after: text(after) };
}

// Describes conflicts and changes of an import.

/** Longest value that is shown completely, in characters. */
const VALUE_MAX = 40;

function valueText(key: string, value: unknown): string {
  if (value === '' || value === undefined || value === null) return t`the original`;
  if (typeof value === 'number' && (key === 'runsReadTo' || key === 'runsReadFrom')) return fullTime(value);
  const setting = settingAt([key]);
  if (typeof value === 'number' && setting) return numberText(setting, value);
  const text = shownText(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > VALUE_MAX ? t`a text of ${plural(text.length, 'character')}` : t`“${text}”`;
}

const seat = (position: number | null) => (position === null ? t`no seat` : t`seat ${seatNumber(position)}`);

type AgentChange = Extract<ImportChange, { kind: 'agent' }>;
function agentChangeText({ here, after, what }: AgentChange): string {
  switch (what) {
    case 'name':
      return t`${here.name} would be called “${after.name}”.`;
    case 'soul':
      return t`${here.name} would have another soul (${plural(after.soul.length, 'character')}; now ${here.soul.length}).`;
    case 'seat':
      return t`${here.name} would have ${seat(after.position)}; now ${seat(here.position)}.`;
    case 'retired':
      return after.retired ? t`${here.name} would be retired.` : t`${here.name} would be back from retirement.`;
    default:
      return what satisfies never;
  }
}

type ThreadChange = Extract<ImportChange, { kind: 'thread' }>;
function threadText({ here, after, closed, wasClosed, members, membersHere }: ThreadChange): string {
  const changes = [
    here === after ? null : t`called “${shownText(after)}”`,
    (closed !== null) === wasClosed ? null : closed === null ? t`open again` : t`closed`,
    members.join() === membersHere.join() ? null : t`with ${names(members) || t`nobody`}; now ${names(membersHere)}`,
  ].filter((change) => change !== null);
  const what = t`The thread “${shownText(here ?? after)}” would be`;
  return changes.length === 0 ? t`${what} as the file has it.` : `${what} ${changes.join(', ')}.`;
}

interface Texts {
  readonly before: string;
  readonly after: string;
}

/** The complete content of a change, if its line does not contain all of it. */
export function changeDetails(change: ImportChange): Texts | null {
  switch (change.kind) {
    case 'agent':
      return change.what === 'soul' ? { before: change.here.soul, after: change.after.soul } : null;
    case 'birth':
      return change.here.soul === change.after.soul ? null : { before: change.here.soul, after: change.after.soul };
    case 'setting': {
      const [before, after] = [change.here, change.file].map((value) => (typeof value === 'string' ? value : ''));
      return [before, after].some((text = '') => text.length > VALUE_MAX)
        ? { before: before ?? '', after: after ?? '' }
        : null;
    }
    case 'mcp-server':
      return mcpServerDetails(change);
    case 'schedule':
      return scheduleDetails(change);
    case 'project':
      return projectDetails(change);
    case 'limit':
      return limitDetails(change);
    case 'thread':
      return change.closed === null || change.wasClosed ? null : { before: '', after: change.closed };
    case 'takes-seat':
    case 'forget':
    case 'keep':
    case 'edits':
    case 'thread-messages':
    case 'records':
    case 'newer':
    case 'queued':
    case 'ahead':
    case 'soul-edited':
      return null;
    default:
      return change satisfies never;
  }
}

/** One change that a file would make and that needs a tick. */
export function changeText(change: ImportChange): string {
  switch (change.kind) {
    case 'agent':
      return agentChangeText(change);
    case 'birth':
      return t`${change.here.name} would have the birth that the file tells of: called “${change.after.name}”, with a soul of ${plural(change.after.soul.length, 'character')} (now ${change.here.soul.length}).`;
    case 'takes-seat':
      return t`${change.name} was born earlier than ${change.here}, and would have seat ${seatNumber(change.position)}. Without this tick, ${change.name} does not come.`;
    case 'setting': {
      const { key, here, file, isDefaultHere } = change;
      return `${settingAt([key]) ? labelOf([key], false) : t`The setting “${shownText(key)}”`}: ${valueText(key, file)}; ${isDefaultHere ? t`never set here` : t`here ${valueText(key, here)}`}.`;
    }
    case 'forget': {
      const who = change.name ?? t`Somebody unknown here`;
      if (change.what === 'items')
        return t`What mentions certain words, or was answered by a tool, would be forgotten, for good on ${fullTime(change.finalAt)}.`;
      if (change.what === 'span')
        return t`What was said in a span of time would be forgotten, for good on ${fullTime(change.finalAt)}.`;
      return t`${change.what === 'agent' ? t`Everything about ${who}` : t`Conversation with ${who}`} would be forgotten, for good on ${fullTime(change.finalAt)}.`;
    }
    case 'keep':
      return t`What you asked here to be forgotten would stay.`;
    case 'edits':
      return t`${plural(change.messages, 'message')} to ${change.name} would replace earlier ones. The messages after them here would be hidden.`;
    case 'mcp-server':
      return mcpServerText(change);
    case 'schedule':
      return scheduleText(change);
    case 'project':
      return projectText(change);
    case 'limit':
      return limitText(change);
    case 'thread':
      return threadText(change);
    case 'thread-messages': {
      const { title, messages, yours } = change;
      return t`${plural(messages, 'message')} would come into the thread “${shownText(title)}”${yours > 0 ? t`, ${yours} of them as yours` : ''}.`;
    }
    case 'newer':
      return t`${plural(change.documents, 'entry', 'entries')} that a newer Roost wrote: what they would change shows only there.`;
    case 'records':
      return t`${retold(translated(change.what))}: ${plural(change.documents, 'entry', 'entries')} that the file has and this household does not.`;
    case 'queued':
      return t`${plural(change.messages, 'message')} would be sent as yours when everybody wakes.`;
    case 'ahead':
      return t`${plural(change.documents, 'entry', 'entries')} dated ahead of this device’s clock, up to ${fullTime(change.latest)}. This clock or another device’s is wrong. They would come after everything here, and what you write next comes after them.`;
    case 'soul-edited':
      return t`The soul would be the one in SOUL.md, as it was edited.`;
    default:
      return change satisfies never;
  }
}

export const neverText = (documents: number): string =>
  plural(
    documents,
    'entry is not taken: it is dated more than a hundred years ahead of this device’s clock.',
    'entries are not taken: they are dated more than a hundred years ahead of this device’s clock.',
  );

export const unfitText = (documents: number): string =>
  plural(
    documents,
    'entry is not taken: this Roost cannot use it.',
    'entries are not taken: this Roost cannot use them.',
  );

/** One conflict: the two sides, and what holds afterwards. */
export function conflictText(conflict: ImportConflict): string {
  switch (conflict.kind) {
    case 'seat': {
      const { position, file, here, sits } = conflict;
      const [first, second] =
        sits === file.agentId
          ? [t`${file.name} (in the file)`, t`${here.name} (here)`]
          : [t`${here.name} (here)`, t`${file.name} (in the file)`];
      return t`Seat ${seatNumber(position)} is wanted by two. ${first} was born first and sits; ${second} waits for another seat, which you give under Team.`;
    }
    case 'lead':
      return t`There is one lead. Here it is ${conflict.here}, in the file ${conflict.file}; afterwards it is ${conflict.after}.`;
    case 'never':
      return neverText(conflict.documents);
    case 'unfit':
      return unfitText(conflict.documents);
    case 'different':
      return plural(
        conflict.documents,
        'entry is here already with other contents. What is here stays.',
        'entries are here already with other contents. What is here stays.',
      );
    default:
      return conflict satisfies never;
  }
}
