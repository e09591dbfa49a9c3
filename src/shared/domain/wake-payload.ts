/**
 * The `[WAKE AGENTS]` and `[SUMMON AGENTS]` messages.
 *
 * The page writes them and the relay parses them. The relay tells the lead who is called, and
 * passes each soul and transcript only to its own agent. The parser ignores layout: white space
 * between tags, the order of attributes, quotation marks in text. It is strict about everything
 * else. Unknown, missing, duplicate or malformed parts are refused with position and reason, and
 * nothing is guessed.
 */
import { withoutDisclaimers } from './demo-words.ts';
import { isAgentId } from './agent-id.ts';
import { onOneLine } from './quoting.ts';
import { isSameName } from './names.ts';
import { isSeatPosition, LEAD_ID, type SeatPosition } from './seat.ts';

// Escaping of text inside the `[WAKE AGENTS]` and `[SUMMON AGENTS]` messages.
//
// XML 1.0 cannot represent NUL, most control characters or half a surrogate pair, and souls may
// contain all of them. The five XML entities are therefore not enough. Every character that XML
// forbids, or that a transport may change, such as a carriage return, is written as `&#x…;` with
// its UTF-16 code unit. `unescapeText(escapeText(s)) === s` for every JavaScript string.

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const CHARACTERS = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

// Markup, C0 and C1 controls except tab and newline, line separators, lone surrogates, BOM and
// non-characters.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[&<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function escapeText(text: string): string {
  return text.replace(UNSAFE, (char) => ENTITIES[char] ?? `&#x${char.charCodeAt(0).toString(16)};`);
}

/** Like `escapeText`, but also escapes tab and newline, so that an attribute stays on one line. */
export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/[\t\n]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`);
}

const LAST_CODE_POINT = 0x10ffff;

/**
 * Reverses the escaping. Null if an `&` does not begin a known reference: one of the five entities,
 * or a code unit or code point as `&#…;` or `&#x…;`.
 */
export function unescapeText(text: string): string | null {
  let bad = false;
  const plain = text.replace(
    /&(?:#x([0-9a-f]{1,6});|#(\d{1,7});|([a-z]+);)?/gi,
    (all, hex?: string, decimal?: string, name = '') => {
      const number = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : null;
      if (number !== null && number <= LAST_CODE_POINT) return String.fromCodePoint(number);
      const character = CHARACTERS.get(name);
      bad ||= character === undefined;
      return character ?? all;
    },
  );
  return bad ? null : plain;
}

export const WAKE_TAG = '[WAKE AGENTS]';
export const SUMMON_TAG = '[SUMMON AGENTS]';

export interface AgentPayload {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly colorName: string;
  readonly position: SeatPosition;
  readonly soul: string | null;
  readonly transcript: string | null;
  /**
   * When the last message was said that the agent remembers, in ms since the epoch. Left out:
   * unknown.
   */
  readonly asleepSince?: number;
  /** When the agent fell asleep, in ms since the epoch. Left out: with that last message. */
  readonly sleptFrom?: number;
}

export interface SeatPayload {
  readonly position: SeatPosition;
  readonly color: string;
  readonly colorName: string;
}

export type TeamCall =
  | { readonly kind: 'wake'; readonly agents: readonly AgentPayload[] }
  | { readonly kind: 'summon'; readonly seats: readonly SeatPayload[] };

export type ParsedCall =
  | { readonly ok: true; readonly call: TeamCall }
  | { readonly ok: false; readonly reason: string };

/** Whether this message is a call to the team. Only then is it parsed, and refused if malformed. */
export function isTeamCall(text: string): boolean {
  const start = text.trimStart();
  return start.startsWith(WAKE_TAG) || start.startsWith(SUMMON_TAG);
}

const attribute = (name: string, value: string | number) => ` ${name}="${escapeAttribute(String(value))}"`;

export function writeWake(agents: readonly AgentPayload[]): string {
  const lines = [WAKE_TAG, '<agent-payloads>'];
  for (const agent of agents) {
    const head =
      attribute('name', agent.name) +
      attribute('color', agent.color) +
      attribute('colorName', agent.colorName) +
      attribute('position', agent.position) +
      attribute('id', agent.id) +
      (agent.asleepSince === undefined ? '' : attribute('asleepSince', agent.asleepSince)) +
      (agent.sleptFrom === undefined ? '' : attribute('sleptFrom', agent.sleptFrom));
    lines.push(`  <agent${head}>`);
    if (agent.soul !== null) lines.push(`    <soul>${escapeText(agent.soul)}</soul>`);
    if (agent.transcript !== null) lines.push(`    <transcript>${escapeText(agent.transcript)}</transcript>`);
    lines.push('  </agent>');
  }
  lines.push('</agent-payloads>');
  return lines.join('\n');
}

export function writeSummon(seats: readonly SeatPayload[]): string {
  const rows = seats.map(
    (seat) =>
      `  <seat${attribute('position', seat.position)}${attribute('color', seat.color)}${attribute('colorName', seat.colorName)}/>`,
  );
  return [SUMMON_TAG, '<seats>', ...rows, '</seats>'].join('\n');
}

/**
 * The first `length` UTF-16 units of a text, marked if it was cut. Surrogate pairs are not split.
 */
function beginningOf(text: string, length: number): string {
  // On one line, so that no part of it can pass for a line of the relay.
  const whole = onOneLine(text);
  if (whole.length <= length) return whole;
  return `${whole.slice(0, Math.max(0, length - 1)).replace(/[\ud800-\udbff]$/, '')}…`;
}

/**
 * The same call as the lead sees it: who is called, and the first words of each soul. If the lead
 * read all souls and transcripts, a wake and each later turn of the lead would cost more than twice
 * as much.
 */
export function writeForLead(call: TeamCall, firstWords: number): string {
  if (call.kind === 'summon') return writeSummon(call.seats);
  const lines = call.agents.map((agent) => {
    const head =
      attribute('name', agent.name) +
      attribute('color', agent.color) +
      attribute('colorName', agent.colorName) +
      attribute('position', agent.position);
    return agent.soul === null || firstWords === 0
      ? `  <agent${head}/>`
      : `  <agent${head}>${escapeText(beginningOf(withoutDisclaimers(agent.soul), firstWords))}</agent>`;
  });
  return [WAKE_TAG, '<agents>', ...lines, '</agents>'].join('\n');
}

/** The positions in a call of either kind. Empty if the text is not a call. */
export function positionsCalled(text: string): number[] {
  return isTeamCall(text)
    ? [...text.matchAll(/<(?:agent|seat)\b[^<>]* position="(\d)"/g)].map(([, position]) => Number(position))
    : [];
}

class Malformed extends Error {}

const SPACE = /[ \t\r\n]*/y;
const ATTRIBUTE = /([A-Za-z]+)="([^"<]*)"/y;

