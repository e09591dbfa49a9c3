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

const attribute = (name: string, value: string | number) => ` ${name}="${escapeAttribute(String(value))}"`;

export function writeWake(agents: readonly AgentPayload[]): string {
  const lines = [WAKE_TAG, '<agent-payloads>'];
  for (const agent of agents) {
    const head =
      attribute('name', agent.name) +
      attribute('color', agent.color) +
      attribute('colorName', agent.colorName) +
      attribute('position', agent.position) +
      attribute('id', agent.id);
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

class Malformed extends Error {}

/** A cursor over the text. Each method consumes exactly what the writer writes, or throws `Malformed` with the offset. */
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
  /** The text behind an escaped one that ends at `closing`. */
  const escaped = (closing: string, escape: (plain: string) => string, what: string): string => {
    const end = text.indexOf(closing, at);
    if (end < 0) fail(`no ${JSON.stringify(closing)} after ${what}`);
    const raw = text.slice(at, end);
    const plain = unescapeText(raw);
    if (plain === null || escape(plain) !== raw) return fail(`something that is not escaped as it must be in ${what}`);
    at = end + closing.length;
    return plain;
  };
  return {
    startsWith,
    expect,
    fail,
    atEnd: () => at === text.length,
    attribute(name: string): string {
      expect(` ${name}="`);
      return escaped('"', escapeAttribute, `attribute "${name}"`);
    },
    /** A whole line of `<tag>…</tag>`, or null where there is none. */
    optional(tag: string): string | null {
      const opening = `    <${tag}>`;
      if (!startsWith(opening)) return null;
      expect(opening);
      return escaped(`</${tag}>\n`, escapeText, tag);
    },
  };
}
type Reader = ReturnType<typeof createReader>;

function readPosition(reader: Reader, taken: Set<number>): SeatPosition {
  const raw = reader.attribute('position');
  const position = Number(raw);
  if (!/^\d$/.test(raw) || !isSeatPosition(position)) return reader.fail(`position "${raw}" is not an agent's seat`);
  if (taken.has(position)) reader.fail(`position ${position} twice`);
  taken.add(position);
  return position;
}

function readAgents(reader: Reader): AgentPayload[] {
  const agents: AgentPayload[] = [];
  const taken = new Set<number>();
  reader.expect(`${WAKE_TAG}\n<agent-payloads>\n`);
  while (reader.startsWith('  <agent')) {
    reader.expect('  <agent');
    const name = reader.attribute('name');
    const color = reader.attribute('color');
    const colorName = reader.attribute('colorName');
    const position = readPosition(reader, taken);
    const id = reader.attribute('id');
    if (id === '' || agents.some((agent) => agent.id === id)) reader.fail(`agent id "${id}" is empty or stands twice`);
    reader.expect('>\n');
    const soul = reader.optional('soul');
    const transcript = reader.optional('transcript');
    reader.expect('  </agent>\n');
    agents.push({ id, name, color, colorName, position, soul, transcript });
  }
  if (agents.length === 0) reader.fail('no agent');
  reader.expect('</agent-payloads>');
  return agents;
}

function readSeats(reader: Reader): SeatPayload[] {
  const seats: SeatPayload[] = [];
  const taken = new Set<number>();
  reader.expect(`${SUMMON_TAG}\n<seats>\n`);
  while (reader.startsWith('  <seat')) {
    reader.expect('  <seat');
    const position = readPosition(reader, taken);
    seats.push({ position, color: reader.attribute('color'), colorName: reader.attribute('colorName') });
    reader.expect('/>\n');
  }
  if (seats.length === 0) reader.fail('no seat');
  reader.expect('</seats>');
  return seats;
}

/** Reads a call to the team. Never throws; `reason` says what is wrong and where. */
export function parseTeamCall(text: string): ParsedCall {
  const reader = createReader(text);
  try {
    const call: TeamCall = reader.startsWith(WAKE_TAG)
      ? { kind: 'wake', agents: readAgents(reader) }
      : { kind: 'summon', seats: readSeats(reader) };
    if (!reader.atEnd()) reader.fail('text after the end');
    return { ok: true, call };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, reason: error.message };
    throw error;
  }
}
