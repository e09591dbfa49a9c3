/**
 * The `[WAKE AGENTS]` and `[SUMMON AGENTS]` messages: written by the page, forwarded to the lead as they
 * are, read by the relay. The reader is strict: what the writer could not have written is refused with
 * the place and the reason, and nothing is guessed.
 */
import { escapeAttribute, escapeText, unescapeText } from './escape.ts';
import { isSeatPosition, type SeatPosition } from './seat.ts';

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

/** Does this message claim to be a call to the team? Only then is it parsed, and refused if malformed. */
export function isTeamCall(text: string): boolean {
  const start = text.trimStart();
  return start.startsWith(WAKE_TAG) || start.startsWith(SUMMON_TAG);
}

const attribute = (name: string, value: string | number) => `${name}="${escapeAttribute(String(value))}"`;

export function writeWake(agents: readonly AgentPayload[]): string {
  const lines = [WAKE_TAG, '<agent-payloads>'];
  for (const agent of agents) {
    const head = [
      attribute('name', agent.name),
      attribute('color', agent.color),
      attribute('colorName', agent.colorName),
      attribute('position', agent.position),
      attribute('id', agent.id),
    ].join(' ');
    lines.push(`  <agent ${head}>`);
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
      `  <seat ${attribute('position', seat.position)} ${attribute('color', seat.color)} ${attribute('colorName', seat.colorName)}/>`,
  );
  return [SUMMON_TAG, '<seats>', ...rows, '</seats>'].join('\n');
}

class Malformed extends Error {}

/** A cursor over the text. Each method consumes what it names or throws `Malformed` with the offset. */
function createReader(text: string) {
  let at = 0;
  const fail = (what: string): never => {
    throw new Malformed(`${what} at character ${at}`);
  };
  const space = () => {
    while (at < text.length && ' \t\n'.includes(text[at] ?? '')) at++;
  };
  const startsWith = (token: string) => text.startsWith(token, at);
  const expect = (token: string) => {
    if (!startsWith(token)) fail(`expected ${token}`);
    at += token.length;
  };
  const decode = (raw: string, what: string) => unescapeText(raw) ?? fail(`an unknown "&" reference in ${what}`);
  return {
    space,
    startsWith,
    expect,
    fail,
    atEnd: () => at >= text.length,
    /** The decoded text up to `<`, which must begin `closing`. */
    content(closing: string): string {
      const end = text.indexOf('<', at);
      if (end < 0) fail(`no ${closing}`);
      const raw = text.slice(at, end);
      if (raw.includes('>')) fail(`a bare ">" before ${closing}`);
      at = end;
      expect(closing);
      return decode(raw, `the text before ${closing}`);
    },
    /** `name="value"` pairs up to `>` or `/>`: exactly the named ones, each once, in any order. */
    attributes<Name extends string>(names: readonly Name[], closing: string): Record<Name, string> {
      const found: Partial<Record<Name, string>> = {};
      for (;;) {
        space();
        if (startsWith(closing)) break;
        const match = /^([A-Za-z]+)="([^"<>]*)"/.exec(text.slice(at, at + 100_000));
        if (!match) return fail(`expected an attribute or ${closing}`);
        const name = names.find((known) => known === match[1]);
        if (!name) return fail(`unknown attribute "${match[1]}"`);
        if (found[name] !== undefined) fail(`attribute "${name}" twice`);
        found[name] = decode(match[2] ?? '', `attribute "${name}"`);
        at += match[0].length;
      }
      const complete = (record: Partial<Record<Name, string>>): record is Record<Name, string> =>
        names.every((name) => record[name] !== undefined);
      if (!complete(found)) return fail(`attribute "${names.find((name) => found[name] === undefined)}" is missing`);
      expect(closing);
      return found;
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

function readAgents(reader: Reader): AgentPayload[] {
  const agents: AgentPayload[] = [];
  const taken = new Set<number>();
  reader.expect('<agent-payloads>');
  for (reader.space(); reader.startsWith('<agent '); reader.space()) {
    reader.expect('<agent ');
    const head = reader.attributes(['name', 'color', 'colorName', 'position', 'id'], '>');
    const position = readPosition(reader, head.position, taken);
    if (head.id === '' || agents.some((agent) => agent.id === head.id)) reader.fail(`agent id "${head.id}" is empty or stands twice`);
    let soul: string | null = null;
    let transcript: string | null = null;
    reader.space();
    if (reader.startsWith('<soul>')) {
      reader.expect('<soul>');
      soul = reader.content('</soul>');
      reader.space();
    }
    if (reader.startsWith('<transcript>')) {
      reader.expect('<transcript>');
      transcript = reader.content('</transcript>');
      reader.space();
    }
    reader.expect('</agent>');
    agents.push({ id: head.id, name: head.name, color: head.color, colorName: head.colorName, position, soul, transcript });
  }
  reader.expect('</agent-payloads>');
  if (agents.length === 0) reader.fail('no agent');
  return agents;
}

function readSeats(reader: Reader): SeatPayload[] {
  const seats: SeatPayload[] = [];
  const taken = new Set<number>();
  reader.expect('<seats>');
  for (reader.space(); reader.startsWith('<seat '); reader.space()) {
    reader.expect('<seat ');
    const head = reader.attributes(['position', 'color', 'colorName'], '/>');
    seats.push({ position: readPosition(reader, head.position, taken), color: head.color, colorName: head.colorName });
  }
  reader.expect('</seats>');
  if (seats.length === 0) reader.fail('no seat');
  return seats;
}

/** Reads a call to the team. Never throws; `reason` says what is wrong and where. */
export function parseTeamCall(text: string): ParsedCall {
  const reader = createReader(text);
  try {
    reader.space();
    let call: TeamCall;
    if (reader.startsWith(WAKE_TAG)) {
      reader.expect(WAKE_TAG);
      reader.space();
      call = { kind: 'wake', agents: readAgents(reader) };
    } else {
      reader.expect(SUMMON_TAG);
      reader.space();
      call = { kind: 'summon', seats: readSeats(reader) };
    }
    reader.space();
    if (!reader.atEnd()) reader.fail('text after the end');
    return { ok: true, call };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}