/**
 * A cursor over the text. Each method consumes what it names, or throws `Malformed` with the
 * offset.
 */
function createReader(text: string) {
  let at = 0;
  const fail = (what: string): never => {
    throw new Malformed(`${what} at character ${at}`);
  };
  const startsWith = (token: string) => text.startsWith(token, at);
  const expect = (token: string) => {
    if (!startsWith(token)) fail(`expected ${JSON.stringify(token)}`);
    at += token.length;
  };
  /** Skips white space between elements and attributes. Returns whether there was any. */
  const space = (): boolean => {
    const from = at;
    SPACE.lastIndex = from;
    SPACE.test(text);
    at = SPACE.lastIndex;
    return at > from;
  };
  const decode = (raw: string, what: string) =>
    unescapeText(raw) ?? fail(`an "&" that begins no known reference in ${what}`);
  return {
    startsWith,
    expect,
    fail,
    space,
    atEnd: () => at === text.length,
    /**
     * `name="value"` pairs up to `closing`, in any order: each of `names` once, and any of
     * `optional`.
     */
    attributes<Name extends string, Optional extends string = never>(
      names: readonly Name[],
      closing: string,
      optional: readonly Optional[] = [],
    ): Record<Name, string> & Partial<Record<Optional, string>> {
      const values: Partial<Record<Name | Optional, string>> = {};
      while (space() && !startsWith(closing)) {
        ATTRIBUTE.lastIndex = at;
        const match = ATTRIBUTE.exec(text);
        if (!match) return fail(`expected an attribute or ${JSON.stringify(closing)}`);
        const [whole, given, raw = ''] = match;
        const name = [...names, ...optional].find((known) => known === given);
        if (name === undefined) return fail(`unknown attribute "${given}"`);
        if (values[name] !== undefined) fail(`attribute "${name}" twice`);
        values[name] = decode(raw, `attribute "${name}"`);
        at += whole.length;
      }
      type Complete = Record<Name, string> & Partial<Record<Optional, string>>;
      const isComplete = (record: Partial<Record<Name | Optional, string>>): record is Complete =>
        names.every((name) => record[name] !== undefined);
      if (!isComplete(values))
        return fail(`attribute "${names.find((name) => values[name] === undefined)}" is missing`);
      expect(closing);
      return values;
    },
    /** The text of `<tag>…</tag>`, and skips white space after it. Null if the tag is not there. */
    optional(tag: string): string | null {
      if (!startsWith(`<${tag}>`)) return null;
      expect(`<${tag}>`);
      const end = text.indexOf('<', at);
      if (end < 0) fail(`no "</${tag}>"`);
      const plain = decode(text.slice(at, end), tag);
      at = end;
      expect(`</${tag}>`);
      space();
      return plain;
    },
  };
}
type Reader = ReturnType<typeof createReader>;

function readPosition(reader: Reader, raw: string, taken: Set<number>): SeatPosition {
  const position = Number(raw);
  if (!/^\d$/.test(raw) || !isSeatPosition(position)) return reader.fail(`position "${raw}" is not an agent's seat`);
  if (taken.has(position)) reader.fail(`position ${position} twice`);
  taken.add(position);
  return position;
}

/** The elements between `<tag>` and `</tag>`. At least one. */
function readAll<T>(reader: Reader, tag: string, element: string, read: () => T): T[] {
  const all: T[] = [];
  reader.space();
  reader.expect(`<${tag}>`);
  for (reader.space(); reader.startsWith(`<${element}`); reader.space()) {
    reader.expect(`<${element}`);
    all.push(read());
  }
  reader.expect(`</${tag}>`);
  if (all.length === 0) reader.fail(`no ${element}`);
  return all;
}

/** A member of the team. A payload without an id is matched by name and seat. */
export interface Housemate {
  readonly agentId: string;
  readonly name: string;
  readonly position: number | null;
}

function readAgents(reader: Reader, team: readonly Housemate[]): AgentPayload[] {
  const taken = new Set<number>();
  const ids = new Set<string>();
  return readAll(reader, 'agent-payloads', 'agent', () => {
    const {
      id: given,
      position: raw,
      asleepSince,
      sleptFrom,
      ...head
    } = reader.attributes(['name', 'color', 'colorName', 'position'], '>', ['id', 'asleepSince', 'sleptFrom']);
    for (const [name, time] of Object.entries({ asleepSince, sleptFrom }))
      if (time !== undefined && !/^\d{1,15}$/.test(time)) reader.fail(`${name} "${time}" is no time in ms`);
    const position = readPosition(reader, raw, taken);
    const id =
      given ??
      team.find((member) => member.position === position && isSameName(member.name, head.name))?.agentId ??
      reader.fail(`attribute "id" is missing, and nobody called "${head.name}" has position ${position}`);
    if (!isAgentId(id) || id === LEAD_ID) reader.fail(`agent id ${JSON.stringify(id)} is none that an agent can have`);
    if (ids.has(id)) reader.fail(`agent id "${id}" stands twice`);
    ids.add(id);
    reader.space();
    const soul = reader.optional('soul');
    const transcript = reader.optional('transcript');
    reader.expect('</agent>');
    return {
      ...head,
      id,
      position,
      soul,
      transcript,
      ...(asleepSince === undefined ? {} : { asleepSince: Number(asleepSince) }),
      ...(sleptFrom === undefined ? {} : { sleptFrom: Number(sleptFrom) }),
    };
  });
}

function readSeats(reader: Reader): SeatPayload[] {
  const taken = new Set<number>();
  return readAll(reader, 'seats', 'seat', () => {
    const { position, ...colors } = reader.attributes(['position', 'color', 'colorName'], '/>');
    return { position: readPosition(reader, position, taken), ...colors };
  });
}

/**
 * Parses a call to the team. Never throws; `reason` says what is wrong and where.
 *
 * `team` resolves agents that are called by name and position only. Without it, each agent needs an
 * id.
 */
export function parseTeamCall(text: string, team: readonly Housemate[] = []): ParsedCall {
  const reader = createReader(text);
  try {
    reader.space();
    const wakes = reader.startsWith(WAKE_TAG);
    reader.expect(wakes ? WAKE_TAG : SUMMON_TAG);
    const call: TeamCall = wakes
      ? { kind: 'wake', agents: readAgents(reader, team) }
      : { kind: 'summon', seats: readSeats(reader) };
    reader.space();
    if (!reader.atEnd()) reader.fail('text after the end');
    return { ok: true, call };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}
